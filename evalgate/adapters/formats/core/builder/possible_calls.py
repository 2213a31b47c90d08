"""Decides whether something that no reader knows can be a call of a tool, whatever its recorder named it.

An agent's next release must turn no gate red for a number, and no call may be dropped for its spelling. So what is
unknown is harmless only if it has none of the marks that every recorded call has one of:

- an object with a text (the name) and an object or a list (the arguments), beside the envelope of a line;
- a list with a text;
- a key, or a type, that names an act of calling, and a value that is no number;
- a text that begins like JSON and is not JSON.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson

from evalgate.adapters.formats.core.content import JSON_STARTS, may_hold
from evalgate.adapters.formats.core.format import words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

ENVELOPE = words("""
    id uuid type kind event event_type eventType subtype version schema
    timestamp time ts created createdAt created_at updated updatedAt updated_at startTime start_time startedAt
    started_at endTime end_time endedAt ended_at completedAt completed_at date
    parentUuid parent_uuid parentId parent_id sessionId session_id sessionID conversationId conversation_id threadId
    thread_id messageId message_id messageID requestId request_id promptId prompt_id agentId agent_id turnId turn_id
    leafUuid traceId trace_id spanId span_id logicalParentUuid
    cwd path gitBranch git_branch userType user_type entrypoint slug
""")
"""Names of ids, types, times and paths: a text under one of them names no tool."""
KIND_KEYS = frozenset({"type", "kind", "event"})
PARTS_OF_WORDS = ("tool", "invoke", "invoc")
CALL_WORDS = words("""
    function functions action actions call calls command commands exec execs execute executes use uses run runs do
    act acts op ops operation operations step steps output outputs completion completions response responses choices
""")
ACTS = CALL_WORDS - words("step steps output outputs completion completions response responses choices")
"""Those of them that name an act, not where calls are or what came of them."""
ARGUMENTS = words("arguments args kwargs parameters params input with")
ID_WORDS = frozenset({"id", "ids", "uuid", "at", "time", "timestamp", "ms"})
"""Last words of a key whose text is an id or a time, whatever the others are (`response_id`, `run_at`)."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def has_call_shape(value: Any) -> bool:
    """Whether anything in the value has the shape of a call: a text beside an object, a list, or JSON as text.

    Both may be fields of an object, or entries of a list. A name alone is a call without arguments if its key, or
    the type of its object, says so, or if arguments beside it are empty.

    >>> has_call_shape({"tool": "delete_user"}), has_call_shape({"name": "delete_user"})
    (True, False)
    >>> has_call_shape([["delete_user", {"id": 1}]]), has_call_shape([["delete_user", "lookup"], [{"id": 1}]])
    (True, False)
    """
    for each in iterate_held(value):
        if each.__class__ is dict:
            if _has_name_and_arguments(each, ENVELOPE) or _has_name_alone(each):
                return True
        elif each is not _BROKEN and _lists_name_and_arguments(each):
            return True
    return False


def _lists_name_and_arguments(value: list[Any]) -> bool:
    has_arguments = any(each and may_hold(each) for each in value)
    return has_arguments and any(each.__class__ is str and each.strip() and not may_hold(each) for each in value)


def can_be_call(value: Any, key: str = "", envelope: AbstractSet[str] = ENVELOPE) -> bool:
    """Whether anything in the value, which stands under the key, can be a call.

    >>> can_be_call({"do": "delete_user", "with": {"id": 1}}), can_be_call({"in": 2, "out": 3}, "metrics")
    (True, False)
    """
    for each in iterate_held({key: value} if key else value):
        if each.__class__ is dict:
            if _is_named(each, envelope) or _has_name_and_arguments(each, envelope):
                return True
        elif each is _BROKEN or any(inner.__class__ is str and inner for inner in each):
            return True
    return False


_BROKEN = object()


def iterate_held(value: Any) -> Iterator[Any]:
    """Every object and list in a value, also in texts that are JSON; `_BROKEN` for one that only begins like it."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if each.__class__ is str:
            each = _decode(each)
        if each.__class__ is dict:
            yield each
            waiting += each.values()
        elif each.__class__ is list:
            yield each
            waiting += each
        elif each is _BROKEN:
            yield each


def _decode(text: str) -> Any:
    """The object or list that a text is; `_BROKEN` if it begins like one and is not JSON, else None."""
    if not text.lstrip().startswith(JSON_STARTS):
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return _BROKEN


def _is_named(value: dict[str, Any], envelope: AbstractSet[str]) -> bool:
    """Whether a key, or a type, names an act of calling."""
    for key, inner in value.items():
        if key in KIND_KEYS and inner.__class__ is str:
            if has_call_word(inner):
                return True
        elif inner and inner.__class__ in (str, dict, list) and key not in envelope and has_call_word(key):
            return True
    return False


def _has_name_and_arguments(value: dict[str, Any], envelope: AbstractSet[str]) -> bool:
    if not any(inner and may_hold(inner) for inner in value.values()):
        return False
    texts = (inner for key, inner in value.items() if inner.__class__ is str and key not in envelope)
    return any(text.strip() and not may_hold(text) for text in texts)


def _has_name_alone(value: dict[str, Any]) -> bool:
    """Whether an object names a call that has no arguments."""
    held = {key: inner for key, inner in value.items() if inner is None or inner.__class__ in (str, list, dict)}
    if any(inner and has_call_word(key, ACTS) for key, inner in held.items()):
        return True
    texts = {key: inner for key, inner in value.items() if inner.__class__ is str and inner.strip()}
    if texts.keys() <= ENVELOPE:
        return False
    kinds = (texts[key] for key in KIND_KEYS.intersection(texts))
    return not ARGUMENTS.isdisjoint(held) or any(has_call_word(each, ACTS) for each in kinds)


def split_words(name: str) -> list[str]:
    """The words of a key or a type, in lower case."""
    return [word.lower() for word in _WORD.findall(name[:200])]


@lru_cache(maxsize=4_096)
def has_call_word(name: str, among: AbstractSet[str] = CALL_WORDS) -> bool:
    """Whether a key, or a type, names an act of calling; `transactionId`, `functionality` and `recall` do not.

    >>> [has_call_word(name) for name in ("toolsUsed", "run_command", "dynamicInvocation", "recall", "response_id")]
    [True, True, True, False, False]
    """
    parts = split_words(name)
    if any(part in "".join(parts) for part in PARTS_OF_WORDS):
        return True
    return not among.isdisjoint(parts) and parts[-1] not in ID_WORDS
