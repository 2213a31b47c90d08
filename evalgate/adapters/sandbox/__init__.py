"""Runs the judge in a separate process, because it reads untrusted files: its limits, its user, its exit status.

Entry points: `judge_process.start_judge`, `judge_process.wait_for_judge`, `judge_process.ReadyJudge`,
`exchange_dir.ExchangeDir`, `process_bounds.over_limit`.
"""
