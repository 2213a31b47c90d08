"""Own evaluators as people bring them: a module named by --plugin, or an installed package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema_rs
import pytest
import yaml

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
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in offered.items()) for group, offered in groups]
    (info / "entry_points.txt").write_text("\n".join(lines))
    shutil.copy(EXAMPLE / "evalgate_mentions.py", target)
    return target


def test_module_in_the_folder__is_loaded_with_its_flag(folder):
    done = evalgate(folder, "run", "suite.yaml", "--traces", TRACES, "--plugin", "evalgate_mentions", "--json")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)["suites"][0]["scenarios"][0]["trials"][0]["assertions"][0]
    assert (row["type"], row["outcome"]) == ("mentions_result", "passed")
    assert row["reason"] == "the answer mentions R-A1001"


def test_module_in_the_folder__is_not_loaded_without_its_flag(folder):
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


def test_broken_installed_package__is_an_error_with_its_name(folder, site):
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


def test_flag_that_names_no_module__is_an_error(folder):
    done = evalgate(folder, "run", "suite.yaml", "--plugin", "mine")
    assert (done.returncode, done.stderr) == (2, "error: --plugin mine: the module mine was not found\n")


def schema_of_suites(folder, *flags, site=None):
    done = evalgate(folder, "schema", "suite", *flags, site=site)
    assert done.returncode == 0, done.stderr
    return jsonschema_rs.Draft202012Validator(json.loads(done.stdout))


def test_schema_of_suites__knows_own_evaluators_where_requested(folder, site):
    suite = yaml.safe_load((folder / "suite.yaml").read_text())
    assert not schema_of_suites(folder, site=site).is_valid(suite)
    by_flag = schema_of_suites(folder, "--plugin", "evalgate_mentions")
    for schema in (by_flag, schema_of_suites(folder, "--installed", site=site)):
        assert schema.is_valid(suite)
    suite["scenarios"][0]["assertions"][0]["feild"] = "x"
    assert not by_flag.is_valid(suite)


NESTED = """
from pydantic import BaseModel
from typing import Any, Callable, Literal
from evalgate.evaluators.base import Evaluator
class Source(BaseModel):
    mine: int
class Own(Evaluator):
    type: Literal["own"]
    source: Source
    def label(self): return "own"
    def compile(self): return None
"""


def test_schema_of_suites__keeps_definitions_of_the_same_name_apart(folder):
    (folder / "mine.py").write_text(NESTED)
    schema = schema_of_suites(folder, "--plugin", "mine")
    built_in = {"type": "exit_code", "source": {"tool": "a"}}
    for assertion, right in (
        ({"type": "own", "source": {"mine": 1}}, True),
        ({"type": "own", "source": {"tool": "a"}}, False),
        ({"type": "own", "params": {"source": {"mine": 1}}}, True),
        (built_in, True),
        ({**built_in, "source": {"mine": 1}}, False),
    ):
        suite = {"version": 1, "suite": "s", "scenarios": [{"id": "a", "assertions": [assertion]}]}
        assert schema.is_valid(suite) == right, assertion


def test_schema_of_suites__describes_settings_of_an_own_evaluator_in_the_words_of_its_author(folder):
    (folder / "mine.py").write_text(NESTED.replace("mine: int", "path: int"))
    made = json.loads(evalgate(folder, "schema", "suite", "--plugin", "mine").stdout)
    [own] = [form for form in made["$defs"]["assertion"]["anyOf"] if form.get("title") == "own"]
    assert own["properties"]["source"] == {"$ref": "#/$defs/own0.Source"}
    assert own["properties"]["weight"] == {"$ref": "#/$defs/common.weight"}
    assert made["$defs"]["own0.Source"]["properties"]["path"] == {"title": "Path", "type": "integer"}


def test_schema_of_suites__of_an_evaluator_without_one_is_an_error(folder):
    (folder / "mine.py").write_text(NESTED.replace("mine: int", "mine: Callable[[], Any]"))
    done = evalgate(folder, "schema", "suite", "--plugin", "mine")
    assert done.returncode == 2
    assert done.stderr.startswith("error: no JSON Schema can be made of own (")


@pytest.mark.parametrize(
    "written",
    ["CHECK", "{all_of: [CHECK], required: true}", "{when: {type: not_empty}, then: [{any_of: [CHECK]}]}"],
    ids=["alone", "in a group", "in a group with a condition"],
)
def test_version_of_an_own_evaluator__is_in_the_baseline_and_a_change_is_reported(folder, written):
    alone = "{type: mentions_result, tool: issue_refund, field: refund_id, required: true}"
    check = written.replace("CHECK", alone if written == "CHECK" else alone.replace(", required: true", ""))
    suite = folder / "suite.yaml"
    suite.write_text(suite.read_text().replace(alone, check))
    run = ["run", "suite.yaml", "--traces", TRACES, "--plugin", "evalgate_mentions"]
    evalgate(folder, *run)
    shutil.copy(folder / ".evalgate/baseline.zip", folder / "main.zip")
    shown = json.loads(evalgate(folder, "baseline", "show", "main.zip", "--json").stdout)
    assert shown["manifest"]["evaluators"]["mentions_result"] == 1
    message = "warning: the baseline was made with other versions of mentions_result, which may cause changes"
    assert message not in evalgate(folder, *run, "--baseline", "main.zip").stdout
    module = folder / "evalgate_mentions.py"
    source = module.read_text()
    module.write_text(source.replace("    tool: Annotated", "    version = 2\n    tool: Annotated"))
    done = evalgate(folder, *run, "--baseline", "main.zip")
    assert done.returncode == 0
    assert message in done.stdout


def test_baseline__names_no_own_evaluator_that_no_suite_uses(folder):
    suite = folder / "suite.yaml"
    suite.write_text(
        suite.read_text().replace("type: mentions_result, tool: issue_refund, field: refund_id", "type: not_empty")
    )
    evalgate(folder, "run", "suite.yaml", "--traces", TRACES, "--plugin", "evalgate_mentions")
    shown = json.loads(evalgate(folder, "baseline", "show", ".evalgate/baseline.zip", "--json").stdout)
    assert "not_empty" in shown["manifest"]["evaluators"]
    assert "mentions_result" not in shown["manifest"]["evaluators"]


def test_job__loads_no_own_evaluator_even_if_one_is_installed(folder, site):
    load = (
        "from evalgate.bootstrap.judge_context import JudgeContext\n"
        "tools = JudgeContext('.', '.', 'out').build_tools(named_baseline=False)\n"
        "tools.suites.load(['suite.yaml'])"
    )
    path = os.pathsep.join([str(site), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-P", "-c", load],
        cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert 'unknown evaluator "mentions_result"' in done.stderr


def test_page_on_evaluators__shows_the_example_unchanged():
    source = (EXAMPLE / "evalgate_mentions.py").read_text(encoding="utf-8")
    assert f"```python\n{source}```" in (ROOT / "docs/evaluators.md").read_text(encoding="utf-8")


ONCE = '''
from typing import Literal
from evalgate.evaluators.base import Evaluator, Finding

class Once(Evaluator):
    """The tool is called at most once."""
    type: Literal["once"]
    tool: str
    words = "{tool} at most once"

    def compile(self):
        return lambda trace: Finding("failed" if list(trace.called).count(self.tool) > 1 else "passed", "")
'''


@pytest.mark.parametrize("is_installed", [False, True])
def test_a_misspelt_tool_of_an_evaluator_that_states_no_role__is_a_warning(tmp_path, is_installed):
    (tmp_path / "once.py").write_text(ONCE)
    checks = [{"type": "once", "tool": "issue_refnud"}]
    suite = {"version": 1, "suite": "s", "scenarios": [{"id": "refund-in-window", "assertions": checks}]}
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    if is_installed:
        info = tmp_path / "once-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: once\nVersion: 1\n")
        (info / "entry_points.txt").write_text("[evalgate.evaluators]\nonce = once:Once\n")
    plugin = [] if is_installed else ["--plugin", "once"]
    done = evalgate(tmp_path, "run", "suite.yaml", "--traces", TRACES, *plugin, "--json", site=tmp_path)
    assert done.returncode == 0, done.stderr
    (found,) = [each for each in json.loads(done.stdout)["warnings"] if each["code"] == "unknown_tool"]
    assert "the tool `issue_refnud`" in found["message"]
    assert "did you mean `issue_refund`" in found["message"]
