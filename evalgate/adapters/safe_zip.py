"""Reads untrusted zip archives: members by exact name, in memory, within size limits."""

from __future__ import annotations

import io
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator

MAX_ENTRIES = 1_000
STORED, DEFLATED = 0, 8
"""Compression methods, as numbered by the zip specification."""
CHUNK = 1 << 16
ENTRY = b"PK\x01\x02"
"""Signature of each entry in the archive's directory; compressed data contains it only by chance."""


class ZipRefusedError(ValueError):
    """The archive is damaged or malicious."""


class SafeZip:
    """A zip archive in memory. Nothing is extracted to disk."""

    def __init__(self, content: bytes, max_unpacked: int, max_entries: int = MAX_ENTRIES) -> None:
        self._left = max_unpacked
        # Counted before the library builds an object for each entry: a million fit into the allowed bytes.
        if content.count(ENTRY) > 2 * max_entries:
            raise _too_many(max_entries)
        import zipfile  # slow to import, so only for runs that read a zip

        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except _damage():
            raise ZipRefusedError("it is no zip file, or a damaged one") from None
        self._entries = self._zip.infolist()
        if len(self._entries) > max_entries:
            raise _too_many(max_entries)
        self._named: dict[str, list[zipfile.ZipInfo]] = {}
        for entry in self._entries:
            self._named.setdefault(entry.filename, []).append(entry)

    def names(self) -> list[str]:
        """Names of all entries, as written in the archive."""
        return [entry.filename for entry in self._entries]

    def methods(self) -> frozenset[int]:
        """The compression methods of its entries, as numbered by the zip specification."""
        return frozenset(entry.compress_type for entry in self._entries)

    def identity(self, name: str) -> tuple[int, int]:
        """Unpacked size and CRC-32 of a member, from the archive's directory. Raises ZipRefusedError."""
        entry = self._only(name)
        return entry.file_size, entry.CRC

    def read(self, name: str, most: int | None = None) -> bytes:
        """Reads the only member of that name, at most `max_bytes`. Raises ZipRefusedError."""
        entry = self._only(name)
        if most is not None and entry.file_size > most:
            raise ZipRefusedError(f"{name} in it is larger than {most:,} bytes")
        parts = []
        try:
            with self._zip.open(entry) as stream:
                while part := stream.read(CHUNK):
                    self._take(len(part))
                    parts.append(part)
        except ZipRefusedError:
            raise
        except _damage():
            raise ZipRefusedError(f"{name} in it is damaged") from None
        return b"".join(parts)

    def lines(self, name: str, longest: int = -1) -> Iterator[bytes]:
        """Yields the lines of the only member of that name while unpacking it. Raises ZipRefusedError.

        A line may have `max_length` bytes; -1 means no limit.
        """
        entry = self._only(name)
        try:
            with self._zip.open(entry) as stream:
                while line := stream.readline(longest):
                    self._take(len(line))
                    if len(line) == longest and not line.endswith(b"\n"):
                        raise ZipRefusedError(f"a line of {name} in it is longer than {longest:,} bytes")
                    yield line
        except ZipRefusedError:
            raise
        except _damage():
            raise ZipRefusedError(f"{name} in it is damaged") from None

    def _only(self, name: str) -> zipfile.ZipInfo:
        found = self._named.get(name, [])
        if len(found) != 1:
            raise ZipRefusedError(f"it has {len(found) or 'no'} entries called {name}")
        entry = found[0]
        mode = entry.external_attr >> 16
        if entry.flag_bits & 0x1:
            raise ZipRefusedError(f"{name} in it is encrypted")
        if name.endswith("/") or (mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG)):
            raise ZipRefusedError(f"{name} in it is no regular file")
        if entry.compress_type not in (STORED, DEFLATED):
            raise ZipRefusedError(f"{name} in it is compressed in a way that is not accepted")
        if entry.file_size > self._left:
            raise ZipRefusedError(f"{name} in it is too large")
        return entry

    def _take(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise ZipRefusedError("it unpacks to more than is accepted")


def _too_many(most: int) -> ZipRefusedError:
    return ZipRefusedError(f"it has more than {most:,} entries")


def _damage() -> tuple[type[Exception], ...]:
    """The exceptions that zipfile raises for damaged archives."""
    import struct
    import zipfile
    import zlib

    told = zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError
    return *told, ValueError, IndexError, OverflowError, struct.error  # invalid offsets and sizes
