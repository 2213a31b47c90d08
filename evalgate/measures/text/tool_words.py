"""What the name of a tool says about it: whether it looks something up, changes something, or is hard to undo."""

from __future__ import annotations

import re

_DESTRUCTIVE = re.compile(
    r"(?<![a-z])(?:delete|remove|drop|destroy|purge|wipe|erase|cancel|refund|revoke|terminate|transfer|reset|disable"
    r"|deactivate|unsubscribe|overwrite|kill|uninstall|void|charge|rm)(?![a-z])"
)
_CHANGES = re.compile(
    r"(?<![a-z])(?:add|apply|book|buy|create|edit|exchange|execute|insert|issue|make|modify|move|pay|place|post"
    r"|publish|push|put|return|run|save|schedule|send|set|submit|update|upload|write)(?![a-z])"
)
_READS = re.compile(
    r"(?:check|get|list|search|find|read|look|lookup|show|fetch|query|describe|view|count|verify)(?![a-z])"
)
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
