"""Judges traces in worker processes and in shards.

Entry points: `batched_evaluation.evaluate_in_batches`, `batched_evaluation.BatchJudge`, `shards.judge_shard`,
`shard_merge.merge_shards`.
"""
