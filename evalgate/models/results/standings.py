"""`standings.json`, schema `evalgate.standings/1`: what a comparison reads of a run, in columns.

It lies in a `baseline.zip` beside the results it was made of, so that a comparison need not read those. A
column of nothing but nulls is null. Fields may be added; none is renamed or removed under this number.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict

from evalgate.models.results.results import PricingDoc, SummaryDoc  # noqa: TC001  the document is made of these types
from evalgate.models.results.results_approvals import ApprovalDoc  # noqa: TC001  the same


class ResultsIdentity(TypedDict):
    """Which `results.json` the columns were made of, as the archive's directory describes it."""

    bytes: int
    crc32: int


class SuiteStandings(TypedDict):
    """A suite, and how many of the scenarios are its own: the next ones in order."""

    suite: str
    scenarios: int


class ScenarioColumns(TypedDict):
    """One entry a scenario: `verdict` is a place in `texts`, `n` how many of the next trials are its own.

    `unread` lists the places of scenarios that stand for a recording nobody could read.
    """

    id: list[str]
    variant: list[str | None] | None
    verdict: list[int]
    score: list[float | None] | None
    n: list[int]
    unread: list[int]


class TrialColumnsDoc(TypedDict):
    """One entry a trial: `path` is a place in `texts`, `tool_calls` one in `calls`.

    `pricing` stands only where a cost was to be computed.
    """

    trial: list[int]
    passed: list[bool]
    score: list[float | None] | None
    cost_usd: list[float | None] | None
    latency_seconds: list[float | None] | None
    total_tokens: list[int | None] | None
    tool_calls: list[int]
    path: list[int]
    line: list[int | None] | None
    record: list[int | None] | None
    pricing: NotRequired[list[PricingDoc | None]]


class StandingsDoc(TypedDict):
    """The whole document; `results` is added where it is put beside them."""

    schema: str
    results: NotRequired[ResultsIdentity]
    created_at: str
    commit: str | None
    summary: SummaryDoc | None
    approvals: list[ApprovalDoc]
    texts: list[str]
    calls: list[list[str]]
    suites: list[SuiteStandings]
    scenarios: ScenarioColumns
    trials: TrialColumnsDoc
