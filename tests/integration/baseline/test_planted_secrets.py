"""Secrets in every form of JSON are in no file that a run writes, however it is decoded."""

from __future__ import annotations

import io
import json
import unicodedata
import zipfile
from xml.etree import ElementTree as ET

import pytest
from command import evalgate
from secret_samples import CONTEXTS, TOKENS

SUITE = """
version: 1
suite: planted
traces: traces.jsonl
scenarios:
  - id: "*"
    assertions:
      - {type: equals, value: nothing like it}
      - {type: tool_sequence, sequence: [{tool: look, args: {note: nothing like it}}]}
      - {path: "metadata.custom.note", eq: nothing like it}
"""
SECRETS = {**{token: token for token in TOKENS.values()}, **CONTEXTS}
"""Each text with the secret in it."""


def escaped(text):
    """Every UTF-16 unit as \\uXXXX, in pairs beyond the first 65,536 characters."""
    raw = text.encode("utf-16-be")
    return "".join(f"\\u{raw[at]:02x}{raw[at + 1]:02x}" for at in range(0, len(raw), 2))


def plain(text):
    return json.dumps(text)[1:-1]


def mixed(text):
    return "".join(escaped(each) if at % 2 else plain(each) for at, each in enumerate(text))


FORMS = {
    "plain": plain,
    "escaped": escaped,
    "mixed": mixed,
    "slashes": lambda text: plain(text).replace("/", "\\/"),
    "between escapes": lambda text: f"\\n{plain(text)}\\ud83d\\ude00",
    "split": lambda text: plain("\u200b".join(text)),
    "split, escaped": lambda text: "\\u200B".join(map(escaped, text)),
    "split by pairs": lambda text: "\\udb40\\udc20".join(map(plain, text)),
    "in JSON": lambda text: plain(f'{{"note": "{plain(text)}"}}'),
    "in JSON, escaped outside": lambda text: escaped(f'{{"note": "{plain(text)}"}}'),
}
"""How a text is written between the quotes of a JSON document."""


def native(text, number):
    """A native trace; `text` is written as it is wherever texts may be."""
    call = f'{{"id": "c", "name": "look", "arguments": {{"note": "{text}", "{text}": 1, "more": [["{text}"]]}}}}'
    messages = (
        f'{{"role": "user", "content": "{text}"}}',
        f'{{"role": "assistant", "content": null, "tool_calls": [{call}]}}',
        f'{{"role": "tool", "tool_call_id": "c", "content": "{text}"}}',
        f'{{"role": "assistant", "content": "{text}"}}',
    )
    return (
        f'{{"schema": "evalgate.trace/1", "trace_id": "t{number}", "scenario_id": "s{number}", "messages": '
        f'[{", ".join(messages)}], "metadata": {{"note": "{text}", "{text}": {{"a": "{text}"}}}}}}'
    )


def chat(text, number):
    """A chat record, whose arguments are a string of JSON; the file's other keys are kept as metadata."""
    arguments = f'{{"note": "{text}", "{text}": 1}}'
    function = f'{{"name": "look", "arguments": "{plain(arguments)}"}}'
    call = f'{{"id": "c", "type": "function", "function": {function}}}'
    messages = (
        f'{{"role": "user", "content": "{text}"}}',
        f'{{"role": "assistant", "content": null, "tool_calls": [{call}]}}',
        f'{{"role": "tool", "tool_call_id": "c", "content": "{text}"}}',
        f'{{"role": "assistant", "content": [{{"type": "text", "text": "{text}"}}]}}',
    )
    return (
        f'{{"messages": [{", ".join(messages)}], "tools": [], '
        f'"metadata": {{"scenario_id": "s{number}", "note": "{text}", "{text}": "{text}"}}}}'
    )


def written_files(folder):
    """All files of a run by name, with the members of the zip."""
    files = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with zipfile.ZipFile(io.BytesIO(files.pop("baseline.zip"))) as archive:
        return files | {f"zip/{name}": archive.read(name) for name in archive.namelist()}


def texts_in(value, depth=0):
    """Every text within a JSON value, and within the JSON that texts hold."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for each in value:
            yield from texts_in(each, depth)
    elif isinstance(value, str):
        yield value
        if depth < 4 and value.lstrip()[:1] in ("{", "["):
            try:
                inner = json.loads(value)
            except ValueError:
                return
            yield from texts_in(inner, depth + 1)


def decoded(name, content):
    """What the readers of a file find in it, without characters that no one sees."""
    text = content.decode()
    found = [text]
    if name.endswith((".json", ".sarif")):
        found += texts_in(json.loads(text))
    elif name.endswith(".jsonl"):
        found += [each for line in text.splitlines() for each in texts_in(json.loads(line))]
    elif name.endswith(".xml"):
        nodes = ET.fromstring(text).iter()  # noqa: S314  (our own file)
        found += [each for node in nodes for each in (node.text or "", *node.attrib.values())]
    return "\n".join(
        "".join(each for each in one if unicodedata.category(each) != "Cf") if not one.isascii() else one
        for one in found
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("record", [native, chat])
def test_no_written_file_holds_a_secret(tmp_path, record, form):
    write = FORMS[form]
    (tmp_path / "suite.yaml").write_text(SUITE)
    lines = [record(write(text), number) for number, text in enumerate(SECRETS)]
    assert [json.loads(line) for line in lines]
    (tmp_path / "traces.jsonl").write_text("\n".join(lines) + "\n")
    done = evalgate(tmp_path, ["suite.yaml", "--sarif", "--html", "report.html"])
    assert len(done.results["suites"][0]["scenarios"]) == len(SECRETS), done.stderr
    files = written_files(done.folder) | {
        "stdout": done.stdout.encode(),
        "stderr": done.stderr.encode(),
        "report.html": (tmp_path / "report.html").read_bytes(),
    }
    assert {
        "results.json",
        "junit.xml",
        "comment.md",
        "results.sarif",
        "zip/results.json",
        "zip/traces.jsonl",
    } <= files.keys()
    assert files["zip/traces.jsonl"].count(b"[redacted: ") > len(SECRETS)
    seen = {name: decoded(name, content) for name, content in files.items()}
    assert [(name, secret) for name, text in seen.items() for secret in SECRETS.values() if secret in text] == []
