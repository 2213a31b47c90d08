"""Settings: the Action's inputs, job and event, and limits. No re-exports, as a shell needs only limits."""
