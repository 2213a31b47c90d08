"""What templates may see: a public promise. Every text is finished Markdown; fields are added, not renamed.

Text of strangers has passed its door before it gets here, so no template can forget to escape it.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from evalgate.records import dataclass

T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class Rows(Generic[T]):
    """As many of a list as there was room for, worst first; `total` counts all of them."""

    shown: tuple[T, ...]
    total: int

    @property
    def left(self) -> int:
        """How many are not shown."""
        return self.total - len(self.shown)


@dataclass(frozen=True, eq=False, repr=False)
class Alert:
    """One sentence; `kind` is a word of GitHub's alerts: CAUTION, WARNING, IMPORTANT, NOTE or TIP."""

    kind: str
    text: str


@dataclass(frozen=True, eq=False, repr=False)
class SuiteRow:
    """A line of the suite table. Deltas are empty where nothing moved or nothing is known."""

    name: str
    verdict: str
    passed: str
    passed_delta: str
    score: str
    score_delta: str
    changes: str


@dataclass(frozen=True, eq=False, repr=False)
class CheckRow:
    """A check that did not pass: in how many of the trials, and why in the first of them."""

    name: str
    is_required: bool
    failed: int
    trials: int
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class Failure:
    """A scenario told at length. `facts` are short remarks; `evidence` is a fenced block or empty.

    `behaviour` tells how its tool calls differ from the baseline's: lines with a fenced block, or empty.
    """

    name: str
    verdict: str
    facts: tuple[str, ...]
    reason: str
    checks: tuple[CheckRow, ...]
    checks_left: int
    behaviour: str
    evidence: str


@dataclass(frozen=True, eq=False, repr=False)
class ScenarioRow:
    """A scenario in one line of a table."""

    name: str
    verdict: str
    change: str
    score: str
    score_delta: str
    note: str


@dataclass(frozen=True, eq=False, repr=False)
class Figure:
    """A figure of the run; `delta` is its move since the baseline or empty."""

    name: str
    value: str
    delta: str


@dataclass(frozen=True, eq=False, repr=False)
class VariantRow:
    """A variant of a suite, to be read beside the suite's others; means over its trials."""

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


@dataclass(frozen=True, eq=False, repr=False)
class SumRow:
    """A suite, or the whole run, in figures with their intervals; deltas are empty where nothing is known."""

    name: str
    trials: str
    pass_rate: str
    pass_rate_delta: str
    tries: str  # pass@k and pass^k; empty where there was one trial each
    score: str
    score_delta: str
    cost: str
    cost_delta: str
    tokens: str
    tokens_delta: str
    latency: str
    latency_delta: str


@dataclass(frozen=True, eq=False, repr=False)
class CostlyAssertionRow:
    """A check that did not pass everywhere, and the weight that its failures lost."""

    name: str
    is_required: bool
    failed: int
    scenarios: int
    weight_lost: str


@dataclass(frozen=True, eq=False, repr=False)
class DimensionRow:
    """A dimension over all goldens in which it could be judged; `goldens` says in how many.

    `level` is a word, `bar` the score drawn; `moved_by` is the golden and the turn that moved it most.
    """

    name: str
    score: str
    score_delta: str
    level: str
    bar: str
    goldens: str
    moved_by: str


@dataclass(frozen=True, eq=False, repr=False)
class GoldenRow:
    """A golden in a line. `told` names the dimensions that moved, or else those that are not whole."""

    name: str
    title: str
    verdict: str
    score: str
    score_delta: str
    level: str
    bar: str
    status: str  # degradation or improvement; empty where it is neither
    told: str
    issues: str
    worst_issue: str


@dataclass(frozen=True, eq=False, repr=False)
class PastRunRow:
    """An earlier run, or this one, in a line; `number` is its place in the charts."""

    number: str
    day: str
    commit: str
    verdict: str
    pass_rate: str
    score: str
    cost: str


@dataclass(frozen=True, eq=False, repr=False)
class Trend:
    """The last runs: `charts` are finished blocks that GitHub draws, `runs` the same, newest first."""

    title: str
    charts: tuple[str, ...]
    runs: Rows[PastRunRow]


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """The whole report."""

    heading: str  # the first line of any report, above its template
    origin: str  # whose run this was, where another run reports for it; else empty
    alert: Alert | None
    baseline: str
    noise: str  # how much of the changes chance alone could have made; empty where that is not known
    is_compared: bool  # false: the columns of changes would be empty
    suites: Rows[SuiteRow]
    figures: tuple[Figure, ...]
    sums: Rows[SumRow]  # of each suite; of the run first, where it has several
    lost_checks: Rows[CostlyAssertionRow]  # costliest first
    variants: Rows[VariantRow]  # in the order of the suites
    failures: Rows[Failure]  # hard fails, what broke and what gates: told at length
    more_failures: Rows[ScenarioRow]  # the same, for which there was no such room
    regressed: Rows[ScenarioRow]
    below: Rows[ScenarioRow]  # below threshold or not evaluable, and none of the above
    quarantined: Rows[ScenarioRow]  # decide nothing
    quarantines: Rows[str]  # why that is so, and for how long; those that expired first
    newly_flaky: Rows[str]  # that were not flaky in as many runs before
    flaky: Rows[str]  # that were so before, too
    trend: Trend | None  # where a store remembers earlier runs
    dimensions: Rows[DimensionRow]  # of goldens, in their fixed order
    goldens: Rows[GoldenRow]  # that fail or moved, in a summary all of them; degraded ones first
    other_changes: Rows[ScenarioRow]  # fixed, improved, new, removed, inconclusive
    passing: Rows[ScenarioRow]
    reasons: Rows[str]  # why the gate cannot judge, or what is wrong with its input
    approvals: Rows[str]  # of failures that a person let pass, in force or not
    weakenings: Rows[str]  # what the gate demands less than the baseline's
    warnings: Rows[str]
    unclaimed: Rows[str]
    skipped: int
    accept: str  # what to do where the changes are meant; empty where there are none
    command: str
    report_url: str  # empty where there is none
    version: str
