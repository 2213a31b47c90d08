"""Runs the steps of a composite action as the runner does: its scripts in bash, with expressions replaced."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

BASH = shutil.which("bash") or "/bin/bash"


class Ended(NamedTuple):
    """A step's exit code, what it printed, and its outputs."""

    code: int
    log: str
    outputs: dict[str, str]


def load_script(path: Path) -> Any:
    """A script that no package holds, as a module."""
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_steps(action: Path) -> list[dict[str, Any]]:
    return yaml.safe_load(action.read_text(encoding="utf-8"))["runs"]["steps"]


def run_step(action: Path, name: str, known: Mapping[str, str], environ: Mapping[str, str]) -> Ended:
    """Runs the script of a step, with the expressions of its variables replaced, as `shell: bash` does."""
    [step] = [each for each in read_steps(action) if each.get("id") == name]

    def fill(text: str) -> str:
        return re.sub(r"\$\{\{ (.+?) }}", lambda found: known[found[1]], text)

    Path(environ["GITHUB_OUTPUT"]).write_text("")
    done = subprocess.run(
        [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        env={**environ, **{key: fill(text) for key, text in step["env"].items()}},
        cwd=fill(step.get("working-directory", ".")),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    text = Path(environ["GITHUB_OUTPUT"]).read_text()
    blocks = re.findall(r"^([a-z-]+)(?:=(.*)|<<(\S+)\n(.*?)\n?^\3)$", text, re.MULTILINE | re.DOTALL)
    single = re.findall(r"^([a-z-]+)=(.*)$", text, re.MULTILINE)
    outputs = {name: several for name, _, _, several in blocks} | dict(single)
    return Ended(done.returncode, done.stdout + done.stderr, outputs)
