from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
import yaml
from documents import ROOT
from in_process_command import evalgate

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = ROOT / "examples" / "support-agent"
SUITE = EXAMPLE / "evals" / "support.yaml"


def bundled(kind: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((ROOT / "schemas" / f"{kind}.json").read_bytes())
    return schema


def assert_fits(document: Any, kind: str) -> None:
    jsonschema_rs.Draft202012Validator(bundled(kind)).validate(document)


@pytest.mark.parametrize("kind", ["suite", "project", "trace", "results"])
def test_bundled_schema_is_the_one_the_command_prints(kind: str) -> None:
    assert bundled(kind) == json.loads(evalgate("schema", kind).out), "make schema"


def test_schemas_fit_the_documents_of_a_run(tmp_path: Path) -> None:
    evalgate("run", str(SUITE), "--output-dir", str(tmp_path))
    again = ["--baseline", str(tmp_path / "baseline.zip"), "--output-dir", str(tmp_path / "again")]
    evalgate("run", str(SUITE), *again)
    for folder in (tmp_path, tmp_path / "again"):
        assert_fits(json.loads((folder / "results.json").read_bytes()), "results")
    assert_fits(yaml.safe_load(SUITE.read_text(encoding="utf-8")), "suite")
    for file in (EXAMPLE / "traces").rglob("*.jsonl"):
        for line in file.read_text(encoding="utf-8").splitlines():
            assert_fits(json.loads(line), "trace")


@pytest.mark.parametrize(
    "assertion",
    [
        {"type": "tool_called", "params": {"tool": "x"}, "required": True},
        {"path": "metadata.turn_count", "le": 3},
        {"not": {"type": "tool_called", "tool": "x"}, "weight": 2},
        {"when": {"contains": "x"}, "then": [{"contains": "y"}]},
    ],
)
def test_suite_schema_knows_every_form_of_an_assertion(assertion: dict[str, Any], tmp_path: Path) -> None:
    suite = {"version": 1, "suite": "s", "scenarios": [{"id": "a", "assertions": [assertion]}]}
    (tmp_path / "suite.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")
    assert evalgate("validate", str(tmp_path / "suite.yaml")).exit_code == 0
    assert_fits(suite, "suite")


@pytest.mark.parametrize("case", ["scheduling_suite_as_it_is", "variants_side_by_side"])
def test_schemas_fit_suites_and_results_with_and_without_variants(case: str) -> None:
    folder = ROOT / "tests" / "acceptance" / "cases" / case
    for suite in (path for path in folder.glob("*.yaml") if path.name != "evalgate.yaml"):
        assert_fits(yaml.safe_load(suite.read_text(encoding="utf-8")), "suite")
    assert_fits(json.loads((folder / "expected" / "results.json").read_bytes()), "results")


@pytest.mark.parametrize(
    ("kind", "document"),
    [
        ("suite", {"version": 1, "suite": "s", "scenarios": [], "thresold": 1}),
        ("suite", {"variants": {"": {}}, "scenarios": [{"id": "a", "expected_tool": None}]}),
        ("suite", {"variants": {"a": {"tol": "x"}}, "scenarios": [{"id": "a", "expected_tool": None}]}),
        ("project", {"version": 1, "suites": []}),
        ("trace", {"schema": "evalgate.trace/1"}),
        ("results", {"schema": "evalgate.results/1"}),
    ],
)
def test_schemas_refuse_what_lacks_something(kind: str, document: dict[str, Any]) -> None:
    assert not jsonschema_rs.Draft202012Validator(bundled(kind)).is_valid(document)
