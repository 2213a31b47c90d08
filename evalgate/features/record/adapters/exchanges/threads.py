"""Orders model calls into chains: a call that repeats the messages of an earlier one and its answer continues it.

The calls form trees, as two of them may continue one: the main agent and a copy of it. A chain is a path through one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.adapters.formats.core.builder.conversation import RawMessage
    from evalgate.features.record.adapters.exchanges.model_calls import ExchangeCall, MessageKey


class CallThread(Struct):
    """Model calls of one agent in order, in parts: a part replaces the earlier messages by shorter ones."""

    parts: list[list[ExchangeCall]] = field(default_factory=list)

    @property
    def calls(self) -> list[ExchangeCall]:
        """All calls."""
        return [call for part in self.parts for call in part]

    @property
    def last(self) -> ExchangeCall:
        """The last call."""
        return self.parts[-1][-1]


class Threads(Struct):
    """The threads of a run, and the failed calls that were made again, which do not count.

    The main one is the first; it has no calls if none has messages.
    """

    found: list[CallThread]
    retried: list[ExchangeCall]


class _Node(Struct, eq=False):
    """A call and those that continue it; `is_compacted` if it has other messages in place of the earlier ones."""

    call: ExchangeCall
    is_compacted: bool = False
    children: list[_Node] = field(default_factory=list)

    @property
    def state(self) -> list[MessageKey]:
        """What a call has to begin with to continue this one."""
        return [*self.call.keys, *self.call.answer_keys]


def find_threads(calls: Iterable[ExchangeCall]) -> Threads:
    """The threads of all calls with messages, which are in the order of their requests."""
    forest = _Forest()
    for call in calls:
        if call.api is not None:
            forest.add(call)
    roots = _main_first(forest.roots)
    main, *others = [thread for root in roots for thread in _list_threads(root)] or [CallThread()]
    return Threads([main, *(each for thread in others for each in _split_finished(thread))], forest.retried)


class _Forest:
    """The trees of calls that were added so far."""

    def __init__(self) -> None:
        self.roots: list[_Node] = []
        self.retried: list[ExchangeCall] = []
        self._nodes: list[_Node] = []
        self._by_state: dict[int, list[_Node]] = {}
        self._by_response: dict[str, _Node] = {}

    def add(self, call: ExchangeCall) -> None:
        """Adds a call below the one that it continues."""
        known = self._by_response.get(call.previous_id or "")
        if known is not None:
            call.messages = [*list_messages(known.call), *call.messages]
            call.keys = [*known.state, *call.keys]
        node = self._take_retried(call)
        if node is None:
            node = self._add_node(call)
        if call.answer_keys:
            self._by_state.setdefault(_hash_prefixes(node.state)[-1], []).append(node)
        for name in (call.response.id, call.conversation_id):
            if name is not None:
                self._by_response[name] = node

    def _add_node(self, call: ExchangeCall) -> _Node:
        continued = self._find_continued(call)
        compacted = None if continued is not None else self._find_compacted(call)
        above, node = continued or compacted, _Node(call, compacted is not None)
        (self.roots if above is None else above.children).append(node)
        self._nodes.append(node)
        return node

    def _take_retried(self, call: ExchangeCall) -> _Node | None:
        """The latest call that failed and had the same messages, replaced by this one."""
        for node in reversed(self._nodes):
            last = node.call
            if node.children or last.error is None or last.answer_keys:
                continue
            if last.keys == call.keys and last.system == call.system:
                self.retried.append(last)
                node.call = call
                return node
        return None

    def _find_continued(self, call: ExchangeCall) -> _Node | None:
        """The call with the longest messages with which those of this one begin: one that nothing continues yet."""
        hashes = _hash_prefixes(call.keys)
        for size in range(len(call.keys) - 1, 0, -1):
            nodes = self._by_state.get(hashes[size - 1], ())
            found = [node for node in nodes if node.state == call.keys[:size]]
            if found:
                return next((node for node in found if not node.children), found[0])
        return None

    def _find_compacted(self, call: ExchangeCall) -> _Node | None:
        """The latest call that this one can only continue with other messages in place of the earlier ones."""
        for node in reversed(self._nodes):
            last = node.call
            if node.children or last.api != call.api or last.system != call.system:
                continue
            is_shorter = call.system is not None and len(call.keys) < len(last.keys)
            is_rewritten = len(call.keys) > len(last.keys) and call.keys[:1] == last.keys[:1]
            keeps_answer = bool(last.answer_keys) and last.answer_keys[0] in call.keys
            if last.ended_at <= call.exchange.started_at and (is_shorter or is_rewritten or keeps_answer):
                return node
        return None


def list_messages(call: ExchangeCall) -> list[RawMessage]:
    """The messages of a request and its answer."""
    return [*call.messages, *call.answer]


def _hash_prefixes(keys: Sequence[MessageKey]) -> list[int]:
    """A hash of the first key, of the first two, and so on."""
    found: list[int] = []
    for key in keys:
        found.append(hash((found[-1] if found else 0, key)))
    return found


def _main_first(roots: list[_Node]) -> list[_Node]:
    """Puts the tree first that begins with the first request; of several such ones that with the longest messages."""
    if not roots:
        return roots
    first = roots[0].call
    begins = [
        root for root in roots if root.call.keys[: len(first.keys)] == first.keys and root.call.system == first.system
    ]
    main = max(begins, key=lambda root: max(len(node.call.keys) for node in _walk(root)))
    return [main, *(root for root in roots if root is not main)]


def _walk(root: _Node) -> list[_Node]:
    """A node and all below it."""
    found, left = [], [root]
    while left:
        node = left.pop()
        found.append(node)
        left += node.children
    return found


def _list_threads(root: _Node) -> list[CallThread]:
    """The paths of a tree; that of its root comes first."""
    found, starts = [], [root]
    while starts:
        node: _Node | None = starts.pop(0)
        thread = CallThread()
        is_first = True
        while node is not None:
            if is_first or node.is_compacted:
                thread.parts.append([])
            thread.parts[-1].append(node.call)
            is_first, following = False, _choose(node.children)
            starts += [child for child in node.children if child is not following]
            node = following
        found.append(thread)
    return found


def _split_finished(thread: CallThread) -> list[CallThread]:
    """A thread of another agent, divided where that had given its answer: what follows is another run of it."""
    found: list[CallThread] = []
    for part in thread.parts:
        if found and any(message.calls for message in found[-1].last.answer):
            found[-1].parts.append(part)
        else:
            found.append(CallThread([part]))
    return found


def _choose(children: Sequence[_Node]) -> _Node | None:
    """The call that goes on for the same agent: with all its messages, and of several the one that does so last."""
    if len(children) <= 1:
        return next(iter(children), None)
    return max(
        children,
        key=lambda child: (not child.is_compacted, max(node.call.exchange.arrived_at for node in _walk(child))),
    )
