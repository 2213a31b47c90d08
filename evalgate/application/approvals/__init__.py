"""Approvals of a run, from files and from comments.

Entry points: `approvals`, `approve_change`, `comment_approvals`, `list_approvals`.
"""
