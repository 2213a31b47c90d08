"""Lists and values compared: differences, matching, trajectories.

Entry points: `step_matching`, `differences`, `trajectory_metrics`, `bipartite`.
"""
