"""The fuzz targets: each takes any bytes and raises only if EvalGate does something it must not do."""

from __future__ import annotations

import contextlib
import io
import re
import unicodedata
import zipfile
from typing import TYPE_CHECKING, Any

import cmarkgfm
import orjson
from hostile import raw_lines

from evalgate.adapters.formats.core.strict_json import decode
from evalgate.adapters.formats.native import reader
from evalgate.adapters.safe_zip import SafeZip, ZipRefusedError
from evalgate.adapters.suites import yaml_tree
from evalgate.errors import SuiteError, TraceError
from evalgate.measures.jmespath.query import Query, QueryError, QueryFailedError
from evalgate.measures.redaction.project_secrets import ProjectSecrets, SecretPattern
from evalgate.measures.redaction.redact import Redactor
from evalgate.measures.text.patterns import Pattern
from evalgate.models.trace.trace import DamagedTrace
from evalgate.models.trace.trace_document import encode_trace
from evalgate.reporting.text.escaping import escape_cell, escape_fence, escape_log, escape_span

if TYPE_CHECKING:
    from collections.abc import Callable

CODE = re.compile(r"<pre.*?</pre>|<code>.*?</code>", re.DOTALL)
ALIVE = re.compile(r"<(?!/?(?:p|table|thead|tbody|tr|t[hd]|ul|li)>)|@\w|https?:|www\.|&lt;|!\[")
COMMAND = re.compile(r"^\s*::[^:]*::|##\[", re.MULTILINE)
CUSTOMER = re.compile(r"C-[0-9]{2}")
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
DOCUMENT = {"a": [1, "x", None, {"b": True, "c": [2.5, -1]}], "d": {"e": "text", "f": []}}


def suite(data: bytes) -> None:
    """YAML becomes a tree or is refused with a position."""
    with contextlib.suppress(SuiteError):
        yaml_tree.load(data.decode("utf-8", "replace"), "suite.yaml")


def json(data: bytes) -> None:
    """JSON becomes a value that can be written again, or is refused."""
    with contextlib.suppress(TraceError):
        orjson.dumps(decode(data))


def markdown(data: bytes) -> None:
    """No part of a text is active Markdown outside of code, in a paragraph, a list, a table and a fence."""
    text = data.decode("utf-8", "replace")
    for shown, cells in (
        (f"text: {escape_span(text)} end", 0),
        (f"- {escape_span(text)}\n- next", 0),
        (f"| a | b |\n|---|---|\n| {escape_cell(text)} | end |", 4),
        (escape_fence(text), 0),
    ):
        html = cmarkgfm.github_flavored_markdown_to_html(shown)
        left = CODE.sub("", html)
        assert not ALIVE.search(left), (text, shown, left)
        assert left.count("<td>") + left.count("<th>") == cells, (text, shown, left)


def log(data: bytes) -> None:
    """No line of a log holds a command, however the runner splits lines."""
    text = data.decode("utf-8", "replace")
    line = escape_log(text)
    assert not COMMAND.search(line), (text, line)
    assert not {unicodedata.category(each) for each in line} & UNSEEN, (text, line)


def archive(data: bytes) -> None:
    """An archive is read within its bounds, or refused."""
    for content in (data, _zipped(data)):
        with contextlib.suppress(ZipRefusedError):
            found = SafeZip(content, 1_000_000)
            for name in found.names():
                assert len(found.read(name)) <= 1_000_000


def _zipped(data: bytes) -> bytes:
    """A zip whose directory the fuzzer changes: its first byte is the position, the second the value."""
    place = io.BytesIO()
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a.json", data)
    content = bytearray(place.getvalue())
    for at, by in zip(data[::2], data[1::2], strict=False):
        content[-1 - at % len(content)] ^= by
    return bytes(content)


def query(data: bytes) -> None:
    """An expression is evaluated or refused."""
    with contextlib.suppress(QueryError, QueryFailedError):
        orjson.dumps(Query(data.decode("utf-8", "replace")).search_value(DOCUMENT), default=str)


def trace(data: bytes) -> None:
    """A native trace is read or refused; what was read can be written and read again."""
    try:
        value = decode(data)
        found = reader.build(value)
    except TraceError:
        return
    written: Any = orjson.dumps(encode_trace(found))
    assert encode_trace(reader.build(decode(written))) == orjson.loads(written)


def line(data: bytes) -> None:
    """A line is read or refused in one line of words, and it is refused if its JSON is not strict."""
    for kind in raw_lines.GOOD:
        for record in raw_lines.read_lines([data.replace(b"\n", b" ")], kind).values():
            if isinstance(record, DamagedTrace):
                assert record.reason.isprintable()
                continue
            raw_lines.parse_strictly(data.replace(b"\n", b" ").strip())


def redaction(data: bytes) -> None:
    """The secrets of a project are gone after one pass, and repeated passes reach a fixed point.

    A redaction mark is not a letter, so a name after a mark that began within a word is a separate name in the next pass.
    """
    text = data.decode("utf-8", "replace")
    once = PROJECT.redact_text(text)
    assert not CUSTOMER.search(once), (text, once)
    twice = PROJECT.redact_text(once)
    assert PROJECT.redact_text(twice) == twice, (text, once, twice)


def _of_a_project() -> Redactor:
    made = Redactor()
    made.project = ProjectSecrets([SecretPattern("customer", Pattern(CUSTOMER.pattern))], ["owner", "full name"])
    return made


PROJECT = _of_a_project()
TARGETS: dict[str, Callable[[bytes], None]] = {
    each.__name__: each for each in (suite, json, markdown, log, archive, query, trace, line, redaction)
}
