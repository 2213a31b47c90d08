"""Approvals of failures, from files and from comments.

Entry points: `approvals`, `approve_change`, `comment_approvals`, `list_approvals`.
"""
