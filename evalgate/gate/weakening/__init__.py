"""Which demands of the baseline the suites and policies make no more.

Entry points: `detect_weakening.weakened`, `implication`, `requirements`.
"""
