"""The runs that calibration reads: those of one set of rules and one agent, and their trials by scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.comparison.baseline import identify_rules
from evalgate.application.comparison.baseline_rules import read_rules
from evalgate.application.documents.run_documents import identify_agent, pool_trials

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.run import Trial
    from evalgate.ports import BaselineFiles


class HistoryRun(NamedTuple):
    """A run; `rules` identifies its suites and evaluators, None if they are not known."""

    name: str
    rules: str | None
    results: ResultsDoc


class PooledScenario(NamedTuple):
    """How many recorded trials of a scenario passed, and some of them; `identity` is that of its recordings.

    `size` is how many trials a run has of it, None if the suite's `trials.min` says so.
    """

    key: ScenarioKey
    passed: int
    trials: int
    examples: Sequence[Trial]
    identity: str = ""
    size: int | None = None


class Pool(NamedTuple):
    """The trials of some runs; `other_runs` were left out, as their rules or agent are others."""

    scenarios: Sequence[PooledScenario]
    runs: int
    other_runs: int


def read_past_runs(files: BaselineFiles, paths: Sequence[str]) -> list[HistoryRun]:
    """The finished runs at these paths, oldest first."""
    found = []
    for path in paths:
        baseline, suites = files.load(path), read_rules(files, path)
        versions = (baseline.manifest or {}).get("evaluators")
        rules = None
        if suites.configuration is not None and suites.unknown is None and isinstance(versions, dict):
            rules = identify_rules(suites.configuration, versions)
        found.append(HistoryRun(path, rules, baseline.results))
    return sorted(found, key=lambda each: (each.results["created_at"], each.name))


def list_stored_runs(documents: Sequence[ResultsDoc]) -> list[HistoryRun]:
    """The runs of a store, oldest first, which note their rules in their history."""
    return [HistoryRun("the store", each.get("history", {}).get("rules"), each) for each in documents]


def pool_runs(runs: Sequence[HistoryRun], rules: str) -> Pool:
    """The trials of the runs with these rules whose agent is that of the newest of them."""
    same = [each for each in runs if each.rules == rules]
    agents = [identify_agent(each.results) for each in same]
    chosen = [each.results for each, agent in zip(same, agents, strict=True) if agent == agents[-1]]
    pooled = [_pool_scenario(key, trials) for key, trials in pool_trials(chosen).items()]
    return Pool(pooled, len(chosen), len(runs) - len(chosen))


def _pool_scenario(key: ScenarioKey, trials: Sequence[Trial]) -> PooledScenario:
    passed = sum(each.status == "passed" for each in trials)
    identity = str(sorted("" if each.trace.digest is None else str(each.trace.digest) for each in trials))
    return PooledScenario(key, passed, len(trials), trials, identity)
