"""Files of the workspace and of the output folder.

Entry points: `Workspace`, `OutputFolder`, `RemoteFiles`, `FileFingerprints`, `DiskSpool`.
"""
