"""Traces judged by workers and in shards.

Entry points: `batched_evaluation`, `batch_judge`, `shards.judge_shard`, `shard_merge.merged`.
"""
