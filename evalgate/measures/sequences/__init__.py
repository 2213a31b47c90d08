"""Lists compared: alignment, matching, repeats, trajectories.

Entry points: `step_matching`, `call_alignment.align`, `trajectory_metrics`, `bipartite`.
"""
