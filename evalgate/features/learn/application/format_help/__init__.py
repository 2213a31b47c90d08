"""Looks at files of an unknown format, and proposes a mapping for `format: custom`.

Entry point: `mapping.propose`.
"""
