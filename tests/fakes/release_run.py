"""Runs the jobs of release.yml as GitHub does, against real git and the commands of release_tools."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from action_steps import load_script

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / ".ci/release.py"
GIT = shutil.which("git") or "git"
FILES = ("action.yml", "Dockerfile", "evalgate/version.py", "examples/workflows/evalgate.yml", ".ci/release.py")
QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
WITHOUT_EFFECT = ("actions/setup-python@", "docker/setup-buildx-action@", "docker/login-action@")
WRAPPER = """\
#!/bin/sh
case "$(cat "$STATE/fault" 2>/dev/null)" in
  "before git $1"*) rm "$STATE/fault"; echo "error: connection reset" >&2; exit 1;;
  "after git $1"*) rm "$STATE/fault"; {git} "$@"; echo "error: the answer was lost" >&2; exit 1;;
esac
exec {git} "$@"
"""
# The first line of a script can't name an interpreter whose path has a blank: the shell runs it, to Python this is a text.
INTERPRETER = """\
#!/bin/sh
'''exec' "{python}" -ISE "$0" "$@"
' '''
"""


@cache
def release_script() -> Any:
    """The script, as a module."""
    return load_script(SCRIPT)


def evaluate(text: str, values: dict[str, str]) -> str:
    """A text with expressions; names without a value are empty, as on GitHub."""

    def compute(expression: str) -> str:
        python = re.sub(r"!(?!=)", " not ", expression.replace("&&", " and ").replace("||", " or "))
        python = re.sub(r"cancelled\(\)", "False", python)
        named = re.split(r"('[^']*')", python)
        found = [
            each if each[:1] == "'" else re.sub(r"[a-z]+(\.[\w-]+)+", lambda name: repr(values.get(name[0], "")), each)
            for each in named
        ]
        answer = eval("".join(found), {"__builtins__": {}})  # noqa: S307  # the project's own workflow
        return answer if isinstance(answer, str) else str(answer).lower()

    return re.sub(r"\$\{\{(.+?)\}\}", lambda match: compute(match[1].strip()), text)


class Forge:
    """A repository on GitHub with its registry, releases and signatures."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.state, self.origin = folder, folder / "state", folder / "origin.git"
        self.main = folder / "main"

    def create(self, changelog: str) -> None:
        """Makes the repository with one commit on main, from files of this project."""
        for name in ("registry", "built", "releases"):
            (self.state / name).mkdir(parents=True)
        (self.state / "signed").touch()
        tools = self.folder / "tools"
        tools.mkdir()
        source = Path(__file__).with_name("release_tools.py").read_text()
        scripts = dict.fromkeys(("gh", "docker"), INTERPRETER.replace("{python}", sys.executable) + source)
        for name, text in {**scripts, "git": WRAPPER.replace("{git}", shlex.quote(GIT))}.items():
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
        for name in FILES:
            (self.main / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.main / name)
        (self.main / "pyproject.toml").write_text('[project]\nversion = "1.0.0"\n')
        (self.main / "CHANGELOG.md").write_text(changelog)
        (self.main / "README.md").write_text("# EvalGate\n")
        self.git("init", "--quiet", "--template=", "--bare", str(self.origin), cwd=self.folder)
        self.git("config", "uploadpack.allowAnySHA1InWant", "true", cwd=self.origin)
        self.git("init", "--quiet", "--template=", "--initial-branch=main")
        self.git("remote", "add", "origin", self.origin.as_uri())
        self.commit("Prepare 1.0.0")

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        """What git prints."""
        who = ("-c", "user.name=A person", "-c", "user.email=person@example.org")
        environ = {**os.environ, **QUIET}
        done = subprocess.run(
            [GIT, *who, *arguments], cwd=cwd or self.main, env=environ, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, subject: str) -> str:
        """Commits everything on main and pushes it; the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)
        self.git("push", "--quiet", "origin", "HEAD:refs/heads/main")
        return self.git("rev-parse", "HEAD")

    def tags(self) -> dict[str, str]:
        """The tags with their commits."""
        rows = self.git("for-each-ref", "refs/tags", "--format=%(refname:short) %(objectname)", cwd=self.origin)
        return dict(row.split() for row in rows.splitlines())

    def show(self, revision: str) -> str:
        """A file of the repository, or a commit."""
        return self.git("show", revision, cwd=self.origin)

    def fail(self, fault: str) -> None:
        """Makes one later call fail."""
        (self.state / "fault").write_text(fault)

    def release(self, tag: str) -> dict[str, Any]:
        """A release on GitHub."""
        return json.loads((self.state / "releases" / tag).read_text())

    def signed(self) -> list[list[str]]:
        """The signatures, each a digest and a commit."""
        return [line.split() for line in (self.state / "signed").read_text().splitlines()]


class WorkflowRun:
    """One run of release.yml for the newest commit of main, whose failed jobs can be run again."""

    numbers = iter(range(1_000_000))

    def __init__(self, forge: Forge, version: str) -> None:
        self.forge = forge
        self.jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))["jobs"]
        self.folder = forge.folder / f"run-{next(self.numbers)}"
        self.values = {
            "inputs.version": version,
            "github.ref": "refs/heads/main",
            "github.repository": "org/evalgate",
            "github.sha": forge.git("rev-parse", "HEAD"),
            "github.token": "the token",
        }
        self.results: dict[str, str] = {}
        self.log = ""

    def run(self) -> dict[str, str]:
        """Runs what has not succeeded yet; the result of every job."""
        for name, job in self.jobs.items():
            if self.results.get(name) in {"success", "skipped"} and self.results.get(name) != "skipped":
                continue
            self.results[name] = self._run_job(name, job)
            self.values[f"needs.{name}.result"] = self.results[name]
        return self.results

    def _run_job(self, name: str, job: dict[str, Any]) -> str:
        needs = [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
        condition = job.get("if", "true")
        inner = condition.removeprefix("${{").removesuffix("}}")
        if "cancelled()" not in inner and any(self.results[need] != "success" for need in needs):
            return "skipped"
        if inner != "true" and evaluate(f"${{{{{inner}}}}}", self.values) != "true":
            return "skipped"
        for variant in job.get("strategy", {}).get("matrix", {}).get("include", [{}]):
            values = {**self.values, **{f"matrix.{key}": text for key, text in variant.items()}}
            workspace = self.folder / f"{name}-{'-'.join(variant.values())}-{next(self.numbers)}"
            workspace.mkdir(parents=True)
            if not all(self._run_step(step, job.get("env", {}), values, workspace) for step in job["steps"]):
                return "failure"
            for key, text in job.get("outputs", {}).items():
                if output := evaluate(text, values):  # a leg of a matrix does not empty another one's outputs
                    self.values[f"needs.{name}.outputs.{key}"] = output
        return "success"

    def _run_step(self, step: dict[str, Any], job_env: dict[str, str], values: dict[str, str], place: Path) -> bool:
        used, inputs = (
            step.get("uses", ""),
            {key: evaluate(str(text), values) for key, text in step.get("with", {}).items()},
        )
        if "run" in step:
            env = {key: evaluate(text, values) for key, text in {**job_env, **step.get("env", {})}.items()}
            return self._run_script(step, env, values, place)
        if used.startswith(WITHOUT_EFFECT):
            return True
        action = getattr(self, "_" + used.partition("@")[0].replace("/", "_").replace("-", "_"))
        if not self._happens("before", used):
            return False
        outputs = action(inputs, values, place)
        values.update({f"steps.{step.get('id')}.outputs.{key}": text for key, text in (outputs or {}).items()})
        return self._happens("after", used)

    def _happens(self, moment: str, used: str) -> bool:
        file = self.forge.state / "fault"
        if not file.exists() or file.read_text() != f"{moment} {used.partition('@')[0]}":
            return True
        file.unlink()
        return False

    def _run_script(self, step: dict[str, Any], env: dict[str, str], values: dict[str, str], place: Path) -> bool:
        if step["run"] in {".ci/run", "gh auth setup-git"}:
            return True
        output = place / "output"
        environ = {
            "PATH": f"{self.forge.folder / 'tools'}:{os.environ['PATH']}",
            "STATE": str(self.forge.state),
            "GITHUB_REPOSITORY": values["github.repository"],
            "GITHUB_SHA": values["github.sha"],
            "GITHUB_OUTPUT": str(output),
            **QUIET,
            **env,
        }
        command = (
            shlex.split(re.sub(r"\$(\w+)", lambda name: env[name[1]], step["run"])) if "\n" not in step["run"] else []
        )
        if command[:2] == ["python3", ".ci/release.py"]:
            done = release_script().main(command[2:], environ, place) == 0
        else:
            script = ["/bin/bash", "-e", "-o", "pipefail", "-c", step["run"]]
            done = subprocess.run(script, cwd=place, env=environ, check=False).returncode == 0
        if output.exists():
            lines = [line.partition("=") for line in output.read_text().splitlines()]
            values.update({f"steps.{step.get('id')}.outputs.{key}": text for key, _, text in lines})
        return done

    def _actions_checkout(self, inputs: dict[str, str], values: dict[str, str], place: Path) -> None:
        """As the action does it; what is the same in several jobs is fetched once."""
        commit, git = inputs.get("ref") or values["github.sha"], self.forge.git
        fetched = self.folder / f"checkout-{commit}"
        if not fetched.exists():
            fetched.mkdir()
            git("init", "--quiet", "--template=", cwd=fetched)
            git("remote", "add", "origin", self.forge.origin.as_uri(), cwd=fetched)
            git("fetch", "--quiet", "--depth=1", "origin", commit, cwd=fetched)
            git("checkout", "--quiet", "FETCH_HEAD", cwd=fetched)
        shutil.copytree(fetched, place, dirs_exist_ok=True)

    def _docker_build_push_action(self, inputs: dict[str, str], _: dict[str, str], __: Path) -> dict[str, str]:
        digest = "sha256:" + hashlib.sha256(f"{next(self.numbers)}".encode()).hexdigest()
        platform = inputs["platforms"].removeprefix("linux/")
        (self.forge.state / "built" / digest).write_text(platform)
        return {"digest": digest}

    def _actions_attest(self, inputs: dict[str, str], values: dict[str, str], _: Path) -> None:
        assert inputs["subject-name"] == "ghcr.io/org/evalgate"
        with (self.forge.state / "signed").open("a") as file:
            file.write(f"{inputs['subject-digest']} {values['github.sha']}\n")
