"""Adapters: file system, GitHub, trace formats. Independent of each other; bootstrap joins them.

Entry points: `formats`, `suites`, `files`, `github`, `sandbox`.
"""
