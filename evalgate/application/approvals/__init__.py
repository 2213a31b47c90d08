"""Approvals of failures, from files and from comments.

Entry points: `approvals.rule_on_approvals`, `approve_change.approvals_for`,
`comment_approvals.CommentVerifier`, `approve_change.list_approvals`.
"""
