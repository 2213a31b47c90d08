"""Lists compared: alignment, matching, repeats, trajectories.

Entry points: `step_matching`, `call_alignment.align_calls`, `trajectory_metrics`, `bipartite`.
"""
