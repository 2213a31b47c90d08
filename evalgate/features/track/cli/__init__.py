"""Publishing finished runs: the verb `track`, and what `run --track` does after its verdict.

Entry points: `track.track`, `track.track_finished`.
"""
