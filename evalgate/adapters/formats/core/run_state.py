"""Reads what a run left behind, as native traces and the attribute `evalgate.state` of spans hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from evalgate.adapters.formats.core.fields import (
    FieldError,
    FieldTable,
    count,
    listing,
    mapping,
    one_of,
    required_text,
    text,
)
from evalgate.adapters.formats.core.strict_json import decode, make_printable, require_shallow
from evalgate.errors import TraceError
from evalgate.models.trace.trace import OPERATIONS, RunState

if TYPE_CHECKING:
    from evalgate.models.trace.trace import FileState

FILE = FieldTable(
    change=lambda value, path: value and one_of("added", "removed", "changed")(value, path),
    kind=lambda value, path: value and one_of("file", "link", "other")(value, path),
    bytes=count,
    **dict.fromkeys(("sha256", "was", "text", "diff"), text),
)
STATE_KEYS = frozenset(RunState.__annotations__)


def read_state(value: Any, path: str) -> RunState:
    """What the run left behind; `before` and `after` may be any JSON, also null."""
    state: Any = {name: each for name, each in mapping(value, path).items() if name in ("before", "after")}
    if (diff := value.get("diff")) is not None:
        listed = enumerate(listing(diff, f"{path}.diff"))
        state["diff"] = [_read_operation(each, f"{path}.diff[{number}]") for number, each in listed]
    if (files := value.get("files")) is not None:
        found = mapping(files, f"{path}.files")
        state["files"] = {
            name: _read_file(each, f"{path}.files.{make_printable(name)}") for name, each in found.items()
        }
    if value.get("outage") is not None:
        state["outage"] = required_text(value["outage"], f"{path}.outage")
    return cast("RunState", state)


def decode_state(value: Any, path: str) -> RunState:
    """Like `read_state`, of JSON text, as an attribute has it."""
    try:
        decoded = decode(value.encode()) if type(value) is str else value
        require_shallow(decoded)
    except (TraceError, UnicodeEncodeError) as error:
        raise FieldError(path, str(error) if isinstance(error, TraceError) else "is not text") from None
    return read_state(decoded, path)


def _read_operation(value: Any, path: str) -> dict[str, Any]:
    place = text(mapping(value, path).get("path"), f"{path}.path")
    if value.get("op") not in OPERATIONS:
        raise FieldError(f"{path}.op", f"is not one of {', '.join(OPERATIONS)}")
    if place is None or place[:1] not in ("", "/"):
        raise FieldError(f"{path}.path", "is no JSON pointer, which begins with a slash")
    return {"op": value["op"], "path": place, **({"value": value["value"]} if "value" in value else {})}


def _read_file(value: Any, path: str) -> FileState:
    return cast("FileState", {name: each for name, each in FILE.read(value, path).items() if each is not None})
