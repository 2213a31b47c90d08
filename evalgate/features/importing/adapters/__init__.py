"""Reads the files of other tools. Entry points: `origin_files`."""
