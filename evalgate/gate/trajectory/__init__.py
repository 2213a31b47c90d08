"""What the agent did then and now.

Entry points: `trajectories.trajectory_of`, `trajectory_diff`, `trial_pairs`, `cause.cause_of`.
"""
