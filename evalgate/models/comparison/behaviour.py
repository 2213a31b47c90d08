"""What the trials of a scenario did, as far as two sides are compared, and a difference between the sides."""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from evalgate.models.comparison.trajectory import TextPair  # noqa: TC001  needed for decoding
from evalgate.models.run.bounds import Count, Name, Word  # noqa: TC001  needed for decoding

DifferenceKind = Literal[
    "calls",
    "some_calls",
    "all_calls",
    "argument",
    "source",
    "outcome",
    "state",
    "file",
    "literals",
    "answer",
    "wording",
    "model",
    "asked",
    "tools",
    "prompt",
    "status",
    "maker",
    "model_calls",
]
FoundDifference = tuple[DifferenceKind, str, str, str]
"""Its kind, what it is about, and both sides of it."""
NOT_TOUCHED, ADDED, CHANGED, REMOVED = "not touched", "added", "changed", "removed"
"""What may have happened to a place of a state, or to a file, in words, which no JSON is."""
HAPPENED = frozenset({NOT_TOUCHED, ADDED, CHANGED, REMOVED})
DIGEST = "sha256 "
"""Begins the digest that stands for a content."""


SUB_AGENTS = "of a sub-agent"
"""Ends what a difference of tools or prompts is about that is not the main agent's."""
MAIN_AGENT = "the main agent"
"""Stands for it where a difference is about who made a call."""


class CallMaker(NamedTuple):
    """The agent that made a call: its path without numbers (see models.trace.actors), and its name if that is known.

    One that has no name is named after the tool that started it.
    """

    path: str
    agent: str | None = None

    @property
    def name(self) -> str:
        """How reports name it."""
        return self.agent or self.path


class ComparedCall(NamedTuple):
    """One call: `values` are its short arguments by their paths; `changes` is false for one that only reads.

    `sources` are where each argument came from, in words; empty where no one asked. Calls of one `step`, unless that
    is 0, were made by one message. `others` are further arguments, of which no value is compared; None if not known.
    `words` are those in which the result of a call that changes something says how it ended, by their keys.
    `texts` are the arguments that hold a number, a boolean or null as a text; None in baselines of before.
    `addresses` are e-mail addresses and domains of URLs in the result of a call that changes something.
    `maker` is None if it is not known who made it.
    `days` are the arguments with dates, of which each is counted from the day of the run, where that is known.
    """

    name: str
    changes: bool
    values: dict[str, str]
    outcome: str
    sources: dict[str, list[str]] = {}  # noqa: RUF012  never written to
    step: int = 0
    others: list[str] | None = None
    words: dict[str, str] = {}  # noqa: RUF012  never written to
    texts: list[str] | None = None
    addresses: list[str] = []  # noqa: RUF012  never written to
    maker: CallMaker | None = None
    days: dict[str, str] = {}  # noqa: RUF012  never written to


class LeftPart(NamedTuple):
    """Values, or files, that a run changed, by their places: as JSON, or what happened; and contents of files."""

    places: dict[str, str]
    contents: dict[str, str]


class LeftState(NamedTuple):
    """What a run left behind; None where it is not recorded."""

    values: LeftPart | None
    files: LeftPart | None


class OtherAgents(NamedTuple):
    """The system prompts, as hashes, and the digests of tools of the agents of a run but the main one."""

    prompts: tuple[str, ...]
    tools: str


class Behaviour(Struct, array_like=True):
    """One trial. `calls` is None if some may not be recorded, `answer` if there is none; secrets are redacted.

    `models` are those that all agents of the run used, None if that is not known of a model call.
    `days` are the dates in the answer, counted from the day of the run where that is known.
    `others` is None if nothing is recorded of other agents than the main one.
    """

    calls: list[ComparedCall] | None
    answer: str | None
    status: str
    left: LeftState | None = None
    days: dict[str, str] = {}
    request: str | None = None  # what the user asked for first, with secrets: only of a trace that was read again
    models: tuple[str, ...] | None = None
    others: OtherAgents | None = None
    model_calls: int = 0
    asked: str | None = None  # all that users said, with secrets; None if that is nothing or too long


class BehaviourDifference(Struct, frozen=True, omit_defaults=True):
    """A difference that holds for all trials of both sides: what it is about, and both sides of it.

    `kind` is a DifferenceKind; `trials_before` and `trials` are the numbers of compared trials. `example` is the answer
    of the first trial of each side, cut, where the sides are only the literals that all their answers share. `asked`
    is what the user asked for, of an argument that no longer has this value, or has it again.
    """

    kind: Word
    what: Name
    before: Name
    now: Name
    trials_before: Count
    trials: Count
    example: TextPair | UnsetType = UNSET
    asked: Name | UnsetType = UNSET


class UnaskedArgument(Struct, frozen=True, omit_defaults=True):
    """An argument with another value than the user asked for, which a comparison found once.

    `value` is empty if calls of the tool leave the argument out. That is so in `trials` of the trials that were looked
    at, which are `of`. `since` is the commit of the run that found it, empty if unknown, and absent in that run.
    """

    tool: Name
    argument: Name
    value: Name
    asked: Name
    trials: Count
    of: Count
    since: Name | UnsetType = UNSET


class PromptChange(Struct, frozen=True):
    """Two system prompts by their hashes, and how many lines differ.

    `lines` are those of a unified diff, each with its sign: `-`, `+`, a blank, or `@@` before the numbers of lines.
    `left` counts the lines that differ and are not among them.
    """

    before: Word
    now: Word
    removed: Count
    added: Count
    lines: list[Name]
    left: Count
