"""Reads any JSON with the expressions of a suite (`format: custom`). Entry point: `reader.make_format`."""
