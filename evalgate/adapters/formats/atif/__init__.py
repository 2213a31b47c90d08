"""Reads ATIF trajectories. Entry points: `ATIF`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, first_object


def _claims_atif(value: Any) -> bool:
    version = first_object(value).get("schema_version")
    return isinstance(version, str) and version.startswith("ATIF-")


ATIF = Format(
    name="atif",
    needs='an object with `"schema_version": "ATIF-v1..."`',
    claims=_claims_atif,
    module="atif.reader",
)
