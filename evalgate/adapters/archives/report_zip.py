"""Packs a report into a zip, for a run that may not comment, and unpacks it in one that may."""

from __future__ import annotations

from pathlib import Path

from evalgate.adapters.archives.baseline_writer import build_entry
from evalgate.adapters.safe_zip import SafeZip, ZipRefusedError
from evalgate.errors import OverLimit, SettingError

MEMBER = "results.json"
LARGEST_PACKED = 32 * 1024 * 1024
LARGEST_UNPACKED = 128 * 1024 * 1024


class ReportZips:
    """Implements `ReportFiles`; writes zips into `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def pack(self, results: bytes) -> str:
        """Writes a zip with one member, deterministically; returns its path."""
        import zipfile  # slow to import, so only where a report is packed

        path = self._folder / "report.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(build_entry(MEMBER), results)
        return str(path)

    def unpack(self, path: str) -> bytes:
        """The results document in a zip. Other members are ignored, nothing is extracted to disk."""
        with Path(path).open("rb") as file:
            content = file.read(LARGEST_PACKED + 1)
        if len(content) > LARGEST_PACKED:
            raise OverLimit(f"it is larger than {LARGEST_PACKED // 1024**2} MB")
        try:
            return SafeZip(content, LARGEST_UNPACKED).read(MEMBER)
        except ZipRefusedError as refusal:
            raise SettingError(str(refusal)) from None
