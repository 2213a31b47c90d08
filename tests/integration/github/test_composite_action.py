"""The composite action: its steps, run by a shell with what the runner would set, against a fake GitHub."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from action_steps import Ended, load_script, read_steps, run_step
from composite_action import ACTION, COMPOSITE, compose
from documents import ROOT
from fakes.agent import on_main, own_comments, trace, write_trace

from evalgate.application.action.step_outputs import OUTPUTS

STEPS = read_steps(COMPOSITE)
RECORD = ROOT / "record/action.yml"
UPLOADS = {"baseline-artifact", "report-artifact"}


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
        return run_step(COMPOSITE, "gate", known, {**environ, "PATH": os.environ["PATH"]})

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


def lock_of(wheel: Path, text: str = "dependency==1 --hash=sha256:{}\n") -> str:
    return text.format(hashlib.sha256(wheel.read_bytes()).hexdigest())


class Job(NamedTuple):
    """A job that has the checkout of the action: what its steps know, and how each is run."""

    checkout: Path
    has_store: str = "false"
    mode: str = ""

    def step(self, name: str, *, cached: str = "", wheels_at: Path | None = None) -> Ended:
        parent = self.checkout.parent
        (parent / "temp").mkdir(exist_ok=True)
        action = self.checkout / "composite"
        known = {"steps.python.outputs.python-path": sys.executable, "github.action_path": str(action)}
        known |= {
            "inputs.mode": self.mode,
            "inputs.store-url != ''": self.has_store,
            "steps.cache.outputs.cache-hit": cached,
        }
        index = {"PIP_FIND_LINKS": str(wheels_at)} if wheels_at else {}
        environ = {"PATH": os.environ["PATH"], "PIP_NO_INDEX": "1", "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64", **index}
        files = {"RUNNER_TEMP": str(parent / "temp"), "GITHUB_OUTPUT": str(parent / "outputs")}
        return run_step(action / "action.yml", name, known, {**environ, **files})


def test_locked_wheels_are_downloaded_once_and_installed_from_the_cache(checkout):
    [wheel] = checkout.parent.glob("*.whl")
    (checkout / "requirements/gate.txt").write_text(lock_of(wheel))
    job = Job(checkout)
    first = job.step("install", wheels_at=checkout.parent)
    assert first.code == 0, first.log
    second = job.step("install", cached="true")  # no index knows the wheel now
    assert second.code == 0, second.log
    assert first.outputs != second.outputs  # an environment is never used again
    assert not [*Path(second.outputs["python"]).parents[1].rglob("dependency*.pyc")]
    where = "import dependency, evalgate, sys; print(dependency.__file__, evalgate.__file__, sys.prefix)"
    found = subprocess.run([second.outputs["python"], "-I", "-c", where], capture_output=True, text=True, check=True)
    assert all(file.startswith(str(checkout.parent / "temp" / "evalgate-")) for file in found.stdout.split())


def test_the_cache_is_one_of_wheels_of_this_lock_python_system_and_architecture(checkout):
    for name in ("gate", "image"):
        (checkout / f"requirements/{name}.txt").write_text(f"{name}==1\n")
    names = load_script(COMPOSITE.parent / "install.py").name_cache
    system = {"RUNNER_OS": "Linux", "RUNNER_ARCH": "X64", "RUNNER_TEMP": "/temp"}
    lock = checkout / "requirements/gate.txt"
    digest = hashlib.sha256(b"gate==1\n").hexdigest()[:32]
    assert names(lock, system) == {
        "key": f"evalgate-gate-{digest}-{platform.python_version()}-Linux-X64",
        "wheels": "/temp/evalgate-wheels-gate",
    }
    (checkout / "requirements/core.txt").write_text("core==1\n")
    (checkout / "requirements/image.txt").write_text("-r core.txt\nimage==1\n")
    included = names(checkout / "requirements/image.txt", system)
    (checkout / "requirements/core.txt").write_text("core==2\n")
    assert names(checkout / "requirements/image.txt", system)["key"] != included["key"]
    known = Job(checkout, has_store="true").step("key").outputs
    assert known["wheels"].endswith("/temp/evalgate-wheels-image")
    others = [names(lock, {**system, "RUNNER_ARCH": "ARM64"}), names(lock, {**system, "RUNNER_OS": "macOS"}), known]
    assert len({each["key"] for each in others}) == 3


def test_a_store_is_installed_for_a_job_that_names_one():
    choose = load_script(COMPOSITE.parent / "install.py").choose_lock
    assert choose("gate", {"HAS_STORE": "false"}).name == "gate.txt"
    assert choose("gate", {"EVALGATE_STORE_URL": ""}).name == "gate.txt"
    for environ in ({"HAS_STORE": "true"}, {"EVALGATE_STORE_URL": "postgresql://db"}):
        assert choose("gate", environ).name == "image.txt"
        assert choose("record", environ).name == "record.txt"


def test_prices_are_installed_for_a_recording_with_a_cap_in_dollars():
    choose = load_script(COMPOSITE.parent / "install.py").choose_lock
    assert choose("record", {"OPTIONS": "--trials=3\n--max-usd=2"}).name == "record-prices.txt"
    assert choose("record", {"OPTIONS": "--max-calls=9"}).name == "record.txt"
    assert choose("gate", {"OPTIONS": "--max-usd=2"}).name == "gate.txt"
    given = {each["id"]: each["env"] for each in read_steps(RECORD) if each.get("id") in ("key", "install")}
    assert [env["OPTIONS"] for env in given.values()] == ["${{ inputs.options }}"] * 2


@pytest.mark.parametrize("action", [COMPOSITE, RECORD], ids=["gate", "record"])
def test_only_wheels_are_cached_and_before_anything_else_can_change_them(action):
    steps = read_steps(action)
    restore, save = (each for each in steps if each.get("uses", "").startswith("actions/cache/"))
    assert restore["with"] == save["with"]
    assert restore["with"] == {"path": "${{ steps.key.outputs.wheels }}", "key": "${{ steps.key.outputs.key }}"}
    assert save["if"].startswith("steps.cache.outputs.cache-hit != 'true'")
    order = [each.get("id", "save" if each is save else "") for each in steps]
    assert order[:5] == ["python", "key", "cache", "install", "save"]
    assert restore["continue-on-error"] is save["continue-on-error"] is True  # a cache never stops a job


@pytest.mark.parametrize(
    ("lock", "reason", "says"),
    [
        ("dependency==1\n", "Hashes are required in --require-hashes mode", "the log shows why; pip takes a mirror of"),
        (f"dependency==1 --hash=sha256:{'0' * 64}\n", "DO NOT MATCH THE HASHES", "has another hash"),
    ],
    ids=["no hash", "another hash"],
)
def test_what_is_not_locked_by_its_hash_is_not_installed(checkout, lock, reason, says):
    (checkout / "requirements/gate.txt").write_text(lock)
    ended = Job(checkout).step("install", wheels_at=checkout.parent)
    assert (ended.code, ended.outputs) == (4, {})
    [error] = [line for line in ended.log.splitlines() if line.startswith("::error")]
    assert error.startswith("::error title=EvalGate::EvalGate can't be installed: ")
    assert says in error
    assert reason in ended.log
    assert "Traceback" not in ended.log


def test_a_wheel_that_was_changed_in_the_cache_is_not_installed(checkout):
    [wheel] = checkout.parent.glob("*.whl")
    (checkout / "requirements/gate.txt").write_text(lock_of(wheel))
    wheels = checkout.parent / "temp/evalgate-wheels-gate"
    wheels.mkdir(parents=True)
    shutil.copy(wheel, wheels)
    with zipfile.ZipFile(wheels / wheel.name, "a") as changed:
        changed.writestr("more.py", "")
    job = Job(checkout)
    key = job.step("key").outputs["key"]
    ended = job.step("install", cached="true")
    assert (ended.code, ended.outputs) == (4, {})
    assert (
        f"has another hash than the one that EvalGate names, so nothing was installed; delete the cache {key} "
        in ended.log
    )


def test_in_report_only_packages_that_can_not_be_installed_are_a_warning(checkout):
    (checkout / "requirements/gate.txt").write_text(f"dependency==1 --hash=sha256:{'0' * 64}\n")

    ended = Job(checkout, mode="report-only").step("install")  # no index

    assert (ended.code, ended.outputs) == (0, {})
    [warning] = [line for line in ended.log.splitlines() if line.startswith("::warning")]
    assert "PIP_INDEX_URL (docs/enterprise.md, Without access to the internet)" in warning
    assert warning.endswith("nothing was judged, which `mode: report-only` lets pass")
    later = {each.get("id", each.get("uses", "").partition("@")[0]): each.get("if", "") for each in STEPS}
    for step in ("gate", "actions/cache/save"):  # a part of the wheels is not kept, and nothing judges
        assert "steps.install.outputs.python != ''" in later[step]


def test_windows_is_refused_with_what_to_do(capsys):
    assert load_script(COMPOSITE.parent / "install.py").main(["gate"], {}, "win32") == 2
    assert "judge them in a job on Linux or macOS" in capsys.readouterr().out


def test_on_another_system_than_linux_one_notice_says_what_it_lacks(hub, act, workspace, monkeypatch):
    import_module("urllib.request")  # it asks for the platform, too, and would look for macOS's own modules
    monkeypatch.setattr(sys, "platform", "darwin")
    step = act(baseline="none", comment="off", is_sandboxed=True)
    [notice] = [each for each in step.annotations if "only Linux has them" in each["message"]]
    assert (step.exit_code, notice["type"]) == (0, "notice")
