"""Zip archives that runs write and read: baselines, reports, shards.

Entry points: `BaselineZips`, `ReportZips`, `Shards`, `SafeZip`.
"""
