"""Finds what rules can't do: fail the check at all, or ever be met or missed with the trials they ask for.

Entry points: `harmless.find_harmless_suites`, `unreachable.find_unreachable_rules`.
"""
