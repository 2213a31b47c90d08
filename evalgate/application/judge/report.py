"""Renders what the judge found into the documents it returns."""

from __future__ import annotations

import posixpath
import shlex
from typing import TYPE_CHECKING

from msgspec import Struct

from evalgate.application.comparison.baseline import LoadedBaseline
from evalgate.application.documents.report_files import load_report_file, make_source, render_outputs
from evalgate.application.messages.request import Judgement
from evalgate.gate.comparison.freshness import find_origins
from evalgate.gate.comparison.outcomes import compute_run_statistics
from evalgate.models.comparison.decision import Decision, Reason
from evalgate.models.run.run import Run
from evalgate.ports.outputs import COMMENT, RESULTS, STANDARD, SUMMARY
from evalgate.reporting.ci.annotations import build_annotations
from evalgate.reporting.markdown.heading import build_heading
from evalgate.reporting.results.clean_values import clean_text
from evalgate.reporting.results.results_json import (
    RunFindings,
    RunOrigin,
    build_invalid_document,
    build_results_document,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from evalgate.application.messages.request import JudgeRequest
    from evalgate.errors import EvalGateError, Problem, RulesMissing, ShardMissing, Unreachable
    from evalgate.models.approvals.approval import ApprovalRuling
    from evalgate.models.comparison.comparison import BaselineInfo, Comparison
    from evalgate.models.comparison.weakening import QuarantineRuling, WatchedFiles, WeakeningList
    from evalgate.models.mutation import SuiteMutations
    from evalgate.models.results.baseline_run import BaselineRun
    from evalgate.models.results.results import ResultsDoc, SelectionDoc
    from evalgate.models.results.results_sections import CalibrationDoc, RulesDoc
    from evalgate.models.trace.trace import Warning_
    from evalgate.ports.outputs import LoadOutput, OutputSource, RunSubject


class DecidedRun(Struct, frozen=True):
    """Everything known once the decision is made."""

    run: Run
    comparison: Comparison | None
    decision: Decision
    baseline: LoadedBaseline
    warnings: Sequence[Problem]
    rulings: Sequence[ApprovalRuling] = ()
    weakenings: WeakeningList | None = None
    quarantines: Sequence[QuarantineRuling] = ()
    rules: RulesDoc | None = None
    selection: SelectionDoc | None = None
    mutations: Sequence[SuiteMutations] = ()
    watched: Mapping[str, WatchedFiles] = {}
    rules_id: str | None = None  # for a store
    calibration: CalibrationDoc | None = None


def render_judgement(
    request: JudgeRequest, decided: DecidedRun, now: datetime, load: LoadOutput
) -> tuple[Judgement, OutputSource]:
    """The documents of a run, all rendered from its results, but those that need its traces; and what they show."""
    baseline = decided.baseline
    origin = RunOrigin(
        request.subject.commit,
        now,
        baseline.info,
        baseline.results.summary if baseline.results else None,
        build_rerun_command(request, baseline.info),
        build_fetch_command(request, baseline.info),
    )
    found = RunFindings(
        [warning_of(problem) for problem in decided.warnings],
        compute_run_statistics(decided.run, decided.comparison),
        decided.rulings,
        decided.weakenings,
        decided.quarantines,
        decided.rules,
        decided.mutations,
    )
    results = build_results_document(decided.run, decided.comparison, decided.decision, origin, found)
    if request.subject.event != "push":
        add_recordings(results, decided, request.subject)
    if decided.selection is not None:
        leave_only_selected(results, decided.selection)
    elif request.history is not None:
        from evalgate.application.judge.history import add_history

        add_history(results, request.history, decided.run, now, request.subject.run_id)
        _add_calibration(results, decided)
    if decided.watched:
        add_watched_files(results, decided.watched, baseline.results)
    _add_job(results, request)
    source = make_source(results, request.subject, request.render)
    asked = {name: options for name, options in request.outputs.items() if not load(name).needs_traces}
    files, warnings = render_outputs({**dict.fromkeys(STANDARD), **asked}, source, load)
    judgement = Judgement(
        results,
        files,
        build_annotations(source.shown, source.grouped.sections),
        warnings=warnings,
        heading=build_heading(source.shown).sentence,
        grouped=source.grouped if source.shown is results else None,
    )
    return judgement, source


def _add_calibration(results: ResultsDoc, decided: DecidedRun) -> None:
    """Adds to the history which rules judged, and how often these are red by chance."""
    if "history" in results and decided.rules_id is not None:
        results["history"]["rules"] = decided.rules_id
        if decided.calibration is not None:
            results["history"]["calibration"] = decided.calibration


def add_recordings(results: ResultsDoc, decided: DecidedRun, subject: RunSubject) -> None:
    """Adds how many recordings are those of the baseline; of a pull request also that none is, if that is known.

    And which of the others were replayed, or made at another commit.
    """
    is_asked, baseline = (subject.event or "").startswith("pull_request"), decided.baseline
    if decided.comparison is not None:
        counts = decided.comparison.recordings.values()
        unchanged, of = sum(count.unchanged for count in counts), sum(count.of for count in counts)
        are_new = bool(of) and not any(count.unknown for count in counts)
        if unchanged or (is_asked and are_new):
            results["recordings"] = {
                "unchanged": unchanged,
                "of": of,
                "new_rules": baseline.has_same_suites is False,
                "is_asked": is_asked,
            }
    known = {} if decided.comparison is None or baseline.results is None else baseline.results.entries
    digests = {trial.trace.digest for each in known.values() for trial in each.trials}
    origins = find_origins(decided.run, subject.commits, digests, is_asked=is_asked)
    if origins is not None:
        results["origins"] = origins


MOST_WATCHED, WATCHED_DIGITS = 1_000, 16
"""Files whose digests are kept for later runs, and hexadecimal digits of each."""


def add_watched_files(results: ResultsDoc, watched: Mapping[str, WatchedFiles], baseline: BaselineRun | None) -> None:
    """Adds the agent's files that suites watch, unless there are too many, and which of them the baseline lacks."""
    digests = {path: digest for each in watched.values() for path, digest in each.digests.items()}
    files = {clean_text(path): digest[:WATCHED_DIGITS] for path, digest in sorted(digests.items())}
    if len(files) > MOST_WATCHED:
        return
    results["watched"] = {"files": files}
    if baseline is not None and baseline.watched is not None:
        paths = sorted(files.keys() | baseline.watched.keys())
        results["watched"]["changed"] = [each for each in paths if files.get(each) != baseline.watched.get(each)]


def leave_only_selected(results: ResultsDoc, selection: SelectionDoc) -> None:
    """Notes that only some scenarios were judged; approvals and quarantines of others are not unused."""
    results["selection"] = {**selection, "patterns": list(map(clean_text, selection["patterns"]))}
    results["approvals"] = [each for each in results["approvals"] if each["status"] != "unused"]
    if "quarantines" in results:
        results["quarantines"] = [each for each in results["quarantines"] if each["status"] != "unused"]


def render_invalid(request: JudgeRequest, error: EvalGateError, now: datetime) -> Judgement:
    """The answer to invalid input: its problems, and nothing that could be taken for a result."""
    results = build_invalid_document(
        error, commit=request.subject.commit, created_at=now, report_only=request.rules.report_only
    )
    _add_job(results, request)
    source = make_source(results, request.subject, request.render)
    files, _ = render_outputs(dict.fromkeys((RESULTS, COMMENT, SUMMARY)), source, load_report_file)
    return Judgement(
        results,
        files,
        build_annotations(source.shown),
        error.problems,
        heading=build_heading(results).sentence,
    )


def _add_job(results: ResultsDoc, request: JudgeRequest) -> None:
    """Adds what a workflow's reports show beyond the run itself."""
    if request.inputs is not None:
        results["inputs"] = request.inputs
    if request.leg:
        results["leg"] = clean_text(request.leg)
    if request.subject.legs:
        results["legs"] = request.subject.legs
    if request.folder:
        results["working_directory"] = clean_text(request.folder)


def render_incomplete(
    request: JudgeRequest, error: RulesMissing | ShardMissing | Unreachable, now: datetime, load: LoadOutput
) -> Judgement:
    """The answer if a part of the run is missing: the rest is left out, since it would mislead."""
    code = 0 if request.rules.report_only else error.exit_code
    reasons = [Reason(error.code, problem.message) for problem in error.problems]
    decision = Decision("cannot_judge", code, reasons, report_only=request.rules.report_only)
    decided = DecidedRun(Run([]), None, decision, LoadedBaseline(request.baseline.info), request.warnings)
    return render_judgement(request, decided, now, load)[0]


def warning_of(problem: Problem) -> Warning_:
    """Converts a problem to a warning of the document."""
    message = f"{problem.message} ({problem.hint})" if problem.hint else problem.message
    return {"code": problem.code, "message": message, "where": str(problem.location) if problem.location else None}


FETCHED = ".evalgate/baseline-{}"
"""The folder for the baseline of a run, in the working directory."""
DOWNLOADED = frozenset({"exact", "ancestor", "latest", "drifted"})


def build_rerun_command(request: JudgeRequest, baseline: BaselineInfo | None) -> str:
    """`evalgate run` with everything that determined this run, quoted for a shell in the repository's root."""
    words = ["evalgate", "run", *request.sources.configs]
    for pattern in request.sources.traces or ():
        words += ["--traces", pattern]
    for pattern in request.sources.scenarios:
        words += ["--scenario", pattern]
    if request.sources.form is not None:
        words += ["--format", request.sources.form]
    if baseline is not None and baseline.status in DOWNLOADED:
        words += ["--baseline", FETCHED.format(baseline.run_id)]
    elif baseline is not None and baseline.path is not None:
        words += ["--baseline", baseline.path]
    command = shlex.join([*words, *_list_rule_flags(request)])
    folder = f"./{request.folder}" if request.folder.startswith("-") else request.folder  # `cd` has options
    return f"cd {shlex.quote(folder)} && {command}" if folder else command


def _list_rule_flags(request: JudgeRequest) -> list[str]:
    """The flags that decide the outcome of what was judged."""
    rules = request.rules
    flags = [] if rules.fail_on is None else ["--fail-on", ",".join(rules.fail_on)]
    flags += [] if rules.on_weakening is None else ["--on-weakening", rules.on_weakening]
    flags += ["--policy-from", "base"] if rules.by_rules_of_base else []
    approvals = "none" if request.approvals.is_off else "base" if request.approvals.of_baseline else ""
    flags += ["--approvals-from", approvals] if approvals else []
    return [*flags, *(["--report-only"] if rules.report_only else [])]


def build_fetch_command(request: JudgeRequest, baseline: BaselineInfo | None) -> str | None:
    """The command that downloads the baseline to where the other one expects it; None if it was not downloaded."""
    if baseline is None or baseline.status not in DOWNLOADED or request.render.pages is None:
        return request.baseline.fetch_command
    host, repository = request.render.pages.server_url.partition("://")[2], request.render.pages.repository
    named = repository if host == "github.com" else f"{host}/{repository}"
    folder = posixpath.join(request.folder, FETCHED.format(baseline.run_id))
    run = ["gh", "run", "download", str(baseline.run_id), "-R", named, "-n", baseline.artifact, "-D", folder]
    return shlex.join(run)
