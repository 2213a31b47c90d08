"""The verbs of jobs on GitLab."""
