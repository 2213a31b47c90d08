"""In a shell too, a secret of the environment in a trace reaches no output."""

from __future__ import annotations

import base64
import json
import urllib.parse
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING

import pytest
from fakes.agent import make_workspace, trace, write_trace

if TYPE_CHECKING:
    from pathlib import Path

PASSWORD = "n0-known/shape, of & none"
SPELLED = [
    PASSWORD,
    urllib.parse.quote(PASSWORD, safe=""),
    *(base64.b64encode(b"_" * before + PASSWORD.encode() + b"__").decode()[4:-4] for before in range(3)),
]


@pytest.fixture
def shell(verbs):
    verbs.environ["DB_PASSWORD"] = PASSWORD
    make_workspace(verbs.folder / "repository")
    verbs.folder = verbs.folder / "repository"
    content = " ".join(SPELLED[:2] + [base64.b64encode(f"{'_' * n}{PASSWORD}__".encode()).decode() for n in range(3)])
    document = trace(content=content)
    document["messages"][0]["content"] = f"my password is {content}"
    document["messages"][1]["tool_calls"][0]["arguments"] = {"id": content}
    write_trace(verbs.folder, document)
    return verbs


def seen(text):
    return [part for part in SPELLED if part in text or json.dumps(part)[1:-1] in text]


def contents(folder: Path):
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            yield path.name, content.decode("latin-1")
            if content[:2] == b"PK":
                with zipfile.ZipFile(BytesIO(content)) as archive:
                    yield from ((name, archive.read(name).decode()) for name in archive.namelist())


def test_a_run_its_files_its_store_and_what_is_exported(shell):
    ran = shell("run", "--sarif")
    assert "[redacted: secret]" in ran.out + (shell.folder / ".evalgate/comment.md").read_text()
    texts = [ran.out, ran.err]
    for words in (
        ["explain", "refund"],
        ["convert", "traces/refund.json", "--to", "native"],
        ["convert", "traces/refund.json", "--to", "otlp"],
        ["query", "@", "traces/refund.json"],
        ["history"],
        ["export", "csv"],
    ):
        done = shell(*words)
        texts += [done.out, done.err]
    assert sum("[redacted: secret]" in text for text in texts) >= 4
    assert [seen(text) for text in texts] == [[] for _ in texts]
    left = dict(contents(shell.folder / ".evalgate"))
    assert {"results.json", "comment.md", "traces.jsonl", "results.sarif"} <= left.keys()
    assert {name: seen(text) for name, text in left.items() if seen(text)} == {}


def test_without_the_variable_it_is_text_like_any_other(shell):
    del shell.environ["DB_PASSWORD"]
    assert PASSWORD in shell("query", "@", "traces/refund.json").out
