"""Decides about a run: verdict, exit code and reasons.

Entry points: `decide.decide`, `failures`, `approvals`, `stability`.
"""
