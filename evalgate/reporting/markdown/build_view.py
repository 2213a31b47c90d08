"""Builds the view of a results document within the available space."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from evalgate.measures.text.plain_text import mark_unseen
from evalgate.reporting.markdown.failure_heading import describe_unblocked_failures
from evalgate.reporting.markdown.header_lines import (
    describe_agent_changes,
    describe_false_alarms,
    describe_growth,
    describe_lost_causes,
    describe_lost_figures,
    describe_mutations,
    describe_noise,
    find_agent_changes,
    format_baseline,
)
from evalgate.reporting.markdown.heading import (
    ATTENTION,
    NOTHING_NEW,
    Heading,
    build_heading,
    describe_other_recordings,
)
from evalgate.reporting.markdown.links import Links, RunPages
from evalgate.reporting.markdown.next_step import describe_next_step, only_reads_unchecked
from evalgate.reporting.markdown.scenario_rows import (
    build_changed_row,
    build_failure,
    build_scenario_row,
    choose_examples,
    format_name,
    format_request,
)
from evalgate.reporting.markdown.statistics_rows import (
    build_check_row,
    build_figures,
    build_statistics_row,
    build_suite_row,
    build_variant_row,
    is_green,
    list_costly_checks,
    list_statistics,
    list_variants,
)
from evalgate.reporting.markdown.view import Alert, PromptSection, Report, Rows
from evalgate.reporting.text import wording
from evalgate.reporting.text.behaviour_lines import (
    PromptDiff,
    describe_later_reports,
    describe_unasked,
    differ_beyond_setup,
    list_acting,
    list_differing,
    list_prompt_diffs,
    list_silent_differences,
)
from evalgate.reporting.text.changes import BAD, count_changes
from evalgate.reporting.text.commands import (
    build_command,
    build_explain_command,
    build_show_command,
)
from evalgate.reporting.text.escaping import escape_commands, escape_diff, escape_id, escape_span
from evalgate.reporting.text.grouping import (
    NOTICE_LIMIT,
    FailureGroup,
    UnclaimedTraces,
    describe_unclaimed,
    group_failures,
    group_unclaimed,
    list_notices,
    list_other_warnings,
)
from evalgate.reporting.text.ruling_lines import (
    find_flaky,
    find_quarantined_keys,
    list_notable_approvals,
    list_weakenings,
    render_approval,
    render_flaky,
    render_quarantine,
    render_weakening,
    sort_quarantines,
)
from evalgate.reporting.text.scenario_sections import (
    SuiteScenario,
    fails_by_differences,
    find_failed_trial,
    find_worst_outcome,
    has_failed_trials,
    is_known_failure,
    list_scenarios,
)
from evalgate.reporting.text.sentences import DIFFERENCE_LIMIT, UNASKED_LIMIT, escape_sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.models.results.results import ReasonDoc, ResultsDoc
    from evalgate.reporting.markdown.view import Failure, Trend
    from evalgate.reporting.text.behaviour_lines import DifferenceLine
    from evalgate.reporting.text.grouping import GroupedScenarios, GroupedWarning
    from evalgate.reporting.text.scenario_sections import ScenarioSections

RESERVED_CHARS = 4_000
MOST_DESCRIBED = 10
"""Scenarios that changed without failing, of which new ones are shown with their checks."""
"""Characters reserved for the parts of a report outside of any group."""


class Layout(Struct, frozen=True):
    """Limits of a report: characters, detailed failures, rows of a table, suites with statistics, lines of prompts.

    `examples` are new scenarios with a trial.
    """

    room: int
    failures: int
    rows: int
    statistics: int
    prompt_lines: int = 30
    prompt_width: int = 160
    examples: int = 10
    all_goldens: bool = True  # false: only those that fail or changed


COMMENT = Layout(60_000, failures=8, rows=50, statistics=3, examples=3, all_goldens=False)
SUMMARY = Layout(400_000, failures=30, rows=300, statistics=50, prompt_lines=60, prompt_width=320)


def build_report(
    document: ResultsDoc,
    grouped: GroupedScenarios,
    layout: Layout,
    *,
    pages: RunPages,
) -> Report:
    """Builds the view, worst rows first; rows that do not fit are counted."""
    links = Links(pages.of_commit)
    scenarios, found = grouped.sections, grouped.failing
    many = len(document["suites"]) > 1
    shared, suites = find_agent_changes(document).of_all, sorted(document["suites"], key=is_green)
    row = partial(build_scenario_row, many=many, shared=shared)
    is_short = len(scenarios.other_changes) <= MOST_DESCRIBED
    examples = choose_examples(scenarios.other_changes, layout.examples)
    changed = partial(build_changed_row, many=many, shared=shared, examples=examples, is_short=is_short)
    detail = partial(build_failure, many=many, links=links, shared=shared)
    flaky = partial(render_flaky, quarantined=find_quarantined_keys(document))
    known = [each for each in found if each.section == KNOWN_SECTION]
    new = [each for each in found if each.section != KNOWN_SECTION]
    failing, regressed, below = ([each for each in new if each.section == n and not each.is_lost] for n in range(3))
    differences = list_silent_differences(document)
    groups: dict[str, Group[Any, Any]] = {
        "failures": Group(failing[: layout.failures], detail, 0.35, layout.failures),
        "lost": Group([each for each in new if each.is_lost], detail, 0.05, layout.rows),
        "regressed": Group(regressed, row, 0.1, layout.rows),
        "suites": Group(suites, lambda suite: build_suite_row(suite, document), 0.1, layout.rows),
        "below": Group(below, row, 0.05, layout.rows),
        "known": Group(known, row, 0.02, layout.rows),
        "other_changes": Group(scenarios.other_changes, changed, 0.09, layout.rows),
        "reasons": Group(_list_other_reasons(document), partial(_format_reason, links=links), 0.05, layout.rows),
        "quarantined": Group(grouped.quarantined, row, 0.05, layout.rows),
        "quarantined_changes": Group(_list_quarantined_changes(grouped), detail, 0.02, layout.failures),
        "quarantines": Group(sort_quarantines(document), render_quarantine, 0.03, layout.rows),
        "newly_flaky": Group(find_flaky(document, new=True), flaky, 0.02, layout.rows),
        "flaky": Group(find_flaky(document, new=False), flaky, 0.01, layout.rows),
        "approvals": Group(list_notable_approvals(document), render_approval, 0.03, layout.rows),
        "weakenings": Group(list_weakenings(document), partial(render_weakening, place=links.place), 0.03, layout.rows),
        "warnings": Group(list_other_warnings(document), _format_warning, 0.03, layout.rows),
        "unclaimed": Group(group_unclaimed(document), partial(_format_unclaimed, many=many), 0.03, layout.rows),
        "variants": Group(list_variants(document), build_variant_row, 0.05, layout.rows),
        "arms": _build_arm_group(document, layout, many=many),
        "confirmed": _build_confirmed_group(document, layout, many=many),
        "sums": Group(list_statistics(document), build_statistics_row, 0.02, layout.statistics),
        "lost_checks": Group(
            list_costly_checks(document), partial(build_check_row, many=many), 0.02, layout.statistics
        ),
        "differences": Group(differences, _format_difference, 0.06, layout.rows),
        "prompts": Group(list_prompt_diffs(document), partial(_build_prompt, layout=layout), 0.06, layout.rows),
        "passing": Group(_list_passing(document, grouped), row, 0.03, layout.rows),
        **_build_golden_groups(document, layout, many=many),
    }
    room = max(0, layout.room - RESERVED_CHARS)
    more = Group(failing, row, 0.1, layout.rows)
    left = fill_groups([*groups.values()], int(room * (1 - more.share)))
    more.candidates = failing[len(groups["failures"].shown) :]
    groups["failures"].candidates = failing[: len(groups["failures"].shown)]
    left += fill_groups([more], int(room * more.share))
    for group in (
        groups["failures"],
        more,
        *(groups[name] for name in ("lost", "regressed", "below", "known", "passing")),
    ):
        left = add_names(group, left, many=many)
    add_details(groups["failures"], left, layout.failures)
    flawed = [each.scenario for each in scenarios.passing[: scenarios.hidden]]
    hidden = Counter(map(find_worst_outcome, flawed))
    quarantined = sum(each.scenario["verdict"] != "PASS" for each in scenarios.quarantined)
    heading = build_heading(document, escape_span, makes_baseline=pages.makes_baseline)
    if links.failure:  # only a passing report of a run that failed has it
        heading = heading._replace(sign=ATTENTION)
    merging = _describe_merging(document, heading) if pages.merges else ""
    step = describe_next_step(document, scenarios, pages)
    are_blocking = any(each["code"] == "behaviour_changed" for each in document["reasons"])
    return Report(
        heading=str(heading),
        notices=_format_notices(document, heading.text),
        origin=pages.origin,
        alert=_build_alert(document, new, links),
        baseline=format_baseline(document, links, merging, makes_baseline=pages.makes_baseline),
        noise=describe_noise(document),
        false_alarms=describe_false_alarms(document),
        mutations=describe_mutations(document, escape_span),
        comes_with=describe_agent_changes(document, escape_span),
        confirmation=_describe_confirmation(document),
        lost_figures=describe_lost_figures(document, escape_span),
        growth=describe_growth(document, escape_span),
        unasked=escape_sentence(describe_unasked(document), UNASKED_LIMIT),
        recordings=describe_other_recordings(document, heading.text, has_figure=True),
        other_calls="",
        is_compared=_is_compared(document),
        figures=build_figures(document, heading.text, in_detail=layout.all_goldens),
        trend=_build_trend(document, links),
        green_suites=sum(map(is_green, document["suites"])),
        more_failures=more.build_rows(),
        passing_with_failures=hidden["failed"],
        passing_with_failed_trials=sum(map(has_failed_trials, flawed)),
        passing_not_evaluable=hidden["not_evaluable"],
        new_open=not found and (_are_slips_few(scenarios) or (bool(examples.shown) and not examples.left)),
        new_left=examples.left if examples.shown else 0,
        skipped=document["summary"]["skipped"] if document["summary"] else 0,
        failures_block=bool(document["exit_code"]),
        quarantined_failing=quarantined,
        quarantine_matters=quarantined > 0 or _is_quarantine_new(document),
        approvals_matter=any(each["status"] not in ("active", "unused") for each in document["approvals"]),
        acts=sum(each.is_act for each in differences),
        differences_block=are_blocking,
        differences_note="" if are_blocking else _describe_effect(document, pages),
        accept_lead=step.lead,
        accept=step.text,
        command=escape_span(build_command(document, scenarios), 600),
        reproduce=_list_commands(document, scenarios, found),
        report_url=_check_url(pages.report_url or ""),
        version=escape_span(document["evalgate_version"], 60),
        **_build_rows(groups, sum(len(each.members) for each in failing)),
    )


MOST_SLIPS = 3
"""Scenarios that pass in fewer trials up to which they are shown unfolded."""


def _are_slips_few(scenarios: ScenarioSections) -> bool:
    """Whether some scenarios pass in fewer trials than before, and not many."""
    changed = [each for each in scenarios.other_changes if isinstance(each, SuiteScenario)]
    slips = [each for each in changed if each.kind == "inconclusive" and has_failed_trials(each.scenario)]
    return 0 < len(slips) <= MOST_SLIPS


def _list_passing(document: ResultsDoc, grouped: GroupedScenarios) -> list[FailureGroup | SuiteScenario]:
    """The scenarios that pass as before, but for those that act differently: these have a section of their own."""
    acting = {id(each.scenario) for each in list_acting(document)}
    return [each for each in grouped.passing if isinstance(each, FailureGroup) or id(each.scenario) not in acting]


def _list_quarantined_changes(grouped: GroupedScenarios) -> list[FailureGroup]:
    """What fails in quarantine and did not fail in the baseline."""
    failing = [each for each in grouped.quarantined if isinstance(each, FailureGroup)]
    return [each for each in failing if not is_known_failure(each.members[0].scenario)]


def _check_url(url: str) -> str:
    """The address, empty if it holds anything that Markdown may read otherwise."""
    return url if re.fullmatch("https?://[A-Za-z0-9.:/_?=&%~-]+", url) else ""


_LOST_IN = "no longer recorded in "
"""In a heading: figures that many scenarios lack."""


def _format_notices(document: ResultsDoc, heading: str) -> str:
    """What changes how far the verdict can be believed, one line each."""
    found = [escape_sentence(each, NOTICE_LIMIT) for each in list_notices(document)]
    lost = describe_lost_causes(document) if _LOST_IN in heading else ""
    found += filter(None, [lost or describe_lost_figures(document, escape_span)])
    return "  \n".join(f"\u26a0 {each}" for each in found)


def _format_difference(line: DifferenceLine) -> str:
    request = format_request(line.request)
    asked = f"  \n  Asked: {request}" if request else ""
    who = escape_id(line.name) if line.name else f"{escape_sentence(line.who)}:"
    return f"{who} {escape_sentence(line.sentence, DIFFERENCE_LIMIT)}{asked}"


def _build_prompt(diff: PromptDiff, layout: Layout) -> PromptSection:
    shown = diff.cut(layout.prompt_lines)
    return PromptSection(shown.title, escape_diff(shown.lines, layout.prompt_width), shown.more)


def _build_arm_group(document: ResultsDoc, layout: Layout, *, many: bool) -> Group[Any, Any]:
    """Builds the group of compared variants; imports its module only if there are any."""
    found = document.get("variant_comparisons")
    if not found:
        return Group((), str, 0, 0)
    from evalgate.reporting.markdown.arm_rows import build_arm_section

    return Group(found, partial(build_arm_section, many=many), 0.15, layout.rows)


def _build_confirmed_group(document: ResultsDoc, layout: Layout, *, many: bool) -> Group[Any, Any]:
    """Builds the group of scenarios that were recorded again; imports its module only if there are any."""
    if "confirmation" not in document:
        return Group((), str, 0, 0)
    from evalgate.reporting.markdown.arm_rows import build_confirmed_row

    found = document["confirmation"].scenarios
    return Group(found, partial(build_confirmed_row, document=document, many=many), 0.05, layout.rows)


def _describe_confirmation(document: ResultsDoc) -> str:
    if "confirmation" not in document:
        return ""
    from evalgate.reporting.text.arm_lines import summarize_confirmation

    return summarize_confirmation(document["confirmation"])


def _build_golden_groups(document: ResultsDoc, layout: Layout, *, many: bool) -> dict[str, Group[Any, Any]]:
    """Builds the groups of goldens and dimensions; imports their module only if there are any."""
    if not any(each.get("golden") for suite in document["suites"] for each in suite["scenarios"]):
        return {name: Group((), str, 0, 0) for name in ("dimensions", "goldens")}
    from evalgate.reporting.markdown.golden_rows import (
        build_dimension_row,
        build_golden_row,
        is_notable,
        list_goldens,
        summarize_dimensions,
    )

    goldens = list_goldens(document)
    shown = goldens if layout.all_goldens else [each for each in goldens if is_notable(each)]
    return {
        "dimensions": Group(summarize_dimensions(goldens), partial(build_dimension_row, many=many), 0.02, layout.rows),
        "goldens": Group(shown, partial(build_golden_row, many=many), 0.05, layout.rows),
    }


def _build_trend(document: ResultsDoc, links: Links) -> Trend | None:
    if "history" not in document:
        return None
    from evalgate.reporting.markdown.trends import build_trend

    return build_trend(document, links)


def _build_rows(groups: dict[str, Group[Any, Any]], failures: int) -> dict[str, Rows[Any]]:
    rows = {name: group.build_rows() for name, group in groups.items()}
    return {**rows, "failures": replace(rows["failures"], total=failures)}


def _is_quarantine_new(document: ResultsDoc) -> bool:
    return any(each["kind"].startswith("quarantine_") for each in document.get("weakenings") or ())


def _is_compared(document: ResultsDoc) -> bool:
    scenarios = (scenario for suite in document["suites"] for scenario in suite["scenarios"])
    return bool(document["removed"]) or any(scenario["change"] for scenario in scenarios)


def _build_alert(document: ResultsDoc, failing: Sequence[FailureGroup], links: Links) -> Alert | None:
    """Builds the one sentence that a reader in a hurry needs; None if all is well."""
    verdict, summary = document["verdict"], document["summary"]
    if verdict == "invalid" or summary is None:  # several errors are one list
        return Alert("WARNING", _first_reason(document, links)) if len(document["reasons"]) <= 1 else None
    if verdict == "cannot_judge":
        is_vague = document["reasons"][:1] and document["reasons"][0]["code"] == "nothing_evaluated"
        return Alert("WARNING", (is_vague and _name_failing(failing)) or _first_reason(document, links))
    if verdict == "fail":
        return _build_failed_alert(document, failing, links)
    if describe_unblocked_failures(document) and (worst := _name_failing(failing)):
        return Alert("WARNING", worst, is_in_heading=_is_named(document, failing))
    weakenings = list_weakenings(document)
    return Alert("WARNING", render_weakening(weakenings[0], links.place)) if weakenings else None


def _build_failed_alert(document: ResultsDoc, failing: Sequence[FailureGroup], links: Links) -> Alert | None:
    """What is new and blocks; None if only failures block that the baseline has, too."""
    reasons = document["reasons"]
    if reasons[:1] and reasons[0]["code"] == "weakened":
        return Alert("CAUTION", render_weakening(list_weakenings(document)[0], links.place))
    blocking = _name_failing([each for each in failing if each.section != REGRESSED_SECTION])
    if not blocking and not failing:
        reasons = _list_other_reasons(document)
    text = blocking or (_format_reason(reasons[0], links) if reasons else "")
    return Alert("CAUTION", text, is_in_heading=bool(blocking) and _is_named(document, failing)) if text else None


def _is_named(document: ResultsDoc, failing: Sequence[FailureGroup]) -> bool:
    """Whether the heading names the only scenario that fails, so that a box would repeat it."""
    if sum(len(each.members) for each in failing) != 1:
        return False
    counts = count_changes(document).counts
    return sum(counts[words] for words in BAD) == 1


def _first_reason(document: ResultsDoc, links: Links) -> str:
    reasons = [_leave_out_heading(each, document) for each in document["reasons"][:1]]
    return _format_reason(reasons[0], links) if reasons else "No reason was recorded."


def _name_failing(failing: Sequence[FailureGroup]) -> str:
    """Names what fails, by how it fails: the entries below explain it."""
    found: dict[str, Counter[tuple[str, str | None]]] = {}
    for group in failing:
        for item in group.members:
            word = _describe_failure(item, is_lost=group.is_lost)
            found.setdefault(word, Counter())[item.scenario["id"], item.scenario["variant"]] += 1
    ordered = sorted(found.items(), key=lambda each: _FAILURES.index(each[0]))
    text = "; ".join(f"{word}: {_join_names(names)}" for word, names in ordered)
    return f"{text[:1].upper()}{text[1:]}"


REGRESSED_SECTION, KNOWN_SECTION = 1, 3
"""The numbers of the sections of scenarios that got worse and do not block, and of those that failed before."""
MOST_NAMED = 3
"""Scenarios that an alert names of each kind."""
_VERDICTS = {"HARD_FAIL": "hard-failed", "ERROR": "unreadable", "MISSING": "without a trace"}
_BROKE, _LOST, _BELOW, _WORSE = "broke", "without evidence", "below threshold", "regressed"
_OTHER = "acts differently"
_FAILURES = [*_VERDICTS.values(), _BROKE, _BELOW, _LOST, _WORSE, _OTHER]


def _describe_failure(item: SuiteScenario, *, is_lost: bool) -> str:
    verdict = item.scenario["verdict"]
    if verdict in _VERDICTS:
        return _VERDICTS[verdict]
    if is_lost or verdict == "NOT_EVALUABLE":
        return _LOST
    if verdict != "PASS" or item.kind == "broken":
        return _BROKE if item.kind == "broken" else _BELOW
    return _OTHER if fails_by_differences(item.scenario) else _WORSE


def _join_names(names: Counter[tuple[str, str | None]]) -> str:
    """Joins the first names, with the number of suites for one that is in several, and counts the others."""
    first = list(names.items())[:MOST_NAMED]
    named = [
        " ".join(
            [
                escape_id(mark_unseen(name), 120),
                *([escape_id(variant, 120)] if variant else []),
                *([f"in {count} suites"] if count > 1 else []),
            ]
        )
        for (name, variant), count in first
    ]
    more = names.total() - sum(count for _, count in first)
    return wording.join_words([*named, *([f"{more:,} more"] if more else [])])


def _list_other_reasons(document: ResultsDoc) -> list[ReasonDoc]:
    """Lists reasons that are shown neither with a scenario nor in the list of weakenings."""
    reasons = (each for each in document["reasons"] if not each.get("scenario") and each["code"] != "weakened")
    return [_leave_out_heading(each, document) for each in reasons]


def _leave_out_heading(reason: ReasonDoc, document: ResultsDoc) -> ReasonDoc:
    """Without the globs that the heading names of an only suite without traces."""
    if reason["code"] != "no_traces" or len(document["suites"]) != 1:
        return reason
    rest = re.search(r"(?<=; )(?:the only scenario|none of the [0-9,]+ scenarios) was .*", reason["message"])
    return {**reason, "message": f"{rest[0][0].upper()}{rest[0][1:]}"} if rest else reason


def _format_reason(reason: ReasonDoc, links: Links) -> str:
    where = links.place(reason.get("location"))
    message = escape_sentence(reason["message"], 600)
    return f"{where} {message}" if where else message


def _format_warning(warning: GroupedWarning) -> str:
    where = f", at {escape_span(warning.where, 160)}{warning.more_places}" if warning.where else warning.more_places
    return f"{escape_sentence(warning.message)}{where}"


def _format_unclaimed(group: UnclaimedTraces, *, many: bool) -> str:
    suites = ", ".join(escape_id(each, 120) for each in group.suites[:MOST_NAMED])
    more = f" and {len(group.suites) - MOST_NAMED} more" if len(group.suites) > MOST_NAMED else ""
    return f"{f'{suites}{more}: ' if many else ''}{escape_sentence(describe_unclaimed(group.members), 600)}"


def _list_commands(document: ResultsDoc, scenarios: ScenarioSections, failing: Sequence[FailureGroup]) -> str:
    """Formats the commands that fetch the baseline, repeat the run, and explain the first failure and show its trace.

    Without a failure they are about the first scenario that acts differently. Empty for the report of another run.
    """
    if not document.get("command"):
        return escape_commands([document["fetch_command"]] if document.get("fetch_command") else [])
    commands = [document.get("fetch_command"), build_command(document, scenarios)]
    first = failing[0].members[0] if failing else next(iter(list_differing(document)), None)
    if first is not None:
        trial = find_failed_trial(first.scenario) or next(iter(first.scenario["trials"]), None)
        commands.append(build_explain_command(document, first))
        commands += (
            [build_show_command(first.suite, trial, document.get("working_directory", ""))] if trial is not None else []
        )
    return escape_commands([each for each in commands if each])


def _describe_merging(document: ResultsDoc, heading: Heading) -> str:
    """Whether the run blocks merging, and whether a person should look before."""
    if document["exit_code"]:
        return "yes"
    if heading.sign == NOTHING_NEW:
        return "no, but no change of the agent was judged"
    if heading.tone == "good" and any(map(only_reads_unchecked, list_scenarios(document))):
        return "no, but look at what is new"
    return "no" if heading.tone == "good" else "no, but look before you merge"


_WRONG = (
    "No check fails. If this is wrong, fix the agent or add a check "
    "(`fail_on: [behaviour_changed]` in the suite's `policy` blocks all such)"
)
_NOTES = {
    False: f"{_WRONG}. Once merged, this is the baseline: ",
    True: f"{_WRONG}. This run is the baseline of later ones: ",
}
"""What follows where passing scenarios act differently, by whether the run is the baseline of later ones."""
RIGHT_AGAIN = "The baseline did not do what was asked for, and this run does."


def _describe_effect(document: ResultsDoc, pages: RunPages) -> str:
    """What follows if scenarios act differently; empty if only prompt, tools or settings differ."""
    if not differ_beyond_setup(document):
        return ""
    later = describe_later_reports(document)
    return f"{_NOTES[pages.makes_baseline]}{later}." if later else RIGHT_AGAIN


S = TypeVar("S")
T = TypeVar("T")
ROW_OVERHEAD, NAME_OVERHEAD = 60, 2
"""Most characters that a template puts around a row, and around a name in a list of names."""


class Group(Struct, Generic[S, T]):
    """Candidates by importance, and how to render one; `share` is their fraction of the space."""

    candidates: Sequence[S]
    render: Callable[[S], T]
    share: float
    max_rows: int
    shown: list[T] = field(default_factory=list)
    left_names: list[str] = field(default_factory=list)
    _pending: T | None = None

    def fill(self, room: float) -> float:
        """Renders candidates until the space is used or none is left; returns the remaining space."""
        while len(self.shown) < min(self.max_rows, len(self.candidates)):
            row = self._pending or leave_out_unknown(self.render(self.candidates[len(self.shown)]))
            cost = count_chars(row) + ROW_OVERHEAD
            if cost > room:
                self._pending = row
                return room
            self._pending = None
            self.shown.append(row)
            room -= cost
        return room

    def build_rows(self) -> Rows[T]:
        """Returns the rendered rows and the number of all candidates."""
        sizes = list(map(_count_scenarios, self.candidates))
        shown = len(self.shown)
        return Rows(tuple(self.shown), sum(sizes), sum(sizes[:shown]) - shown, tuple(self.left_names))


def _count_scenarios(candidate: Any) -> int:
    return len(candidate.members) if isinstance(candidate, FailureGroup | UnclaimedTraces) else 1


def fill_groups(groups: Sequence[Group[Any, Any]], room: int) -> float:
    """Fills each group up to its share, then all with the unused space, most severe first; returns the rest."""
    remaining = float(room)
    for group in groups:
        share = room * group.share
        remaining -= share - group.fill(share)
    for group in groups:
        remaining = group.fill(remaining)
    return remaining


def add_names(group: Group[Any, Any], room: float, *, many: bool) -> float:
    """Adds the names of all scenarios of the rows, then of those without a row; returns the remaining space."""
    for index, candidate in enumerate(group.candidates):
        if not isinstance(candidate, FailureGroup):
            continue
        is_shown = index < len(group.shown)
        known = group.shown[index].names.shown if is_shown else ()
        names = []
        for member in candidate.members[len(known) :]:
            name = format_name(member.suite["suite"], member.scenario, many=many)
            room -= len(name) + NAME_OVERHEAD
            if room < 0:
                break
            names.append(name)
        if is_shown:
            group.shown[index] = replace(group.shown[index], names=Rows((*known, *names), len(candidate.members)))
        else:
            group.left_names += names
        if room < 0:
            break
    return room


def add_details(group: Group[FailureGroup, Failure], room: float, most: int) -> None:
    """Adds details of further scenarios of each group, while there is space and less than `most` have any."""
    count = len(group.shown)
    for index, candidate in enumerate(group.candidates[: len(group.shown)]):
        others = []
        for member in candidate.members[1 : 1 + max(0, most - count)]:
            other = group.render(group_failures([member])[0])
            room -= count_chars(other) + ROW_OVERHEAD
            if room < 0:
                break
            others.append(other)
        count += len(others)
        group.shown[index] = replace(group.shown[index], others=tuple(others))


def leave_out_unknown(row: T) -> T:
    """Empties the fields of a row that are unknown or don't apply."""
    if not isinstance(row, Struct):
        return row
    unknown = [name for name in row.__struct_fields__ if getattr(row, name) in (wording.DASH, wording.UNKNOWN)]
    return replace(row, **dict.fromkeys(unknown, ""))


def count_chars(value: Any) -> int:
    """Counts the characters of text in a row."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Struct):
        return sum(count_chars(getattr(value, name)) for name in value.__struct_fields__)
    if isinstance(value, tuple):
        return sum(count_chars(item) + ROW_OVERHEAD for item in value)
    return 0
