"""Readers and writers of trace formats; each format is a package that reads into `models.trace`."""
