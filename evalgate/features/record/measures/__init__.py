"""Algorithms on recorded requests and answers: streams of events, canonical requests and their keys, file names.

Entry points: `event_stream.EventSplitter`, `streams.read_answer`, `paths.build_trial_path`.
"""
