"""Publishing finished runs: the verb `track`.

Entry point: `track.track`.
"""
