"""The image, built for real and run as GitHub's runner runs a container action."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT.parent / "shared" / "container" / "build_and_run.sh"
TAG = "localhost/evalgate-test:latest"
FILES = "/github/file_commands"
OF_THE_RUNNER = {
    "HOME": "/github/home",
    "GITHUB_ACTIONS": "true",
    "GITHUB_WORKSPACE": "/github/workspace",
    "GITHUB_EVENT_PATH": "/github/workflow/event.json",
    "GITHUB_OUTPUT": f"{FILES}/set_output",
    "GITHUB_STEP_SUMMARY": f"{FILES}/step_summary",
}


@dataclass(frozen=True)
class ContainerResult:
    """A container's exit code, output and files."""

    code: int
    log: str
    files: Path

    def written(self, name: str) -> str:
        return (self.files / name).read_text()


class Docker:
    """A machine with a Docker engine."""

    def build(self) -> None:
        _call(["docker", "build", "--quiet", "--tag", TAG, str(ROOT)])

    def run(
        self, workspace: Path, folder: Path, env: dict[str, str], *arguments: str, user: str = ""
    ) -> ContainerResult:
        mounts = {
            workspace: "/github/workspace",
            folder / "_github_workflow": "/github/workflow",
            folder / "_runner_file_commands": FILES,
            folder / "_github_home": "/github/home",
        }
        for name in mounts:
            name.mkdir(parents=True, exist_ok=True)
        (folder / "_github_workflow" / "event.json").write_text("{}")
        files = folder / "_runner_file_commands"
        for name in ("set_output", "step_summary"):
            (files / name).touch()
        command = ["docker", "run", "--rm", "--network", "none", "--workdir", "/github/workspace"]
        for name, value in {**OF_THE_RUNNER, **env}.items():
            command += ["-e", f"{name}={value}"]
        for here, there in mounts.items():
            command += ["-v", f"{here}:{there}"]
        command += ["--read-only", "--user", user] if user else []
        done = subprocess.run([*command, TAG, *arguments], capture_output=True, text=True, check=False, timeout=120)
        return ContainerResult(done.returncode, done.stdout + done.stderr, files)


class Script:
    """A machine without Docker, where buildah and podman do the same."""

    def build(self) -> None:
        _call([str(SCRIPT), "--build-only", "--tag", TAG, str(ROOT)])

    def run(
        self, workspace: Path, folder: Path, env: dict[str, str], *arguments: str, user: str = ""
    ) -> ContainerResult:
        variables = folder / "env"
        folder.mkdir(parents=True, exist_ok=True)
        variables.write_text("".join(f"{name}={value}\n" for name, value in env.items()))
        command = [str(SCRIPT), "--run-only", "--tag", TAG, "--network", "none", "--env-file", str(variables)]
        command += ["--workspace", str(workspace), "--temp", str(folder)]
        command += ["--user", user] if user else []
        command += [str(ROOT), "--", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        return ContainerResult(done.returncode, done.stdout + done.stderr, folder / "_runner_file_commands")


def engine() -> Docker | Script | None:
    """The available engine to build and run an image, or None."""
    if shutil.which("docker") and _works(["docker", "info", "--format", "{{json .ServerErrors}}"]):
        return Docker()
    if shutil.which("buildah") and shutil.which("podman") and SCRIPT.is_file() and os.geteuid() == 0:
        return Script()
    return None


def _works(command: list[str]) -> bool:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    return done.returncode == 0 and json.loads(done.stdout or "null") is None


def _call(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
