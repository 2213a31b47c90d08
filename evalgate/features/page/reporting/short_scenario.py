"""A scenario that has no section in the page, as JSON: its reasons, and its trials with their conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.features.page.reporting.difference import build_difference
from evalgate.features.page.reporting.scenario_view import MAX_TRIALS, build_trial, list_reasons, order_trials
from evalgate.reporting.text import wording
from evalgate.reporting.text.behaviour_lines import find_shown_change

if TYPE_CHECKING:
    from evalgate.features.page.reporting.scenario_view import BlockNumbers
    from evalgate.models.run.trial_doc import TrialDoc
    from evalgate.reporting.text.scenario_sections import SuiteScenario


def build_short_scenario(item: SuiteScenario, blocks: BlockNumbers, *, has_traces: bool) -> dict[str, Any]:
    """The scenario without its checks and its difference; the page's script writes it as a section."""
    difference = build_difference(find_shown_change(item.scenario))
    return {
        "reasons": list_reasons(item.scenario),
        "first": difference.sentence if difference else [],
        "trials": [
            _build_trial(trial, blocks, has_traces=has_traces) for trial in order_trials(item.scenario)[:MAX_TRIALS]
        ],
    }


def _build_trial(trial: TrialDoc, blocks: BlockNumbers, *, has_traces: bool) -> dict[str, Any]:
    view = build_trial(trial, blocks, has_traces=has_traces)
    return {
        "number": view.number,
        "status": view.status.text,
        "tone": view.status.tone,
        "place": view.place,
        "reason": view.reason,
        "block": view.block,
        "why": view.why_no_block,
        "figures": [
            wording.score(trial.score),
            wording.dollars(trial.cost_usd),
            wording.seconds(trial.latency_seconds),
            wording.mean_count(trial.total_tokens),
        ],
    }
