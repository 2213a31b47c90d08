"""Adapters: file system, GitHub, stores, trace formats. Independent of each other; bootstrap joins them.

Entry points: `formats`, `suites`, `files`, `github`, `store`, `sandbox`.
"""
