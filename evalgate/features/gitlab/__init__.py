"""What jobs on GitLab need beside the gate: the baseline of another pipeline, and a note on the merge request."""
