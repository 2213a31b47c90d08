"""Builds `results.json` from a finished run, and writes it by scenario, as all trials may not fit into memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from msgspec import to_builtins

from evalgate.models.comparison.behaviour import PromptChange
from evalgate.models.results.document_names import RESULTS_SCHEMA
from evalgate.models.run.chunks import ChunkedText, join_chunks
from evalgate.models.run.trials import TrialDocs
from evalgate.reporting.results.clean_values import clean_record, clean_text
from evalgate.reporting.results.rulings_doc import (
    build_approval_doc,
    build_mutation_scores_doc,
    build_quarantine_doc,
    build_weakenings_doc,
)
from evalgate.reporting.results.scenario_doc import (
    build_baseline_doc,
    build_problem_doc,
    build_reason_doc,
    build_removed_doc,
    build_suite_doc,
    build_unclaimed_doc,
    build_warning_doc,
)
from evalgate.reporting.results.statistics_doc import build_comparison_doc, build_statistics_doc, build_summary
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from evalgate.errors import EvalGateError
    from evalgate.models.approvals.approval import ApprovalRuling
    from evalgate.models.comparison.comparison import BaselineInfo, Comparison
    from evalgate.models.comparison.decision import Decision
    from evalgate.models.comparison.weakening import QuarantineRuling, WeakeningList
    from evalgate.models.mutation import SuiteMutations
    from evalgate.models.results.results import ResultsDoc, ScenarioDoc, SummaryDoc
    from evalgate.models.results.results_sections import RulesDoc
    from evalgate.models.run.run import Run
    from evalgate.models.run.run_statistics import RunStatistics
    from evalgate.models.trace.trace import Warning_

    Write = Callable[[Any], Iterator[bytes]]


class RunOrigin(NamedTuple):
    """Which run a document is of: its commit and time, and what it was compared with.

    `baseline_summary` is for the deltas of the whole run; `command` repeats the run in a shell, `fetch_command`
    downloads the baseline for it.
    """

    commit: str | None
    created_at: datetime
    baseline: BaselineInfo | None = None
    baseline_summary: SummaryDoc | None = None
    command: str | None = None
    fetch_command: str | None = None


class RunFindings(NamedTuple):
    """What was found of a run beside its results; `warnings` come before those of the run."""

    warnings: Sequence[Warning_] = ()
    statistics: RunStatistics | None = None
    rulings: Sequence[ApprovalRuling] = ()
    weakenings: WeakeningList | None = None
    quarantines: Sequence[QuarantineRuling] = ()
    rules: RulesDoc | None = None
    mutations: Sequence[SuiteMutations] = ()


def build_results_document(
    run: Run, comparison: Comparison | None, decision: Decision, origin: RunOrigin, found: RunFindings
) -> ResultsDoc:
    """Builds the document of a finished run; texts are redacted and bounded. Changes come from the comparison."""
    changes = comparison.changes if comparison else {}
    removed = comparison.removed if comparison else []
    suite_statistics = found.statistics.suites if found.statistics else {}
    document: ResultsDoc = {
        "schema": RESULTS_SCHEMA,
        "evalgate_version": __version__,
        "created_at": _format_time(origin.created_at),
        "commit": origin.commit,
        "verdict": decision.verdict,
        "exit_code": decision.exit_code,
        "report_only": decision.report_only,
        "reasons": [build_reason_doc(reason) for reason in decision.reasons],
        "summary": build_summary(
            run, changes.values(), len(removed), found.statistics.run.statistics if found.statistics else None
        ),
        "baseline": build_baseline_doc(origin.baseline, origin.baseline_summary) if origin.baseline else None,
        "suites": [
            build_suite_doc(
                suite,
                changes,
                decision.suite_verdicts.get(suite.name, "cannot_judge"),
                suite_statistics.get(suite.name),
            )
            for suite in run.suites
        ],
        "removed": [build_removed_doc(outcome) for outcome in removed],
        "unclaimed": [build_unclaimed_doc(unclaimed) for unclaimed in run.unclaimed],
        "warnings": [build_warning_doc(warning) for warning in (*found.warnings, *run.warnings)],
        "approvals": [build_approval_doc(ruling) for ruling in found.rulings],
        "command": clean_text(origin.command) if origin.command else None,
    }
    if origin.fetch_command is not None:
        document["fetch_command"] = clean_text(origin.fetch_command)
    if found.statistics is not None:
        document["figures"] = build_statistics_doc(found.statistics.run)
    if comparison is not None:
        _add_comparison(document, comparison)
    if run.arms:
        from evalgate.models.run.arms import ArmComparison

        document["variant_comparisons"] = [clean_record(each, ArmComparison) for each in run.arms]
    if found.rules is not None:
        document["rules"] = found.rules
    if found.quarantines:
        document["quarantines"] = [build_quarantine_doc(ruling) for ruling in found.quarantines]
    if found.weakenings is not None:
        document["weakenings"] = build_weakenings_doc(found.weakenings)
    if found.mutations:
        document["mutations"] = build_mutation_scores_doc(found.mutations)
    return document


def _add_comparison(document: ResultsDoc, comparison: Comparison) -> None:
    if comparison.power is not None:
        document["comparison"] = build_comparison_doc(comparison.power)
        if comparison.behaviour_compared:
            document["comparison"]["behaviour_compared"] = comparison.behaviour_compared
    if comparison.prompt_changes:
        document["prompt_changes"] = [clean_record(each, PromptChange) for each in comparison.prompt_changes]


def build_invalid_document(
    error: EvalGateError, *, commit: str | None, created_at: datetime, report_only: bool = False
) -> ResultsDoc:
    """Builds the document of a run that judged nothing: the error's exit code, no figures, a reason per problem.

    The reasons' code is the error's: invalid_suite, invalid_setting, refused_path or over_limit; internal for a bug.
    """
    return {
        "schema": RESULTS_SCHEMA,
        "evalgate_version": __version__,
        "created_at": _format_time(created_at),
        "commit": commit,
        "verdict": "invalid",
        "exit_code": error.exit_code,
        "report_only": report_only,
        "reasons": [build_problem_doc(problem, error.code) for problem in error.problems],
        "summary": None,
        "baseline": None,
        "suites": [],
        "removed": [],
        "unclaimed": [],
        "warnings": [],
        "approvals": [],
        "command": None,
    }


def dump_results(document: ResultsDoc) -> bytes:
    """Encodes the whole document, as the same bytes that `stream_results` yields."""
    return join_chunks(stream_results(document))


def _format_time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


AT_ONCE = 1_000
"""Most trials of a scenario that are encoded at once."""


def stream_results(document: ResultsDoc) -> ChunkedText:
    """Yields the document as UTF-8 JSON on one line; the same document always gives the same bytes."""
    return ChunkedText(partial(_document, document))


def _document(document: ResultsDoc) -> Iterator[bytes]:
    yield from _object(document, "suites", partial(_list, write=_suite))
    yield b"\n"


def _suite(suite: Mapping[str, Any]) -> Iterator[bytes]:
    return _object(suite, "scenarios", partial(_list, write=_scenario))


def _scenario(scenario: ScenarioDoc) -> Iterator[bytes]:
    trials = scenario["trials"]
    if len(trials) > AT_ONCE and isinstance(trials, TrialDocs):
        stored = trials.trials
        yield from _object(scenario, "trials", lambda _: _join_arrays((trial.document,) for trial in stored))
    else:
        yield orjson.dumps(scenario, default=_to_json)


def _object(fields: Mapping[str, Any], large: str, write: Write) -> Iterator[bytes]:
    """Yields an object; `write` encodes the field `large`."""
    opening = b"{"
    for name, value in fields.items():
        yield opening + orjson.dumps(name) + b":"
        if name == large:
            yield from write(value)
        else:
            yield orjson.dumps(value, default=_to_json)
        opening = b","
    yield b"}"


def _list(values: Iterable[Any], write: Write) -> Iterator[bytes]:
    return _join_arrays(map(write, values))


def _join_arrays(values: Iterable[Iterable[bytes]]) -> Iterator[bytes]:
    opening = b"["
    for pieces in values:
        yield opening
        yield from pieces
        opening = b","
    yield b"[]" if opening == b"[" else b"]"


def _to_json(value: object) -> Any:
    """A record as plain values, or trials that are stored as JSON documents.

    `orjson` writes all of them: `msgspec` writes large numbers otherwise (1e+30).
    """
    if isinstance(value, TrialDocs):
        return orjson.Fragment(b"[" + b",".join([trial.document for trial in value.trials]) + b"]")
    return to_builtins(value)
