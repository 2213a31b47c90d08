"""The verbs for approvals: `approve`, `approvals`."""
