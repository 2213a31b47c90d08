"""Approvals and where they come from.

Entry points: `approval.Approval`, `approval.Ruling`, `comment_approval`, `review`.
"""
