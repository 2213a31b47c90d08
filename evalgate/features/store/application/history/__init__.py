"""Saves runs to the store and looks them up.

Entry points: `history.look_up_history`, `run_recorder.RunRecorder`, `run_record.build_stored_run`.
"""
