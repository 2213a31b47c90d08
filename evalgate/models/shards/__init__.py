"""Shards of a run. Entry points: `shard.Shard`, `shard.MAX_SHARDS`."""
