"""Finds what of a conversation with OpenAI's Responses API only the provider keeps, so that its calls are elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.evidence_gaps import OF_MESSAGES, add_gap, shorten
from evalgate.adapters.formats.core.fields import dict_or_empty
from evalgate.adapters.formats.core.format import words
from evalgate.adapters.formats.core.python_literals import unwrap_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from evalgate.models.trace.trace import EvidenceKind, Trace

COMPACTIONS = words("compaction compaction_summary context_compaction")
"""Types of items that stand for calls, results and reasoning before them, which they hold encrypted."""
REFERENCE = "item_reference"
NO_CALLS: dict[str, tuple[EvidenceKind, ...]] = {"rs_": (), "msg_": ("messages",)}
"""How ids of items begin that are no calls, reasoning and messages, with the evidence that lacks them."""
CONVERSATION = "conv_"
PREVIOUS = ("previous_response_id", "previousResponseId")
"""Names of the response that a request goes on with: those of the API, and of Vercel's settings for it."""
HINTS = (*PREVIOUS, CONVERSATION)
ADVICE = "record it too: its calls are not in this trace"

Elsewhere = tuple[str, "tuple[EvidenceKind, ...]"]
"""What is elsewhere, as a sentence, and the kinds of evidence that lack it."""
LoggedRequest = tuple["str | None", "Iterable[Any]"]
"""The id of an answer, None if that is not recorded and empty without an answer; and values with its request, or what
the answer repeats of it."""


def find_earlier(request: dict[str, Any], known: AbstractSet[str] = frozenset()) -> Elsewhere | None:
    """The response or conversation that a request goes on with, or a response went on with, unless it is known."""
    previous = next((request[name] for name in PREVIOUS if request.get(name)), None)
    if isinstance(previous, str) and previous not in known:
        return f"the response goes on with `{shorten(previous)}`, which is not recorded: {ADVICE}", OF_MESSAGES
    conversation = find_conversation(request)
    if conversation is not None and conversation not in known:
        return f"the response is one of `{shorten(conversation)}`, whose start is not recorded: {ADVICE}", OF_MESSAGES
    return None


def find_conversation(request: dict[str, Any]) -> str | None:
    """The id of the conversation that the provider keeps; None without one."""
    found = request.get("conversation")
    name = dict_or_empty(found).get("id", found)
    return name if isinstance(name, str) and name.startswith(CONVERSATION) else None


def find_replaced(items: Any, known: AbstractSet[str] = frozenset()) -> Elsewhere | None:
    """The first item that stands for others which are neither before it nor known by their ids."""
    seen, has_acted = set(known), False
    for item in items if isinstance(items, list) else ():
        kind, name = dict_or_empty(item).get("type"), dict_or_empty(item).get("id")
        if kind in COMPACTIONS and not has_acted and name not in seen:
            return f"an item of type `{kind}` stands for earlier items: {ADVICE}", OF_MESSAGES
        if kind == REFERENCE and name not in seen and (kinds := _find_lacking(name)):
            shown = shorten(name) if isinstance(name, str) else "no id"
            return f"an item refers to `{shown}`, which is not recorded: {ADVICE}", kinds
        has_acted = has_acted or _is_replaced(kind)
        if isinstance(name, str) and kind != REFERENCE:
            seen.add(name)
    return None


def _is_replaced(kind: Any) -> bool:
    """Whether a compaction replaces items of this type: messages may be kept beside it."""
    return isinstance(kind, str) and (kind == "reasoning" or kind.endswith(("_call", "_call_output")))


def _find_lacking(name: Any) -> tuple[EvidenceKind, ...]:
    kind = next((start for start in NO_CALLS if isinstance(name, str) and name.startswith(start)), None)
    return OF_MESSAGES if kind is None else NO_CALLS[kind]


def find_items(output: Any) -> dict[str, dict[str, Any]]:
    """The items of an answer by their ids, by which later requests may refer to them."""
    items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    return {item["id"]: item for item in items if isinstance(item.get("id"), str)}


def note_earlier(trace: Trace, calls: Iterable[LoggedRequest], known: Iterable[str] = ()) -> None:
    """Notes what model calls, in their order, go on with, unless that is the answer of one of them or known by its id.

    After an answer without an id a request may go on with that.
    """
    requests: list[dict[str, Any]] = []
    answers = {call["response_id"] for call in trace.llm_calls if call["response_id"] is not None}.union(known)
    for answer, values in calls:
        found = list(list_objects(values, HINTS))
        requests += found
        ids = {one["id"] for one in found if isinstance(one.get("id"), str) and _is_answer(one)}
        answers |= ids
        if answer is None and not ids:
            break
    note_elsewhere(trace, (find_earlier(request, answers) for request in requests))


def list_objects(values: Iterable[Any], hints: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The objects in values of any form that may be a request or its answer, but none of lists.

    Text is decoded if it holds one of the hints. What users add as metadata is no part of a request.
    """
    waiting = list(values)
    while waiting:
        one = waiting.pop()
        if isinstance(one, str) and any(hint in one for hint in hints):
            one = unwrap_text(one)
        if isinstance(one, dict):
            yield one
            waiting += (each for key, each in one.items() if key != "metadata")
            waiting += ({PREVIOUS[0]: each} for key, each in one.items() if key.endswith(f".{PREVIOUS[0]}"))


def _is_answer(value: dict[str, Any]) -> bool:
    return value.get("object") == "response" or PREVIOUS[0] in value


def note_elsewhere(trace: Trace, found: Iterable[Elsewhere | None]) -> None:
    """Makes evidence incomplete for each that is elsewhere."""
    for reason, kinds in filter(None, found):
        for kind in kinds:
            add_gap(trace, kind, reason)
