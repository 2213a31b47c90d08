"""Installs examples with frameworks as their README does, and names the versions: python tests/example_installs.py VERB NAME...

`install` runs the first command of the README in `.examples/NAME`, from nothing; `versions` prints what is there.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
INSTALLED = ROOT / ".examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/pull-request.patch"))
INPUTS = ("requirements.txt", "package.json", "package-lock.json")
PACKAGES = (".venv", "node_modules")
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
PIN = re.compile(r"^([\w.-]+)==([^\s;]+)", re.MULTILINE)


def commands(name: str) -> list[str]:
    """The blocks of an example's README: install, replay and judge, the stopped pull request."""
    return BLOCK.findall((EXAMPLES / name / "README.md").read_text(encoding="utf-8"))


def install(name: str) -> None:
    """Installs an example into an empty folder; raises CalledProcessError."""
    folder = INSTALLED / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in INPUTS:
        if (EXAMPLES / name / file).exists():
            shutil.copy(EXAMPLES / name / file, folder)
    subprocess.run(["bash", "-ec", commands(name)[0]], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def direct(name: str) -> list[str]:
    """The packages that an example names itself, without those that they need."""
    folder = EXAMPLES / name
    found = []
    if (folder / "requirements.in").exists():
        found = re.findall(r"^[\w.-]+", (folder / "requirements.in").read_text(encoding="utf-8"), re.MULTILINE)
    if (folder / "package.json").exists():
        found += json.loads((folder / "package.json").read_bytes())["dependencies"]
    return found


def pinned(name: str) -> dict[str, str]:
    """The version of each package in an example's lock."""
    folder, found = EXAMPLES / name, {}
    if (folder / "requirements.txt").exists():
        found = dict(PIN.findall((folder / "requirements.txt").read_text(encoding="utf-8")))
    if (folder / "package-lock.json").exists():
        packages = json.loads((folder / "package-lock.json").read_bytes())["packages"]
        found |= {path.removeprefix("node_modules/"): each["version"] for path, each in packages.items() if path}
    return found


def versions(name: str) -> dict[str, str]:
    """The version of each package that an example names itself, as it is installed."""
    folder, found = INSTALLED / name, {}
    if (folder / ".venv").exists():
        command = [str(folder / ".venv/bin/python"), "-m", "pip", "list", "--format", "json"]
        listed = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        found = {each["name"].lower().replace("_", "-"): each["version"] for each in listed}
    for package in (folder / "node_modules").glob("**/package.json"):
        found[str(package.parent.relative_to(folder / "node_modules"))] = json.loads(package.read_bytes()).get(
            "version", ""
        )
    return {each: found[each] for each in direct(name)}


def main(verb: str, names: list[str]) -> None:
    """Installs, or prints a line for each example."""
    for name in names:
        if verb == "install":
            install(name)
        else:
            print(f"{name}: {', '.join(' '.join(each) for each in versions(name).items())}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
