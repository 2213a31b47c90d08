"""Jobs of the GitHub Action. Entry points: `run_gate`, `approve_from_comment`, `publish`."""
