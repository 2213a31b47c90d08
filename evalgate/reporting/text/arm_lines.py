"""What a comparison of two arms found, in sentences: the answer, the counts, what it costs, and how sure it is.

And what trials show that were recorded again on both sides.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from evalgate.models.run.arms import (
    BASE_WAS_LUCKY,
    BROKEN,
    FLAKY_RECOVERY,
    LIFT,
    MOST_TRIALS,
    NOT_COMPARABLE,
    NOTHING_COMPARED,
    REGRESSION,
    UNDECIDED,
)
from evalgate.reporting.text.wording import MINUS, dollars, join_words, mean_count, pluralize, scenario_name, seconds
from evalgate.scoring.wording import format_p_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.arms import (
        AddedTrials,
        AmountRatio,
        ArmComparison,
        Confirmation,
        ConfirmedScenario,
        PairedScenario,
    )

_FORMATS: dict[str, Callable[[float | None], str]] = {"cost": dollars, "tokens": mean_count, "latency": seconds}
"""What formats each amount."""
MOST_CALLS = 12
"""Calls of a trial that a row shows."""
TESTS = {"sign": "sign test", "McNemar": "McNemar's test"}


def name_scenario(scenario: PairedScenario) -> str:
    """The name of a scenario: its id and, between runs, its variant."""
    return scenario_name(scenario.id, scenario.variant)


def answer(found: ArmComparison, escape: Callable[[str], str]) -> str:
    """The answer to "may we switch?" in one sentence."""
    control, treatment = escape(found.control), escape(found.treatment)
    if found.finding == NOTHING_COMPARED:
        return "Not known: no scenario has a verdict in both."
    if found.finding == REGRESSION:
        return f"{treatment} is worse than {control}: {' and '.join(_explain_regression(found, escape))}."
    if found.finding == LIFT:
        return f"{treatment} is better than {control}{_except_broken(found)}."
    lacks = ", which is required" if found.require == "lift" else ""
    return f"No evidence that {treatment} is worse than {control}, and none that it is better{lacks}."


def _explain_regression(found: ArmComparison, escape: Callable[[str], str]) -> Iterator[str]:
    if found.is_significant and found.worse > found.better:
        what = "scenarios" if found.test == "sign" else "pairs of trials"
        yield f"{found.worse:,} {what} got worse and {found.better:,} better"
    if certain := found.certainly_broken:
        names = [escape(name_scenario(each)) for each in certain[:3]]
        more = [f"{len(certain) - 3:,} more"] if len(certain) > len(names) else []
        yield f"{join_words([*names, *more])} broke beyond chance"


def _except_broken(found: ArmComparison) -> str:
    return f", although {pluralize(found.broken, 'scenario')} broke" if found.broken else ""


def summarize(found: ArmComparison) -> str:
    """Counts, test, cost and what is not decided, each a part of one line."""
    return "; ".join(
        filter(None, [_count(found), *map(format_ratio, found.ratios), _undecided(found), _not_comparable(found)])
    )


def _count(found: ArmComparison) -> str:
    p = format_p_value(found.p_corrected)
    after = "" if found.p_corrected == found.p_value else " after Holm's correction"
    pairs = "" if found.test == "sign" else f" over pairs of trials, {found.worse:,} worse and {found.better:,} better"
    test = f"(over all: {TESTS.get(found.test, found.test)} p {p}{after}{pairs}; evidence from {found.alpha:g} down)"
    total = found.same + found.broken + found.repaired + found.undecided + found.not_comparable
    parts = [f"{found.broken:,} broke", f"{found.repaired:,} repaired", f"{found.same:,} the same"]
    parts += [f"{found.undecided:,} may have changed"] if found.undecided else []
    return f"of {pluralize(total, 'scenario')} {join_words(parts)} {test}"


def format_ratio(ratio: AmountRatio) -> str:
    """`cost -41% (95% -52 to -29), 0.02 USD to 0.0118 USD a trial`: the change of a total, its interval, and means."""
    low, high = (_share(each) for each in (ratio.low, ratio.high))
    interval = f" (95% {low} to {high})" if low != high else ""
    show = _FORMATS.get(ratio.name, str)
    means = [show(each) for each in (ratio.control, ratio.treatment) if each is not None]
    change = f", {' to '.join(means)} a trial" if means and means[0] != means[-1] else ""
    return f"{ratio.name} {_share(ratio.ratio)}%{interval}{change}"


def _share(ratio: float) -> str:
    change = round((ratio - 1) * 100)
    return f"{MINUS if change < 0 else '+' if change else ''}{abs(change):,}"


def _undecided(found: ArmComparison) -> str:
    if not found.undecided:
        return ""
    have = "has" if found.undecided == 1 else "have"
    few = f"{pluralize(found.undecided, 'scenario')} {have} too few trials"
    if found.recordings_needed is None:
        return f"{few}, and more than 64 in each arm would be needed"
    return f"{few}: {pluralize(found.recordings_needed, 'more recording')}, on both sides together, would decide"


def _not_comparable(found: ArmComparison) -> str:
    return f"{found.not_comparable:,} not comparable" if found.not_comparable else ""


def describe_result(scenario: PairedScenario) -> str:
    """What became of a scenario, with its p-value where it was tested."""
    words = {UNDECIDED: "may be chance", NOT_COMPARABLE: "not comparable"}
    word = words.get(scenario.kind, scenario.kind)
    return word if scenario.p_value is None else f"{word} (p {format_p_value(scenario.p_value)})"


def describe_calls(scenario: PairedScenario, escape: Callable[[str], str]) -> str:
    """The calls of a broken scenario in both arms; empty for others, and where they are the same."""
    calls = scenario.calls
    if scenario.kind != BROKEN or calls is None:
        return ""
    before, now = (_list_calls(each, escape) for each in (calls.control, calls.treatment))
    return "the same calls" if calls.control == calls.treatment else f"{before} \u2192 {now}"


def _list_calls(names: list[str], escape: Callable[[str], str]) -> str:
    """The calls in order, those in a row counted; the first of many."""
    rows = [(name, sum(1 for _ in same)) for name, same in groupby(names)]
    shown = ", ".join(f"{escape(name)}{f' x{count}' if count > 1 else ''}" for name, count in rows[:MOST_CALLS])
    left = sum(count for _, count in rows[MOST_CALLS:])
    return f"{shown} and {left:,} more" if left else shown or "no call"


MEANINGS = {
    REGRESSION: "still worse with all trials",
    FLAKY_RECOVERY: "passes as often as its threshold asks, not always",
    BASE_WAS_LUCKY: "the base fails too",
    UNDECIDED: "too few trials to tell: the first verdict stands",
}
"""What each finding means, the worst first, but for the last."""
_OUTCOMES = {
    REGRESSION: ("is still worse", "are still worse"),
    UNDECIDED: ("is undecided", "are undecided"),
    FLAKY_RECOVERY: ("recovered", "recovered"),
    BASE_WAS_LUCKY: ("fails on the base too", "fail on the base too"),
}


ENOUGH_TRIALS = MOST_TRIALS
"""Trials to add with which it is unlikely that a scenario which fails every other time passes all of them."""


def describe_finding(scenario: ConfirmedScenario) -> str:
    """What the finding of a scenario means."""
    head = scenario.head
    if scenario.finding == FLAKY_RECOVERY and head.more_passed == head.more_trials:
        added = "the only trial" if head.more_trials == 1 else f"all {head.more_trials:,} trials"
        return f"passed in {added} added, not in all before"
    return MEANINGS.get(scenario.finding, "")


def describe_few_trials(found: Confirmation) -> str:
    """How many trials were planned, and how many are needed to be sure; empty if that is no question."""
    planned = _count_planned(found)
    if planned >= ENOUGH_TRIALS:
        return ""
    was = "trial a side was" if planned == 1 else "trials a side were"
    few, enough = (f"{0.5**number:.0%}" for number in (planned, ENOUGH_TRIALS))
    return (
        f"Only {planned} {was} planned, and {ENOUGH_TRIALS} are needed to be sure: what fails every other time passes "
        f"{'it' if planned == 1 else 'all of them'} in {few} of cases, and {ENOUGH_TRIALS} in {enough}."
    )


def _count_planned(found: Confirmation) -> int:
    open_ones = (each.head.more_trials for each in found.scenarios if each.finding != REGRESSION)
    return min(open_ones, default=ENOUGH_TRIALS)


def find_differences(document: ResultsDoc, scenario: ConfirmedScenario) -> list[str]:
    """What its trials do otherwise than on the base, a sentence each."""
    from evalgate.reporting.text.behaviour_lines import label_differences

    key = scenario.suite, scenario.id, scenario.variant
    return [
        f"{words}{rest}"
        for suite in document["suites"]
        for each in suite["scenarios"]
        if (suite["suite"], each["id"], each["variant"]) == key
        for words, rest in label_differences(each)
    ]


def describe_confirmation(found: Confirmation) -> str:
    """What became of what got worse: `1 scenario got worse at first: recorded again, it recovered`."""
    counts = Counter(each.finding for each in found.scenarios)
    is_only = counts.total() == 1
    parts = [
        f"{'it' if is_only else f'{counts[name]:,}'} {words[counts[name] > 1]}"
        for name, words in _OUTCOMES.items()
        if counts[name]
    ]
    planned = _count_planned(found)
    few = "" if planned >= ENOUGH_TRIALS else f" only {pluralize(planned, 'trial')} a side,"
    worse = f"{pluralize(counts.total(), 'scenario')} got worse at first: recorded again,{few} {join_words(parts)}"
    return f"{worse}{_count_lucky(found)}"


def _count_lucky(found: Confirmation) -> str:
    """How many of all trials passed on either side, of scenarios that the base fails too; empty without one."""
    lucky = [each for each in found.scenarios if each.finding == BASE_WAS_LUCKY]
    base, head = (_count_passed(side) for side in ([each.base for each in lucky], [each.head for each in lucky]))
    return f" (passed {base} on the base, {head} here)" if lucky else ""


def _count_passed(sides: Sequence[AddedTrials]) -> str:
    passed = sum(each.passed + each.more_passed for each in sides)
    return f"{passed:,} of {sum(each.trials + each.more_trials for each in sides):,}"


def summarize_confirmation(found: Confirmation) -> str:
    """What was recorded and what it cost, in one sentence without untrusted text."""
    count = f"{pluralize(len(found.scenarios), 'scenario')} that got worse"
    recorded = f"{pluralize(found.recordings, 'recording')}, {format_cost(found.usd)}"
    decide = " ".join(filter(None, ["All trials together decide.", describe_few_trials(found)]))
    return f"**Recorded again** {count}, on this commit and on its base: {recorded}. {decide}"


def format_cost(usd: float | None) -> str:
    """An amount in USD, three digits."""
    return "cost unknown" if usd is None else f"{usd:.3g} USD"
