"""The composite action: its steps, run by a shell with what the runner would set, against a fake GitHub."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
import yaml
from composite_action import ACTION, COMPOSITE, compose
from documents import ROOT
from fakes.agent import on_main, own_comments, trace, write_trace

from evalgate.application.action.step_outputs import OUTPUTS

if TYPE_CHECKING:
    from collections.abc import Mapping

STEPS = yaml.safe_load(COMPOSITE.read_text(encoding="utf-8"))["runs"]["steps"]
BASH = shutil.which("bash") or "/bin/bash"
UPLOADS = {"baseline-artifact", "report-artifact"}


class Ended(NamedTuple):
    """A step's exit code, what it printed, and its outputs."""

    code: int
    log: str
    outputs: dict[str, str]


def run_step(name: str, known: Mapping[str, str], environ: Mapping[str, str]) -> Ended:
    """Runs the script of a step, with the expressions of its variables replaced, as `shell: bash` does."""
    [step] = [each for each in STEPS if each.get("id") == name]
    variables = {
        key: re.sub(r"\$\{\{ (.+?) }}", lambda found: known[found[1]], text) for key, text in step["env"].items()
    }
    Path(environ["GITHUB_OUTPUT"]).write_text("")
    done = subprocess.run(
        [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        env={**environ, **variables},
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


@pytest.fixture
def gate(runner, workspace):
    """Runs the gate step with the Python of these tests in place of the one that was installed."""

    def run(event: str = "pull_request", **inputs: str) -> Ended:
        environ = runner.environment(event, **inputs)
        given = {name.removeprefix("INPUT_").lower(): environ.pop(name) for name in [*environ] if "INPUT_" in name}
        for name in ("ACTIONS_RUNTIME_TOKEN", "ACTIONS_RESULTS_URL"):
            environ.pop(name)  # the runner gives them to no `run`
        python = "steps.install.outputs.python"
        known = {
            python: sys.executable,
            "github.action_path": str(COMPOSITE.parent),
            "toJSON(inputs)": json.dumps(given),
        }
        return run_step("gate", known, {**environ, "PATH": os.environ["PATH"]})

    return run


def test_inputs_and_outputs_are_those_of_the_container():
    text = COMPOSITE.read_text(encoding="utf-8")
    assert text == compose(ACTION.read_text(encoding="utf-8"), text)  # `make docs` writes it
    action, composite = (yaml.safe_load(path.read_text(encoding="utf-8")) for path in (ACTION, COMPOSITE))
    assert composite["inputs"] == action["inputs"]
    assert composite["outputs"].keys() == action["outputs"].keys()


def test_a_push_to_main_names_its_baseline_for_the_step_that_uploads_it(hub, gate, workspace):
    on_main(hub)
    ended = gate("push")
    assert (ended.code, ended.outputs["verdict"]) == (0, "pass"), ended.log
    assert ended.outputs.keys() == {*OUTPUTS, "baseline-artifact"}
    assert (ended.outputs["baseline-artifact"], ended.outputs["baseline-path"]) == (
        "evalgate-baseline",
        ".evalgate/baseline.zip",
    )
    assert (workspace / ".evalgate/baseline.zip").is_file()
    assert "upload" not in ended.log


def test_a_failed_gate_fails_the_step_and_comments(hub, gate, workspace):
    write_trace(workspace, trace(content="No."))
    ended = gate(baseline="none", fail_on="below_threshold")
    assert (ended.code, ended.outputs["verdict"], ended.outputs["exit-code"]) == (1, "fail", "1"), ended.log
    assert "EvalGate" in own_comments(hub)[0]
    assert ended.outputs.keys() == {*OUTPUTS}


def test_a_report_is_named_for_the_step_that_uploads_it(hub, gate, workspace):
    ended = gate(mode="evaluate", comment_key="a/b", baseline="none")
    assert ended.outputs["report-artifact"] == "evalgate-report-a-b", ended.log
    assert ended.outputs["results-path"] == ".evalgate/results.json"


def test_inputs_of_several_lines_and_wrong_ones_arrive(hub, gate, workspace):
    shutil.copy(workspace / "evals/support.yaml", workspace / "evals/other.yaml")
    (workspace / "evals/other.yaml").write_text(
        (workspace / "evals/support.yaml").read_text().replace("suite: ", "suite: other-")
    )
    ended = gate(config="evals/support.yaml\nevals/other.yaml\n", baseline="none", comment="off")
    assert ended.outputs["scenarios-total"] == "2", ended.log
    assert gate(fail_on="never").code == 2


def test_the_upload_steps_take_what_the_gate_names():
    uploads = [step for step in STEPS if "upload-artifact@" in step.get("uses", "")]
    named = {re.search(r"outputs\.([a-z-]+)", step["with"]["name"])[1] for step in uploads}
    assert named == UPLOADS
    for step in uploads:
        assert step["continue-on-error"] is True  # an upload never changes the verdict
        assert step["if"].startswith("always() && ")
        assert step["with"]["include-hidden-files"] is True


@pytest.fixture
def checkout(tmp_path):
    """A checkout of the action, with one dependency that lies in a folder."""
    folder = tmp_path / "action"
    shutil.copytree(COMPOSITE.parent, folder / "composite")
    shutil.copytree(ROOT / "evalgate" / "settings", folder / "evalgate", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "requirements").mkdir()
    with zipfile.ZipFile(tmp_path / "dependency-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("dependency.py", "")
        wheel.writestr("dependency-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: dependency\nVersion: 1\n")
        wheel.writestr("dependency-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("dependency-1.dist-info/RECORD", "")
    return folder


def install(checkout: Path, lock: str) -> Ended:
    (checkout / "requirements/image.txt").write_text(lock)
    known = {"steps.python.outputs.python-path": sys.executable, "github.action_path": str(checkout / "composite")}
    parent = checkout.parent
    (parent / "temp").mkdir()
    environ = {"PATH": os.environ["PATH"], "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(parent)}
    return run_step(
        "install", known, {**environ, "RUNNER_TEMP": str(parent / "temp"), "GITHUB_OUTPUT": str(parent / "outputs")}
    )


def test_locked_wheels_and_the_checkout_are_installed_in_a_new_environment(checkout):
    [wheel] = checkout.parent.glob("*.whl")
    ended = install(checkout, f"dependency==1 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
    assert ended.code == 0, ended.log
    where = "import dependency, evalgate; print(dependency.__file__, evalgate.__file__)"
    found = subprocess.run([ended.outputs["python"], "-I", "-c", where], capture_output=True, text=True, check=True)
    assert all(file.startswith(str(checkout.parent / "temp" / "evalgate-")) for file in found.stdout.split())


@pytest.mark.parametrize(
    ("lock", "reason"),
    [
        ("dependency==1\n", "Hashes are required in --require-hashes mode"),
        (f"dependency==1 --hash=sha256:{'0' * 64}\n", "DO NOT MATCH THE HASHES"),
    ],
    ids=["no hash", "another hash"],
)
def test_what_is_not_locked_by_its_hash_is_not_installed(checkout, lock, reason):
    ended = install(checkout, lock)
    assert (ended.code, ended.outputs) == (4, {})
    assert "::error title=EvalGate::EvalGate can't be installed" in ended.log
    assert reason in ended.log
    assert "Traceback" not in ended.log


def load_installer():
    spec = importlib.util.spec_from_file_location("composite_install", COMPOSITE.parent / "install.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_windows_is_refused_with_what_to_do(capsys):
    assert load_installer().main("win32") == 2
    assert "judge them in a job on Linux or macOS" in capsys.readouterr().out


def test_on_another_system_than_linux_one_notice_says_what_it_lacks(hub, act, workspace, monkeypatch):
    import_module("urllib.request")  # it asks for the platform, too, and would look for macOS's own modules
    monkeypatch.setattr(sys, "platform", "darwin")
    step = act(baseline="none", comment="off", is_sandboxed=True)
    [notice] = [each for each in step.annotations if "only Linux has them" in each["message"]]
    assert (step.exit_code, notice["type"]) == (0, "notice")
