"""What every trace format uses: detection, JSON, typed fields.

Entry points: `detect.FORMATS`, `format.Format`, `format.Reader`, `fields`.
"""
