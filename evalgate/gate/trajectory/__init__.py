"""What the agent did in the baseline and in this run, and how the two differ.

Entry points: `trajectory_diff.diff_trajectories`, `trial_pairs`, `cause.find_cause`.
"""
