"""What `redact` in evalgate.yaml names reaches no output, no file and no store."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING

import pytest
from fakes.agent import SUITE, make_workspace, trace, write_trace
from store_verbs import Verbs

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = """\
version: 1
suites: ["evals/*.yaml"]
redact:
  patterns: [{name: customer, regex: 'C-\\d{6}'}]
  fields: [owner, iban]
"""
HIDDEN = ["C-123456", "Ann Lee", "4711007", "DE02 1203"]


@pytest.fixture
def shell(tmp_path):
    """A checkout whose trace fails and shows what is to be hidden in every way."""
    verbs = Verbs(make_workspace(tmp_path / "repository"), "none")
    document = trace(content="C-123456 owner: Ann Lee, iban=4711007 no")
    document["messages"][0]["content"] = "I am C-123456\nIBAN: DE02 1203"
    call = document["messages"][1]["tool_calls"][0]
    call["arguments"] = {"id": "C-123456", "Owner": {"names": ["Ann Lee", 4711007]}}
    document["messages"][2]["content"] = json.dumps({"owner": "Ann Lee", "iban": {"number": 4711007}})
    write_trace(verbs.folder, document)
    (verbs.folder / "evalgate.yaml").write_text(PROJECT)
    return verbs


def seen(text):
    return [part for part in HIDDEN if part in text]


def contents(folder: Path):
    """Every file, and every member of every zip."""
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            yield path.name, content.decode("latin-1")
            if content[:2] == b"PK":
                with zipfile.ZipFile(BytesIO(content)) as archive:
                    yield from ((name, archive.read(name).decode()) for name in archive.namelist())


def left(shell):
    return {name: seen(text) for name, text in contents(shell.folder / ".evalgate") if seen(text)}


def test_nothing_of_it_leaves(shell):
    shell.environ["EVALGATE_STORE_URL"] = ".evalgate/evalgate.db"
    ran = shell("run", "--sarif")
    texts = [ran.out, ran.err]
    for words in (
        ["explain", "refund"],
        ["convert", "traces/refund.json", "--to", "native"],
        ["convert", "traces/refund.json", "--to", "otlp"],
        ["query", "@", "traces/refund.json"],
        ["history"],
        ["export", "jsonl"],
        ["goldens", "add", "--from-trace", "traces/refund.json"],
        ["goldens", "show", "refund"],
    ):
        done = shell(*words)
        texts += [done.out, done.err]
    assert [seen(text) for text in texts] == [[] for _ in texts]
    assert sum("[redacted: customer]" in text for text in texts) >= 5
    kept = dict(contents(shell.folder / ".evalgate"))
    assert {"results.json", "comment.md", "junit.xml", "traces.jsonl", "results.sarif"} <= kept.keys()
    assert "[redacted: field]" in kept["traces.jsonl"]
    assert left(shell) == {}


@pytest.mark.parametrize(
    "words",
    [["--jobs", "2"], pytest.param(["--engine", "dask", "--jobs", "1"], marks=pytest.mark.matrix)],
    ids=["processes", "dask"],
)
def test_workers_leave_nothing_of_it_either(shell, words):
    pytest.importorskip("distributed")
    shell("run", *words)
    assert "[redacted: customer]" in dict(contents(shell.folder / ".evalgate"))["traces.jsonl"]
    assert left(shell) == {}


def test_a_suite_that_is_named_alone__leaves_nothing_of_it(shell):
    shell("run", "evals/support.yaml")
    assert left(shell) == {}


def test_without_it_everything_is_shown(shell):
    (shell.folder / "evalgate.yaml").write_text(PROJECT.split("redact:", maxsplit=1)[0])
    assert seen(shell("query", "@", "traces/refund.json").out) == HIDDEN
    assert seen(shell("convert", "traces/refund.json").out) == HIDDEN


def test_convert_keeps_everything_with_no_redact(shell):
    assert seen(shell("convert", "traces/refund.json", "--no-redact").out) == HIDDEN


def test_what_the_baselines_project_hid_is_hidden_from_a_run_without_it(shell):
    shell("run")
    (shell.folder / ".evalgate/baseline.zip").rename(shell.folder / "main.zip")
    (shell.folder / "evalgate.yaml").write_text(PROJECT.split("redact:", maxsplit=1)[0])
    ran = shell("run", "--baseline", "main.zip")
    assert [seen(ran.out), seen(ran.err), left(shell)] == [[], [], {}]


def test_a_verdict_does_not_see_it(shell):
    suite = SUITE.replace("value: refunded", "value: 'C-123456 owner: Ann Lee'")
    (shell.folder / "evals/support.yaml").write_text(suite)
    ran = shell("run", "--json")
    assert ran.json["summary"]["passed"] == 1
    assert seen(ran.out) == []


def test_scenarios_that_would_look_the_same_are_refused(shell):
    document = json.dumps(trace())
    for number in (123456, 654321):
        path = shell.folder / f"traces/{number}.json"
        path.write_text(document.replace('"refund"', f'"of C-{number}"', 1))
    (shell.folder / "evals/support.yaml").write_text(SUITE.replace("id: refund", "id: 'of *'"))
    done = shell("run", code=2)
    assert "2 scenarios have the id `of [redacted: customer]` after redaction" in done.err
    assert [seen(done.out), seen(done.err), left(shell)] == [[], [], {}]


@pytest.mark.parametrize("verb", [["run"], ["validate"], ["query", "@", "traces/refund.json"], ["history"]])
def test_an_error_in_it_ends_every_verb_that_could_reveal_it(shell, verb):
    (shell.folder / "evalgate.yaml").write_text(PROJECT.replace(r"C-\d{6}", "("))
    done = shell(*verb, code=2)
    assert "evalgate.yaml:4:" in done.err
    assert "this is not a regular expression" in done.err
    assert seen(done.out) == []
