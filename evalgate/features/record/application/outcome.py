"""What a recording came to: its last line, and its exit code."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct, field

from evalgate.features.record.measures.paths import build_trial_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.features.record.models.exchange import Exchange, FailedCall, TrialId

FAILED_FIRST = "the agent failed before its first model call: what it printed stands above"
NO_CALLS = (
    "the client has a fixed base_url: let it read OPENAI_BASE_URL (ANTHROPIC_BASE_URL), or give it run.openai_base_url",
    "it is a client of Azure or of a gateway, which reads another variable: give it OPENAI_BASE_URL as its address",
    "it is the SDK of another provider, whose model calls are not recorded: record its spans",
)
"""Why no model call may have come, most likely first."""
NO_SPANS = "no tracer runs in the agent, or it sends by gRPC or to a fixed address"
PAGE = 'docs/recording.md, "Nothing was recorded"'
MAX_SHOWN = 3
"""Folders that a command names."""
WRONG_INPUT, TIMED_OUT, INTERRUPTED, NOTHING, AGENT_FAILED = 2, 124, 128, 3, 1


class TrialOutcome(Struct):
    """What one run of the command recorded; `misses` are requests without an answer in the cassette.

    `reached` is the cap of the recording, if one was. `unmeasured` are traces without the state that was asked for.
    `failed_call` is the last model call if it failed.
    """

    trial: TrialId
    code: int
    has_timed_out: bool = False
    interrupted: int | None = None
    reached: str | None = None
    providers: dict[str, int] = field(default_factory=dict)
    spans: int = 0
    traces: int = 0
    misses: int = 0
    is_too_large: bool = False
    unmeasured: int = 0
    failed_call: FailedCall | None = None

    def add_calls(self, exchanges: Sequence[Exchange]) -> None:
        """Counts model calls by provider."""
        self.providers = dict(Counter(self.providers) + Counter(each.request.provider for each in exchanges))

    def add(self, other: TrialOutcome) -> None:
        """Adds what another trial of the same run recorded."""
        self.providers = dict(Counter(self.providers) + Counter(other.providers))
        self.spans += other.spans
        self.traces += other.traces
        self.misses += other.misses
        self.reached = self.reached or other.reached
        self.is_too_large |= other.is_too_large
        self.unmeasured += other.unmeasured
        self.failed_call = self.failed_call or other.failed_call


def describe_outcome(outcomes: Sequence[TrialOutcome]) -> str:
    """The last line of a recording.

    >>> describe_outcome([])
    '0 model calls, 0 spans, 0 traces'
    """
    calls = sum((Counter(each.providers) for each in outcomes), Counter[str]())
    named = f" ({', '.join(sorted(calls))})" if calls else ""
    parts = [
        _count(calls.total(), "model call") + named,
        _count(sum(each.spans for each in outcomes), "span"),
        _count(sum(each.traces for each in outcomes), "trace"),
    ]
    if misses := sum(each.misses for each in outcomes):
        parts.append(f"{misses:,} request{'' if misses == 1 else 's'} missing in a cassette")
    if unmeasured := sum(each.unmeasured for each in outcomes):
        parts.append(f"{_count(unmeasured, 'trial')} without its state")
    if reached := next((each.reached for each in outcomes if each.reached), None):
        parts.append(f"stopped at {reached}")
    return ", ".join(parts)


def describe_removed(paths: Sequence[str]) -> str:
    """How many traces of earlier recordings were deleted, and where.

    >>> describe_removed(["traces/refund/0.jsonl", "traces/refund/1.jsonl"])
    '2 earlier recordings removed from traces/refund'
    """
    folders = list(dict.fromkeys(path.rpartition("/")[0] for path in paths))
    return f"{_count(len(paths), 'earlier recording')} removed from {_name_folders(folders)}"


def _name_folders(folders: Sequence[str]) -> str:
    return f"{folders[0]} and {_count(len(folders) - 1, 'more folder')}" if folders[1:] else folders[0]


def describe_lost(removed: Sequence[str], outcomes: Sequence[TrialOutcome], *, has_git: bool) -> str | None:
    """What stands in the place of earlier recordings after a failure, and how they come back; None without one."""
    failed = [each for each in outcomes if each.code or not each.traces]
    named = {build_trial_path(each.trial).split("/")[-2] for each in failed}
    is_open = any(each.trial.scenario is None for each in failed)  # the agent names its scenarios
    folders = dict.fromkeys(path.rpartition("/")[0] for path in removed)
    lost = [each for each in folders if is_open or each.rpartition("/")[2] in named]
    if not lost:
        return None
    is_empty = not any(each.traces for each in failed)
    now = f"{'nothing' if is_empty else 'a failed run'} stands in the place of what {_name_folders(lost)} had"
    why = ", so the gate says MISSING and passes by no older run" if is_empty else ""
    command = f"git checkout -- {shlex.join(lost[:MAX_SHOWN])}"
    back = f"to bring it back, if git has it: {command}" if has_git else "record again once the agent runs"
    return f"{now}{why}; {back}"


def explain_nothing(outcomes: Sequence[TrialOutcome], *, with_proxy: bool, with_otlp: bool) -> list[str]:
    """Lines that say why nothing may have come, most likely first; none if something came or is known to be missing."""
    if any(each.providers or each.spans or each.traces or each.misses or each.reached for each in outcomes):
        return []
    failed = [FAILED_FIRST] if outcomes and all(each.code for each in outcomes) else []
    reasons = [*failed, *(NO_CALLS if with_proxy else ()), *([NO_SPANS] if with_otlp else [])]
    head = f"nothing was recorded, most likely because of one of these ({PAGE}):"
    return [head, *(f"  {number}. {reason}" for number, reason in enumerate(reasons, 1))]


def decide_exit(outcomes: Sequence[TrialOutcome], *, missing: int, keep_going: bool, is_suite: bool) -> int:
    """The exit code: the first that holds.

    They are: a cassette that was too large, timeout, interruption, a cap, a miss, no state, nothing recorded, a failed
    agent.
    """
    if any(each.is_too_large for each in outcomes):
        return WRONG_INPUT
    if any(each.has_timed_out for each in outcomes):
        return TIMED_OUT
    interrupted = next((each.interrupted for each in outcomes if each.interrupted is not None), None)
    if interrupted is not None:
        return INTERRUPTED + interrupted
    is_empty = any(each.traces == 0 for each in outcomes)
    if is_empty or any(each.misses or each.reached or each.unmeasured for each in outcomes) or (missing and is_suite):
        return NOTHING
    return AGENT_FAILED if not keep_going and any(each.code for each in outcomes) else 0


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
