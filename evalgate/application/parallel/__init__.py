"""Judges traces in worker processes and in shards.

Entry points: `batched_evaluation`, `batch_judge`, `shards.judge_shard`, `shard_merge.merge_shards`.
"""
