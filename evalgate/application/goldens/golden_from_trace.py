"""Builds a golden conversation from a good trace: messages, tools used and refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.errors import Problem, SettingError
from evalgate.measures.redaction.redact import redact
from evalgate.measures.text.refusals import is_refusal
from evalgate.models.run.golden import Golden
from evalgate.scoring.golden.refusals import REFUSE
from evalgate.scoring.golden.turns import collect_turns
from evalgate.suite.schema.golden_file import MAX_DUE, MAX_MESSAGE, MAX_TURNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.trace.trace import Trace
    from evalgate.scoring.golden.turns import ActualTurn

UNNAMED = "give the golden an id: --id NAME"


def golden_from_trace(trace: Trace, golden_id: str | None = None, *, creator: str | None = None) -> Golden:
    """A golden that requires what the trace shows; its id defaults to the trace's scenario id.

    Secrets are redacted. Raises SettingError for a trace without an id or without text, or with more than a
    golden may hold.
    """
    id_ = golden_id or trace.scenario_id
    if not id_ or "*" in id_:
        raise SettingError(Problem("the trace names no scenario", None, UNNAMED))
    turns = collect_turns(trace)
    user_messages = [turn.user or "" for turn in turns]
    answers = [turn.response or "" for turn in turns]
    if not any(user_messages) and not any(answers):
        raise SettingError(Problem(f"the trace of `{id_}` has no message of a user or an agent"))
    if len(turns) > MAX_TURNS or max(map(len, (*user_messages, *answers))) > MAX_MESSAGE:
        bound = f"{MAX_TURNS:,} turns of {MAX_MESSAGE:,} characters"
        raise SettingError(Problem(f"the trace of `{id_}` holds more than a golden may: at most {bound}"))
    return Golden(
        id=id_,
        title=redact(next(filter(None, user_messages), id_))[:100],
        conversation_id=trace.conversation_id,
        required_tool_usage=tuple(_required_tools(turns))[:MAX_DUE],
        required_refusal=tuple(_required_refusals(turns))[:MAX_DUE],
        user_messages=tuple(map(redact, user_messages)),
        golden_responses=tuple(map(redact, answers)),
        creator=creator,
    )


def _required_tools(turns: Sequence[ActualTurn]) -> Iterator[str]:
    """The tool name and turn of every call that did not fail."""
    for number, turn in enumerate(turns):
        for call in turn.calls:
            if call["status"] != "error":
                yield _requirement(call["name"], number, len(turns))


def _required_refusals(turns: Sequence[ActualTurn]) -> Iterator[str]:
    for number, turn in enumerate(turns):
        if turn.response and is_refusal(turn.response):
            yield _requirement(REFUSE, number, len(turns))


def _requirement(word: str, number: int, turns: int) -> str:
    return f"{word[:190]}@{number + 1}" if turns > 1 else word[:200]
