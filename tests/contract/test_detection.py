"""A format is asked about an object only if that has one of the format's fields: it may claim no object without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest
from documents import ROOT
from trace_table import EXPECTATIONS, RECORDINGS

from evalgate.adapters.formats.open import detect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHARED = [ROOT.parent / "shared" / "traces", ROOT.parent / "shared" / "unread"]
FIELDS = {known.name: set(fields.split()) for known, fields in zip(detect.FORMATS, detect.LISTED.values(), strict=True)}
FIRST, LARGE = 8, 100_000
"""Entries of a list that are tried, and bytes of an object that is not, to save time."""


def test_a_format_claims_no_object_without_its_fields() -> None:
    claimed = require_fields([RECORDINGS, ROOT / "tests" / "readings"])
    assert claimed == {name for name, fields in FIELDS.items() if fields} - {EXPECTATIONS}, "no object of it was tried"


def test_expectations_are_claimed_by_their_fields() -> None:
    for name in FIELDS[EXPECTATIONS]:
        found = detect.find_claiming_format({name: []})
        assert found is not None
        assert found.name == EXPECTATIONS


@pytest.mark.shared
def test_a_format_claims_no_object_of_others_without_its_fields() -> None:
    assert len(require_fields(SHARED)) > 20


def require_fields(folders: list[Path]) -> set[str]:
    """The formats that claim an object; fails if a format claims one without its fields, or another one is found."""
    claimed = set()
    for value in list_objects(folders):
        claiming = [known for known in detect.FORMATS if known.claims(value)]
        assert detect.find_claiming_format(value) == next(iter(claiming), None)
        for known in detect.FORMATS:
            fields = FIELDS[known.name]
            if not fields.isdisjoint(value):
                rest = {name: inner for name, inner in value.items() if name not in fields}
                assert not known.claims(rest), f"{known.name} claims an object with {sorted(rest)}"
        claimed |= {known.name for known in claiming if FIELDS[known.name]}
    return claimed


def list_objects(folders: list[Path]) -> Iterator[dict[str, Any]]:
    """The objects of all files, and those one and two levels deeper, each once."""
    seen = set()
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.is_file()):
        for document in decode(path.read_bytes()):
            inner = list_values(document)
            for value in (document, *inner, *(each for one in inner for each in list_values(one))):
                encoded = orjson.dumps(value)
                if isinstance(value, dict) and len(encoded) < LARGE and encoded not in seen:
                    seen.add(encoded)
                    yield value


def decode(data: bytes) -> list[Any]:
    """The document of a file, or those of its lines; none of a binary file."""
    found = []
    for part in ([data], data.splitlines()):
        for each in part:
            try:
                found.append(orjson.loads(each))
            except orjson.JSONDecodeError:
                continue
        if found:
            break
    return found


def list_values(value: Any) -> list[Any]:
    """What is in an object, or begins a list."""
    return list(value.values()) if isinstance(value, dict) else value[:FIRST] if isinstance(value, list) else []
