"""What the name of a tool says about it: whether it looks something up, changes something, or is hard to undo."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_LENGTH = 200
"""Characters of a name that are looked at."""
_DESTRUCTIVE_VERBS = (
    "delete|remove|drop|destroy|purge|wipe|erase|cancel|refund|revoke|terminate|transfer|reset|disable"
    "|deactivate|unsubscribe|overwrite|kill|uninstall|void|charge|rm"
)
_CHANGING_VERBS = (
    "add|apply|book|buy|create|edit|exchange|execute|insert|issue|make|modify|move|pay|place|post"
    "|publish|push|put|return|run|save|schedule|send|set|submit|update|upload|write"
)
_READING_VERBS = "get|list|search|find|read|fetch|lookup|query|check|view|describe"
_DESTRUCTIVE = re.compile(rf"(?<![a-z])(?:{_DESTRUCTIVE_VERBS})(?![a-z])")
_CHANGES = re.compile(rf"(?<![a-z])(?:{_CHANGING_VERBS})(?![a-z])")
_READS = re.compile(rf"(?:{_READING_VERBS}|look|show|count|verify)(?![a-z])")
_VERB = re.compile(rf"(?<![a-z])(?:(?P<reads>{_READING_VERBS})|{_CHANGING_VERBS}|{_DESTRUCTIVE_VERBS})(?![a-z])")
_READS_IN_ONE_WORD = re.compile(r"(?:get|list|search|find|read|fetch|lookup|query|view|describe)[a-z0-9]+")
_OR_CHANGES = re.compile(rf"_(?:or|and)_(?:{_CHANGING_VERBS}|{_DESTRUCTIVE_VERBS})(?![a-z])")
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def separate_words(name: str) -> str:
    """A name with an underscore before each word that begins with a capital letter.

    >>> separate_words("deleteFile"), separate_words("order_id")
    ('delete_File', 'order_id')
    """
    return _WORD_START.sub("_", name)


def is_look_up(tool: str) -> bool:
    """Whether the name of a tool begins with a word for reading.

    >>> is_look_up("getOrder"), is_look_up("budget_order")
    (True, False)
    """
    return _READS.match(separate_words(tool).lower()) is not None


def is_destructive(tool: str) -> bool:
    """Whether the name of a tool has a word for an action that is hard to undo, and does not begin as a look-up.

    >>> is_destructive("cancel_order"), is_destructive("deleteFile"), is_destructive("check_refund_policy")
    (True, True, False)
    """
    return _DESTRUCTIVE.search(separate_words(tool).lower()) is not None and not is_look_up(tool)


def has_effect(tool: str) -> bool:
    """Whether the name of a tool has a word for changing something, and does not begin as a look-up.

    >>> has_effect("update_order"), has_effect("sendEmail"), has_effect("get_order"), has_effect("calculate")
    (True, True, False, False)
    """
    words = separate_words(tool).lower()
    is_changing = _DESTRUCTIVE.search(words) is not None or _CHANGES.search(words) is not None
    return is_changing and not is_look_up(tool)


def unwrap_definition(recorded: dict[str, Any]) -> dict[str, Any]:
    """The part with name and parameters, which OpenAI's chat API has one level deeper than others.

    >>> unwrap_definition({"type": "function", "function": {"name": "refund"}}), unwrap_definition({"name": "refund"})
    ({'name': 'refund'}, {'name': 'refund'})
    """
    inner = recorded.get("function")
    return inner if isinstance(inner, dict) else recorded


def changes_something(tool: str, definitions: Iterable[dict[str, Any]] = ()) -> bool:
    """Whether a call of a tool may change something: unless its `readOnlyHint` or the first verb of its name denies it.

    An unknown verb changes something. `definitions` are those of the trace, with MCP's `annotations`.

    >>> [changes_something(each) for each in ("get_order", "web_search", "mcp__db__listTables", "getweather")]
    [False, False, False, False]
    >>> [changes_something(each) for each in ("delete_view", "get_or_create_user", "checkout", "think")]
    [True, True, True, True]
    >>> changes_something("peek", [{"name": "peek", "annotations": {"readOnlyHint": True}}])
    False
    """
    hint = _find_read_only_hint(tool, definitions)
    return _has_changing_name(tool) if hint is None else not hint


@lru_cache(maxsize=1_000)
def _has_changing_name(tool: str) -> bool:
    words = separate_words(tool[:MAX_LENGTH]).lower()
    if _READS_IN_ONE_WORD.fullmatch(words):
        return False
    verb = _VERB.search(words)
    return verb is None or verb["reads"] is None or _OR_CHANGES.search(words) is not None


def _find_read_only_hint(tool: str, definitions: Iterable[dict[str, Any]]) -> bool | None:
    for recorded in definitions:
        definition = unwrap_definition(recorded)
        annotations = definition.get("annotations", recorded.get("annotations"))
        if definition.get("name") == tool and isinstance(annotations, dict):
            hint = annotations.get("readOnlyHint")
            return hint if isinstance(hint, bool) else None
    return None
