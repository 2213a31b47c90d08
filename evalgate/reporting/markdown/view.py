"""The view that templates see: a public interface. Fields are added, never renamed.

Every text is finished Markdown: untrusted text is escaped before it gets here, so no template has to do it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")


class Rows(Struct, Generic[T], frozen=True, eq=False):
    """The rows of a list that fit, most important first; `total` counts all of them.

    If rows stand for several scenarios, `total` counts scenarios and `grouped` those of the rows beyond one each.
    """

    shown: tuple[T, ...]
    total: int
    grouped: int = 0
    left_names: tuple[str, ...] = ()  # names of scenarios that are not shown, as many as fit

    @property
    def left(self) -> int:
        """How many are not shown."""
        return self.total - len(self.shown) - self.grouped

    def split_alike(self) -> tuple[list[T], list[T]]:
        """The rows that only name scenarios with the same result, most of those that do, and the others."""
        results = [_find_plain_result(row) for row in self.shown]
        most = next((each for each, _ in Counter(filter(None, results)).most_common(1)), None)
        plain = [most is not None and result == most for result in results]
        pairs = list(zip(self.shown, plain, strict=True))
        return [row for row, is_plain in pairs if is_plain], [row for row, is_plain in pairs if not is_plain]

    def filled(self, columns: str) -> list[tuple[str, str, str]]:
        """The columns in which some row has a text: title, alignment, field. They are given as `>Title field, ...`."""
        found = (column.rpartition(" ") for column in columns.split(", "))
        return [
            (title.removeprefix(">"), "--:" if title.startswith(">") else ":--", field)
            for title, _, field in found
            if any(getattr(row, field) for row in self.shown)
        ]


def _find_plain_result(row: Any) -> tuple[str, str] | None:
    """The verdict and score of a row of one scenario that has nothing else; None for any other."""
    is_plain = len(row.names.shown) == 1 and not (row.change or row.score_delta or row.note)
    return (row.verdict, row.score) if is_plain else None


class Alert(Struct, frozen=True, eq=False):
    """One sentence; `kind` is a GitHub alert type: CAUTION, WARNING, IMPORTANT, NOTE or TIP.

    It is not shown if it `is_in_heading`: the heading names the only scenario that fails.
    """

    kind: str
    text: str
    is_in_heading: bool = False


class SuiteRow(Struct, frozen=True, eq=False):
    """A row of the suite table. Deltas are empty if unchanged or unknown."""

    name: str
    verdict: str
    passed: str
    passed_delta: str
    score: str
    score_delta: str
    changes: str


class CheckRow(Struct, frozen=True, eq=False):
    """A check that did not pass: in how many trials, and why in the first of those.

    `is_new` is whether the baseline's suite lacks it.
    `scenarios` is the number of all scenarios that lack the same evidence, else 0. If the failure stands for several
    scenarios, `trials` is 1; `name` may hold several names.
    """

    name: str
    is_required: bool
    is_new: bool
    failed: int
    trials: int
    reason: str
    scenarios: int


class Failure(Struct, frozen=True, eq=False):
    """A scenario in detail, or several that fail for the same reasons: `names` has all that fit.

    `request` is what the user asked for in the first, empty if it is unknown. `facts` are short remarks; `evidence` is
    a fenced block or empty. `behaviour` shows how the trajectory of the first scenario differs from the baseline's:
    lines and fenced blocks, or empty; `others` has more of them.
    """

    name: str
    verdict: str
    facts: tuple[str, ...]
    reason: str
    checks: tuple[CheckRow, ...]
    checks_left: int
    behaviour: str
    evidence: str
    names: Rows[str]
    others: tuple[Failure, ...]
    request: str = ""


class Example(Struct, frozen=True, eq=False):
    """What the agent did in one trial, whose trace is at `place`, and its checks; empty where it is not known."""

    place: str
    request: str
    calls: str
    answer: str
    checks: str


class ScenarioRow(Struct, frozen=True, eq=False):
    """A scenario as a table row, or several that fail for the same reasons: `names` has all that fit.

    `example` is a trial of a new scenario that passes, of the first few of these.
    """

    name: str
    verdict: str
    change: str
    score: str
    score_delta: str
    note: str
    names: Rows[str]
    example: Example | None = None


class Figure(Struct, frozen=True, eq=False):
    """A figure of the run; `delta` is its change since the baseline or empty."""

    name: str
    value: str
    delta: str


class VariantRow(Struct, frozen=True, eq=False):
    """A variant of a suite, for comparison with the suite's others; values are means over its trials."""

    suite: str
    name: str
    passed: str
    correct_tool: str
    correct_count: str
    input_tokens: str
    output_tokens: str
    total_tokens: str
    cost: str
    latency: str


class ArmRow(Struct, frozen=True, eq=False):
    """A scenario that is not the same in both arms; `calls` are those of a broken one, control and treatment."""

    name: str
    result: str
    reason: str
    calls: str


class ArmSection(Struct, frozen=True, eq=False):
    """Two variants compared. `answer` is whether the treatment is worse or better, `summary` the figures.

    `suite` is empty if there is only one; `differences` is what differs between the agents besides the variant.
    """

    suite: str
    control: str
    treatment: str
    answer: str
    summary: str
    differences: tuple[str, ...]
    rows: Rows[ArmRow]


class PromptSection(Struct, frozen=True, eq=False):
    """A changed system prompt: how many lines differ, a block with these, and what that leaves out; may be empty."""

    title: str
    diff: str
    more: str


class ConfirmedRow(Struct, frozen=True, eq=False):
    """A scenario that was recorded again: what all trials show, and those that passed on both sides."""

    name: str
    finding: str
    base: str
    head: str
    acts: str  # what the trials do otherwise than on the base; may be empty


class StatisticsRow(Struct, frozen=True, eq=False):
    """Statistics of a suite or the whole run, with intervals; deltas are empty if unknown."""

    name: str
    trials: str
    pass_rate: str
    pass_rate_delta: str
    tries: str  # pass@k and pass^k; empty with one trial each
    score: str
    score_delta: str
    cost: str
    cost_delta: str
    tokens: str
    tokens_delta: str
    latency: str
    latency_delta: str


class CostlyAssertionRow(Struct, frozen=True, eq=False):
    """A check that failed in some trial, and the weight that its failures lost."""

    name: str
    is_required: bool
    failed: int
    scenarios: int
    weight_lost: str


class DimensionRow(Struct, frozen=True, eq=False):
    """A dimension over all goldens in which it could be judged; `goldens` is their number.

    `level` is a word, `bar` the score as a bar; `moved_by` is the golden and turn that changed it most.
    """

    name: str
    score: str
    score_delta: str
    level: str
    bar: str
    goldens: str
    moved_by: str


class GoldenRow(Struct, frozen=True, eq=False):
    """A golden as a table row. `dimensions` names those that changed, else those below 1."""

    name: str
    title: str
    verdict: str
    score: str
    score_delta: str
    level: str
    bar: str
    status: str  # degradation or improvement, else empty
    dimensions: str
    issues: str
    worst_issue: str


class PastRunRow(Struct, frozen=True, eq=False):
    """A past run, or this one, as a table row; `number` is its position in the charts."""

    number: str
    day: str
    commit: str
    verdict: str
    pass_rate: str
    score: str
    cost: str


class Trend(Struct, frozen=True, eq=False):
    """The last runs: `charts` are code blocks that GitHub draws, `runs` the same as rows, newest first."""

    title: str
    charts: tuple[str, ...]
    runs: Rows[PastRunRow]


class Report(Struct, frozen=True, eq=False):
    """The whole report."""

    heading: str  # the first line of any report, above its template
    notices: str  # warnings to read with the verdict, above its template; may be empty
    origin: str  # the run that made it, if another run publishes it; else empty
    alert: Alert | None
    baseline: str
    noise: str  # how many changes chance alone could cause; empty if unknown
    false_alarms: str  # how often the gate is red by chance, by a store's runs; may be empty
    mutations: str  # how many small changes the changed suites notice, and how many before; may be empty
    comes_with: str  # the changed model, tools or prompt that regressions come with; may be empty
    recordings: str  # how many recordings are those of the baseline, unless the heading says so; may be empty
    growth: str  # the scenarios whose cost or tokens grew most, if those of the run grew much; may be empty
    unasked: str  # scenarios that still pass another value than was asked for; may be empty
    lost_figures: str  # figures that the baseline has and this run lacks, as in `notices`; may be empty
    other_calls: str  # always empty: templates of users may name it
    is_compared: bool  # false: the columns of changes would be empty
    suites: Rows[SuiteRow]  # those in which all passes last
    green_suites: int  # how many those are
    figures: tuple[Figure, ...]
    sums: Rows[StatisticsRow]  # of each suite; first of the run, if it has several
    lost_checks: Rows[CostlyAssertionRow]  # costliest first
    variants: Rows[VariantRow]  # in the order of the suites
    arms: Rows[ArmSection]  # variants compared, in the order of the suites
    confirmed: Rows[ConfirmedRow]  # what got worse and was recorded again
    confirmation: str  # what was recorded for them, and its cost; may be empty
    failures: Rows[Failure]  # hard fails, broken and blocking ones, in detail, grouped by cause
    failures_block: bool  # whether the run fails; else a person excused them, or nothing asks for them
    more_failures: Rows[ScenarioRow]  # the others, which did not fit in detail
    lost: Rows[Failure]  # those that fail only for lack of evidence, which no other list has
    regressed: Rows[ScenarioRow]
    below: Rows[ScenarioRow]  # below threshold, and none of the above
    known: Rows[ScenarioRow]  # fail as in the baseline, or as a person approved
    quarantined: Rows[ScenarioRow]  # never block
    quarantined_changes: Rows[Failure]  # those of them that fail and did not before, in detail
    quarantined_failing: int  # those of them that do not pass
    quarantine_matters: bool  # whether one of them fails, or was added
    quarantines: Rows[str]  # their reasons and end dates; expired ones first
    newly_flaky: Rows[str]  # not flaky in the same number of runs before
    flaky: Rows[str]  # flaky before, too
    trend: Trend | None  # None without a store that has past runs
    dimensions: Rows[DimensionRow]  # of goldens, in their fixed order
    goldens: Rows[GoldenRow]  # all in a summary, else those that fail or changed; degraded ones first
    other_changes: Rows[ScenarioRow]  # fixed, improved, new, removed, inconclusive
    new_open: bool  # whether these are shown unfolded: a trial of each new one is, or few pass less often
    new_left: int  # new ones of which no trial is shown, though it is of others
    differences: Rows[str]  # what passing scenarios do otherwise than in the baseline
    prompts: Rows[PromptSection]  # changed system prompts whose text both sides keep
    acts: int  # how many of these are calls that change something, arguments, effects or ends; they come first
    differences_block: bool  # whether that fails the gate, which `behaviour_changed` in `fail_on` asks for
    differences_note: (
        str  # what follows from that; empty if it fails the gate, or only prompt, tools or settings differ
    )
    passing: Rows[ScenarioRow]  # those with a failed trial or check first
    passing_with_failures: int
    passing_with_failed_trials: int  # those of them with several trials of which some failed
    passing_not_evaluable: int  # those with checks that could not be evaluated, and none that failed
    reasons: Rows[str]  # why the gate cannot judge, or what is wrong with its input
    approvals: Rows[str]  # accepted failures, in force or not
    approvals_matter: bool  # whether one of them is proposed, or does not count
    weakenings: Rows[str]  # requirements of the baseline's gate that are weaker now
    warnings: Rows[str]
    unclaimed: Rows[str]
    skipped: int
    accept_lead: str  # when that is right: if it is intended, or if the failure is not of this change
    accept: str  # how to accept the changes, or what merging means; may be empty
    command: str
    reproduce: str  # a block of commands that fetch the baseline and repeat the run; may be empty
    report_url: str  # may be empty
    version: str
