"""Runs in the store, saved and looked up.

Entry points: `history.look`, `run_recorder.RunRecorder`, `run_record.stored_run`.
"""
