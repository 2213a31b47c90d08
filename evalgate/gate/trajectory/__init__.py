"""What the agent did in the baseline and in this run, and how the two differ.

Entry points: `trajectories.trajectory_from_trace`, `trajectory_diff`, `trial_pairs`, `cause.find_cause`.
"""
