"""A stand-in for the runner of GitHub Actions: gives a job's environment and reads what the step prints."""

from __future__ import annotations

import importlib.util
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import yaml
from fakes.hub import SHARED

from evalgate.action import run
from evalgate.adapters.github.workflow_step import WorkflowStep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fakes.hub import FakeHub

    from evalgate.adapters.http import RequestDeadline

ROOT = Path(__file__).resolve().parents[2]
FAKERUNNER = SHARED / "fakerunner.py"
ENTRYPOINT = ROOT / "entrypoint.py"
ACTION = ROOT / "action.yml"


class FakeRunner:
    """Runs the Action for one workspace, in this process or in a new one."""

    def __init__(self, hub: FakeHub, workspace: Path, folder: Path) -> None:
        spec = importlib.util.spec_from_file_location("fakerunner", FAKERUNNER)
        self._module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self._module)
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
        variables: Mapping[str, str] = MappingProxyType({}),
        **inputs: str,
    ) -> dict[str, str]:
        """What the process of the Action finds in its environment.

        `after_run` is the run that a `workflow_run` event is about, `heard` the comment of an `issue_comment`,
        `matrix` the job's leg; `variables` replace what the runner sets.
        """
        described_as = "workflow_dispatch" if event == "issue_comment" else event
        asked = SimpleNamespace(event=described_as, pr=pr, token=token, ref=ref, run_id=after_run, attempt=1)
        asked.workspace, asked.debug, asked.no_runtime = self._workspace, False, False
        home = Path(tempfile.mkdtemp(dir=self._folder))
        environ, _ = self._module.world_env(asked, vars(self._hub.info), self._hub.state, home)
        if heard is not None:
            environ |= self._comment_event(heard, action, Path(environ["GITHUB_EVENT_PATH"]), environ)
        declared = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["inputs"]
        contexts = {"github.token": token, "matrix": json.dumps(matrix, indent=2)}
        for name, described in declared.items():
            given = inputs.get(name.replace("-", "_"))
            default = self._module.expr(described["default"].replace("toJSON(matrix)", "matrix"), contexts)
            environ[f"INPUT_{name.upper()}"] = default if given is None else given
        return {**environ, **variables}

    def _comment_event(
        self, comment: Mapping[str, Any], action: str, path: Path, environ: Mapping[str, str]
    ) -> dict[str, str]:
        """The event of a comment, which the runner's stand-in does not know."""
        payload = json.loads(path.read_text(encoding="utf-8"))
        number = comment["issue_number"]
        is_pull_request = str(number) in self._hub.state["pulls"]
        issue = {"number": number, **({"pull_request": {"url": "x"}} if is_pull_request else {})}
        event = {"action": action, "issue": issue, "comment": {**comment, "user": {"login": comment["user"]}}}
        path.write_text(json.dumps({**payload, **event}), encoding="utf-8")
        workflow = environ["GITHUB_WORKFLOW_REF"].replace("/evalgate.yml@", "/approve.yml@")
        return {
            "GITHUB_EVENT_NAME": "issue_comment",
            "GITHUB_WORKFLOW_REF": workflow,
            "GITHUB_JOB": "approve",
        }

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
        seen = self._module.Step()
        for line in console.getvalue().split("\n"):
            seen.line(line)
        outputs = self._module.parse_env_file(Path(environ["GITHUB_OUTPUT"]).read_text(encoding="utf-8"))
        summary = Path(environ["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")
        unmasked = [line for line in console.getvalue().split("\n") if not line.startswith("::add-mask::")]
        printed = "\n".join([*unmasked, summary, json.dumps(outputs)])
        secrets = (environ["INPUT_GITHUB-TOKEN"], self._hub.info.runtime_token)
        return self._checked(
            exit_code=code,
            annotations=seen.ann,
            outputs=outputs,
            summary=summary,
            log=seen.log,
            commands=seen.cmds,
            legacy_commands=seen.legacy,
            errors=seen.err,
            token_leaks=[secret for secret in secrets if secret and secret in printed],
        )

    def act_as_process(self, *options: str) -> SimpleNamespace:
        """One run as a separate process."""
        ready = self._hub.ready_file(self._folder / "ready.json")
        command = [sys.executable, FAKERUNNER, "--ready", ready, "--workspace", self._workspace]
        command += ["--action-yml", ACTION, "--input", "matrix=null", *options, "--", sys.executable, ENTRYPOINT]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        return self._checked(**json.loads(done.stdout))

    def _checked(self, **run: Any) -> SimpleNamespace:
        """Checks what holds for every run: no command but the Action's, no secret, no malformed file."""
        assert run["legacy_commands"] == []
        assert run["token_leaks"] == []
        assert run["errors"] == []
        assert {each["command"] for each in run["commands"]} <= {"error", "warning", "notice", "add-mask"}
        assert "Traceback" not in "\n".join(run["log"])
        return SimpleNamespace(**run)
