"""The zip in which a report travels from the run that may not comment to the one that may."""

from __future__ import annotations

import zipfile
from pathlib import Path

from evalgate.adapters.safe_zip import SafeZip, ZipRefusedError
from evalgate.errors import OverLimit, SettingError

MEMBER = "results.json"
LARGEST_PACKED = 32 * 1024 * 1024
LARGEST_UNPACKED = 128 * 1024 * 1024
_EPOCH = (1980, 1, 1, 0, 0, 0)


class ReportZips:
    """Implements `ReportFiles`; zips are written into `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def pack(self, results: bytes) -> str:
        """Writes the zip: one member, the same results always the same bytes."""
        path = self._folder / "report.zip"
        entry = zipfile.ZipInfo(MEMBER, _EPOCH)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.create_system = 3
        entry.external_attr = 0o100644 << 16
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(entry, results)
        return str(path)

    def unpack(self, path: str) -> bytes:
        """The one results document in it. Whatever else it holds is not looked at, nothing is extracted."""
        with Path(path).open("rb") as file:
            content = file.read(LARGEST_PACKED + 1)
        if len(content) > LARGEST_PACKED:
            raise OverLimit(f"it is larger than {LARGEST_PACKED // 1024**2} MB")
        try:
            return SafeZip(content, LARGEST_UNPACKED).read(MEMBER)
        except ZipRefusedError as refusal:
            raise SettingError(str(refusal)) from None
