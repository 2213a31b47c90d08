"""Which executions of a rollout are those of the model's own items, whichever of both is recorded first."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from evalgate.adapters.formats.codex.executions import (
    COMPLETED,
    EVENTS,
    PROVIDED,
    SEARCH,
    STARTED,
    Ran,
    read_execution,
    read_search,
)
from evalgate.adapters.formats.core.builder.conversation import drop_nulls
from evalgate.adapters.formats.core.builder.copied_history import is_copied
from evalgate.adapters.formats.core.fields import dict_or_empty, do_each
from evalgate.adapters.formats.core.strict_json import encode_json
from evalgate.adapters.formats.messages.responses import CALL, OUTPUT, read_name

if TYPE_CHECKING:
    from collections.abc import Sequence

OF_PROVIDED = [STARTED, COMPLETED, *(kind for kind, (tool, _) in EVENTS.items() if tool in PROVIDED)]
"""Types of events that may be about a tool of the provider."""
ANY, UNKNOWN = "any", "unknown"
"""Keys of every item, and of those that don't say what they asked for."""


def find_requests(lines: Sequence[Any]) -> dict[str, str]:
    """The tools that items ask for, by the ids of their calls and of executions that are theirs. Raises FieldError."""
    found = _Found()
    do_each(lines, "lines", found.add)
    found.join_provided()
    return found.tools


class _Found(Struct):
    """Items and events of a rollout, collected in order."""

    tools: dict[str, str] = field(default_factory=dict)
    provided: list[tuple[str, dict[str, Any], list[str]]] = field(default_factory=list)
    """What items of provided tools asked for: the tool, its arguments, and the item's ids."""
    executions: dict[str, Ran] = field(default_factory=dict)
    """The last state of each execution of a provided tool that says what it was asked for."""

    def add(self, line: dict[str, Any]) -> None:
        payload, kind = dict_or_empty(line.get("payload")), line.get("type")
        if kind == "event_msg":
            may_be = payload.get("type") in OF_PROVIDED and not is_copied(line)
            ran = read_execution(payload) if may_be else None
            if ran is not None and ran.id is not None and ran.tool in PROVIDED:
                known = self.executions.get(ran.id)
                self.executions[ran.id] = ran if ran.arguments or known is None else known
        elif kind == "response_item" or not payload:
            self._add_item(payload or line, is_own=not is_copied(line))

    def _add_item(self, item: dict[str, Any], *, is_own: bool) -> None:
        kind, name = item.get("type"), item.get("name")
        if not isinstance(kind, str) or kind.endswith(OUTPUT) or not (kind.endswith(CALL) or isinstance(name, str)):
            return
        tool = read_name(item) if isinstance(name, str) and name else kind.removesuffix(CALL)
        ids = [each for key in ("call_id", "id") if isinstance(each := item.get(key), str) and each]
        self.tools.update(dict.fromkeys(ids, tool))
        if is_own and tool in PROVIDED:
            asked = read_search(item) if tool == SEARCH else {"revised_prompt": item.get("revised_prompt")}
            self.provided.append((tool, drop_nulls(asked), ids))

    def join_provided(self) -> None:
        """Joins executions of provided tools that have another id than their items with what asks for the same.

        Each item has one execution; one that says what it did is joined before one that does not.
        """
        others = {known: ran for known, ran in self.executions.items() if known not in self.tools}
        waiting = _index([each for each in self.provided if self.executions.keys().isdisjoint(each[2])])
        taken: set[int] = set()
        for known, ran in sorted(others.items(), key=lambda each: not each[1].arguments):
            queues = (waiting.get((ran.tool, key), deque()) for key in _list_wanted(ran.arguments or {}))
            number = next((found for queue in queues if (found := _take(queue, taken)) is not None), None)
            if number is not None:
                taken.add(number)
                self.tools[known] = ran.tool


def _index(items: list[tuple[str, dict[str, Any], list[str]]]) -> dict[tuple[str, str], deque[int]]:
    found: dict[tuple[str, str], deque[int]] = {}
    for number, (tool, asked, _) in enumerate(items):
        for key in _list_offered(asked):
            found.setdefault((tool, key), deque()).append(number)
    return found


def _take(queue: deque[int], taken: set[int]) -> int | None:
    while queue:
        number = queue.popleft()
        if number not in taken:
            return number
    return None


def _list_offered(asked: dict[str, Any]) -> list[str]:
    """Keys under which an execution finds the item that asked for this."""
    texts = {str(each) for each in (asked.get("query"), asked.get("url"), *_list_queries(asked)) if each}
    subject = _describe(asked)
    return [subject or UNKNOWN, *sorted(f"text {each}" for each in texts), ANY]


def _list_wanted(ran: dict[str, Any]) -> list[str]:
    """The keys by which an execution looks for its item, the surest first."""
    subject = _describe(ran)
    by_query = [f"text {ran['query']}"] if ran.keys() == {"query"} else []
    return [subject, *by_query, UNKNOWN] if subject else [ANY]


def _describe(asked: dict[str, Any]) -> str:
    """What a search or a picture is about; empty if that is not recorded."""
    query = asked.get("query") or next(iter(_list_queries(asked)), None)
    known = drop_nulls({**{key: asked.get(key) for key in ("url", "pattern", "revised_prompt")}, "query": query})
    return encode_json(known) if known else ""


def _list_queries(asked: dict[str, Any]) -> list[Any]:
    queries = asked.get("queries")
    return queries if isinstance(queries, list) else []
