"""Approvals and their provenance.

Entry points: `approval.Approval`, `approval.Ruling`, `comment_approval`, `review`.
"""
