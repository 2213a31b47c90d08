"""For any input, the command exits with an expected code, within its limits, and leaves no other files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest
from markdown_check import find_flaws, runner_commands

from hostile import harmless, hostile_odds, hostile_others, hostile_suites, hostile_traces

if TYPE_CHECKING:
    from pathlib import Path

    from hostile.hostile_case import Case

CASES = [
    *hostile_suites.cases(),
    *hostile_traces.cases(),
    *hostile_others.cases(),
    *harmless.cases(),
    *hostile_odds.cases(),
]
EVERY = 31
"""Of so many cases one is tried in a usual test run; `make matrix` tries all."""
LIMITS = ("--limit", "cpu=8", "--limit", "memory=280MB")
MOST_CPU, MOST_KB, MOST_SECONDS = 10, 300 * 1024, 120
MARKER = "evalgate:sticky v1 key=evalgate"
TOKEN = "ghp_" + "Zq9" * 12
MEASURED = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(child, 0)
print(f"\\n{os.waitstatus_to_exitcode(status)} {used.ru_utime + used.ru_stime} {used.ru_maxrss}", end="")
"""
"""A small process between: one that is forked from the test process would count their memory as its own."""
ELSEWHERE = ("root:x:0", "daemon:")


class CommandResult(NamedTuple):
    """The command's exit code and output, and what it and its judge used."""

    code: int
    output: str
    cpu: float
    kilobytes: int


def run(folder: Path, case: Case) -> CommandResult:
    named = case.arguments and not case.arguments[0].startswith("-")
    suite = () if named else ("suite.yaml",)
    bare = () if case.keeps else ("--no-baseline-zip",)
    command = [sys.executable, "-m", "evalgate", "run", *suite, *case.arguments, *bare, *LIMITS]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GITHUB_TOKEN": TOKEN}
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", MEASURED, *command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=MOST_SECONDS,
        check=True,
    )
    code, cpu, kilobytes = ran.stdout.rsplit(b"\n", 1)[-1].split()
    text = (ran.stdout.rpartition(b"\n")[0] + b"\n" + ran.stderr).decode("utf-8", "replace")
    return CommandResult(int(code), text, float(cpu), int(kilobytes))


def find_faults(case: Case, folder: Path, before: set[Path], result: CommandResult) -> list[str]:
    """Everything that is wrong with the result."""
    found = [f"exit {result.code}"] if result.code not in case.ends else []
    found += ["a traceback"] if "Traceback" in result.output else []
    found += ["no output"] if not result.output.strip() else []
    found += [f"{result.cpu:.1f} s"] if result.cpu > MOST_CPU else []
    found += [f"{result.kilobytes} kB"] if result.kilobytes > MOST_KB else []
    found += [f"command {line!r}" for line in result.output.splitlines() if runner_commands(line)]
    found += [f"file {path}" for path in set(folder.rglob("*")) - before if ".evalgate" not in path.parts]
    left = folder / ".evalgate"
    files = [path for path in left.iterdir() if path.is_file()] if left.is_dir() else []
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in files]
    for text in (result.output, *texts):
        found += [f"{secret!r} is shown" for secret in (TOKEN, *ELSEWHERE) if secret in text]
    comment = left / "comment.md"
    if comment.exists() and "--template" not in case.arguments:  # its words are the project's own
        found += find_flaws(comment.read_text("utf-8"), comments=[MARKER])
    if (left / "results.json").exists():
        code = json.loads((left / "results.json").read_bytes())["exit_code"]
        found += [f"results say {code}"] if code != result.code else []
    return found


def run_case(case: Case, tmp_path: Path) -> list[str]:
    folder = tmp_path / "work"
    folder.mkdir()
    case.lay_out(folder)
    before = set(folder.rglob("*"))
    return find_faults(case, folder, before, run(folder, case))


@pytest.mark.parametrize("case", CASES[::EVERY], ids=lambda case: case.name)
def test_a_sampled_case_ends_well(case, tmp_path):
    assert run_case(case, tmp_path) == []


@pytest.mark.matrix
@pytest.mark.parametrize(
    "case", [case for number, case in enumerate(CASES) if number % EVERY], ids=lambda case: case.name
)
def test_every_other_case_ends_well(case, tmp_path):
    assert run_case(case, tmp_path) == []


def test_there_are_enough_cases():
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))
    assert sum(name.startswith("harmless") for name in names) >= 40
    assert sum(not name.startswith("harmless") for name in names) >= 300
