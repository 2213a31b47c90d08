"""Examples with real frameworks: the commands of each README run as a reader pastes them, without a network and without a key."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from example_installs import EXAMPLES, INSTALLED, NAMES, commands, pinned, versions
from record_example import CASSETTES, copy_example, read_cassettes

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[3]
OFFLINE = ROOT / "tests/offline"
SHOWN = re.compile(r"^```text\n(.*?)^```", re.DOTALL | re.MULTILINE)
STOPPED_BY = {
    "claude-agent-sdk": 'sql fails pattern in {"sql":"DELETE FROM orders WHERE rowid = 3"}',
    "google-adk": "target fails maximum",
    "vercel-ai": 'finish reason tool_calls, expected one of ["stop"]',
    "langgraph": "2 of 3 tool calls failed, limit 0",
    "openai-agents": "issue_refund must not be called, but was",
    "pydantic-ai": 'euros fails maximum in {"category":"travel","euros":84}',
}
"""Why the pull request of each example is stopped."""


def run(block: str, folder: Path) -> tuple[int, str]:
    """Runs a block of a README where nothing outside this machine answers; gives its exit code and what it prints."""
    log = folder.parent / "connections"
    environ = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder.parent),
        "PYTHONPATH": str(OFFLINE),
        "NODE_OPTIONS": f"--require {OFFLINE / 'offline.cjs'}",
        "OFFLINE_LOG": str(log),
    }
    done = subprocess.run(
        ["bash", "-c", block],
        cwd=folder,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    assert not log.exists(), f"connections to {log.read_text()}{done.stdout}"
    assert "Traceback" not in done.stdout, done.stdout
    return done.returncode, done.stdout


def texts(name: str) -> list[str]:
    """What an example's README shows of the green run, and of the stopped one."""
    return SHOWN.findall((EXAMPLES / name / "README.md").read_text(encoding="utf-8"))


def missing_lines(shown: str, printed: str) -> Sequence[str]:
    """Lines that a README shows and that its command didn't print after the ones before."""
    remaining = iter(printed.splitlines())
    return [line for line in shown.splitlines() if line not in remaining]


def statements(source: str) -> int:
    """How many lines of a program are neither empty nor a comment."""
    return sum(bool(line.strip()) and not line.strip().startswith(("#", "//")) for line in source.splitlines())


@pytest.mark.parametrize("name", NAMES)
def test_main_is_green_and_the_pull_request_is_stopped(name, tmp_path):
    if not (INSTALLED / name / ".ready").exists():
        pytest.skip(f"`make examples` installs the framework of examples/{name}")
    folder = copy_example(name, tmp_path)
    _, replay, change = commands(name)
    green, stopped = texts(name)

    code, printed = run(replay, folder)
    assert (code, missing_lines(green, printed)) == (0, []), printed
    code, printed = run(change, folder)
    assert (code, missing_lines(stopped, printed)) == (1, []), printed
    assert STOPPED_BY[name] in stopped
    assert list(folder.rglob("*.orig")) == []  # `patch` leaves them where a hunk does not fit exactly


@pytest.mark.parametrize("name", NAMES)
def test_the_versions_that_are_installed_are_those_of_the_lock(name):
    if not (INSTALLED / name / ".ready").exists():
        pytest.skip(f"`make examples` installs the framework of examples/{name}")
    found, locked = versions(name), pinned(name)
    assert found
    assert found == {each: locked[each] for each in found}


def test_the_job_of_the_examples_has_a_node_that_each_package_accepts():
    steps = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))["jobs"]["examples"]["steps"]
    [node] = [each["with"]["node-version"] for each in steps if each.get("uses", "").startswith("actions/setup-node@")]
    locks = [json.loads(path.read_bytes())["packages"] for path in EXAMPLES.glob("*/package-lock.json")]
    asked = [
        each["engines"]["node"] for packages in locks for each in packages.values() if "node" in each.get("engines", {})
    ]
    least = [int(number) for each in asked for number in re.findall(r">= ?(\d+)", each)]
    assert 22 <= max(least) <= int(node)


def test_every_example_is_in_the_index_and_has_a_reason():
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert sorted(STOPPED_BY) == NAMES
    assert [name for name in NAMES if f"]({name}/README.md)" not in index] == []


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_short_has_three_commands_and_names_its_model_synthetic(name):
    folder = EXAMPLES / name
    sources = [path for path in folder.iterdir() if path.suffix in {".py", ".ts", ".mjs"}]
    assert sum(statements(path.read_text(encoding="utf-8")) for path in sources) <= 80
    assert (len(commands(name)), len(texts(name))) == (3, 2)
    assert "synthetic" in (folder / "README.md").read_text(encoding="utf-8")
    headers = [yaml.safe_load(lines[0]) for lines in read_cassettes(folder).values()]
    assert [each for each in headers if each.get("synthetic") is not True] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_pull_request_marks_its_cassettes_as_synthetic(name):
    patch = (EXAMPLES / name / "pull-request.patch").read_text(encoding="utf-8")
    headers: list[Any] = [yaml.safe_load(line[1:]) for line in patch.splitlines() if line.startswith('+{"created"')]
    assert [each for each in headers if each.get("synthetic") is not True] == []
    assert len(headers) == patch.count(f"+++ b/{CASSETTES}")


def test_the_guard_refuses_and_notes_what_leaves_the_machine(tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    code = f"import socket; {'socket.create_connection((%r, 443))'}"
    for host in ("example.com", "192.0.2.1"):
        with pytest.raises(AssertionError, match=f"connections to {host}"):
            run(f"python -c {code % host!r}", folder)
        (tmp_path / "connections").unlink()
