"""Groups what has one cause, so that a report states it once: failing scenarios, and warnings."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.text.ids import cut_middle
from evalgate.measures.text.plain_text import mark_part
from evalgate.models.comparison.comparison import BASELINE_REFUSED, REGRESSIONS
from evalgate.models.run.trial_doc import TraceDoc
from evalgate.reporting.text.scenario_sections import (
    count_failed_trials,
    count_passed,
    describe_change,
    find_failed_checks,
    find_reason,
    is_bad,
    is_lost,
    sort_scenarios,
)
from evalgate.reporting.text.wording import pluralize, scenario_name, scope

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from evalgate.models.results.results import ResultsDoc, ScenarioDoc, UnclaimedDoc, WarningDoc
    from evalgate.models.run.trial_doc import AssertionDoc
    from evalgate.reporting.text.scenario_sections import FailedCheck, ScenarioSections, SuiteScenario

    _Place = tuple[str, int | None, int | None]

AS_IN_OTHERS = ", as in other scenarios of this report"
MAX_SIMILAR = 8
"""Most groups with the same checks and different reasons that are shown one by one."""

LEAST_SHARED = 3
"""Scenarios of several groups whose common reason is stated once."""
MAX_PASSING = 2_000
"""Most passing scenarios that are grouped: reports show far fewer."""


class MissingEvidence(NamedTuple):
    """A reason why evidence is missing, the checks that need it, and how many failing scenarios lack it.

    `checks` are those of the first scenario, in the order of their weight. `is_stated` is true if another group
    states the reason.
    """

    reason: str
    checks: list[FailedCheck]
    scenarios: int = 1
    is_stated: bool = False

    @property
    def is_required(self) -> bool:
        """Whether one of the checks is required."""
        return any(check.is_required for check in self.checks)

    @property
    def first(self) -> AssertionDoc:
        """The first failure of its first check."""
        return self.checks[0].first

    @property
    def names(self) -> list[str]:
        """The names of the checks, each once."""
        return list(dict.fromkeys(check.name for check in self.checks))

    @property
    def outcome(self) -> str:
        """The outcome of the checks in words: `not evaluable` or `error`."""
        return self.first.outcome.replace("_", " ")


class FailureGroup(NamedTuple):
    """Scenarios that fail for the same reasons; figures of `checks` are those of the first member.

    `section` is the number of the list that they came from. `reason` is set if no check explains the failure.
    `is_lost` marks scenarios that fail only for lack of evidence, `reasons_differ` members with the same checks
    and other reasons than the first.
    """

    section: int
    members: list[SuiteScenario]
    reason: str
    checks: list[FailedCheck]
    missing: list[MissingEvidence]
    is_lost: bool
    reasons_differ: bool = False

    @property
    def causes(self) -> list[FailedCheck | MissingEvidence]:
        """The checks and the missing evidence, what is required first."""
        return sorted([*self.checks, *self.missing], key=lambda each: not each.is_required)


def group_failures(*sections: Sequence[SuiteScenario]) -> list[FailureGroup]:
    """Groups the scenarios of each section by cause: regressions in their order, then lack of evidence.

    One group states each reason for missing evidence, with the number of all scenarios that lack it.
    """
    groups: dict[Hashable, FailureGroup] = {}
    lacking: Counter[str] = Counter()
    for section, items in enumerate(sections):
        for item in items:
            cause = _find_cause(section, item)
            for each in cause.missing:
                lacking[each.reason] += 1
            group = groups.setdefault(_key(cause), cause)
            group.members.append(item)
            if not cause.is_lost:
                known = {each.reason for each in group.missing}
                group.missing.extend(each for each in cause.missing if each.reason not in known)
    ordered = sorted(_merge_similar(list(groups.values())), key=lambda group: group.is_lost)
    return _state_missing_once(ordered, lacking)


class GroupedScenarios(NamedTuple):
    """The sections of a report, and what fails in them grouped by cause.

    `failing` has the groups of failures, regressed, below and known ones, numbered in this order; `quarantined` those
    of quarantined scenarios that do not pass, then the others one by one; `passing` first what failed in them.
    """

    sections: ScenarioSections
    failing: list[FailureGroup]
    quarantined: list[FailureGroup | SuiteScenario]
    passing: list[FailureGroup | SuiteScenario]


def group_scenarios(document: ResultsDoc) -> GroupedScenarios:
    """Sorts and groups the scenarios of a report, once for all that shows them."""
    sections = sort_scenarios(document)
    hidden = min(sections.hidden, MAX_PASSING)
    failing = group_failures(sections.failures, sections.regressed, sections.below, sections.known)
    return GroupedScenarios(
        sections,
        state_shared_once(failing, many=len(document["suites"]) > 1),
        [
            *group_failures(list(filter(is_bad, sections.quarantined))),
            *(each for each in sections.quarantined if not is_bad(each)),
        ],
        [*group_failures(sections.passing[:hidden]), *sections.passing[hidden:]],
    )


def state_shared_once(groups: Sequence[FailureGroup], *, many: bool) -> list[FailureGroup]:
    """Leaves what a check says of failures of three scenarios to the first group that says it; others refer to it.

    What differs, be it in the number of a call, stays.
    """
    sharing: dict[Hashable, list[tuple[FailureGroup, FailedCheck]]] = {}
    for group in groups:
        for check in group.checks if group.section == 0 and not group.is_lost and not group.reasons_differ else ():
            sharing.setdefault((*_identify(check), *check.reasons), []).append((group, check))
    restated: dict[int, FailedCheck] = {}
    for (first, stated), *others in sharing.values():
        count = len(first.members) + sum(len(group.members) for group, _ in others)
        if others and count >= LEAST_SHARED:
            last = f"{stated.reasons[-1]} (the same in {count:,} scenarios)"
            restated[id(stated)] = stated._replace(reasons=[*stated.reasons[:-1], last])
            suite, scenario = first.members[0].suite["suite"], first.members[0].scenario
            place = scope(suite if many else None, scenario_name(scenario["id"], scenario["variant"]))
            restated |= {id(each): each._replace(reasons=[f"fails as in {mark_part(place)}"]) for _, each in others}
    return [group._replace(checks=[restated.get(id(each), each) for each in group.checks]) for group in groups]


def _find_cause(section: int, item: SuiteScenario) -> FailureGroup:
    """Returns a group without members that holds the cause of one scenario."""
    scenario = item.scenario
    verdict, change = scenario["verdict"], scenario["change"]
    increases = change["increases"] if change else []
    found = find_failed_checks(scenario)
    checks = [check for check in found if check.first.outcome == "failed"]
    missing = _find_missing(check for check in found if check.first.outcome != "failed")
    reason = ""
    if verdict == "PASS":
        moved = [describe_change(scenario)] if change and item.kind in REGRESSIONS and not found else []
        reason = "; ".join([*moved, *increases, *_describe_other_trials(scenario)])
    elif verdict == "ERROR" or not found:
        reason = _leave_out_checks(find_reason(scenario), found, scenario["n"])
    elif verdict == "NOT_EVALUABLE" and count_passed(scenario):
        reason = scenario["reason"] or ""  # too few trials: no check of them says so
    return FailureGroup(
        section, [], reason, checks, missing, is_lost(scenario, {check.first.outcome for check in found})
    )


def _leave_out_checks(reason: str, checks: Sequence[FailedCheck], trials: int) -> str:
    """Leaves out of a reason the check that it ends with, which is stated by itself; of one trial nothing remains."""
    for check in checks:
        stated = f"{check.first.name}: {check.first.reason}"
        if reason.endswith(stated):
            return reason.removesuffix(stated).rstrip(": ") if trials > 1 else ""
    return reason


def _describe_other_trials(scenario: ScenarioDoc) -> Iterator[str]:
    failed, trials = count_failed_trials(scenario), scenario["n"]
    if failed and trials > 1:
        yield f"{failed} of {trials} trials failed"
    if unmeasured := scenario.get("not_measured", 0):
        yield f"{unmeasured} of {trials + unmeasured} trials not measured"


def _find_missing(checks: Iterable[FailedCheck]) -> list[MissingEvidence]:
    """Lists each reason once, with the checks that could not be evaluated for it."""
    by_reason: dict[tuple[str, str], list[FailedCheck]] = {}
    for check in checks:
        by_reason.setdefault((check.first.outcome, check.first.reason), []).append(check)
    return [MissingEvidence(reason, needing) for (_, reason), needing in by_reason.items()]


def _key(cause: FailureGroup) -> Hashable:
    """Returns what scenarios of one group have in common."""
    checks = tuple((*_identify(check), check.reason) for check in cause.checks)
    missing = frozenset((each.reason, *each.names) for each in cause.missing) if cause.is_lost else None
    return cause.section, cause.is_lost, cause.reason, checks, missing


def _identify(check: FailedCheck) -> tuple[str, str, bool]:
    return check.first.name, check.first.type, check.is_required


def _merge_similar(groups: Sequence[FailureGroup]) -> Iterator[FailureGroup]:
    """Merges groups that differ only in the reasons of the same checks, if they are many."""
    similar: dict[Hashable, list[FailureGroup]] = {}
    alike = [similar.setdefault(_similarity_key(group), []) for group in groups]
    for group, others in zip(groups, alike, strict=True):
        others.append(group)
    for group, others in zip(groups, alike, strict=True):
        if len(others) <= MAX_SIMILAR:
            yield group
        elif group is others[0]:
            yield group._replace(members=[each for other in others for each in other.members], reasons_differ=True)


def _similarity_key(group: FailureGroup) -> Hashable:
    checks = tuple(map(_identify, group.checks))
    missing = tuple(tuple(each.names) for each in group.missing) if group.is_lost else None
    verdict = None if checks or missing else group.members[0].scenario["verdict"]
    return group.section, group.is_lost, verdict, checks, missing


def _state_missing_once(groups: Sequence[FailureGroup], lacking: Counter[str]) -> list[FailureGroup]:
    """Leaves each reason to the first group that fails only by it, else to the first that has it.

    Other groups mention it only if it is why they fail: if they lack nothing else or the check is required.
    """
    owners: dict[str, int] = {}
    for number, group in sorted(enumerate(groups), key=lambda pair: not pair[1].is_lost):
        for each in group.missing:
            owners.setdefault(each.reason, number)
    return [
        group._replace(
            missing=[
                each._replace(scenarios=lacking[each.reason], is_stated=owners[each.reason] != number)
                for each in group.missing
                if owners[each.reason] == number or each.is_required or group.is_lost
            ]
        )
        for number, group in enumerate(groups)
    ]


def describe_failures(item: SuiteScenario) -> list[str]:
    """Describes why one scenario fails, or what failed in it although it passes, and which limits ended its runs."""
    causes = describe_causes(group_failures([item])[0])
    return [*causes, *describe_limits(item.scenario)] if item.scenario["verdict"] == "PASS" else causes


def describe_limits(scenario: ScenarioDoc) -> list[str]:
    """What ended runs before they were done, such as a limit of turns, with how many trials it ended."""
    ended = [trial.trace.stopped_by for trial in scenario["trials"] if trial.trace.stopped_by]
    runs = scenario["n"]
    return ended and [
        f"{'run' if runs == 1 else f'{count:,} of {runs:,} runs'} ended by {mark_part(what)}"
        for what, count in Counter(ended).items()
    ]


def describe_causes(group: FailureGroup) -> list[str]:
    """Describes why the scenarios fail, a plain text per cause: the reason as a whole, checks, missing evidence."""
    example = ", for example" if group.reasons_differ else ""
    causes = [f"{'for example: ' if group.reasons_differ else ''}{group.reason}"] if group.reason else []
    for each in group.causes:
        if isinstance(each, MissingEvidence):
            names = ", ".join(map(_mark_name, each.names))
            checks = f"{names}{_describe_trials(each.checks[0], group)}: {each.outcome}"
            where = f" in {pluralize(each.scenarios, 'scenario')}" if each.scenarios > len(group.members) else ""
            causes.append(f"{checks}{AS_IN_OTHERS}" if each.is_stated else f"{checks}{where}{example}: {each.reason}")
        else:
            name, (reason, *others) = _mark_name(each.name), each.reasons
            causes.append(f"{name}{_describe_trials(each, group)}{example}: {reason}")
            causes += [f"{name}: {other}" for other in others]
    return causes


def _mark_name(name: str) -> str:
    """The name of a check, of which a long one, such as a list of tools, leaves room for the reason."""
    return mark_part(name if len(name) <= MAX_CHECK_NAME else cut_middle(name, MAX_CHECK_NAME))


def _describe_trials(check: FailedCheck, group: FailureGroup) -> str:
    is_shown = check.trials > 1 and len(group.members) == 1
    return f" ({check.failed} of {check.trials} trials)" if is_shown else ""


def count_changes(group: FailureGroup, describe: Callable[[SuiteScenario], str]) -> str:
    """Counts how its scenarios changed: `28 broken, 1 improved`, or `broken` if all did."""
    counts = Counter(describe(member) for member in group.members if member.kind != "unchanged")
    if list(counts.values()) == [len(group.members)]:
        return next(iter(counts))
    return ", ".join(f"{count:,} {change}" for change, count in counts.items())


class GroupedWarning(NamedTuple):
    """A message, the first place where it occurs (or None), and the number of other places."""

    message: str
    where: str | None
    more: int

    @property
    def more_places(self) -> str:
        """The text ` and 3 more places`, or an empty string."""
        if not self.more:
            return ""
        return f" and {self.more:,} more place{'s' if self.more > 1 else ''}"


def group_warnings(warnings: Sequence[WarningDoc]) -> list[GroupedWarning]:
    """Groups warnings by code and message, in the order in which each first occurs."""
    places: dict[tuple[str, str], list[str | None]] = {}
    for warning in warnings:
        places.setdefault((warning["code"], warning["message"]), []).append(warning["where"])
    return [GroupedWarning(message, where[0], len(where) - 1) for (_, message), where in places.items()]


NOTICED = frozenset(
    {
        "empty_glob",
        "end_not_recorded",
        "moved_traces",
        "other_call_executed",
        "rules_left_out",
        "shared_recording",
        "similar_tool",
        "span_like_tool",
        "suite_not_read",
        "stale_evidence",
        "turns_not_recorded",
        "unknown_agent",
        "unknown_argument",
        "unknown_skill",
        "unknown_tool",
        "renamed_suite",
        "weakenings_ignored",
    }
)
"""Codes of warnings that stand below the heading and not in the list."""
NOT_FETCHED = frozenset({"refused", "unreachable"})
"""Statuses of a baseline that is missing for a reason, which stands there, too."""
MAX_CHECK_NAME = 60
MOST_NOTICES = 5
NOTICE_LIMIT = 500
"""Characters of a notice."""


def list_notices(document: ResultsDoc) -> list[str]:
    """Sentences for the lines below the heading; those beyond the first five are counted."""
    codes = _list_noticed_codes(document)
    noticed = [each for each in document["warnings"] if each["code"] in codes and not _is_stated(each, document)]
    found = group_warnings(noticed)
    texts = [*_describe_unjudged(document), *(f"{each.message}{each.more_places}" for each in found)]
    left = len(texts) - MOST_NOTICES
    more = [f"and {pluralize(left, 'more warning')} of this kind"] if left > 0 else []
    return [*texts[:MOST_NOTICES], *more]


def _is_stated(warning: WarningDoc, document: ResultsDoc) -> bool:
    """Whether a reason of the verdict gives the same cause why the baseline could not be fetched."""
    cause = warning["message"].partition(": ")[2]
    stated = (reason["message"] for reason in document["reasons"] if reason["code"] == "unreachable")
    return warning["code"] == BASELINE_REFUSED and any(cause and cause in message for message in stated)


def _describe_unjudged(document: ResultsDoc) -> Iterator[str]:
    """Sentences about traces without a scenario that leave doubt: of failed runs, and with an id like a scenario's."""
    failed, alike = _list_doubtful(document)
    if failed:
        yield describe_unclaimed(failed, ending=" of a failed run" if len(failed) == 1 else " of failed runs")
    if alike:
        yield describe_unclaimed(alike, ending=" with a scenario's id" if len(alike) == 1 else " with ids of scenarios")


def list_other_unclaimed(document: ResultsDoc) -> list[UnclaimedDoc]:
    """The traces without a scenario that no notice is about."""
    failed, alike = _list_doubtful(document)
    found = [trace for group in group_unclaimed(document) for trace in group.members]
    return [each for each in found if each not in failed and each not in alike]


def _list_doubtful(document: ResultsDoc) -> tuple[list[UnclaimedDoc], list[UnclaimedDoc]]:
    unclaimed = [trace for group in group_unclaimed(document) for trace in group.members]
    failed = [each for each in unclaimed if each.get("status") == FAILED_RUN]
    ids = {each["id"].strip().casefold() for suite in document["suites"] for each in suite["scenarios"]}
    others = [each for each in unclaimed if each not in failed and each["scenario_id"] is not None]
    return failed, [each for each in others if (each["scenario_id"] or "").strip().casefold() in ids]


def list_other_warnings(document: ResultsDoc, without: str = "") -> list[GroupedWarning]:
    """The warnings that are not shown below the heading; those of the code `without` are left out."""
    codes = _list_noticed_codes(document) | {without}
    return group_warnings([each for each in document["warnings"] if each["code"] not in codes])


def _list_noticed_codes(document: ResultsDoc) -> frozenset[str]:
    baseline = document["baseline"]
    is_missing = baseline is not None and baseline["status"] in NOT_FETCHED
    return NOTICED | {BASELINE_REFUSED} if is_missing else NOTICED


MOST_FILES, MAX_ID = 3, 80
FAILED_RUN = "error"
"""The status of a run that failed."""


class UnclaimedTraces(NamedTuple):
    """Traces that match no scenario of the run, and the suites that read them."""

    suites: list[str]
    members: list[UnclaimedDoc]


def group_unclaimed(document: ResultsDoc) -> list[UnclaimedTraces]:
    """Groups the traces that no scenario of any suite has by the suites that read them, each trace once."""
    if not document["unclaimed"]:
        return []
    trials = (trial for suite in document["suites"] for each in suite["scenarios"] for trial in each["trials"])
    judged = {_find_place(trial.trace) for trial in trials}
    readers: dict[_Place, list[str]] = {}
    first: dict[_Place, UnclaimedDoc] = {}
    for trace in document["unclaimed"]:
        place = _find_place(trace)
        if place not in judged:
            first.setdefault(place, trace)
            readers.setdefault(place, []).append(trace["suite"])
    groups: dict[tuple[str, ...], list[UnclaimedDoc]] = {}
    for place, trace in first.items():
        groups.setdefault(tuple(dict.fromkeys(readers[place])), []).append(trace)
    return [UnclaimedTraces(list(suites), members) for suites, members in groups.items()]


def _find_place(trace: TraceDoc | UnclaimedDoc) -> _Place:
    if isinstance(trace, TraceDoc):
        return trace.path, trace.line, trace.record
    return trace["path"], trace["line"], trace["record"]


def describe_unclaimed(traces: Sequence[UnclaimedDoc], most: int = MOST_FILES, ending: str = "") -> str:
    """Counts traces without a scenario, with what to do, and names some of their files and ids.

    `ending` says what they have in common. The ids often differ from the scenario's in their spelling.
    """
    files: dict[str, list[str]] = {}
    for trace in traces:
        files.setdefault(trace["path"], []).append(trace["scenario_id"] or "unknown")
    shown = list(files.items())[:most]
    texts = [f"{mark_part(path)} (id {_join_some(list(dict.fromkeys(ids)), most)})" for path, ids in shown]
    left = len(traces) - sum(len(ids) for _, ids in shown)
    more = f" and {left:,} more" if left else ""
    verb, was, whose = ("belongs", "was", "its") if len(traces) == 1 else ("belong", "were", "their")
    count, remedy = pluralize(len(traces), "trace"), f"add a scenario with {whose} id, or with the id `*`"
    return f"{count}{ending} {verb} to no scenario and {was} not judged ({remedy}): {', '.join(texts)}{more}"


def _join_some(ids: list[str], most: int) -> str:
    left = len(ids) - most
    named = ", ".join(mark_part(cut_middle(each, MAX_ID)) for each in ids[:most])
    return f"{named} and {left:,} more" if left > 0 else named
