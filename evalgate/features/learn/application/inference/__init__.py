"""Infers a suite from traces that passed: what was the same in all trials, each line with its reason.

Entry points: `build_suite.build_suite`, `extend_suite.extend_suite`, `trace_choice.find_traces`.
"""
