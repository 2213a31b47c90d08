"""Request to the judge and its answer, plain data that can cross a process boundary; the ports the judge works with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from evalgate.errors import Problem
from evalgate.models.comparison.comparison import BASELINE_REFUSED
from evalgate.ports.outputs import COMMENT, JUNIT, SUMMARY, RenderOptions, RunSubject

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from evalgate.models.approvals.approval import Approval, ApprovalFile
    from evalgate.models.approvals.review import CommentApproval
    from evalgate.models.comparison.comparison import BaselineInfo
    from evalgate.models.comparison.weakening import OnWeakening
    from evalgate.models.history.stability import RunHistory
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.results.results_sections import ApprovalDoc, CalibrationDoc, InputsDoc
    from evalgate.models.run.chunks import Content, Spool
    from evalgate.ports import (
        Annotation,
        BaselineFiles,
        Clock,
        Fingerprints,
        MutationComparer,
        OutputFolder,
        PriceTable,
        Progress,
        SuiteSource,
        TraceArchive,
    )
    from evalgate.ports.batches import EvaluationPools
    from evalgate.ports.outputs import RunOutput
    from evalgate.ports.shards import OpenShard
    from evalgate.ports.store import RunStore
    from evalgate.reporting.text.grouping import GroupedScenarios


class SourceChoice(Struct, frozen=True):
    """The suites, and the traces instead of those that they name. Paths are relative to the working directory."""

    configs: Sequence[str] = ()
    traces: Sequence[str] | None = None  # replaces `traces` of every suite
    scenarios: Sequence[str] = ()  # judge only these: ids or `id[variant]`, with `*`
    form: str | None = None  # replaces `format` of every suite


class RuleOptions(Struct, frozen=True):
    """What the caller decides about the verdict; it wins over every policy."""

    fail_on: Sequence[str] | None = None
    on_weakening: OnWeakening | None = None
    report_only: bool = False
    by_rules_of_base: bool = False  # the baseline's suites and policy decide, not the run's own


class ApprovalInputs(Struct, frozen=True):
    """What could approve a failure, and what only proposes to."""

    file: ApprovalFile | None = None  # the approvals that count
    is_of_base: bool = False  # they are another commit's, so their errors do not fail this run
    proposed: ApprovalFile | None = None  # those of the pull request, which are only shown
    of_baseline: bool = False  # only those count that the baseline's run had
    is_off: bool = False  # none counts, wherever it is from
    remembered: Sequence[Approval] = ()  # approvals that a store holds
    consents: Sequence[CommentApproval] = ()  # approvals that people gave in comments, whose permission was verified

    @property
    def has_any(self) -> bool:
        """Whether anything here could approve a failure."""
        has_file = self.file is not None and bool(self.file.content.strip())
        return not self.is_off and (has_file or bool(self.remembered) or bool(self.consents))


class BaselinePlan(Struct, frozen=True):
    """The baseline to compare with, None if none was requested, and the one to make.

    `is_required`: the user named it, so that a missing or damaged one ends in exit 2. `kept` is the output file that
    is this run's baseline, which it does not replace. `refused` says why others were, one line each. `fetch_command`
    gets the baseline in a shell, if it is not one that GitHub keeps.
    """

    info: BaselineInfo | None = None
    is_required: bool = False
    makes_zip: bool = True
    kept: str | None = None
    refused: Sequence[str] = ()
    fetch_command: str | None = None


class JudgeRequest(Struct, frozen=True):
    """One request to the judge."""

    sources: SourceChoice = SourceChoice()
    rules: RuleOptions = RuleOptions()
    approvals: ApprovalInputs = ApprovalInputs()
    subject: RunSubject = RunSubject()
    baseline: BaselinePlan = BaselinePlan()
    render: RenderOptions = RenderOptions()
    outputs: Mapping[str, Any] = {}  # options of each output that was asked for, besides those that every run leaves
    folder: str = ""  # the working directory, relative to the repository's root; empty for the root
    inputs: InputsDoc | None = None  # of a workflow: those that decide
    leg: str = ""  # the values of the job's matrix, as text; empty without a matrix
    history: RunHistory | None = None  # history of earlier runs from a store
    mutation_score: bool = False  # compare how many small changes changed suites notice with the baseline's
    notes: Sequence[str] = ()  # warnings of the caller, to show with the run's

    @property
    def warnings(self) -> list[Problem]:
        """The caller's warnings, and why baselines were refused."""
        refused = [Problem(each, code=BASELINE_REFUSED) for each in self.baseline.refused]
        return [*map(Problem, self.notes), *refused]


class Judgement(Struct, frozen=True):
    """One answer. `problems` is non-empty exactly if the verdict is `invalid`.

    From a judge in another process `results` comes without suites: the file has them.
    """

    results: ResultsDoc
    files: Mapping[str, Content]  # results.json always; unless invalid, the contents of all other outputs
    annotations: Sequence[Annotation] = ()
    problems: Sequence[Problem] = ()
    baseline_zip: str | None = None  # path of the zip that was written
    warnings: Sequence[str] = field(default_factory=tuple)
    heading: str = ""  # the verdict in one line
    excused: Mapping[str, int] = field(default_factory=dict)  # hard fails that don't fail the gate, by excuse
    grouped: GroupedScenarios | None = None  # the scenarios of `results`, if this process grouped them

    @property
    def exit_code(self) -> int:
        """The exit code of the process; the results hold the same value."""
        return self.results["exit_code"]


class RenderedReport(Struct, frozen=True):
    """A report to post; `results` may lack suites, as in a judgement."""

    results: ResultsDoc
    comment: str
    summary: str
    warnings: Sequence[str] = ()
    files: Mapping[str, Content] = {}  # the contents of outputs that were asked for


class ApprovedReport(Struct, frozen=True):
    """A report decided with approvals: its heading, and the ruling on each approval.

    `refused` holds the id of each comment that approves nothing, and why.
    """

    rendered: RenderedReport
    heading: str
    approvals: Sequence[ApprovalDoc]
    refused: Sequence[tuple[int, str]] = ()


class Tools(Struct, frozen=True):
    """Everything outside that the judge can reach."""

    suites: SuiteSource
    traces: TraceArchive
    baselines: BaselineFiles
    output: OutputFolder
    clock: Clock
    progress: Progress
    make_trial_spool: Callable[[], Spool]  # temporary storage for trials until results are written
    load_output: Callable[[str], RunOutput]  # by name
    make_mutation_comparer: Callable[..., MutationComparer]  # of traces, their choice and progress
    prices: PriceTable | None = None
    fingerprints: Fingerprints | None = None
    pools: EvaluationPools | None = None
    shards: Sequence[OpenShard] | None = None  # merges these shards instead of reading traces
    calibrate: Callable[..., CalibrationDoc | None] | None = None  # by suites, policies, past trials and this run


TRACKING = "tracking.json"
"""The file that describes where the run was published."""
REPORTS = (COMMENT, SUMMARY, JUNIT, "results.sarif", "report.html", TRACKING)


def with_history(request: JudgeRequest, store: RunStore) -> JudgeRequest:
    """Adds the history and the approvals that the store has."""
    history, remembered = store.load()
    return replace(request, history=history, approvals=replace(request.approvals, remembered=remembered))


def write_outputs(judgement: Judgement, folder: OutputFolder, *, omit: Collection[str | None] = ()) -> None:
    """Writes the run's files except `omit`; removes reports of an earlier run, which would look like this run's."""
    written = {name: content for name, content in judgement.files.items() if name not in omit}
    folder.replace_all(written, [name for name in REPORTS if name not in written])
