"""Finds demands of the baseline's suites and policies that today's no longer make.

Entry points: `detect_weakening.find_weakenings`, `implication`, `weaker_evidence`.
"""
