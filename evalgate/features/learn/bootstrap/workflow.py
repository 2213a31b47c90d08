"""The workflow that `init` writes: that of examples/workflows, which records the suite's scenarios and judges them."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from importlib.resources import files
from typing import TYPE_CHECKING

from msgspec import Struct

from evalgate.errors import InvalidInput, SettingError
from evalgate.features.learn.bootstrap.agent_setup import build_setup
from evalgate.features.learn.bootstrap.project_start import NewFile
from evalgate.features.learn.bootstrap.recorded_command import (
    AgentCommand,
    find_command,
    list_base_urls,
    list_providers,
    split_command,
)
from evalgate.models.trace.trace import Trace
from evalgate.reporting.text.flow_style import format_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.features.learn.application.inference.build_suite import BuiltSuite

PATH = ".github/workflows/evalgate.yml"
RECORDING, ACTION = "      - uses: org/evalgate/record@", "      - uses: org/evalgate@"
"""How the steps that record, and the step of the gate, begin in the workflow."""
SUITE_OF_EXAMPLE = "evals/support.yaml"
RECORDED_OF_EXAMPLE = "        with: {scenario: refund, run: python my_agent.py}\n"
KEY_OF_EXAMPLE = "          OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}\n"
KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
ADDRESSES = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
"""The secrets with the keys of the providers that are recorded, and the variables with their addresses."""
MOST_TRIALS = 5
"""Trials of a scenario that are recorded for each pull request unless a person asks for more."""
EXAMPLE = AgentCommand(("python", "my_agent.py"))
_PLAIN = re.compile(r"[A-Za-z.][A-Za-z0-9_./ '{}=-]*")
"""Commands that need no quotes in YAML."""


class Recording(Struct, frozen=True):
    """How the scenarios of a suite are recorded: how often, by which command, None if it is not known.

    `has_prompts` says whether each scenario has a request, `keys` which secrets the agent needs, `addresses` where
    providers were asked that were not at their own default, by variable: None is not known.
    """

    command: AgentCommand | None = None
    trials: int = 1
    has_prompts: bool = False
    keys: Sequence[str] = ("OPENAI_API_KEY",)
    addresses: Mapping[str, str | None] = {}

    @property
    def written(self) -> AgentCommand:
        """The command, or one that stands for it."""
        if self.command is not None:
            return self.command
        return AgentCommand((*EXAMPLE.words, "{prompt}")) if self.has_prompts else EXAMPLE

    @property
    def note(self) -> str:
        """What a person has to know or do."""
        runs = "once for each scenario" if self.trials == 1 else f"{self.trials} times for each scenario"
        prompt = "with its request in the place of {prompt}"
        knows = prompt if "{prompt}" in self.written.words else "which EVALGATE_SCENARIO names"
        secrets = f"add {' and '.join(self.keys)} to the secrets of the repository{self._name_addresses()}"
        if self.command is not None:
            return f"the workflow runs `{self.command.text}` {runs}, {knows}; {secrets}"
        do = f"replace `{self.written.text}` in the workflow by what starts your agent (or give it as --command)"
        return f"{do}: it runs {runs}, {knows}; {secrets}"

    def _name_addresses(self) -> str:
        missing = [name for name, url in self.addresses.items() if url is None]
        known = [url for url in self.addresses.values() if url is not None]
        asks = f", and {' and '.join(missing)} to its variables: where your provider is" if missing else ""
        return f"{asks}; it asks {' and '.join(known)}, as the recordings did" if known else asks


def plan_recording(built: BuiltSuite, command: str | None) -> Recording:
    """How the scenarios of a new suite are recorded: as their traces were, unless a person gave the `command`."""
    written = built.draft.written
    trials = {scenario.id: scenario.recorded for scenario in written}
    return _plan(built.found.readable, {scenario.id: scenario.prompt for scenario in written}, trials, command)


def read_recording(path: str, traces: Sequence[str], cwd: str, command: str | None) -> Recording:
    """How a suite that exists is recorded; where it or its traces can't be read, `validate` explains."""
    from evalgate.bootstrap.sources import build_suite_files, build_trace_files

    try:
        suites = build_suite_files(cwd).load([path]).suites
        found = [each for each in build_trace_files(cwd).read(traces, ".", "auto") if isinstance(each, Trace)]
    except InvalidInput:
        suites, found = [], []
    entries = [entry for suite in suites for entry in suite.content["scenarios"]]
    prompts = {entry["id"]: prompt if isinstance(prompt := entry.get("prompt"), str) else None for entry in entries}
    trials = Counter(id_ for trace in found if (id_ := trace.scenario_id) is not None and id_ in prompts)
    return _plan(found, prompts, trials, command)


def _plan(
    traces: Sequence[Trace], prompts: Mapping[str, str | None], trials: Mapping[str, int], command: str | None
) -> Recording:
    """As often as the scenario with the fewest trials."""
    given = None if command is None else split_command(command)
    if command is not None and given is None:
        raise SettingError("--command takes a command: a quote is not closed, or there is no word")
    found = find_command(traces, prompts)
    if given is not None and found is not None and not given.options:
        given = AgentCommand(given.words, found.options)
    return Recording(
        given or found,
        min(min(trials.values(), default=1), MOST_TRIALS),
        bool(prompts) and None not in prompts.values(),
        [KEYS[name] for name in list_providers(traces) if name in KEYS] or ["OPENAI_API_KEY"],
        {ADDRESSES[name]: url for name, url in list_base_urls(traces).items() if name in ADDRESSES},
    )


def build_workflow(suite: str, recording: Recording | None, cwd: str) -> NewFile:
    """The workflow for this suite, with a step that records it unless git has the traces (`recording` is None).

    Raises SettingError for a path or a command that GitHub would evaluate.
    """
    command = "" if recording is None else shlex.join([*recording.written.options, *recording.written.words])
    for what in (suite, command):
        if "${{" in what:
            raise SettingError(f"a workflow can't name {what!r}: GitHub would evaluate it")
    text = (files("evalgate.reporting") / "templates/workflow.yml").read_text(encoding="utf-8")
    before, _, rest = text.partition(RECORDING)
    recorded, _, gate = rest.partition(ACTION)
    if recording is None:
        return NewFile(PATH, f"{before}{ACTION}{gate}".replace(SUITE_OF_EXAMPLE, format_value(suite)))
    values = {name: f"${{{{ secrets.{name} }}}}" for name in recording.keys}
    values |= {name: url or f"${{{{ vars.{name} }}}}" for name, url in recording.addresses.items()}
    lines = "".join(f"          {name}: {value}\n" for name, value in values.items())
    recorded = recorded.replace(RECORDED_OF_EXAMPLE, _format_inputs(recording)).replace(KEY_OF_EXAMPLE, lines)
    judged = "          traces: traces/**/*.jsonl # what the step above recorded\n"
    text = f"{before}{build_setup(recording.written.words, cwd)}{RECORDING}{recorded}{ACTION}{gate}{judged}"
    return NewFile(PATH, text.replace(SUITE_OF_EXAMPLE, format_value(suite)), note=recording.note)


def _format_inputs(recording: Recording) -> str:
    """The inputs of the step that records."""
    text = recording.written.text
    run = text if _PLAIN.fullmatch(text) else format_value(text)
    doubt = "" if recording.command is not None else " # replace this by what starts your agent"
    lines = ["with:", f"  suite: {SUITE_OF_EXAMPLE}", f"  run: {run}{doubt}"]
    options = [*([f"--trials={recording.trials}"] if recording.trials > 1 else []), *recording.written.options]
    if len(options) == 1 and recording.trials > 1:
        lines.append(f"  options: {options[0]} # of each scenario")
    elif options:
        lines += ["  options: |", *(f"    {option}" for option in options)]
    return "".join(f"        {line}\n" for line in lines)
