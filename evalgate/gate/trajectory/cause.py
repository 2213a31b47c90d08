"""Finds whether the agent or the rules changed a verdict, and what changed in the agent, as far as it is recorded.

Both sides' traces are judged under both rules. One table over four outcomes: baseline (old traces, old rules), current
(new, new), and the two crossed ones, either of which may be unknown.
"""

from __future__ import annotations

from collections import Counter
from datetime import date
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from evalgate.gate.common.scenarios import find_baseline_key
from evalgate.measures.numeric.means import DIGITS
from evalgate.models.comparison.comparison import IMPROVEMENTS, REGRESSIONS, AgentChange, Cause, list_scenarios
from evalgate.models.run.run import NOT_EVALUATED
from evalgate.models.run.trials import list_agent_parts
from evalgate.scoring.wording import MORE, join_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence

    from evalgate.models.comparison.comparison import CauseKind, Change, Comparison, ScenarioKey
    from evalgate.models.results.baseline_run import BaselineRun
    from evalgate.models.run.run import Run, Verdict
    from evalgate.models.run.trial_doc import AgentParts

    CauseText = tuple[CauseKind, str]
    Case = tuple[bool, bool]
    Outcomes = tuple[bool | None, bool | None]

BASELINE_RULES = "under the baseline's rules"
SAME_RULES = Cause("agent", "the rules of this scenario are the same as the baseline's", None, None)
_BOTH = "the agent and the rules changed: it would"
_BOTH_FAIL: CauseText = ("both", f"{_BOTH} fail {BASELINE_RULES} too, and the baseline's traces fail the new ones")
_BOTH_PASS: CauseText = ("both", f"{_BOTH} pass {BASELINE_RULES} too, and the baseline's traces pass the new ones")
_TOO_STRICT: CauseText = ("rules_stricter", "the agent is the same, the rules got stricter")
_TOO_LOOSE: CauseText = ("rules_looser", f"the agent is the same, the rules got looser: it would fail {BASELINE_RULES}")
_MASKED: CauseText = ("masked", f"would fail {BASELINE_RULES}: the rules got looser as the agent changed")
_OUTGROWN: CauseText = ("outgrown", f"would pass {BASELINE_RULES}: the rules got stricter as the agent changed")
_CAUSES: dict[Case, dict[Outcomes, CauseText]] = {
    (True, False): {
        (True, False): _TOO_STRICT,
        (True, True): ("together", f"the agent and the rules changed: it would pass {BASELINE_RULES}"),
        (True, None): ("rules_stricter", f"the rules got stricter: it would pass {BASELINE_RULES}"),
        (False, True): ("agent", f"the agent changed: it would fail {BASELINE_RULES} too"),
        (False, False): _BOTH_FAIL,
        (False, None): ("agent", f"the agent changed: it would fail {BASELINE_RULES} too"),
        (None, True): ("agent", "the agent changed: the baseline's traces pass the new rules"),
        (None, False): ("rules_stricter", "the rules got stricter: the baseline's traces fail them too"),
    },
    (False, True): {
        (False, True): _TOO_LOOSE,
        (False, False): ("together", f"the agent and the rules changed: it would fail {BASELINE_RULES}"),
        (False, None): ("rules_looser", f"the rules got looser: it would fail {BASELINE_RULES}"),
        (True, False): ("agent", f"the agent changed: it would pass {BASELINE_RULES} too"),
        (True, True): _BOTH_PASS,
        (True, None): ("agent", f"the agent changed: it would pass {BASELINE_RULES} too"),
        (None, True): ("rules_looser", "the rules got looser: the baseline's traces pass them too"),
        (None, False): ("agent", "the agent changed: the baseline's traces fail the new rules"),
    },
    (True, True): {(False, True): _MASKED, (False, False): _MASKED, (False, None): _MASKED},
    (False, False): {(True, True): _OUTGROWN, (True, False): _OUTGROWN, (True, None): _OUTGROWN},
}
"""Keyed by (baseline, current), then by (current by old rules, baseline by new rules); True is PASS."""
_SCORE_MESSAGES: dict[CauseKind, str] = {
    "agent": f"the agent changed, not only the rules: {BASELINE_RULES} its score moves as much",
    "rules_stricter": "the agent is the same, the rules got stricter",
    "rules_looser": "the agent is the same, the rules got looser",
    "both": "the agent and the rules changed, and each changes the score",
    "together": "the score changes only with the new rules and the new traces together",
}


class ScoredVerdict(NamedTuple):
    """A verdict with its score."""

    verdict: Verdict
    score: float | None


class CrossScores(NamedTuple):
    """New traces by old rules, old traces by new rules; `missing_reason` explains why one of them is None."""

    now_by_old: ScoredVerdict | None = None
    before_by_new: ScoredVerdict | None = None
    missing_reason: str = "the traces could not be judged under the other rules"


def find_cause(
    baseline: ScoredVerdict, current: ScoredVerdict, cross_scores: CrossScores, min_delta: float
) -> Cause | None:
    """Finds whether agent or rules caused a change; None if nothing changed.

    A verdict without an evaluation is no evidence about agent or rules. `min_delta` is the smallest move of a
    score that counts if the verdicts do not flip.
    """
    if {baseline.verdict, current.verdict} & NOT_EVALUATED:
        return None
    evaluated = CrossScores(
        _keep_if_evaluated(cross_scores.now_by_old),
        _keep_if_evaluated(cross_scores.before_by_new),
        cross_scores.missing_reason,
    )
    case = _passes(baseline), _passes(current)
    cause_text = _CAUSES[case].get(
        (_apply_if_known(evaluated.now_by_old, _passes), _apply_if_known(evaluated.before_by_new, _passes))
    )
    if cause_text is None and case[0] == case[1]:
        cause_text = _find_score_cause(baseline, current, evaluated, min_delta)
        if cause_text is None:
            return None
    kind, message = cause_text or _explain_unknown(cross_scores)
    verdicts = [None if each is None else each.verdict for each in evaluated[:2]]
    return Cause(kind, message, *verdicts)


def _explain_unknown(cross_scores: CrossScores) -> CauseText:
    return "unknown", f"the cause (agent or rules) is unknown: {cross_scores.missing_reason}"


def _keep_if_evaluated(scored: ScoredVerdict | None) -> ScoredVerdict | None:
    return None if scored is None or scored.verdict in NOT_EVALUATED else scored


def _passes(scored: ScoredVerdict) -> bool:
    return scored.verdict == "PASS"


def _apply_if_known(scored: ScoredVerdict | None, predicate: Callable[[ScoredVerdict], bool]) -> bool | None:
    return None if scored is None else predicate(scored)


def _find_score_cause(
    baseline: ScoredVerdict, current: ScoredVerdict, cross_scores: CrossScores, min_delta: float
) -> CauseText | None:
    """Looks up the cause in the same table for a score that moved by more than `min_delta`."""
    if baseline.score is None or current.score is None:
        return None
    baseline_score, delta = baseline.score, round(current.score - baseline.score, DIGITS)
    if abs(delta) <= round(min_delta, DIGITS):
        return None
    fell = delta < 0

    def is_above(scored: ScoredVerdict) -> bool:
        """For a score that fell: at least the baseline's; for one that rose: higher than the baseline's."""
        difference = round((scored.score or 0.0) - baseline_score, DIGITS)
        return difference >= -round(min_delta, DIGITS) if fell else difference > round(min_delta, DIGITS)

    case = (True, False) if fell else (False, True)
    found = (_apply_if_known(cross_scores.now_by_old, is_above), _apply_if_known(cross_scores.before_by_new, is_above))
    cause_text = _CAUSES[case].get(found)
    if cause_text is None:
        return _explain_unknown(cross_scores)
    return cause_text[0], _SCORE_MESSAGES[cause_text[0]]


MOST_MODELS, MOST_TOOLS, SEVERAL = 3, 2, 2
_MOVED = REGRESSIONS | IMPROVEMENTS


class EarlierParts(NamedTuple):
    """What an earlier run recorded of the agent: in a scenario of this run, and the prompts that are no run's own."""

    find: Callable[[ScenarioKey], Iterable[AgentParts]]
    steady: set[str]


def parts_of_baseline(baseline: BaselineRun) -> EarlierParts:
    """What the trials of the baseline recorded."""
    entries = baseline.entries
    return EarlierParts(
        lambda key: [trial.agent for trial in baseline.find_trials(find_baseline_key(key, entries))],
        find_steady_prompts(trial.agent for each in entries.values() for trial in each.trials),
    )


def parts_of_run(run: Run) -> EarlierParts:
    """What the trials of an earlier run recorded."""
    parts = {key: list_agent_parts(each.trials) for key, each in list_scenarios(run.suites)}
    return EarlierParts(
        lambda key: parts.get(find_baseline_key(key, parts), []),
        find_steady_prompts(each for found in parts.values() for each in found),
    )


def join_digests(run: Run, baseline: Mapping[str, str]) -> dict[str, str]:
    """The digests of tools by the hash of all of a trace, of a run and its baseline."""
    return {**baseline, **{name: text for suite in run.suites for name, text in suite.tool_digests.items()}}


def add_agent_changes(
    comparison: Comparison, run: Run, baseline: EarlierParts, digests: Mapping[str, str] | None = None
) -> None:
    """Adds to each scenario that got worse or better what else its traces record of the agent than before."""
    for key, scenario in list_scenarios(run.suites):
        change = comparison.changes.get(key)
        if change is not None and change.kind in _MOVED:
            before, parts = list(baseline.find(key)), list_agent_parts(scenario.trials)
            change.agent = compare_agents(before, parts, baseline.steady, digests)
            change.prompts = change.agent and change.agent.prompts
            if change.agent is None and change.kind in REGRESSIONS and before and parts:
                change.same_parts = _list_same([*before, *parts])


def _list_same(parts: Sequence[AgentParts]) -> list[str]:
    """Of model, tools and prompt those that all these traces record and that are one and the same in all."""
    columns = zip(("model", "tool definitions", "system prompt"), zip(*parts, strict=True), strict=False)
    return [name for name, found in columns if found[0] and len({*found}) == 1]


def find_steady_prompts(baseline: Iterable[AgentParts]) -> set[str]:
    """The prompts of several trials of a baseline, or of its only one: others may be made anew for each run.

    And their dates, if they are the same in all these trials.
    """
    found = list(baseline)
    prompts = Counter(parts.prompt_hash for parts in found)
    steady = {each for each, number in prompts.items() if each and (number > 1 or prompts.total() == 1)}
    dates: dict[str, set[str]] = {}
    for each in found:
        if each.prompt_hash in steady and each.prompt_dates:
            dates.setdefault(each.prompt_hash, set()).add(each.prompt_dates)
    return steady.union(*(each for each in dates.values() if not _have_moved(each, each)))


def compare_agents(
    baseline: Iterable[AgentParts],
    current: Iterable[AgentParts],
    steady: Container[str],
    digests: Mapping[str, str] | None = None,
) -> AgentChange | None:
    """What differs between the trials of a scenario; None if nothing does.

    What a side does not record is unknown, and no difference. Trials may use several models: what counts is
    one that the baseline's trials did not use. A prompt counts if it is one and the same in all trials of a side, and
    the baseline's is one of the `steady` ones: others are made for each run. `digests` name each tool by the hash of
    all of a trace.
    """
    before, now = (list(zip(*parts, strict=True)) for parts in (baseline, current))
    if not before or not now:
        return None
    models, tools, _, skills, asked, dates = (
        ({*filter(None, old)}, {*filter(None, new)}) for old, new in zip(before, now, strict=True)
    )
    are_steady = all(each in steady for each in dates[0]) and not _have_moved(dates[1], dates[1])
    has_other_dates = are_steady and _have_moved(*dates)
    found = AgentChange(
        f"{_list_models(models[0])} -> {_list_models(models[1])}" if _has_new(*models) else None,
        tools=_has_new(*tools),
        prompts=_pair_prompts(before[2], now[2], steady, has_other_dates=has_other_dates),
        skills=_compare_skills(*skills) if all(skills) else (),
        asked=tuple(_compare_asked(*asked)) if all(asked) else (),
    )
    if found.tools and digests:
        found = _name_tools(found, *tools, digests)
    return found if found.items else None


def _has_new(before: set[str], now: set[str]) -> bool:
    return bool(before and now - before)


def _pair_prompts(
    before: Sequence[str | None], now: Sequence[str | None], steady: Container[str], *, has_other_dates: bool
) -> tuple[str, str] | None:
    """Both prompts if they differ, and are those of the agent, and not of each run."""
    (one, *others), (other, *rest) = {*before}, {*now}
    is_other = one != other or has_other_dates
    return (one, other) if one and other and is_other and one in steady and not others + rest else None


NEAR = 45
"""Days around that of the run in which a date of the prompt may be made from it, as a delivery's is."""


def _have_moved(before: Collection[str], now: Collection[str]) -> bool:
    """Whether dates of the prompt differ between two trials otherwise than the days of their runs do."""
    sides = [[[*map(_count_days, text.split())] for text in sorted(side)] for side in (before, now)]
    return any(_differ(one, other) for one in sides[0][:1] for other in sides[1])


def _count_days(text: str) -> int:
    try:
        return date.fromisoformat(text).toordinal()
    except ValueError:  # such as February 30, in a prompt
        return 0


def _differ(before: Sequence[int], now: Sequence[int]) -> bool:
    if len(before) != len(now):
        return True
    (first, *dates), (second, *others) = before, now
    return any(
        one != other and max(abs(one - first), abs(other - second)) > NEAR and abs(other - one - second + first) > 1
        for one, other in zip(dates, others, strict=True)
    )


def _name_tools(change: AgentChange, before: set[str], now: set[str], digests: Mapping[str, str]) -> AgentChange:
    """The change with the tools that differ, unless the digests of some are not known, or none of them differs."""
    if not digests.keys() >= before | now:
        return change
    from evalgate.evaluators.kinds.skills.digests import compare_digests, describe_digests

    found = compare_digests(*(frozenset(digests[each] for each in side) for side in (before, now)))
    if found is None or not any(found):
        return change
    words = describe_digests(found, "the added tool", "the changed definition of tool", "the removed tool")
    sides = (_list_names(found.changed, found.removed), _list_names(found.changed, found.added))
    return change._replace(named_tools=words, tool_sides=sides)


def _list_names(changed: Sequence[str], others: Sequence[str]) -> str:
    """The first of both; a number in the place of what is left out."""
    left = max(0, len(changed) - MOST_TOOLS) + max(0, len(others) - MOST_TOOLS)
    return " ".join([*changed[:MOST_TOOLS], *others[:MOST_TOOLS], *([f"{MORE}{left}"] if left else [])])


def _compare_skills(before: set[str], now: set[str]) -> tuple[str, ...]:
    from evalgate.evaluators.kinds.skills.digests import compare_skills

    return compare_skills(before, now)


ADDRESS, UNSET = "address", "unset"


def _compare_asked(before: set[str], now: set[str]) -> Iterator[tuple[str, str, str]]:
    """The address and settings with which no trial of the baseline asked, each with all values of both sides.

    A number of tokens may depend on how many are left: it counts if it is one and the same on each side.
    """
    sides = [[dict(part.partition("=")[::2] for part in text.split()[::-1]) for text in side] for side in (before, now)]
    known = [[one for one in side if one.keys() - {ADDRESS}] for side in sides]
    places = [[one[ADDRESS].split(",") for one in side if ADDRESS in one] for side in sides]
    names = sorted({name for side in known for one in side for name in one} - {ADDRESS, UNSET})
    found = {ADDRESS: places} | {
        name: [[one.get(name, UNSET).split("|") for one in side] for side in known] for name in names
    }
    for name, listed in found.items():
        old, new = (set(chain.from_iterable(side)) for side in listed)
        if _has_new(old, new) and not ("tokens" in name and len(old) + len(new) > SEVERAL):
            yield name, ",".join(sorted(old)), ",".join(sorted(new))


def _list_models(names: Iterable[str]) -> str:
    listed = sorted(names)
    left = len(listed) - MOST_MODELS
    return ", ".join([*listed[:MOST_MODELS], *([f"{left} more"] if left > 0 else [])])


def name_agent_causes(changes: Iterable[Change]) -> None:
    """Makes a changed model or changed tools the cause of a change that the rules did not cause.

    Where the rules take part in the cause, it is kept, and so is one in which the agent is the same.
    """
    for change in changes:
        if change.agent is None or (change.cause is not None and change.cause.kind != "agent"):
            continue
        found = Cause("model_or_tools", f"comes with {join_words(change.agent.items)}", None, None)
        if not change.agent.has_other_model_or_tools:
            found = Cause("agent", f"the agent changed: it {found.message}", None, None)
        change.cause = replace(change.cause or found, kind=found.kind, message=found.message)
