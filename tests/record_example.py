"""Records the cassettes of an example again, with its framework and a fake provider: python tests/record_example.py NAME...

The model's answers are those of `synthetic_answers/NAME.json`; a pull request that replays those of main has none. The patch keeps its changes of files that are no cassettes,
and gets the cassettes that the changed agent makes.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from example_installs import EXAMPLES, INSTALLED, PACKAGES, commands
from fakes.providers import FakeProviders

ANSWERS = Path(__file__).resolve().parent / "synthetic_answers"
CASSETTES = "evals/cassettes"


def copy_example(name: str, parent: Path) -> Path:
    """A copy of an example, with the packages that `make examples` installed."""
    folder = shutil.copytree(EXAMPLES / name, parent / name, ignore=shutil.ignore_patterns("traces", *PACKAGES))
    for each in PACKAGES:
        if (INSTALLED / name / each).exists():
            (folder / each).symlink_to(INSTALLED / name / each)
    return folder


def record(folder: Path, name: str, answers: dict[str, list[dict[str, Any]]]) -> None:
    """Records each scenario as the README's second command replays it; raises CalledProcessError."""
    command = commands(name)[1].partition("&&")[0]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    keys = {"OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none"}
    for scenario, given in answers.items():
        fake = FakeProviders(answers=list(given))
        words = " ".join(["--cache write --scenario", scenario, *fake.flags])
        line = command.replace("--cache read", words)
        subprocess.run(["bash", "-ec", line], cwd=folder, env={"PATH": path, "HOME": str(folder), **keys}, check=True)
        fake.close()
        if fake.answers:
            raise SystemExit(f"{name}, {scenario}: the agent did not ask for {fake.answers}")
    for cassette in sorted((folder / CASSETTES).rglob("*.jsonl")):
        first, _, rest = cassette.read_text(encoding="utf-8").partition("\n")
        header = json.dumps(json.loads(first) | {"synthetic": True}, sort_keys=True, separators=(",", ":"))
        cassette.write_text(f"{header}\n{rest}", encoding="utf-8")


def read_cassettes(folder: Path) -> dict[str, list[str]]:
    """The lines of each cassette, by its path in the example."""
    files = sorted((folder / CASSETTES).rglob("*.jsonl"))
    return {str(file.relative_to(folder)): file.read_text(encoding="utf-8").splitlines(keepends=True) for file in files}


def diff(old: dict[str, list[str]], new: dict[str, list[str]]) -> str:
    """What changed, without the lines around it, which are long."""
    return "".join(
        line
        for path in sorted(old.keys() | new.keys())
        for line in difflib.unified_diff(old.get(path, []), new.get(path, []), f"a/{path}", f"b/{path}", n=0)
    )


def main(name: str) -> None:
    """Records the example and its pull request."""
    answers = json.loads((ANSWERS / f"{name}.json").read_bytes())
    with tempfile.TemporaryDirectory() as place:
        folder = copy_example(name, Path(place))
        patch = folder / "pull-request.patch"
        by_hand = re.split(rf"^--- a/{CASSETTES}", patch.read_text(encoding="utf-8"), maxsplit=1, flags=re.MULTILINE)[0]
        shutil.rmtree(folder / CASSETTES, ignore_errors=True)
        record(folder, name, answers["main"])
        before = read_cassettes(folder)
        shutil.rmtree(EXAMPLES / name / CASSETTES, ignore_errors=True)
        shutil.copytree(folder / CASSETTES, EXAMPLES / name / CASSETTES)
        patch.write_text(by_hand, encoding="utf-8")
        subprocess.run(["patch", "-p1", "-i", patch.name], cwd=folder, check=True)
        if "pull-request" in answers:
            record(folder, name, answers["pull-request"])
        text = by_hand + diff(before, read_cassettes(folder))
        (EXAMPLES / name / "pull-request.patch").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for each in sys.argv[1:]:
        main(each)
