"""The verbs about approvals: `approve`, `approvals`."""
