"""Shards of a run: `shard.Shard`."""
