"""What an author sees in an editor whose language server finds the schema by the header, without a network."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

import pytest
import yaml
from documents import blocks
from language_server import LanguageServer

from evalgate.cli import main
from evalgate.cli.shell import Shell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUITE = "suite: s\nscenarios:\n  - id: a\n    assertions:\n      - {type: cost_limit, max_usd: 1, required: true}\n"
START = "scenarios:\n  - id: a\n    assertions:\n      - "


def run(folder: Path, *arguments: str) -> tuple[int, str, str]:
    shell = Shell(out=StringIO(), err=StringIO(), environ={}, cwd=str(folder))
    code = main(arguments, shell)
    return code, shell.out.getvalue(), shell.err.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which the schema and the headers are written as a user writes them."""
    root = tmp_path_factory.mktemp("project")
    (root / "evals" / "deep").mkdir(parents=True)
    (root / "evals/support.yaml").write_text(SUITE, encoding="utf-8")
    (root / "evals/deep/other.yaml").write_text(SUITE.replace("suite: s", "suite: other"), encoding="utf-8")
    (root / "evalgate.yaml").write_text('version: 1\nsuites: ["evals/**/*.yaml"]\n', encoding="utf-8")
    assert run(root, "schema", "--write", "evals/.schema")[0] == 0
    assert run(root, "validate", "--fix-header")[0] == 0
    return root


@pytest.fixture(scope="module")
def editor(folder: Path) -> Iterator[LanguageServer]:
    server = LanguageServer(folder)
    yield server
    server.close()


@pytest.fixture(scope="module")
def header(folder: Path) -> str:
    return (folder / "evals/support.yaml").read_text(encoding="utf-8").split("\n")[0] + "\n"


def test_keys_and_values_are_completed(editor: LanguageServer, header: str) -> None:
    assert {"scenarios", "policy", "threshold"} <= editor.complete("evals/a.yaml", header).keys()
    assert editor.complete("evals/b.yaml", f"{header}suite: s\npolicy:\n  fail_on:\n    - ").keys() >= {"broken"}
    types = editor.complete("evals/c.yaml", f"{header}{START}type: cost")
    assert {"cost_limit", "tool_sequence"} <= types.keys()
    fields = editor.complete("evals/d.yaml", f"{header}{START}type: cost_limit\n        ")
    assert {"max_usd", "weight", "required"} <= fields.keys()
    assert not {"sequence", "max_seconds"} & fields.keys()
    modes = editor.complete("evals/e.yaml", f"{header}{START}type: tool_sequence\n        mode: ")
    assert list(modes) == ["exact", "in_order", "any_order"]


def test_an_evaluator_is_completed_with_what_it_requires(editor: LanguageServer, header: str) -> None:
    whole = editor.complete("evals/f.yaml", f"{header}{START}")
    assert whole["cost_limit"].split() == ["type:", "cost_limit", "max_usd:", "${1:0.05}"]
    started = editor.complete("evals/g.yaml", header)["new EvalGate suite"]
    assert started.startswith("version: 1\nsuite: support\n")


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (f"thresold: 1\n{SUITE}", (2, 1), "Property thresold is not allowed."),
        (SUITE.replace("max_usd", "max_usdd"), (6, 28), "Property max_usdd is not allowed."),
        (SUITE.replace("required", "requird"), (6, 40), "Property requird is not allowed."),
        (SUITE.replace("id: a", "id: a\n    treshold: 1"), (5, 5), "Property treshold is not allowed."),
        (SUITE.replace("max_usd: 1", "max_usd: a lot"), (6, 37), 'Incorrect type. Expected "number".'),
        (f"{SUITE}policy: {{fail_on: [broke]}}\n", (7, 20), "Value is not accepted."),
    ],
)
def test_what_is_misspelt_is_marked(
    editor: LanguageServer, header: str, text: str, place: tuple[int, int], message: str
) -> None:
    marks = editor.open(f"evals/marked{abs(hash(text))}.yaml", f"{header}{text}")
    assert [mark for mark in marks if (mark.line, mark.column) == place and mark.message.startswith(message)], marks


def test_a_word_is_explained(editor: LanguageServer, header: str) -> None:
    editor.open("evals/h.yaml", f"{header}{SUITE}")
    assert "The maximum cost in US dollars." in editor.hover("evals/h.yaml", 6, 29)
    assert "The agent's own model calls cost at most" in editor.hover("evals/h.yaml", 6, 18)


def test_nothing_is_marked_in_the_suites_of_the_documents(editor: LanguageServer, header: str) -> None:
    read = [(block, yaml.safe_load(block.text)) for block in blocks("yaml")]
    shown = [block for block, value in read if isinstance(value, dict) and {"scenarios", "goldens"} & value.keys()]
    assert len(shown) > 10
    for number, block in enumerate(shown):
        assert editor.open(f"evals/shown{number}.yaml", f"{header}{block.text}") == [], block


@pytest.mark.parametrize(("name", "key"), [("evalgate.yaml", "suits"), ("evals/deep/other.yaml", "scenarois")])
def test_a_project_and_a_suite_in_a_deeper_folder_find_their_schema(
    editor: LanguageServer, folder: Path, name: str, key: str
) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    assert editor.open(name, text) == []
    assert [mark.message for mark in editor.open(f"{name}.2.yaml", f"{text}{key}: 1\n")] == [
        f"Property {key} is not allowed."
    ]


def test_the_schema_is_not_fetched(editor: LanguageServer, header: str) -> None:
    editor.open("evals/i.yaml", f"{header}{SUITE}")
    asked = editor.connections.read_text(encoding="utf-8") if editor.connections.exists() else ""
    assert [line for line in asked.splitlines() if "schemastore" not in line] == []
