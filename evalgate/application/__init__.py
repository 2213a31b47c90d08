"""Use cases: functions that work through ports.

Entry points: `action.run_gate`, `judge.judge`, `evaluation.evaluate`, `comparison.weakening`, `approvals.approvals`.
"""
