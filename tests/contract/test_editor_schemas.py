"""The schemas that editors read: described, equal to those that EvalGate prints, and found by a file's name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
import yaml
from documents import ROOT, blocks
from in_process_command import evalgate

from evalgate.adapters.suites.yaml_tree import load
from evalgate.application.judge.property_texts import TEXTS
from evalgate.application.judge.schemas import schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KINDS = ("suite", "project")
DOCUMENTS = [(block.document, load(block.text, block.document).value) for block in blocks("yaml")]
SCHEMAS = {kind: schema(kind) for kind in KINDS}
OURS = {kind: jsonschema_rs.Draft202012Validator(made) for kind, made in SCHEMAS.items()}
WRONG = [None, "x", 1.5, [], {}, {"tol": 1}, True]


def read_twin(kind: str) -> Any:
    return json.loads((ROOT / "schemas" / "editor" / f"{kind}.json").read_bytes())


def test_the_bundled_schemas_of_editors_are_those_that_are_written(tmp_path: Path) -> None:
    done = evalgate("schema", "--write", str(tmp_path / "new" / ".schema"))
    assert (done.exit_code, done.err) == (0, "")
    for kind in KINDS:
        written = (tmp_path / "new" / ".schema" / f"{kind}.json").read_bytes()
        assert written == (ROOT / "schemas" / "editor" / f"{kind}.json").read_bytes(), "make schema"


def test_only_documents_that_people_write_have_a_schema_for_editors(tmp_path: Path) -> None:
    done = evalgate("schema", "results", "--write", str(tmp_path))
    assert (done.exit_code, done.err) == (2, "error: --write has no schema of results (only of suite and project)\n")
    assert evalgate("schema", "--write", "").err == "error: --write needs the name of a folder\n"
    assert evalgate("schema", "project", "--write", str(tmp_path)).exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["project.json"]


def test_a_schema_is_named_by_its_id() -> None:
    assert schema("suite")["$id"] == "urn:evalgate:schema:suite:1"
    twin = read_twin("suite")
    assert (twin["$schema"], twin["$id"]) == (
        "http://json-schema.org/draft-07/schema#",
        "urn:evalgate:schema:suite:1:draft-07",
    )


def changes_of(value: Any) -> Iterator[Any]:
    """The value with one part misspelt, left out or replaced, at every place."""
    if isinstance(value, dict):
        for name, part in value.items():
            others = {key: each for key, each in value.items() if key != name}
            yield others
            yield {**others, f"{name}x": part}
            yield from ({**others, name: wrong} for wrong in WRONG)
            yield from ({**others, name: changed} for changed in changes_of(part))
    elif isinstance(value, list):
        yield [*value, {}]
        for number, part in enumerate(value):
            yield from ([*value[:number], changed, *value[number + 1 :]] for changed in changes_of(part))


@pytest.mark.parametrize("kind", KINDS)
def test_both_drafts_accept_the_same_documents(kind: str) -> None:
    twin, answers = jsonschema_rs.Draft7Validator(read_twin(kind)), set()
    for document, value in DOCUMENTS:
        for each in (value, *changes_of(value)):
            answer = OURS[kind].is_valid(each)
            assert twin.is_valid(each) == answer, (document, each)
            answers.add(answer)
    assert answers == {True, False}


def test_the_suites_of_the_documents_fit() -> None:
    for document, value in DOCUMENTS:
        if isinstance(value, dict) and value.keys() & {"scenarios", "suites"}:
            assert OURS["project" if "suites" in value else "suite"].is_valid(value), document


@pytest.mark.parametrize(
    "change",
    [
        {"traces": "../traces/*.json"},
        {"scenarios": [{"id": 42, "tags": [7], "expected_tool": None}]},
        {"policy": {"freshness": {"watch": "agent/**"}}},
        {
            "scenarios": [
                {
                    "id": "a",
                    "assertions": [{"type": "jmespath", "expression": "scores.x", "operator": "le", "value": 1}],
                }
            ]
        },
        {"scenarios": [{"id": "a", "assertions": [{"type": "output_numeric", "operator": "ge", "target": 1}]}]},
    ],
)
def test_what_the_parser_accepts_fits(change: dict[str, Any], tmp_path: Path) -> None:
    check = {"type": "tool_called", "tool": "t", "required": True}
    suite = {"suite": "s", "scenarios": [{"id": "a", "assertions": [check]}], **change}
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")
    assert evalgate("validate", str(tmp_path / "s.yaml")).exit_code == 0
    assert OURS["suite"].is_valid(suite)


def properties_of(part: Any) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Every property of a schema with its name, and whether it is required."""
    if isinstance(part, dict):
        named = part.get("properties")
        if isinstance(named, dict):
            for name, each in named.items():
                yield name, each, name in part.get("required", ())
        for name, each in part.items():
            if name not in ("examples", "default"):
                yield from properties_of(each)
    elif isinstance(part, list):
        for each in part:
            yield from properties_of(each)


@pytest.mark.parametrize("kind", KINDS)
def test_every_property_has_a_description_an_example_and_a_default(kind: str) -> None:
    made = SCHEMAS[kind]
    for name, found, is_required in properties_of(made):
        shared = found.get("$ref", "").removeprefix("#/$defs/")
        described = made["$defs"][shared] if shared.startswith("common.") else found
        assert described["description"].endswith("."), name
        assert described["examples"], name
        assert is_required or "const" in described or "default" in described, name


@pytest.mark.parametrize("kind", KINDS)
def test_every_example_is_one(kind: str) -> None:
    parts, examples = {}, {}
    for number, (name, found, _) in enumerate(properties_of(SCHEMAS[kind])):
        if "examples" in found:
            parts[f"{number} {name}"], [examples[f"{number} {name}"]] = found, found["examples"]
    together = {"$defs": SCHEMAS[kind]["$defs"], "properties": parts}
    problems = jsonschema_rs.Draft202012Validator(together).iter_errors(examples)
    assert [(each.instance_path[0], each.message) for each in problems] == []


def test_every_text_belongs_to_a_property() -> None:
    found = [each for kind in KINDS for _, each, _ in properties_of(SCHEMAS[kind])]
    shared = [each for name, each in SCHEMAS["suite"]["$defs"].items() if name.startswith("common.")]
    described = {each["description"] for each in [*found, *shared] if "description" in each}
    assert {name for name, (text, _) in TEXTS.items() if text not in described} == set()


def test_the_entry_for_the_schema_store_names_only_files_of_evalgate() -> None:
    entries = json.loads((ROOT / "schemas" / "schemastore.json").read_bytes())
    assert {name: each["fileMatch"] for each in entries for name in [each["url"].rpartition("/")[2]]} == {
        "suite.json": ["*.evalgate.yaml"],
        "project.json": ["evalgate.yaml"],
    }
    for each in entries:
        assert each.keys() == {"name", "description", "fileMatch", "url"}
        assert (ROOT / each["url"].partition("/main/")[2]).is_file()
