"""Finished runs for trackers: what leaves, under which names, and what became of it.

Entry points: `published_run.build_published_run`, `published_check.decode_published`, `track_run.track_run`.
"""
