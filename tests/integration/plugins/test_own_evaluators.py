"""Own evaluators as people bring them: a module named by --plugin, or an installed package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples/plugin"
TRACES = str(ROOT / "examples/support-agent/traces/main/refund-in-window.jsonl")


def evalgate(folder, *arguments, site=None):
    path = os.pathsep.join(filter(None, [str(site or ""), str(ROOT)]))
    return subprocess.run(
        [sys.executable, "-P", "-m", "evalgate", *arguments],
        cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A folder with the example's files."""
    for name in ("evalgate_mentions.py", "suite.yaml"):
        shutil.copy(EXAMPLE / name, tmp_path)
    return tmp_path


@pytest.fixture
def site(tmp_path_factory):
    """The example as pip lays it down: the module, and what its pyproject.toml declares."""
    target = tmp_path_factory.mktemp("site")
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = target / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = project["entry-points"].items()
    lines = [
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in offered.items()) for group, offered in groups
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    shutil.copy(EXAMPLE / "evalgate_mentions.py", target)
    return target


def test_module_in_the_folder__is_taken_by_its_flag(folder):
    done = evalgate(
        folder, "run", "suite.yaml", "--traces", TRACES, "--plugin", "evalgate_mentions", "--json"
    )
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)["suites"][0]["scenarios"][0]["trials"][0]["assertions"][0]
    assert (row["type"], row["outcome"]) == ("mentions_result", "passed")
    assert row["reason"] == "the answer mentions R-A1001"


def test_module_in_the_folder__is_not_taken_without_its_flag(folder):
    done = evalgate(folder, "validate", "suite.yaml")
    assert done.returncode == 2
    assert 'unknown evaluator "mentions_result"' in done.stderr


def test_installed_package__needs_no_flag(folder, site):
    (folder / "evalgate_mentions.py").unlink()
    assert evalgate(folder, "validate", "suite.yaml", site=site).stdout.startswith("ok: 1 suite")


def test_installed_package__is_suggested_for_a_misspelt_type(folder, site):
    suite = folder / "suite.yaml"
    suite.write_text(suite.read_text().replace("mentions_result", "mention_result"))
    assert "did you mean `mentions_result`?" in evalgate(folder, "validate", "suite.yaml", site=site).stderr


def test_installed_package_that_is_broken__is_a_mistake_with_its_name(folder, site):
    (folder / "evalgate_mentions.py").unlink()
    (site / "evalgate_mentions.py").write_text("1 / 0")
    done = evalgate(folder, "validate", "suite.yaml", site=site)
    assert done.returncode == 2
    assert done.stderr == (
        "error: installed evaluator mentions_result (evalgate_mentions:MentionsResult) can't be imported "
        "(ZeroDivisionError)\n"
    )


def test_settings_of_an_own_evaluator__are_checked_like_others(folder):
    suite = folder / "suite.yaml"
    suite.write_text(suite.read_text().replace("field: refund_id", "feild: x"))
    done = evalgate(folder, "validate", "suite.yaml", "--plugin", "evalgate_mentions")
    assert done.returncode == 2
    assert "suite.yaml:8:" in done.stderr
    assert 'unknown key "feild" (did you mean `field`?)' in done.stderr


def test_flag_that_names_no_module__is_a_mistake(folder):
    done = evalgate(folder, "run", "suite.yaml", "--plugin", "mine")
    assert (done.returncode, done.stderr) == (2, "error: --plugin mine: there is no module mine\n")


def test_job__takes_no_own_evaluator_even_if_one_is_installed(folder, site):
    load = (
        "from evalgate.bootstrap import action_tools\n"
        "tools = action_tools('.', '.', 'out', source_date_epoch=None, named_baseline=False)\n"
        "tools.suites.load(['suite.yaml'])"
    )
    path = os.pathsep.join([str(site), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-P", "-c", load],
        cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert 'unknown evaluator "mentions_result"' in done.stderr


def test_page_on_evaluators__shows_the_example_as_it_is():
    source = (EXAMPLE / "evalgate_mentions.py").read_text(encoding="utf-8")
    assert f"```python\n{source}```" in (ROOT / "docs/evaluators.md").read_text(encoding="utf-8")
