"""What several spans, or a later history, record of one request: equal calls count once, and no other one is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import (
    are_equal_arguments,
    build_call_key,
    build_recorded_call_key,
    read_arguments,
)
from evalgate.models.trace.trace import list_arguments

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Sequence

    from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest
    from evalgate.adapters.formats.spans.aggregate import ModelCall
    from evalgate.adapters.formats.spans.call_order import SpanToolCall
    from evalgate.models.trace.trace import ToolCall


def list_copies(call: ModelCall) -> list[list[RawMessage]]:
    """The answers to a request that its other spans record."""
    read = call.get_fact("output")
    found = {id(output): output for node in call.nodes if (output := node.facts.output) and output is not read}
    return list(found.values())


def take_others(requests: Sequence[ToolRequest], known: deque[SpanToolCall]) -> list[ToolRequest]:
    """The requests that equal none of the known calls; those that they equal are taken out."""
    found = []
    for request in requests:
        key = build_recorded_call_key(request.name, request.arguments)
        same = next(
            (entry for entry in known if build_call_key(entry.call["name"], entry.call["arguments"]) == key), None
        )
        if same is None:
            found.append(request)
        else:
            known.remove(same)
    return found


def has_dropped(before: ModelCall, call: ModelCall) -> bool:
    """Whether the history of a request lacks calls of the one before: it has fewer of them, or another first one."""
    asked, later = _list_names(before), _list_names(call)
    return len(asked) > len(later) or asked[:1] != later[: len(asked[:1])]


def _list_names(call: ModelCall) -> list[tuple[str | None, str]]:
    return [(request.id, request.name) for message in call.get_fact("input") or () for request in message.calls]


def note_other_version(call: ToolCall, request: ToolRequest) -> bool:
    """Keeps the arguments that another span or message records of a call; False if there is no room for a third."""
    arguments: Any = read_arguments(request.arguments).value
    if any(are_equal_arguments(arguments, each) for each in list_arguments(call)):
        return True
    if "requested" in call:
        return False
    call["requested"] = {"name": request.name, "arguments": arguments}
    call["executed"] = {"name": call["name"], "arguments": call["arguments"]}
    return True
