"""Schema migrations, applied in order. A released migration is never changed.

Entry points: `env`, `versions`.
"""
