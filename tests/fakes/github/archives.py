"""Archives of artifacts, good ones and hostile ones."""

from __future__ import annotations

import io
import warnings
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Entries = Iterable[tuple[str | zipfile.ZipInfo, str | bytes]]

LINK = 0o120777 << 16
ENCRYPTED = 1
"""The first bit of an entry's flags."""
MANY = 60_000
BOMB_BYTES = 300 * 1024**2


def archive(files: Mapping[str, str]) -> bytes:
    return _pack(files.items())


def evil_zip(kind: str) -> bytes:
    """An archive that leaves its folder (`slip`, `abs`, `symlink`), fills the disk (`bomb`, `many`), or is broken."""
    whole = archive({"baseline.json": "".join(f"{number * number:x}" for number in range(2000))})
    broken = {
        "notzip": b"<html>not an archive</html>",
        "empty": archive({}),
        "truncated": whole[: len(whole) // 2],
        "encrypted": _encrypted(archive({"baseline.json": "{}"})),
    }
    return broken[kind] if kind in broken else _pack(_hostile_entries(kind))


def _hostile_entries(kind: str) -> Entries:
    link = zipfile.ZipInfo("baseline.json")
    link.create_system, link.external_attr = 3, LINK
    entries: dict[str, Entries] = {
        "slip": [("../../../../tmp/evalgate-slip.txt", "x")],
        "abs": [("/tmp/evalgate-abs.txt", "x")],
        "symlink": [(link, "/etc/passwd")],
        "bomb": ((name, bytes(BOMB_BYTES)) for name in ("baseline.json",)),
        "many": ((f"f{number}", b"") for number in range(MANY)),
        "dup": [("baseline.json", '{"first": 1}'), ("baseline.json", '{"second": 2}')],
    }
    return entries[kind]


def _pack(entries: Entries) -> bytes:
    packed = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        warnings.simplefilter("ignore", UserWarning)  # of names that occur twice
        for name, content in entries:
            target.writestr(name, content)
    return packed.getvalue()


def _encrypted(packed: bytes) -> bytes:
    """The same with the flag of encryption, before the entry and in the directory at the end."""
    changed = bytearray(packed)
    changed[6] |= ENCRYPTED
    changed[changed.find(b"PK\x01\x02") + 8] |= ENCRYPTED
    return bytes(changed)
