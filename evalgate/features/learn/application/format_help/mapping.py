"""Proposes a mapping for the records of a file, and says what it could not find."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from evalgate.features.learn.application.format_help.calls import Found, find_calls, find_results
from evalgate.features.learn.application.format_help.places import EACH, Place, join_alternatives, walk, write
from evalgate.features.learn.application.format_help.texts import find_text
from evalgate.features.learn.application.format_help.types import Types, find_types

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_ENTRIES = 500
MOST_SHOWN = 20
NOT_FOUND = "?"
"""Stands where a type has to be named."""


class EntryList(Struct):
    """Where the entries of a run are. `records` finds runs in a document, `items` entries in a run."""

    entries: list[Any]
    types: Types
    joins_lines: bool
    records: str | None = None
    items: str | None = None


class Proposal(Struct):
    """A mapping as YAML, what was found for it, and what was not."""

    lines: list[str] = field(default_factory=list)
    found: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)


def propose(values: Sequence[Any], *, are_lines: bool) -> Proposal:
    """The mapping for the document, or the lines, of a file; without lines if it has no list of entries."""
    entries = find_entry_list(values, are_lines=are_lines)
    proposal = Proposal()
    if entries is None:
        proposal.missing.append(
            "a list of entries of which some are messages of a user or an agent, by their type or role"
        )
        return proposal
    calls = find_calls(entries.entries)
    results = find_results(entries.entries, calls)
    _add_list(proposal, entries)
    _add_types(proposal, entries, calls)
    _add_fields(proposal, entries, calls, results)
    return proposal


def find_entry_list(values: Sequence[Any], *, are_lines: bool) -> EntryList | None:
    """The list whose entries are messages, calls and results: the lines themselves, or one inside them."""
    top = values if are_lines else values[0] if values and isinstance(values[0], list) else []
    lines = [each for each in top if isinstance(each, dict)][:MOST_ENTRIES]
    log = EntryList(lines, find_types(lines), joins_lines=True)
    known = [kind for entry in lines if (kind := log.types.find_kind(entry)) is not None]
    if len(set(known)) > 1:
        return log
    records = [each for value in values[:MOST_ENTRIES] for each in (value if isinstance(value, list) else [value])]
    lists = [each for place, one in _collect_lists(records).items() if (each := _describe_list(place, one)) is not None]
    found = [each for each in [*lists, *_join_siblings(lists)] if _has_both_sides(each.types)]
    return max(found, key=_rank, default=log if known else None)


def _has_both_sides(types: Types) -> bool:
    return bool(types.of_kind("user") and types.of_kind("assistant"))


def _rank(entries: EntryList) -> tuple[int, int, int]:
    """The list that is the least deep, then the one with the most entries that are something."""
    places = f"{entries.records or ''}.{entries.items or ''}"
    known = sum(entries.types.find_kind(entry) is not None for entry in entries.entries)
    return -(entries.records is not None), -places.count("."), known


def _collect_lists(records: Sequence[Any]) -> dict[Place, list[Any]]:
    lists: dict[Place, list[Any]] = {}
    for record in records:
        for place, value in walk(record):
            if isinstance(value, list) and place:
                lists.setdefault(place, []).extend(each for each in value if isinstance(each, dict))
    return lists


def _describe_list(place: Place, entries: list[Any]) -> EntryList | None:
    """A list of entries; None if it is in two others, or none of them is of a user or an agent."""
    types = find_types(entries[:MOST_ENTRIES])
    if place.count(EACH) > 1 or not types.of_kind("user", "assistant"):
        return None
    outer = place[: place.index(EACH)] if EACH in place else None
    inner = place if outer is None else place[len(outer) + 1 :]
    records = None if outer is None else write(outer)
    return EntryList(entries[:MOST_ENTRIES], types, joins_lines=False, records=records, items=write(inner))


def _join_siblings(lists: Sequence[EntryList]) -> Iterator[EntryList]:
    """Lists of the same run whose types stand in the same place, as one: `[query, response][]`."""
    for first in lists:
        same = [each for each in lists if each.records == first.records and each.types.places == first.types.places]
        names = [each.items or "" for each in same]
        if first is same[0] and len(same) > 1 and not any("." in name for name in names):
            entries = [entry for each in same for entry in each.entries]
            items = f"[{', '.join(names)}][]"
            yield EntryList(entries, find_types(entries), joins_lines=False, records=first.records, items=items)


def _add_list(proposal: Proposal, entries: EntryList) -> None:
    if entries.joins_lines:
        proposal.lines.append("lines: run")
        proposal.found["list"] = "the lines of the file, or its list"
    for name in ("records", "items"):
        expression = getattr(entries, name)
        if expression is not None:
            proposal.lines.append(f"{name}: {quote(expression)}")
            proposal.found["list"] = f"`{expression}`"


def _add_types(proposal: Proposal, entries: EntryList, calls: Sequence[Found]) -> None:
    types = entries.types
    proposal.lines += [f"type_field: {quote(types.expression)}", "types:"]
    for kind in ("user", "assistant", "system", "call", "result"):
        names = types.of_kind(kind)
        if names:
            proposal.lines.append(f"  {kind}: [{', '.join(map(quote, names[:MOST_SHOWN]))}]")
    if not types.of_kind("assistant", "call"):
        proposal.lines.append(f"  assistant: [{quote(NOT_FOUND)}]")
    proposal.unnamed = types.unnamed
    proposal.found["role"] = f"`{types.expression}`"
    proposal.missing += [
        f"the type of {what}: name it in `types.{kind}`"
        for kind, what in (("user", "the user's messages"), ("assistant", "the agent's answers"))
        if not types.of_kind(kind)
    ]
    if any(not call.is_listed for call in calls) and not types.of_kind("call"):
        proposal.missing.append("the type of entries that are calls: name it in `types.call`")


def _add_fields(proposal: Proposal, entries: EntryList, calls: Sequence[Found], results: Found | None) -> None:
    messages = [each for each in entries.entries if entries.types.find_kind(each) in ("user", "assistant")]
    text = find_text(messages, entries.types.places)
    message = {"content": text, **_list_message_fields(calls, results)}
    _add_object(proposal, "message", message)
    if text is None:
        proposal.missing.append("the text of messages: set `message.content`")
    else:
        proposal.found["text"] = f"`{text}`"
    ends = [] if results is None else [results]
    names = ("id", "name", "arguments", "result", "error", "status")
    fields = {name: _join_fields([*calls, *(ends if name in names[3:] else ())], name) for name in names}
    if not calls:
        proposal.missing.append("calls of tools: set `message.tool_calls`, or `types.call`, and `tool_calls`")
        return
    _add_join(proposal, calls, results)
    _add_object(proposal, "tool_calls", fields)
    proposal.found["call"] = f"`{fields['name']}`"
    if results is None and fields["result"] is None:
        proposal.missing.append(
            "results of calls: set `types.result` or `message.tool_results`, and `tool_calls.result`"
        )


def _list_message_fields(calls: Sequence[Found], results: Found | None) -> dict[str, str | None]:
    fields: dict[str, str | None] = {
        "tool_calls": next((call.write_list() for call in calls if call.is_listed), None),
    }
    if results is not None:
        fields["tool_results"] = results.write_list() if results.is_listed else None
        fields["tool_call_id"] = results.write_field("id")
    return fields


def _join_fields(shapes: Sequence[Found], name: str) -> str | None:
    """The expression of a field, in whatever shape has it."""
    return join_alternatives(filter(None, (shape.write_field(name) for shape in shapes))) or None


def _add_join(proposal: Proposal, calls: Sequence[Found], results: Found | None) -> None:
    own = next((call.write_field("id") for call in calls if not call.is_listed), None)
    answered = None if results is None or results.is_listed else results.write_field("id")
    if own is not None and answered is not None:
        _add_object(proposal, "join", {"call_id": own, "result_id": answered})


def _add_object(proposal: Proposal, name: str, fields: dict[str, str | None]) -> None:
    written = [f"  {key}: {quote(value)}" for key, value in fields.items() if value is not None]
    proposal.lines += [f"{name}:", *written] if written else []


def quote(text: str) -> str:
    """A text as YAML: JSON's quotes are YAML's."""
    return json.dumps(text)


def write_suite(proposal: Proposal, path: str) -> Iterator[str]:
    """The lines of a suite with the mapping, to start from."""
    yield from ("suite: mine", f"traces: [{quote(path)}]", "format: custom", "custom:")
    yield from (f"  {line}" for line in proposal.lines)
    if proposal.unnamed:
        shown = ", ".join(map(quote, proposal.unnamed[:MOST_SHOWN]))
        more = f" and {len(proposal.unnamed) - MOST_SHOWN} more" if len(proposal.unnamed) > MOST_SHOWN else ""
        yield f"  # not named, so that calls are incomplete; those without calls go into `types.ignore`: {shown}{more}"
    yield from ("scenarios:", '  - id: "*"', "    assertions:", "      - {type: tool_calls, max: 50, required: true}")
