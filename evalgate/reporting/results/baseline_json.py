"""Reads as much of a `results.json` as a comparison needs; single assertions are skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec.structs import replace

from evalgate.errors import OverLimit, SettingError
from evalgate.models.comparison.baseline_run import BaselineRun, BaselineSuite
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.results.document_names import RESULTS_SCHEMA
from evalgate.models.run.run import MAX_SCENARIOS
from evalgate.reporting.results.results_checks import ShapeError
from evalgate.reporting.results.results_json import check_size, dump_results, load_results
from evalgate.reporting.results.results_shape import check_approvals, check_pricing, check_summary, check_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.results.results import ResultsDoc, SummaryDoc


class _Results(msgspec.Struct):
    """The fields that a comparison reads."""

    schema: str
    created_at: str
    suites: list[BaselineSuite]
    summary: dict[str, Any] | None
    approvals: list[Any]
    commit: str | None = None


_DECODER = msgspec.json.Decoder(_Results)


def load_baseline_run(data: bytes, fingerprint: str = "", *, whole: bool = False) -> BaselineRun:
    """Reads the run; raises SettingError and OverLimit, as `load_results` does.

    `whole` keeps the document, for assertions that read it.
    """
    check_size(data, "results.json")
    try:
        found = _DECODER.decode(data)
        _check(found)
    except (msgspec.DecodeError, ShapeError):
        load_results(data, with_assertions=False)  # raises an error that names the field
        raise SettingError(f"results.json is not a valid {RESULTS_SCHEMA} document") from None
    return _build_run(found, fingerprint, load_results(data, with_assertions=False) if whole else None)


def convert_baseline_run(document: ResultsDoc, fingerprint: str = "") -> BaselineRun:
    """The run of a document that is in memory; the document is kept."""
    return replace(load_baseline_run(dump_results(document), fingerprint), document=document)


def _build_run(found: _Results, fingerprint: str, document: ResultsDoc | None) -> BaselineRun:
    return BaselineRun(
        found.created_at,
        found.commit,
        cast("SummaryDoc | None", found.summary),
        found.approvals,
        {suite.suite: len(suite.scenarios) for suite in found.suites},
        {
            ScenarioKey(suite.suite, entry.id, entry.variant): entry
            for suite in found.suites
            for entry in suite.scenarios
        },
        fingerprint,
        document,
    )


def _check(found: _Results) -> None:
    """Checks what the decoder does not; raises ShapeError."""
    if found.schema != RESULTS_SCHEMA:
        raise ShapeError((), "its schema is another one")
    if sum(len(suite.scenarios) for suite in found.suites) > MAX_SCENARIOS:
        raise OverLimit(f"results.json holds more than {MAX_SCENARIOS:,} scenarios")
    rest = {"created_at": found.created_at, "summary": found.summary, "approvals": found.approvals}
    check_time(rest, "created_at")
    check_summary(rest, ())
    check_approvals(rest)
    for pricing in _list_pricing(found):
        check_pricing(pricing, ("pricing",))


def _list_pricing(found: _Results) -> Iterator[dict[str, Any]]:
    for suite in found.suites:
        for entry in suite.scenarios:
            yield from (trial.pricing for trial in entry.trials if trial.pricing is not None)
