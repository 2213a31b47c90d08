"""Recorded traces of many recorders, read into the one canonical model. One module a format."""
