"""Parses the arguments of a tool call: an object, JSON text, broken JSON, or nothing."""

from __future__ import annotations

from typing import Any, NamedTuple

from evalgate.adapters.formats.core import strict_json
from evalgate.errors import TraceError


class Arguments(NamedTuple):
    """The value, the text it was recorded as, and the error if that text is not JSON."""

    value: Any
    raw: str | None = None
    error: str | None = None


def read_arguments(recorded: Any, levels_above: int = 0) -> Arguments:
    """Never fails on text: invalid JSON is kept as text with an error; empty text means no arguments.

    Raises TraceError only for values nested too deep; `levels_above` levels of JSON enclose them.
    """
    if type(recorded) is not str:
        strict_json.require_shallow(recorded, levels_above)
        return Arguments(recorded, None, None)
    if not recorded.strip():
        return Arguments({}, recorded)
    try:
        value = strict_json.decode(recorded.encode())
        strict_json.require_shallow(value)
    except TraceError as error:
        return Arguments(None, recorded, str(error))
    return Arguments(value, recorded)
