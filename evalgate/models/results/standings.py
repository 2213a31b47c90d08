"""`standings.json`, schema `evalgate.standings/1`: what a comparison reads of a run, in columns.

It is in a `baseline.zip` with the results it was made from, so that a comparison need not read those. A
column of only nulls is null. Fields may be added; none is renamed or removed in this version.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict

from evalgate.models.results.results import PricingDoc, SummaryDoc  # noqa: TC001  the document is made of these types
from evalgate.models.results.results_sections import ApprovalDoc  # noqa: TC001  the same


class ResultsIdentity(TypedDict):
    """Identifies the `results.json` of the columns by the entry in the archive's directory."""

    bytes: int
    crc32: int


class SuiteStandings(TypedDict):
    """A suite, and the number of its scenarios: the next ones in order."""

    suite: str
    scenarios: int


class ScenarioColumns(TypedDict):
    """One entry per scenario: `verdict` is an index in `texts`, `n` the number of its measured trials, in order.

    `unread` lists the indexes of scenarios made from a trace that could not be read, `unmeasured` those without a
    verdict because of an outage; it is absent if empty.
    """

    id: list[str]
    variant: list[str | None] | None
    verdict: list[int]
    score: list[float | None] | None
    n: list[int]
    unread: list[int]
    unmeasured: NotRequired[list[int]]


class TrialColumnsDoc(TypedDict):
    """One entry per measured trial: `path` is an index in `texts`, `tool_calls` in `calls`, `agent` in `agents`.

    `pricing` is present only if a cost had to be computed, `agent` if a trace records model, tools or prompt.
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
    agent: NotRequired[list[int]]


class StandingsDoc(TypedDict):
    """The whole document; `results` is added when it is stored with them."""

    schema: str
    results: NotRequired[ResultsIdentity]
    created_at: str
    commit: str | None
    summary: SummaryDoc | None
    approvals: list[ApprovalDoc]
    texts: list[str]
    calls: list[list[str]]
    agents: NotRequired[list[list[str | None]]]  # model, hash of the tool definitions, hash of the system prompt
    suites: list[SuiteStandings]
    scenarios: ScenarioColumns
    trials: TrialColumnsDoc
