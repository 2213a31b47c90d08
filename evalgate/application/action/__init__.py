"""Jobs of the GitHub Action.

Entry points: `run_gate.run_gate`, `approve_from_comment.approve`, `publish.publish`.
"""
