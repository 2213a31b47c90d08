"""Inspect logs, as JSON and as `.eval` archives. Entry points: `INSPECT`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format

ZIP = b"PK\x03\x04"
ZIP_NAME = 30  # where the name of an archive's first entry begins
INSPECT_ENTRIES = (b"_journal/", b"header.json", b"samples/", b"summaries.json", b"reductions.json")


def _claims_inspect(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("eval"), dict):
        return False
    return "status" in value and "task" in value["eval"]


def _is_inspect_archive(head: bytes) -> bool:
    return head.startswith(ZIP) and head.startswith(INSPECT_ENTRIES, ZIP_NAME)


INSPECT = Format(
    name="inspect",
    needs="an .eval archive, or an object with `eval` and `status`",
    claims=_claims_inspect,
    module="inspect_ai.reader",
    joins_lines=True,
    magic=_is_inspect_archive,
)
