"""A scenario as a comparison sees it, out of a finished run or out of a stored document."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast, get_args

from evalgate.models.comparison import ScenarioKey, Standing
from evalgate.models.run import Verdict
from evalgate.models.trials import column, statuses

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.results import ResultsDoc, ScenarioDoc, TrialDoc
    from evalgate.models.run import Run, ScenarioResult

VERDICTS = frozenset(get_args(Verdict))

Figures = tuple[str, float | None, float | None, float | None, int | None, int]
"""Status, score, cost, latency, tokens and number of a trial."""
Amounts = list[float | None]
Columns = tuple[list[bool], Amounts, Amounts, Amounts, list[int | None], list[int]]
FIGURES = "score", "cost_usd", "latency_seconds", "total_tokens", "trial"


def standing(suite: str, scenario: ScenarioResult) -> Standing:
    """How a scenario of `suite` stands in the run at hand."""
    key, trials = ScenarioKey(suite, scenario.id, scenario.variant), scenario.trials
    passed = [status == "passed" for status in statuses(trials)]
    rest = [column(trials, name) for name in FIGURES]
    return Standing(key, scenario.verdict, scenario.score, passed, *rest)


def standings_of_run(run: Run) -> dict[ScenarioKey, Standing]:
    """Every scenario of the run at hand."""
    return _by_key(standing(suite.name, scenario) for suite in run.suites for scenario in suite.scenarios)


def standings_of(document: ResultsDoc) -> dict[ScenarioKey, Standing]:
    """Every scenario of a stored document.

    A verdict that this version does not know counts as NOT_EVALUABLE: nothing was learned from it.
    """
    return _by_key(
        _stored(suite["suite"], scenario) for suite in document["suites"] for scenario in suite["scenarios"]
    )


def _stored(suite: str, scenario: ScenarioDoc) -> Standing:
    key, verdict = ScenarioKey(suite, scenario["id"], scenario["variant"]), scenario["verdict"]
    known = cast("Verdict", verdict) if verdict in VERDICTS else "NOT_EVALUABLE"
    return Standing(key, known, scenario["score"], *_columns(list(map(_stored_figures, scenario["trials"]))))


def _stored_figures(trial: TrialDoc) -> Figures:
    return (
        trial["status"],
        trial["score"],
        trial["cost_usd"],
        trial["latency_seconds"],
        trial.get("total_tokens"),
        trial["trial"],
    )


def _columns(trials: Sequence[Figures]) -> Columns:
    """One list a figure instead of one tuple a trial."""
    if len(trials) == 1:  # the usual run, several times faster this way
        ((status, score, cost, latency, tokens, number),) = trials
        return [status == "passed"], [score], [cost], [latency], [tokens], [number]
    return (
        [trial[0] == "passed" for trial in trials],
        [trial[1] for trial in trials],
        [trial[2] for trial in trials],
        [trial[3] for trial in trials],
        [trial[4] for trial in trials],
        [trial[5] for trial in trials],
    )


def _by_key(standings: Iterable[Standing]) -> dict[ScenarioKey, Standing]:
    return {found.key: found for found in standings}
