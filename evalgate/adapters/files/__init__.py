"""Reads files of the workspace and writes those of the output folder.

Entry points: `Workspace`, `OutputFolder`, `RemoteFiles`, `FileFingerprints`, `DiskSpool`.
"""
