"""Writes and reads the zip archives of runs: baselines, reports, shards.

Entry points: `BaselineZips`, `ReportZips`, `ShardReader`, `ShardWriter`.
"""
