"""Reads the state around a run: what a command prints, and files of the working directory.

Entry points: `state_reader.StateReader`, `files.parse_globs`.
"""
