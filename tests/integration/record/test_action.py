"""The action that records an agent: its step, run by a shell with what the runner would set, and its wheels."""

from __future__ import annotations

import json
import os
import sys

import pytest
import yaml
from action_steps import load_script, run_step
from documents import ROOT
from recording_runs import AGENTS, environ

ACTION = ROOT / "record/action.yml"
INPUTS = {
    name: each.get("default", "") for name, each in yaml.safe_load(ACTION.read_text(encoding="utf-8"))["inputs"].items()
}


@pytest.fixture
def act(tmp_path):
    """Runs the step that records, with the Python of these tests in place of the one that was installed."""

    def run(**inputs: str):
        given = INPUTS | {name.replace("_", "-"): text for name, text in inputs.items()}
        known = {
            "steps.install.outputs.python": sys.executable,
            "github.action_path": str(ACTION.parent),
            "toJSON(inputs)": json.dumps(given),
            "inputs.working-directory": str(tmp_path / given["working-directory"]),
        }
        return run_step(ACTION, "record", known, {**environ(), "GITHUB_OUTPUT": str(tmp_path / "outputs")})

    return run


def test_a_scenario_is_recorded_in_its_folder_and_the_agent_has_none_of_the_steps_variables(fake, act, tmp_path):
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent/seen.py").write_text(
        "import json, os, runpy, sys; json.dump(dict(os.environ), open('seen.json', 'w'))\n"
        f"sys.path.insert(0, {str(AGENTS)!r})\n"
        f"runpy.run_path({str(AGENTS / 'plain.py')!r}, run_name='__main__')\n"
        "sys.exit(7)\n"
    )
    options = "\n".join(each.replace(" ", "=") for each in fake.flags)
    ended = act(scenario="refund", run=f"'{sys.executable}' seen.py", options=options, working_directory="agent")
    assert ended.code == 0, ended.log  # the gate judges an agent that failed
    trace = json.loads((tmp_path / "agent/traces/refund/0.jsonl").read_text())
    assert (trace["scenario_id"], trace["status"]) == ("refund", "error")
    seen = json.loads((tmp_path / "agent/seen.json").read_text())
    assert (seen["PATH"], bool(seen["OPENAI_API_KEY"])) == (os.environ["PATH"], True)
    assert not {"EVALGATE_PYTHON", "EVALGATE_ACTION", "EVALGATE_INPUTS", "VIRTUAL_ENV"} & seen.keys()


def test_a_wrong_input_is_exit_2_with_its_reason(act):
    ended = act(scenario="refund", run="python 'open")
    assert (ended.code, ended.log) == (
        2,
        "::error title=EvalGate::input `run` is no command: No closing quotation\n",
    )


def test_inputs_are_the_options_and_the_command_without_a_shell():
    build = load_script(ACTION.parent / "record.py").build_options
    given = {
        "suite": "evals/a b.yaml",
        "cache": "read",
        "options": "--trials=3\n\n --timeout=60",
        "keep-going": "false",
    }
    assert build({**INPUTS, **given, "run": "python agent.py '{prompt}' \"$HOME; ls\""}) == [
        *("--suite=evals/a b.yaml", "--cache=read", "--trials=3", "--timeout=60", "--"),
        *("python", "agent.py", "{prompt}", "$HOME; ls"),
    ]
    assert build({**INPUTS, "scenario": "refund", "run": "a"}) == ["--scenario=refund", "--keep-going", "--", "a"]
    with pytest.raises(ValueError, match="input `keep-going` must be true or false"):
        build({**INPUTS, "keep-going": "flase", "run": "a"})
