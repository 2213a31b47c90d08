"""What the workflow of `init` starts and installs: the recorded command, and what lists the agent's packages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from builders import make_trace
from documents import ROOT

from evalgate.features.learn.bootstrap.agent_setup import SETUP_PYTHON, build_setup
from evalgate.features.learn.bootstrap.recorded_command import find_command
from evalgate.models.trace.trace import AGENT_COMMAND

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PROMPTS = {"a": "Refund A-7.", "b": "May I return B-1?"}
SET_UP = {"uses": SETUP_PYTHON.partition(" ")[0], "with": {"python-version": "3.13"}}


def find(commands: dict[str, str], prompts: dict[str, str | None] | None = None) -> str | None:
    traces = [
        make_trace([], scenario_id=scenario, metadata={AGENT_COMMAND: text}) for scenario, text in commands.items()
    ]
    found = find_command(traces, PROMPTS if prompts is None else prompts)
    return None if found is None else " ".join([*found.options, found.text])


@pytest.mark.parametrize(
    ("commands", "found"),
    [
        ({"a": "python x.py", "b": "python x.py"}, "python x.py"),
        (
            {"a": "/p/bin/python3.12 x.py 'Refund A-7.'", "b": "python x.py 'May I return B-1?'"},
            "python x.py '{prompt}'",
        ),
        ({"a": "node x.js a", "b": "node x.js b"}, "node x.js '{scenario}'"),
        ({"a": "/usr/bin/node x.js a"}, "node x.js a"),
        (
            {"a": "--state-files=out/** -- ./agent", "b": "--state-files=out/** -- ./agent"},
            "--state-files=out/** ./agent",
        ),
        ({"a": "python x.py", "b": "python y.py"}, None),
        ({"a": "python 'x"}, None),
        ({"a": "--"}, None),
        ({"a": ""}, None),
        ({}, None),
    ],
)
def test_the_command_is_that_of_the_traces(commands: dict[str, str], found: str | None) -> None:
    assert find(commands) == found


def test_a_request_stays_in_the_command_if_the_suite_lacks_that_of_another_scenario() -> None:
    assert find({"a": "python x.py 'Refund A-7.'"}, {"a": "Refund A-7.", "b": None}) == "python x.py 'Refund A-7.'"


def install(folder: Path, program: str, **files: str) -> Any:
    for name, text in files.items():
        (folder / name.replace("__", ".").replace("_", "-")).write_text(text, encoding="utf-8")
    return yaml.safe_load(build_setup(program.split(), str(folder))) or []


@pytest.mark.parametrize(
    ("program", "files", "steps"),
    [
        ("python x.py", {"requirements__txt": ""}, [SET_UP, {"run": "pip install -r requirements.txt"}]),
        ("python x.py", {"pyproject__toml": "[project]\nname = 'x'"}, [SET_UP, {"run": "pip install ."}]),
        ("python x.py", {"pyproject__toml": "[tool.ruff]\n", "x__py": "import os"}, [SET_UP]),
        (
            "python x.py",
            {"package_lock__json": "{}", "x__py": "import openai, y", "y__py": "import httpx"},
            ["httpx openai"],
        ),
        ("python x.py", {"x__py": "from openai import OpenAI\nimport yaml"}, [SET_UP]),
        ("node x.js", {"requirements__txt": "", "package__json": "{}"}, [{"run": "npm install"}]),
        ("node x.js", {"package__json": "{}", "package_lock__json": "{}"}, [{"run": "npm ci"}]),
        ("./agent", {"package__json": "{}", "package_lock__json": "{}"}, [{"run": "npm ci"}]),
        ("./agent", {}, []),
        ("go run .", {"requirements__txt": ""}, []),
    ],
)
def test_what_lists_the_packages_is_installed(
    tmp_path: Path, program: str, files: dict[str, str], steps: Sequence[Any]
) -> None:
    expected = [SET_UP, {"run": f"pip install {steps[0]}"}] if steps and isinstance(steps[0], str) else steps
    assert install(tmp_path, program, **files) == expected


@pytest.mark.parametrize("lock", ["uv", "poetry"])
def test_the_python_of_a_lock_is_the_agents(tmp_path: Path, lock: str) -> None:
    [step] = install(tmp_path, "python x.py", **{f"{lock}__lock": "", "requirements__txt": ""})
    assert step["run"].startswith(f"pipx install {lock} && {lock} ")
    assert step["run"].endswith('/bin" >> "$GITHUB_PATH"')


@pytest.mark.parametrize(
    ("program", "line"),
    [
        (
            "python x.py",
            "# - run: pip install openai yaml # what x.py imports: remove the # once these are the names of its packages",
        ),
        ("python -m x", "# - run: what installs your agent's packages, which no file here lists"),
        ("./agent", "# - run: what installs your agent's packages, which no file here lists"),
    ],
)
def test_a_comment_says_what_to_write_where_nothing_lists_them(tmp_path: Path, program: str, line: str) -> None:
    (tmp_path / "x.py").write_text("from openai import OpenAI\nimport yaml\n", encoding="utf-8")
    assert build_setup(program.split(), str(tmp_path)).splitlines()[-1] == f"      {line}"


def test_the_version_of_python_is_that_of_its_file(tmp_path: Path) -> None:
    step, _ = install(tmp_path, "python x.py", __python_version="3.12\n", requirements__txt="")
    assert step["with"] == {"python-version-file": ".python-version"}


def test_python_is_set_up_by_the_action_that_the_record_action_pins() -> None:
    assert f"uses: {SETUP_PYTHON}\n" in (ROOT / "record/action.yml").read_text(encoding="utf-8")
