"""The verbs for approvals. Entry points: `approve.run`, `list.run`."""
