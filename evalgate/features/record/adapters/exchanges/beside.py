"""Judges what exchanges show beside the messages that were read, by the function that judges files of messages.

A provider or a gateway that runs tools itself tells of them in fields, events and requests of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.anthropic.reader import READER as ANTHROPIC_READER
from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap, note_acts, note_unread, search_calls
from evalgate.adapters.formats.core.builder.unread_calls import is_result_key
from evalgate.adapters.formats.core.fields import FieldError
from evalgate.adapters.formats.openai_chat.reader import READER as CHAT_READER
from evalgate.adapters.formats.openai_responses.reader import READER as RESPONSES_READER
from evalgate.adapters.formats.openai_responses.reader import note_unnamed
from evalgate.features.record.measures.other_paths import ANTHROPIC, CHAT, RESPONSES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from evalgate.models.trace.trace import Trace

READERS = {CHAT: CHAT_READER, RESPONSES: RESPONSES_READER, ANTHROPIC: ANTHROPIC_READER}
DEFINITIONS = "tools"
_JOINTS = re.compile(r"__|[./-]")
"""What stands between the name of a server and that of its tool."""


def build_records(api: str, request: dict[str, Any], answers: Sequence[dict[str, Any] | None]) -> list[dict[str, Any]]:
    """What an exchange shows, as files hold it: `request` has the messages or items that no earlier one had.

    Without definitions of tools: a response repeats those of its request.
    """
    plain = [{key: value for key, value in each.items() if key != DEFINITIONS} for each in answers if each]
    found = [{"response": each} if api == ANTHROPIC else each for each in plain]
    return [request, *found]


def select_results(body: dict[str, Any]) -> dict[str, Any]:
    """The fields of a request that are called like results of tools; the others are settings."""
    return {key: value for key, value in body.items() if is_result_key(key)}


def note_beside(trace: Trace, api: str | None, record: Any, names: AbstractSet[str]) -> None:
    """Makes the evidence of calls incomplete if what was shown may hold one that was not read; `names` are of those.

    Without an API it is a request or an answer that has no messages, or an event of no API.
    """
    warnings = trace.warnings
    try:
        if api is None:
            search_calls(trace, record, names | {end for name in names for end in _list_ends(name)})
        else:
            note_unread(trace, record, READERS[api], names)
        if api == RESPONSES:
            note_unnamed(trace, record)
    except FieldError as error:
        add_gap(trace, "calls", f"of a recorded exchange, {str(error).partition(': ')[0]}")
    trace.warnings = [each for each in trace.warnings if each in warnings or each["code"] != "unknown_field"]


def note_own_events(trace: Trace, events: Sequence[dict[str, Any]], names: AbstractSet[str]) -> None:
    """Judges events of a stream that are of no known API: most tell how far it is."""
    note_beside(trace, None, list(events), names)
    note_acts(trace, [(None, each) for each in events], lambda _: "an event of a stream", names)


def _list_ends(name: str) -> list[str]:
    """The name of a tool without that of its server, as one asks a gateway for it.

    >>> _list_ends("mcp__db__delete_user")
    ['db__delete_user', 'delete_user']
    """
    return [name[joint.end() :] for joint in _JOINTS.finditer(name)]
