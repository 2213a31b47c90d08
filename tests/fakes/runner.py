"""Runs the Action as the runner of GitHub Actions would, in this process or in a new one, and checks what it printed."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import yaml
from fakes.github.runner.commands import PrintedStep
from fakes.github.runner.events import make_event
from fakes.github.runner.files import parse_outputs
from fakes.github.runner.job import job_environment

from evalgate.action import run
from evalgate.adapters.github.workflow_step import WorkflowStep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fakes.hub import FakeHub

    from evalgate.adapters.http import RequestDeadline

ROOT = Path(__file__).resolve().parents[2]
MEASURED = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
"""
"""Runs a command, and writes the most memory that it used, in kB, to the file named first."""
ENTRYPOINT = ROOT / "entrypoint.py"
ACTION = ROOT / "action.yml"


class FakeRunner:
    """Runs the Action for one workspace."""

    def __init__(self, hub: FakeHub, workspace: Path, folder: Path) -> None:
        self._hub, self._workspace, self._folder = hub, workspace, folder

    def environment(
        self,
        event: str = "pull_request",
        *,
        pr: int = 7,
        token: str = "ghs_write",  # noqa: S107 - test data
        ref: str | None = None,
        after_run: int = 9001,
        heard: Mapping[str, Any] | None = None,
        action: str = "created",
        matrix: Mapping[str, Any] | None = None,
        legs: int | str = 1,
        variables: Mapping[str, str] = MappingProxyType({}),
        **inputs: str,
    ) -> dict[str, str]:
        """What the process of the Action finds in its environment.

        `after_run` is the run that a `workflow_run` event is about, `heard` the comment of an `issue_comment`,
        `matrix` the job's leg, one of `legs`; `variables` replace what the runner sets.
        """
        name = "workflow_dispatch" if event == "issue_comment" and heard is None else event
        about = {"pr": pr, "ref": ref, "after_run": after_run, "heard": heard, "action": action}
        made = make_event(self._hub.state, name, **about)
        home = Path(tempfile.mkdtemp(dir=self._folder))
        environ = job_environment(self._hub.state, self._hub.info, made, home)
        environ |= {"GITHUB_EVENT_NAME": name, "GITHUB_WORKSPACE": str(self._workspace.resolve())}
        values = {
            "github.token": token,
            "toJSON(matrix)": json.dumps(matrix, indent=2),
            "strategy.job-total": f"{legs}",
        }
        contexts = {f"${{{{ {name} }}}}": value for name, value in values.items()}
        declared = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["inputs"]
        for name, described in declared.items():
            default = described["default"]
            environ[f"INPUT_{name.upper()}"] = inputs.get(name.replace("-", "_"), contexts.get(default, default))
        return {**environ, **variables}

    def act(
        self,
        event: str = "pull_request",
        *,
        budget: RequestDeadline | None = None,
        is_sandboxed: bool = False,
        **options: Any,
    ) -> SimpleNamespace:
        """One run in this process, checked as the runner would."""
        return self.act_in(self.environment(event, **options), budget, is_sandboxed=is_sandboxed)

    def act_in(
        self, environ: Mapping[str, str], budget: RequestDeadline | None = None, *, is_sandboxed: bool = False
    ) -> SimpleNamespace:
        """The same in a given environment."""
        console = io.StringIO()
        step = WorkflowStep(console, environ["GITHUB_OUTPUT"], environ["GITHUB_STEP_SUMMARY"])
        code = run(environ, step, budget, is_sandboxed=is_sandboxed)
        return self._read(environ, code, console.getvalue())

    def act_as_process(
        self, event: str = "pull_request", *, entrypoint: Path = ENTRYPOINT, **options: Any
    ) -> SimpleNamespace:
        """One run as a separate process, which gets nothing else of this one's environment than its path."""
        environ = {**self.environment(event, **options), "PATH": os.environ["PATH"]}
        peak = self._workspace.parent / "peak-memory"
        command = [sys.executable, "-c", MEASURED, peak, sys.executable, entrypoint]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        started = time.monotonic()
        done = subprocess.run(command, env=environ, cwd=self._workspace, check=False, timeout=60, **streams)
        step = self._read(environ, done.returncode, done.stdout)
        step.seconds, step.max_rss_kb = time.monotonic() - started, int(peak.read_text(encoding="utf-8"))
        return step

    def _read(self, environ: Mapping[str, str], code: int, printed: str) -> SimpleNamespace:
        """Checks what holds for every run: no command but the Action's, no secret, no malformed file."""
        seen = PrintedStep().read(printed)
        outputs = parse_outputs(Path(environ["GITHUB_OUTPUT"]).read_text(encoding="utf-8"))
        summary = Path(environ["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")
        unmasked = [line for line in printed.split("\n") if not line.startswith("::add-mask::")]
        shown = "\n".join([*unmasked, summary, json.dumps(outputs)])
        secrets = (environ["INPUT_GITHUB-TOKEN"], self._hub.info.runtime_token)
        assert [secret for secret in secrets if secret and secret in shown] == []
        assert seen.old_commands == seen.errors == []
        assert {each["command"] for each in seen.commands} <= {"error", "warning", "notice", "add-mask"}
        assert "Traceback" not in "\n".join(seen.log)
        return SimpleNamespace(
            exit_code=code,
            result="failure" if code else "success",
            annotations=seen.annotations,
            outputs=outputs,
            summary=summary,
            log=seen.log,
            commands=seen.commands,
        )
