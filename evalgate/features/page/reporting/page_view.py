"""What the page shows of a finished run, as plain text: the template escapes it, and holds all markup."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence


class Fact(NamedTuple):
    """A label and a text."""

    label: str
    text: str


class CellView(NamedTuple):
    """A check in one trial: `tone` is good, bad, warn or plain, and selects a colour."""

    text: str
    tone: str


class TrialCheckRow(NamedTuple):
    """A check over all trials; `parts` is the reason of its worst outcome, every second part is code."""

    name: str
    notes: str
    parts: Sequence[str]
    place: str
    evidence: str
    cells: Sequence[CellView]


class CheckReason(NamedTuple):
    """Why a check failed; every second one of `parts` is code. `anchor` ends that of the call that it is about."""

    name: str
    parts: Sequence[str]
    notes: str
    place: str
    anchor: str
    call: str


class StepView(NamedTuple):
    """A line of the trajectory diff. `sign` is -, +, ~ or \u21c5, empty if equal; `details` explain what differs.

    `is_error` is whether this run's call ended with one. `anchor` ends that of the turn that a text is from.
    `is_before` is whether it comes before the leading call now, and came after it in the baseline; `instead` is the
    number of the call that replaces a missing one.
    """

    baseline_number: str
    number: str
    sign: str
    word: str
    name: str
    arguments: str
    details: Sequence[str] = ()
    is_leading: bool = False
    is_error: bool = False
    anchor: str = ""
    is_before: bool = False
    instead: str = ""


class TextPartView(NamedTuple):
    """A part of the final answer: kept, gone or come."""

    kind: str
    text: str


class DifferenceView(Struct):
    """How a trial differs from one of the baseline; at most one of `answer` and `answers` is not empty.

    `sentence` is about the difference that matters most, `first` about the first one if that is another; every
    second part of them is code. `endings` say what the user wrote that the agent did not answer.
    """

    heading: str
    title: str
    sentence: Sequence[str]
    first: Sequence[str]
    steps: list[StepView]
    omitted: str = ""
    messages: list[StepView] = []
    answer: list[TextPartView] = []
    answers: list[StepView] = []
    notes: list[str] = []
    endings: list[str] = []


class FigureRow(NamedTuple):
    """A figure of each trial, and of the baseline's trial that the worst one is compared with; empty if unknown."""

    name: str
    baseline: str
    cells: Sequence[str]


class ChoiceView(NamedTuple):
    """A choice of the filter that selects a group of scenarios, and how many it has."""

    group: str
    name: str
    scenarios: int


class TrialView(NamedTuple):
    """A trial; `block` is the number of its conversation in the page, None if that is not in it."""

    number: int
    status: CellView
    place: str
    reason: str
    block: int | None
    why_no_block: str


class RowView(NamedTuple):
    """A scenario in the list of all; `change` is how it compares with the baseline, `tags` are numbers of its tags.

    `finding` is the difference that matters most, or the first failed check, in a few words.
    """

    number: int
    name: str
    verdict: CellView
    change: CellView
    finding: str
    tags: str
    passed: str
    groups: Sequence[str]


class GoldenDimensionRow(NamedTuple):
    """A dimension of a golden; `before` and `change` are empty if they are not known."""

    name: str
    score: CellView
    before: str
    change: str


class GoldenIssueRow(NamedTuple):
    """An issue of a golden, with its severity; every second one of `parts` is code."""

    severity: CellView
    parts: Sequence[str]


class GoldenView(Struct):
    """A golden over all trials."""

    title: str
    dimensions: list[GoldenDimensionRow]
    issues: list[GoldenIssueRow]
    issues_left: str


class HistoryRow(NamedTuple):
    """A run of the history."""

    at: str
    commit: str
    verdict: CellView
    score: str
    pass_rate: str
    cost: str


class PastRunsView(Struct):
    """The last runs; `points` are their scores as points of an SVG polyline, `runs` the newest first."""

    title: str
    points: str
    runs: list[HistoryRow]


class ScenarioView(Struct):
    """A scenario in a section; `row` is the one that it has in the list."""

    row: RowView
    score: str
    check_reasons: list[CheckReason]
    reasons: list[Sequence[str]]
    facts: list[Fact]
    golden: GoldenView | None
    difference: DifferenceView | None
    failed_checks: list[TrialCheckRow]
    unknown_checks: list[TrialCheckRow]
    unknown_names: str
    passed_checks: list[TrialCheckRow]
    figures: list[FigureRow]
    message: str
    trials: list[TrialView]
    baseline: TrialView | None
    no_baseline: str
    trials_left: str
    commands: list[Fact]


class PromptView(NamedTuple):
    """A changed system prompt: lines as pairs of a sign and a text, and what they leave out."""

    title: str
    lines: Sequence[tuple[str, str]]
    more: str


class PageView(Struct):
    """What the page shows of the run as a whole. `reasons` are those that name no scenario."""

    title: str
    heading: CellView
    reasons: list[Sequence[str]]
    facts: list[Fact]
    changes: str
    passed: str
    remarks: list[Sequence[str]]
    prompts: list[PromptView]
    choices: list[ChoiceView]
    conversations: str
    left_out: str
    removed: list[Fact]
    warnings: list[Fact]
    missing: str
    suites: list[str]
    variants: list[str]
    tags: list[str]
    history: PastRunsView | None
    approvals: list[str]
    commands: list[Fact]
    version: str


class PageParts(NamedTuple):
    """Rendered rows and sections; JSON that can be the content of a script element.

    `short` are the scenarios without a section, `blocks` the conversations, each in the order of its number.
    """

    rows: Sequence[str]
    sections: Sequence[str] = ()
    short: str = "{}"
    blocks: Sequence[str] = ()
