"""Looks up what fails in a finished run, compared with its baseline or another one, for a coding agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.judge.compare_finished import add_behaviour, compare_finished, explain
from evalgate.application.judge.explained_scenarios import Explanation
from evalgate.errors import Problem, SettingError
from evalgate.features.coding_agent.reporting.agent_text import AgentBrief, build_agent_text
from evalgate.reporting.text.behaviour_lines import list_notable
from evalgate.reporting.text.escaping import escape_block
from evalgate.reporting.text.scenario_sections import SuiteScenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.application.judge.explained_scenarios import ExplainRequest
    from evalgate.models.results.results import ResultsDoc
    from evalgate.ports import BaselineFiles, TraceArchive

MOST_COMPARED = 5
"""Scenarios whose calls are compared with another baseline than the run's."""


class AgentExplanation(NamedTuple):
    """The text, and what could not be compared."""

    text: str
    warnings: Sequence[Problem] = ()


def explain_for_agent(
    files: BaselineFiles, traces: TraceArchive, request: ExplainRequest | None, results: str, baseline: str | None
) -> AgentExplanation:
    """Explains one scenario, or without a request all that does not pass or acts differently, worst first.

    Raises SettingError if there is no such scenario, or several.
    """
    if request is None:
        return _explain_run(files, traces, results, baseline)
    found = explain(files, traces, request, results, baseline)
    if found.removed is not None:
        raise SettingError(
            Problem(f"only the baseline has scenario `{found.removed['id']}`", None, "no suite has it now")
        )
    items = [] if found.suite is None or found.scenario is None else [SuiteScenario(found.suite, found.scenario)]
    return AgentExplanation(build_agent_text(AgentBrief(found.document, items)), found.warnings)


def _explain_run(files: BaselineFiles, traces: TraceArchive, results: str, baseline: str | None) -> AgentExplanation:
    document = files.load(results).results
    warnings: list[Problem] = []
    if baseline is not None:
        judged = document
        document = compare_finished(files, traces, baseline, results, None)
        document["verdict"], document["exit_code"] = judged["verdict"], judged["exit_code"]
        document["reasons"], document["command"] = judged["reasons"], judged.get("command")
    items = list_notable(document)
    if baseline is not None:
        for item in items[:MOST_COMPARED]:
            compared = Explanation(document, item.suite, item.scenario)
            warnings += add_behaviour(files, traces, compared, results, baseline)
    return AgentExplanation(build_agent_text(AgentBrief(document, items)), warnings)


def build_comment_part(document: ResultsDoc) -> str:
    """The part of a comment for coding agents, folded; empty if nothing fails, acts differently or got weaker."""
    items = list_notable(document)
    if document["verdict"] == "pass" and not items and not document.get("weakenings"):
        return ""
    block = build_agent_text(AgentBrief(document, items), escape_block)
    return f"\n<details><summary>For a coding agent</summary>\n\n{block}\n\n</details>\n"
