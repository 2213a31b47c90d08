"""The native trace format, `evalgate.trace/1`. Entry points: `NATIVE`, `reader.READER`, `reader.build`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, first_object

FAMILY = "evalgate.trace/"


def _claims(value: Any) -> bool:
    return str(first_object(value).get("schema", "")).startswith(FAMILY)


NATIVE = Format(
    name="native",
    needs='an object with `"schema": "evalgate.trace/1"`',
    claims=_claims,
    module="native.reader",
)
