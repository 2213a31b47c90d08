"""The verbs that read traces, print schemas and hash files.

Entry points: `query`, `convert`, `fingerprint`, `schema`.
"""
