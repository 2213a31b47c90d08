"""A memory of every run in a database: history, goldens, feedback, approvals, exports and imports."""
