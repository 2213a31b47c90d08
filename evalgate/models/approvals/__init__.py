"""Approvals and their provenance.

Entry points: `approval.Approval`, `approval.ApprovalRuling`, `review.CommentApproval`, `review.TriggeringRun`.
"""
