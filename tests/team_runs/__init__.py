"""Runs of several agents with real frameworks, each recorded twice: by `record`, and by the framework's own tracer or file.

`python -m team_runs` (`make teams`) prints what each called, what the two recordings have of it, and how they are judged.
"""
