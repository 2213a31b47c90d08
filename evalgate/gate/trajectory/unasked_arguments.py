"""Arguments with another value than the user asked for: what a comparison found once is kept as long as it is true.

One run alone is no ground to say so: a value that the request does not name may be right.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import replace

from evalgate.gate.trajectory.behaviour import split_path
from evalgate.models.comparison.behaviour import UnaskedArgument
from evalgate.models.run.run import NEGATED, StoredTrial
from evalgate.scoring.wording import is_as_asked

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from msgspec import UnsetType

    from evalgate.models.comparison.behaviour import Behaviour, BehaviourDifference, ComparedCall, FoundDifference
    from evalgate.models.run.run import ScenarioResult

    Trials = Sequence[Behaviour]

LEAST_NAMED, MOST_UNASKED = 3, 20
"""Characters of a value that a request may be said to name, and arguments of a scenario that are kept."""
UNKNOWN = "\u2026"
"""Stands for a value that is not compared, which no call passes."""
_COMMIT = re.compile("[0-9a-f]{7,64}")
_OCCURRENCE = re.compile(r"(?: \(call \d+ of it\))?\.")


def find_asked(found: FoundDifference, trials: Trials, known: Iterable[UnaskedArgument]) -> str | UnsetType:
    """What users asked for, of an argument that was this before, or that was `known` to be something else."""
    _, what, before, now = found
    before, now = before.strip('"'), now.strip('"')
    for each in known:
        if each.value == before and now == each.asked and _is_about(what, each.tool, each.argument):
            return now if _is_unasked(trials, now, before) else UNSET
    wanted = [before, *(each.asked for each in known if _is_about(what, each.tool, each.argument))]
    tools = {call.name for each in trials for call in each.calls or () if what.startswith(call.name)}
    unasked = (
        each for each in wanted if _is_unasked(trials, each, now) and not any(_passes(t, tools, each) for t in trials)
    )
    return next(unasked, UNSET)


def _passes(trial: Behaviour, tools: Container[str], value: str) -> bool:
    """Whether a call of one of the tools has the value, in whichever argument."""
    return any(call.name in tools and value in call.values.values() for call in trial.calls or ())


def _is_unasked(trials: Trials, asked: str, passed: str) -> bool:
    """Whether users asked for one value in all trials and named the other in none, which is no text around it."""
    texts = [each.asked or "" for each in trials]
    are_asked = bool(texts) and all(_names(text, asked) for text in texts)
    return are_asked and not _names(passed, asked) and not any(_may_name(text, passed) for text in texts)


def _names(text: str, value: str) -> bool:
    """Whether a text has a value as a whole word; one or two characters may stand there for anything."""
    is_word = rf"(?<!\w){re.escape(value)}(?!\w)"
    return len(value) >= LEAST_NAMED and re.search(is_word, text, re.IGNORECASE) is not None


def _may_name(text: str, value: str) -> bool:
    """Whether a text has a value in some spelling, such as `basic_economy` as "Basic Economy"."""
    return bool(value) and _squeeze(value) in _squeeze(text)


def _squeeze(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def _is_about(what: str, tool: str, argument: str) -> bool:
    """Whether a difference with this name is about an argument of calls of the tool."""
    middle = what[len(tool) : len(what) - len(argument)]
    return what == f"{tool}{middle}{argument}" and _OCCURRENCE.fullmatch(middle) is not None


def add_unasked(
    kept: Iterable[UnaskedArgument],
    baseline: Trials,
    differences: Iterable[BehaviourDifference],
    scenario: ScenarioResult,
) -> list[UnaskedArgument]:
    """Those that are kept, and those that the differences show."""
    found = {(each.tool, each.argument, each.value): each for each in kept}
    for each in differences:
        now = each.now.strip('"')
        place = None if each.asked is UNSET or is_as_asked(each) else _find_place(each.what, baseline)
        if place is not None and each.asked is not UNSET:
            found.setdefault((*place, now), UnaskedArgument(*place, now, each.asked, each.trials, each.trials))
    return [each for each in found.values() if not _is_demanded(each, scenario)][:MOST_UNASKED]


def _find_place(what: str, trials: Trials) -> tuple[str, str] | None:
    """The tool and the argument that a difference is about."""
    places = ((call.name, path) for call in trials[0].calls or () for path in call.values)
    return next((each for each in places if _is_about(what, *each)), None)


def keep_unasked(
    known: Sequence[UnaskedArgument], trials: Trials, scenario: ScenarioResult, since: str | None
) -> list[UnaskedArgument]:
    """Those of the baseline that are still so, or of which the trials say nothing, as of one that broke.

    `since` is the baseline's commit.
    """
    found = []
    for each in known[:MOST_UNASKED]:
        kept = _keep(each, trials, passes=scenario.verdict == "PASS")
        if kept is not None and not _is_demanded(kept, scenario):
            commit = since or "" if each.since is UNSET else each.since
            found.append(replace(kept, since=commit if _COMMIT.fullmatch(commit) else ""))
    return found


def _keep(known: UnaskedArgument, trials: Trials, *, passes: bool) -> UnaskedArgument | None:
    """The argument with its value of now; None if that is the value asked for, or another one is asked for."""
    trials = [each for each in trials if each.calls is not None and each.asked is not None]
    if not trials:
        return replace(known, trials=0, of=0)
    passed = [
        {_read(call, known.argument) for call in each.calls or () if call.name == known.tool}
        for each in trials
        if not _passes(each, {known.tool}, known.asked)
    ]
    shared = sorted(set[str].intersection(*passed)) if len(passed) == len(trials) else []
    others = [] if any(known.value in each for each in passed) else [each for each in shared if each != UNKNOWN]
    value = next((each for each in others if _is_unasked(trials, known.asked, each)), known.value)
    if not _is_unasked(trials, known.asked, value):
        return None
    count = sum(value in each for each in passed)
    return replace(known, value=value, trials=count, of=len(trials)) if count or not passes else None


def _read(call: ComparedCall, path: str) -> str:
    """The value of an argument; empty if the call leaves it out."""
    has_other = call.others is None or split_path(path, 1)[0] in call.others
    return call.values.get(path, UNKNOWN if has_other else "")


def _is_demanded(argument: UnaskedArgument, scenario: ScenarioResult) -> bool:
    """Whether a check that passed names the value, so that somebody wants it."""
    trial = next(iter(scenario.trials), None)
    if trial is None:
        return False
    checks = (trial.whole if isinstance(trial, StoredTrial) else trial).assertions
    passed = [each.name for each in checks if each.outcome == "passed" and not each.name.startswith(NEGATED)]
    return any(_names(name, argument.value) for name in passed)
