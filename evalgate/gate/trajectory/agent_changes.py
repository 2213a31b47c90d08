"""Finds changes that come with another model, other tool definitions or another system prompt, as recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.gate.common.scenario_index import find_baseline_key
from evalgate.models.comparison.comparison import IMPROVEMENTS, REGRESSIONS, AgentChange, Cause, ScenarioKey
from evalgate.models.run.trials import list_agent_parts
from evalgate.scoring.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evalgate.models.comparison.baseline_run import BaselineRun
    from evalgate.models.comparison.comparison import Change, Comparison
    from evalgate.models.run.run import AgentParts, Run

    PartsOfScenario = Callable[[ScenarioKey], Iterable[AgentParts]]

MOST_MODELS = 3
_MOVED = REGRESSIONS | IMPROVEMENTS


def parts_of_baseline(baseline: BaselineRun) -> PartsOfScenario:
    """Finds what the trials of a scenario of this run recorded in the baseline."""
    return lambda key: (trial.agent for trial in baseline.find_trials(find_baseline_key(key, baseline.entries)))


def parts_of_run(run: Run) -> PartsOfScenario:
    """Finds what the trials of a scenario recorded in an earlier run."""
    trials = {
        ScenarioKey(suite.name, each.id, each.variant): each.trials for suite in run.suites for each in suite.scenarios
    }
    return lambda key: list_agent_parts(trials.get(find_baseline_key(key, trials), ()))


def add_agent_changes(comparison: Comparison, run: Run, baseline: PartsOfScenario) -> None:
    """Adds to each scenario that got worse or better what else its traces record of the agent than before."""
    for suite in run.suites:
        for scenario in suite.scenarios:
            key = ScenarioKey(suite.name, scenario.id, scenario.variant)
            change = comparison.changes.get(key)
            if change is not None and change.kind in _MOVED:
                change.agent = compare_agents(baseline(key), list_agent_parts(scenario.trials))


def compare_agents(baseline: Iterable[AgentParts], current: Iterable[AgentParts]) -> AgentChange | None:
    """What differs between the trials of a scenario; None if nothing does.

    What a side does not record is unknown, and no difference. Trials may use several models: what counts is
    one that the baseline's trials did not use. A prompt that differs between trials of the baseline is made
    for each of them, so it is not compared.
    """
    before, now = (list(zip(*parts, strict=True)) for parts in (baseline, current))
    if not before or not now:
        return None
    models, tools, prompts = (
        ({*filter(None, old)}, {*filter(None, new)}) for old, new in zip(before, now, strict=True)
    )
    found = AgentChange(
        f"{_list_models(models[0])} -> {_list_models(models[1])}" if _has_new(*models) else None,
        tools=_has_new(*tools),
        prompt=len(prompts[0]) == 1 and _has_new(*prompts),
    )
    return found if found.items else None


def _has_new(before: set[str], now: set[str]) -> bool:
    return bool(before and now - before)


def _list_models(names: Iterable[str]) -> str:
    listed = sorted(names)
    left = len(listed) - MOST_MODELS
    return ", ".join([*listed[:MOST_MODELS], *([f"{left} more"] if left > 0 else [])])


def name_agent_causes(changes: Iterable[Change]) -> None:
    """Makes a changed model or changed tools the cause of a change that the rules did not cause.

    Where the rules take part in the cause, it is kept, and so is one in which the agent is the same.
    """
    for change in changes:
        if change.agent is None or (change.cause is not None and change.cause.kind != "agent"):
            continue
        found = Cause("model_or_tools", f"comes with {join_words(change.agent.items)}")
        if not change.agent.has_other_model_or_tools:
            found = Cause("agent", f"the agent changed: it {found.message}")
        change.cause = found if change.cause is None else change.cause._replace(kind=found.kind, message=found.message)
