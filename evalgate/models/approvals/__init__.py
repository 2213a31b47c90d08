"""Approvals and their provenance.

Entry points: `approval.Approval`, `approval.ApprovalRuling`, `review.CommentApproval`, `triggering_run`.
"""
