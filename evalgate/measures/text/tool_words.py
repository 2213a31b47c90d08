"""What the name of a tool says about it: whether it looks something up, changes something, or is hard to undo."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from evalgate.measures.text.globs import matches_id
from evalgate.models.trace.trace import NO_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.trace.trace import ToolKinds

MAX_LENGTH = 200
"""Characters of a name that are looked at."""
SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema")
_DESTRUCTIVE_VERBS = (
    "delete|remove|drop|destroy|purge|wipe|erase|cancel|refund|revoke|terminate|transfer|reset|disable"
    "|deactivate|unsubscribe|overwrite|kill|uninstall|void|charge|rm"
)
_CHANGING_VERBS = (
    "activate|add|apply|approve|assign|book|buy|create|deploy|edit|enable|enroll|exchange|execute|insert|install|invite"
    "|issue|make|modify|move|notify|pay|place|post|publish|purchase|push|put|register|reject|reserve|return|run|save"
    "|schedule|send|set|submit|subscribe|update|upload|withdraw|write"
)
_READING_VERBS = "get|list|search|find|read|fetch|look_?up|query|check|view|describe"
_START = r"(?:\A|__|[./:])"
_READS = rf"(?<![a-z])(?:{_READING_VERBS})|{_START}(?:show|count|verify|retrieve|inspect|browse|preview)"
"""Those of the second kind are nouns elsewhere."""
_DESTRUCTIVE = re.compile(rf"(?<![a-z])(?:{_DESTRUCTIVE_VERBS})(?![a-z])")
_CHANGES = re.compile(rf"(?<![a-z])(?:{_CHANGING_VERBS}|{_DESTRUCTIVE_VERBS})(?![a-z])")
_VERB = re.compile(rf"(?:(?P<reads>{_READS})|{_CHANGES.pattern})(?![a-z])")
_READS_IN_ONE_WORD = re.compile(r"(?:get|list|search|find|read|fetch|lookup|query|view|describe)[a-z0-9]+")
_OR_CHANGES = re.compile(rf"_(?:or|and)_(?:{_CHANGING_VERBS}|{_DESTRUCTIVE_VERBS})(?![a-z])")
_DATA = re.compile(
    r"(?:\A|[^a-z0-9])(?:availability|balance|balances|catalog|catalogue|details|forecast|history|info|information"
    r"|inventory|manifest|metadata|price|prices|schedule|stats|statistics|status|summary|timetable|weather|window"
    r"|windows)\Z"
)
"""The last word of a name that says what is looked up, such as `berth_status`, unless the first one is a verb."""
_ORDERS_CHANGE = re.compile(
    rf"{_START}(?:accept|adjust|advance|alter|announce|append|archive|attach|ban|block|broadcast|bump|call|change"
    r"|clear|close|commit|compile|complete|compose|confirm|copy|decline|decrease|deny|deposit|detach|dispatch|draft|email"
    r"|end|export|extend|file|fill|finalize|finish|fix|flip|flush|forward|freeze|generate|grant|import|increase|init"
    r"|initialize|launch|leave|link|load|lock|log|lower|mail|map|mark|mask|merge|message|mute|open|override|patch|pause"
    r"|persist|pin|print|process|prune|raise|rebook|record|recompute|release|rename|repair|replace|reply|report|request"
    r"|reschedule|restart|restore|resume|rollback|rotate|seal|sell|share|shift|ship|shut|sign|split|start|stop|store"
    r"|suspend|swap|switch|sync|tag|text|toggle|top|trade|trigger|turn|undo|unlock|unset|use|widen|wind)(?![a-z])"
)
_OF_CONVERSATION = re.compile(
    r"(?:think|calculate|compute|transfer_to|hand_?(?:off|over)|escalate)(?![a-z])", re.IGNORECASE
)
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def separate_words(name: str) -> str:
    """A name with an underscore before each word that begins with a capital letter.

    >>> separate_words("deleteFile"), separate_words("order_id")
    ('delete_File', 'order_id')
    """
    return _WORD_START.sub("_", name)


def is_destructive(tool: str, kinds: ToolKinds = NO_KINDS) -> bool:
    """Whether the name of a tool has a word for an action that is hard to undo, and is not that of a look-up.

    >>> is_destructive("cancel_order"), is_destructive("deleteFile"), is_destructive("check_refund_policy")
    (True, True, False)
    """
    return _DESTRUCTIVE.search(separate_words(tool).lower()) is not None and changes_something(tool, (), kinds)


def has_effect(tool: str, kinds: ToolKinds = NO_KINDS) -> bool:
    """Whether the name of a tool, or a suite, says that it changes something: more than that nothing denies it.

    >>> has_effect("update_order"), has_effect("sendEmail"), has_effect("get_order"), has_effect("calculate")
    (True, True, False, False)
    """
    said = find_kind(tool, kinds)
    if said is not None:
        return not said
    return _CHANGES.search(separate_words(tool).lower()) is not None and changes_something(tool)


def is_of_conversation(tool: str) -> bool:
    """Whether a tool changes nothing outside of the conversation, or ends it: such calls come and go by chance.

    >>> is_of_conversation("think"), is_of_conversation("transfer_to_human_agents"), is_of_conversation("thinker")
    (True, True, False)
    """
    return _OF_CONVERSATION.match(tool) is not None


def unwrap_definition(recorded: dict[str, Any]) -> dict[str, Any]:
    """The part with name and parameters, which OpenAI's chat API has one level deeper than others.

    >>> unwrap_definition({"type": "function", "function": {"name": "refund"}}), unwrap_definition({"name": "refund"})
    ({'name': 'refund'}, {'name': 'refund'})
    """
    inner = recorded.get("function")
    return inner if isinstance(inner, dict) else recorded


def find_parameters(tool: str, definitions: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """The schema of a tool's arguments in its definition, under any key that recorders write it; None without one."""
    for recorded in definitions:
        definition = unwrap_definition(recorded)
        if definition.get("name") == tool:
            schemas = (definition.get(key) for key in SCHEMA_KEYS)
            return next((schema for schema in schemas if isinstance(schema, dict)), None)
    return None


def changes_something(tool: str, definitions: Iterable[dict[str, Any]] = (), kinds: ToolKinds = NO_KINDS) -> bool:
    """Whether a call of a tool may change something: as its suite says, else unless its hint or its name denies it.

    The first verb of a name decides; without one, a last word for data makes a look-up. Any other name changes
    something. `definitions` are those of the trace, with MCP's `annotations` (`readOnlyHint`).

    >>> [changes_something(each) for each in ("get_order", "web_search", "mcp__db__listTables", "berth_status")]
    [False, False, False, False]
    >>> [changes_something(each) for each in ("delete_view", "get_or_create_user", "open_window", "think")]
    [True, True, True, True]
    >>> changes_something("peek", [{"name": "peek", "annotations": {"readOnlyHint": True}}])
    False
    """
    hint = find_kind(tool, kinds) if kinds is not NO_KINDS else None
    if hint is None:
        hint = _find_read_only_hint(tool, definitions)
    return _has_changing_name(tool) if hint is None else not hint


def find_kind(tool: str, kinds: ToolKinds) -> bool | None:
    """Whether a tool is a look-up as a suite says; None if it does not. The whole name decides before globs."""
    if tool in kinds.lookups or tool in kinds.changing:
        return tool in kinds.lookups
    if any("*" in each and matches_id(each, tool) for each in kinds.changing):
        return False
    return True if any("*" in each and matches_id(each, tool) for each in kinds.lookups) else None


def change_something(
    tools: Iterable[str], definitions: Sequence[dict[str, Any]] = (), kinds: ToolKinds = NO_KINDS
) -> bool:
    """Whether a call of any of the tools may change something.

    >>> change_something(["get_order", "refund"]), change_something(["get_order"]), change_something([])
    (True, False, False)
    """
    return any(changes_something(each, definitions, kinds) for each in tools)


def may_harm(tool: str, definitions: Iterable[dict[str, Any]] = (), kinds: ToolKinds = NO_KINDS) -> bool:
    """Whether a call of a tool may change something outside of the conversation.

    >>> may_harm("reserve_berth"), may_harm("berth_status"), may_harm("think")
    (True, False, False)
    """
    is_sure = has_effect(tool, kinds) or not is_of_conversation(tool)
    return is_sure and changes_something(tool, definitions, kinds)


@lru_cache(maxsize=1_000)
def _has_changing_name(tool: str) -> bool:
    words = separate_words(tool[:MAX_LENGTH]).lower()
    if _READS_IN_ONE_WORD.fullmatch(words):
        return False
    data = _DATA.search(words)
    verb = _VERB.search(words, 0, len(words) if data is None else data.start())
    if verb is None:
        return data is None or _ORDERS_CHANGE.search(words) is not None
    return verb["reads"] is None or _OR_CHANGES.search(words) is not None


def _find_read_only_hint(tool: str, definitions: Iterable[dict[str, Any]]) -> bool | None:
    for recorded in definitions:
        definition = unwrap_definition(recorded)
        if definition.get("name") != tool:
            continue
        annotations = definition.get("annotations", recorded.get("annotations"))
        if isinstance(annotations, dict):
            hint = annotations.get("readOnlyHint")
            return hint if isinstance(hint, bool) else None
    return None
