"""A scenario as a comparison sees it, out of a finished run or out of a stored document."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast, get_args

from evalgate.models.comparison import ScenarioKey, Standing
from evalgate.models.run import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.models.results import ResultsDoc, ScenarioDoc
    from evalgate.models.run import Run, ScenarioResult

VERDICTS = frozenset(get_args(Verdict))


def standing(suite: str, scenario: ScenarioResult) -> Standing:
    """How a scenario of `suite` stands in the run at hand."""
    trials = scenario.trials
    return Standing(
        ScenarioKey(suite, scenario.id, scenario.variant),
        scenario.verdict,
        scenario.score,
        [trial.status == "passed" for trial in trials],
        [trial.score for trial in trials],
        [trial.cost_usd for trial in trials],
        [trial.latency_seconds for trial in trials],
        [trial.total_tokens for trial in trials],
    )


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
    trials, verdict = scenario["trials"], scenario["verdict"]
    return Standing(
        ScenarioKey(suite, scenario["id"], scenario["variant"]),
        cast("Verdict", verdict) if verdict in VERDICTS else "NOT_EVALUABLE",
        scenario["score"],
        [trial["status"] == "passed" for trial in trials],
        [trial["score"] for trial in trials],
        [trial["cost_usd"] for trial in trials],
        [trial["latency_seconds"] for trial in trials],
        [trial.get("total_tokens") for trial in trials],
    )


def _by_key(standings: Iterable[Standing]) -> dict[ScenarioKey, Standing]:
    return {found.key: found for found in standings}
