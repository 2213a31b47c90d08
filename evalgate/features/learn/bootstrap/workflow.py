"""The workflow that `init` writes: that of examples/workflows, which records the suite's scenarios and judges them."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from evalgate.errors import InvalidInput, SettingError
from evalgate.features.learn.bootstrap.project_start import NewFile
from evalgate.reporting.text.flow_style import format_value

if TYPE_CHECKING:
    from evalgate.features.learn.application.inference.build_suite import BuiltSuite

PATH = ".github/workflows/evalgate.yml"
RECORDING, ACTION = "      - uses: org/evalgate/record@", "      - uses: org/evalgate@"
"""How the steps that record, and the step of the gate, begin in the workflow."""
SUITE_OF_EXAMPLE = "evals/support.yaml"
RECORDED_OF_EXAMPLE = "        with: {scenario: refund, run: python my_agent.py}\n"
MOST_TRIALS = 5
"""Trials of a scenario that are recorded for each pull request unless a person asks for more."""
REQUIREMENTS = (("requirements.txt", "pip install -r requirements.txt"), ("pyproject.toml", "pip install ."))
"""What a project lists its packages in, and the command that installs them."""


class Recording(Struct, frozen=True):
    """How the scenarios of a suite are recorded: how often, and whether the agent gets the request of each."""

    trials: int = 1
    has_prompts: bool = False

    @classmethod
    def of(cls, built: BuiltSuite) -> Recording:
        """As often as the scenario with the fewest trials, with the requests if each scenario has one."""
        written = built.draft.written
        trials = min((scenario.recorded for scenario in written), default=1)
        return cls(min(trials, MOST_TRIALS), all(scenario.prompt is not None for scenario in written))

    @property
    def command(self) -> str:
        """The command that stands for the agent's."""
        return "python my_agent.py '{prompt}'" if self.has_prompts else "python my_agent.py"

    @property
    def note(self) -> str:
        """What a person has to do."""
        runs = "once for each scenario" if self.trials == 1 else f"{self.trials} times for each scenario"
        knows = "with its request in the place of {prompt}" if self.has_prompts else "which EVALGATE_SCENARIO names"
        return f"replace `{self.command}` in the workflow by what starts your agent: it runs {runs}, {knows}"


def read_recording(path: str, cwd: str) -> Recording:
    """How a suite that exists is recorded; without requests where it can't be read, which `validate` explains."""
    from evalgate.bootstrap.sources import build_suite_files

    try:
        suites = build_suite_files(cwd).load([path]).suites
    except InvalidInput:
        return Recording()
    entries = [entry for suite in suites for entry in suite.content["scenarios"]]
    return Recording(has_prompts=all(isinstance(entry.get("prompt"), str) for entry in entries))


def build_workflow(suite: str, recording: Recording | None, cwd: str) -> NewFile:
    """The workflow for this suite, with a step that records it unless git has the traces (`recording` is None).

    Raises SettingError for a path that GitHub would evaluate.
    """
    if "${{" in suite:
        raise SettingError(f"a workflow can't name {suite!r}: GitHub would evaluate it")
    text = (files("evalgate.reporting") / "templates/workflow.yml").read_text(encoding="utf-8")
    before, _, rest = text.partition(RECORDING)
    recorded, _, gate = rest.partition(ACTION)
    if recording is None:
        return NewFile(PATH, f"{before}{ACTION}{gate}".replace(SUITE_OF_EXAMPLE, format_value(suite)))
    recorded = recorded.replace(RECORDED_OF_EXAMPLE, _format_inputs(recording))
    judged = "          traces: traces/**/*.jsonl # what the step above recorded\n"
    text = f"{before}{_format_install(cwd)}{RECORDING}{recorded}{ACTION}{gate}{judged}"
    return NewFile(PATH, text.replace(SUITE_OF_EXAMPLE, format_value(suite)), note=recording.note)


def _format_inputs(recording: Recording) -> str:
    """The inputs of the step that records."""
    lines = ["with:", f"  suite: {SUITE_OF_EXAMPLE}", f"  run: {recording.command}"]
    if recording.trials > 1:
        lines.append(f"  options: --trials={recording.trials} # of each scenario")
    return "".join(f"        {line}\n" for line in lines)


def _format_install(cwd: str) -> str:
    """The step that installs the agent's packages; empty where the project names none."""
    found = next((command for name, command in REQUIREMENTS if Path(cwd, name).is_file()), None)
    return "" if found is None else f"      - run: {found} # what your agent needs\n"
