"""Commands that a report gives its readers to paste: repeat the run, explain a scenario, show a trace, approve."""

from __future__ import annotations

import posixpath
import re
import shlex
from typing import TYPE_CHECKING

from evalgate.models.trace.trace import format_place
from evalgate.scoring.wording import build_record_command as record_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import ResultsDoc, SuiteDoc
    from evalgate.models.run.trial_doc import TrialDoc
    from evalgate.reporting.text.scenario_sections import ScenarioSections, SuiteScenario

CUSTOM, RECORDED = "custom", "native"
"""Formats of traces: of a suite's own, and of `evalgate record`."""
MAX_ID = 80
"""The longest id that a sentence repeats in a command."""
_PLAIN_ID = "[A-Za-z0-9_][A-Za-z0-9_.:/-]*"


def build_command(document: ResultsDoc, sections: ScenarioSections) -> str:
    """Returns the command that repeats the run in a shell: of the only scenario that fails, if several were judged."""
    command = document.get("command") or "evalgate run"
    failing = [*sections.failures, *sections.regressed, *sections.below, *sections.known]
    judged = sum(len(suite["scenarios"]) for suite in document["suites"])
    if len(failing) != 1 or judged == 1 or "selection" in document:
        return command
    scenario = failing[0].scenario
    variant = f"[{scenario['variant']}]" if scenario["variant"] else ""
    name = f"{scenario['id']}{variant}"
    return f"{command} --scenario {shlex.quote(name)}"


def build_explain_command(document: ResultsDoc, item: SuiteScenario) -> str:
    """The command that explains a scenario of this run, with the flags that choose it among others of its id."""
    id_, variant = item.scenario["id"], item.scenario["variant"]
    suites = [suite["suite"] for suite in document["suites"] for each in suite["scenarios"] if each["id"] == id_]
    words = ["evalgate", "explain", id_]
    words += ["--suite", item.suite["suite"]] if len(set(suites)) > 1 else []
    return shlex.join([*words, *(["--variant", variant] if variant else [])])


def build_show_command(suite: SuiteDoc, trial: TrialDoc, folder: str = "") -> str:
    """The command that prints the trace of a trial; a custom format needs the suite that describes it.

    The command is for a shell in `folder`, the working directory of the run, which the paths begin with.
    """
    needed = ["--config", _make_relative(suite["path"], folder)] if trial.trace.format == CUSTOM else []
    return shlex.join(["evalgate", "show", *needed, _make_relative(find_place(trial), folder)])


def build_record_command(document: ResultsDoc, suites: Sequence[SuiteDoc], scenario: str = "", trials: int = 0) -> str:
    """The command that records suites, or a scenario, as they were; empty if `evalgate record` did not write traces.

    `trials` are how many of each scenario, as many as in the suite by default.
    """
    found = (trial for suite in suites for each in suite["scenarios"] for trial in each["trials"])
    if next((each.trace.format for each in found), RECORDED) != RECORDED:
        return ""
    paths = {_make_relative(suite["path"], document.get("working_directory", "")) for suite in suites}
    path = paths.pop() if len(paths) == 1 else "SUITE"
    return record_command(path, scenario if _is_plain(scenario) else "", trials)


def _make_relative(path: str, folder: str) -> str:
    return posixpath.relpath(path, folder) if folder and not path.startswith("/") else path


def _is_plain(id_: str) -> bool:
    return len(id_) <= MAX_ID and re.fullmatch(_PLAIN_ID, id_) is not None


def may_approve(document: ResultsDoc) -> bool:
    """Whether an approval could count in this gate."""
    return document.get("inputs", {}).get("approvals_from") != "none"


def build_approve_command(failing: list[SuiteScenario]) -> str:
    """The command that approves a failure; it names the scenario if it is the only one, with a short plain id."""
    id_ = failing[0].scenario["id"] if len(failing) == 1 else ""
    name = id_ if _is_plain(id_) else "SCENARIO"
    return f"evalgate approve {name} --until DATE --because REASON"


def find_place(trial: TrialDoc) -> str:
    """Where the trace of a trial is, as `evalgate show` accepts it."""
    trace = trial.trace
    return format_place(trace.path, trace.line, trace.record)
