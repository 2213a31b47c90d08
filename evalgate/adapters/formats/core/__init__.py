"""Code that every trace format uses: strict JSON, typed fields, read limits, usage, trace building.

Entry points: `format.Format`, `format.Reader`, `strict_json.decode`, `fields`.
"""
