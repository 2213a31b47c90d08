"""Judges golden conversations in eight dimensions, each by evidence in the trace.

Entry points: `judging.judge_golden`, `judging.judge_dimension`, `rules.GoldenRules`, `turns`.
"""
