"""Builds one conversation from model calls that were logged each with its whole request and its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from evalgate.adapters.formats.core.builder.conversation import (
    Conversation,
    RawMessage,
    add_raw_message,
    build_recorded_call_key,
)
from evalgate.adapters.formats.core.builder.run import MeteredConversation
from evalgate.models.trace.actors import ROOT, ActorPaths

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.trace.trace import ToolCall, Usage


class LoggedCall(Struct):
    """One logged call of a model."""

    request: list[RawMessage] = field(default_factory=list)
    answer: list[RawMessage] = field(default_factory=list)
    usage: Usage | None = None
    cost_usd: float | None = None
    provider: str | None = None
    model: str | None = None
    response_id: str | None = None
    finish_reason: str | None = None
    duration_ms: float | None = None
    is_metered: bool = True


class Thread(Struct):
    """Calls of which each continues the one before it: its request starts with that request and answer."""

    calls: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    conversation: Conversation = field(default_factory=Conversation)


def build_conversation(calls: Sequence[LoggedCall], *, is_one_thread: bool) -> MeteredConversation:
    """The conversation of the longest thread, with the tool calls of all threads in order.

    With `is_one_thread` a call that continues no other adds its answer to the one conversation, but not its
    prompt: the steps of a program that writes a new prompt for each.
    """
    threads = _find_threads(calls)
    chat = MeteredConversation()
    main = max(threads, key=lambda thread: len(calls[thread.calls[-1]].request)) if threads else Thread()
    main.conversation = chat.conversation
    ranked: list[tuple[int, int, ToolCall]] = []
    seen: set[Any] = set()
    for rank, call in enumerate(calls):
        number, thread = next((n, one) for n, one in enumerate(threads) if rank in one.calls)
        start = thread.starts[thread.calls.index(rank)]
        added = call.request[start:]
        into = thread.conversation
        if is_one_thread:
            into, number = chat.conversation, 0
            if rank and not start:
                added = [message for message in added if message.calls or message.answers]
        before = len(into.calls)
        _add_messages(into, added, seen)
        _add_messages(into, call.answer, seen)
        ranked += [(rank, number, found) for found in into.calls[before:]]
        if call.is_metered:
            _add_llm_call(chat, call, rank)
    _name_actors(ranked, chat.conversation.calls)
    _number_calls(chat, ranked)
    return chat


def _find_threads(calls: Sequence[LoggedCall]) -> list[Thread]:
    threads: list[Thread] = []
    for rank, call in enumerate(calls):
        for thread in reversed(threads):
            start = _find_continuation(calls[thread.calls[-1]], call)
            if start is not None:
                break
        else:
            thread, start = Thread(), 0
            threads.append(thread)
        thread.calls.append(rank)
        thread.starts.append(start)
    return threads


def _find_continuation(earlier: LoggedCall, later: LoggedCall) -> int | None:
    """Where the new messages of a later request begin; None if it does not continue the earlier call."""
    size = len(earlier.request)
    if not size or len(later.request) < size or later.request[:size] != earlier.request:
        return None
    if not earlier.answer:
        return size
    end = size
    while end < len(later.request) and later.request[end].role == "assistant":
        end += 1
    is_same = end > size and _describe_answer(later.request[size:end]) == _describe_answer(earlier.answer)
    return end if is_same else None


def _describe_answer(messages: Sequence[RawMessage]) -> Any:
    """What an answer is compared by: its calls, else its text."""
    calls = [build_recorded_call_key(call.name, call.arguments) for message in messages for call in message.calls]
    return calls or "".join(message.content or "" for message in messages).strip()


def _add_messages(conversation: Conversation, messages: Iterable[RawMessage], seen: set[Any]) -> None:
    """Adds messages, without calls that another thread repeats from its history: same id, tool and arguments."""
    for message in messages:
        keys = [(call.id, *build_recorded_call_key(call.name, call.arguments)) for call in message.calls]
        message.calls = [
            call for call, key in zip(message.calls, keys, strict=True) if call.id is None or key not in seen
        ]
        seen.update(keys)
        add_raw_message(conversation, message)


def _add_llm_call(chat: MeteredConversation, call: LoggedCall, rank: int) -> None:
    added = chat.add_llm_call(
        call.usage,
        provider=call.provider,
        model=call.model,
        response_id=call.response_id,
        reason=call.finish_reason,
        cost_usd=call.cost_usd,
        duration_ms=call.duration_ms,
    )
    added["step"] = rank


def _name_actors(ranked: Iterable[tuple[int, int, ToolCall]], own: Iterable[ToolCall]) -> None:
    """Calls of another thread than the main one are those of another agent, whose name is not recorded."""
    known = set(map(id, own))
    paths = ActorPaths()
    actors: dict[int, str] = {}
    for _, number, call in ranked:
        if id(call) in known:
            continue
        if number not in actors:
            actors[number] = paths.add(ROOT, None)
        call["actor"] = actors[number]


def _number_calls(chat: MeteredConversation, ranked: list[tuple[int, int, ToolCall]]) -> None:
    """Orders the calls of all threads by the model call that made them, and numbers them and their steps."""
    steps: dict[Any, int] = {}
    for rank, number, call in ranked:
        steps.setdefault((rank, number, call["step"]), len(steps) + 1)
    by_rank = {rank: steps[rank, number, call["step"]] for rank, number, call in ranked}
    step = 0
    for llm_call in chat.llm_calls:
        step = llm_call["step"] = by_rank.get(llm_call["step"], step + 1)
    for index, (rank, number, call) in enumerate(ranked):
        call["index"], call["step"] = index, steps[rank, number, call["step"]]
    chat.conversation.calls = [call for _, _, call in ranked]
