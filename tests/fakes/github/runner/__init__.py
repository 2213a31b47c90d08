"""A stand-in for the runner of GitHub Actions: a job's environment, its event, and what it reads of a step's output."""
