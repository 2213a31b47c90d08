"""Orders model calls into threads: a call that repeats the messages of an earlier one and its answer continues it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.adapters.formats.core.builder.conversation import RawMessage
    from evalgate.features.record.adapters.exchanges.model_calls import ExchangeCall, MessageKey


class CallThread(Struct):
    """Model calls of one conversation in order.

    `keys` are those of all messages up to the last answer; `retried` and `compacted` count calls that repeat a failed
    one, and calls whose earlier messages were replaced.
    """

    calls: list[ExchangeCall]
    messages: list[RawMessage]
    keys: list[MessageKey]
    retried: list[ExchangeCall] = field(default_factory=list)
    compacted: int = 0

    @property
    def last(self) -> ExchangeCall:
        """The last call."""
        return self.calls[-1]


def find_threads(calls: Iterable[ExchangeCall]) -> list[CallThread]:
    """The threads of all calls with messages, in the order of their first calls; the first one is the main thread."""
    threads: list[CallThread] = []
    by_response: dict[str, CallThread] = {}
    for call in calls:
        if call.api is None:
            continue
        known = by_response.get(call.previous_id or "")
        if known is not None:
            call.messages = [*known.messages, *call.messages]
            call.keys = [*known.keys, *call.keys]
        thread = _find_retried(threads, call) or _find_continued(threads, call) or _find_compacted(threads, call)
        if thread is None:
            thread = CallThread([], [], [])
            threads.append(thread)
        _add(thread, call)
        if call.response.id is not None:
            by_response[call.response.id] = CallThread([call], [*thread.messages], [*thread.keys])
    return _main_first(threads)


def _add(thread: CallThread, call: ExchangeCall) -> None:
    thread.calls.append(call)
    thread.messages = [*call.messages, *call.answer]
    thread.keys = [*call.keys, *call.answer_keys]


def _find_retried(threads: list[CallThread], call: ExchangeCall) -> CallThread | None:
    """The thread whose last call failed and had the same messages: that one does not count."""
    for thread in reversed(threads):
        last = thread.last
        if last.error is not None and not last.answer_keys and last.keys == call.keys and last.system == call.system:
            thread.retried.append(thread.calls.pop())
            return thread
    return None


def _find_continued(threads: list[CallThread], call: ExchangeCall) -> CallThread | None:
    """The thread with the longest list of messages with which those of the call begin."""
    found = [
        thread
        for thread in threads
        if len(thread.keys) < len(call.keys)
        and thread.last.answer_keys
        and call.keys[: len(thread.keys)] == thread.keys
    ]
    return max(found, key=lambda thread: len(thread.keys), default=None)


def _find_compacted(threads: list[CallThread], call: ExchangeCall) -> CallThread | None:
    """The latest thread that the call can only continue with other messages in place of the earlier ones."""
    for thread in reversed(threads):
        last = thread.last
        is_later = last.api == call.api and last.ended_at <= call.exchange.started_at
        is_shorter = call.system is not None and len(call.keys) < len(last.keys)
        is_rewritten = len(call.keys) > len(last.keys) and call.keys[:1] == last.keys[:1]
        if is_later and call.system == last.system and (is_shorter or is_rewritten):
            thread.compacted += 1
            return thread
    return None


def _main_first(threads: list[CallThread]) -> list[CallThread]:
    """Puts the thread first that begins with the first request; of several such ones the longest."""
    if not threads:
        return threads
    first = threads[0].calls[0]
    begins = [
        thread
        for thread in threads
        if thread.calls[0].keys[: len(first.keys)] == first.keys and thread.calls[0].system == first.system
    ]
    main = max(begins, key=lambda thread: len(thread.last.keys))
    return [main, *(thread for thread in threads if thread is not main)]
