"""Infers a suite from traces that passed: what was the same in all trials, each line with its reason.

Entry points: `infer.infer_suite`, `self_check.check_draft`, `passing.is_passing`.
"""
