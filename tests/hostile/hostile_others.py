"""Baselines, templates and arguments written to break the gate."""

from __future__ import annotations

from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZipFile, ZipInfo

from hostile.hostile_case import NOT_GREEN, REFUSED, Case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

MAY_FALL_BACK = frozenset({0, 2})
"""A template that can't be used is reported; the built-in comment is used instead."""
LINK = 0o120777 << 16
IN_A_BLOCK = '{{% extends "comment.md.j2" %}}\n{{% block footer %}}\n{}\n{{% endblock %}}\n'


def cases() -> Iterator[Case]:
    """Every hostile baseline, template and argument."""
    for name, content in {**ARCHIVES, **DOCUMENTS}.items():
        file = "b.json" if name in DOCUMENTS else "b.zip"
        put = partial(_put, file, content)
        yield Case(f"baseline-{name}", REFUSED, arguments=("--baseline", file), prepare=put)
    yield Case("baseline-bomb", REFUSED, arguments=("--baseline", "b.zip"), prepare=_bomb)
    for name, text in TEMPLATES.items():
        for place, body in (("", text), ("-in-a-block", IN_A_BLOCK.format(text))):
            put = partial(_put, "t.j2", body.encode())
            yield Case(f"template-{name}{place}", MAY_FALL_BACK, arguments=("--template", "t.j2"), prepare=put)
    for number, arguments in enumerate(ARGUMENTS):
        yield Case(f"argument-{number}", NOT_GREEN, arguments=arguments)


def _put(name: str, content: bytes, folder: Path) -> None:
    (folder / name).write_bytes(content)


def _bomb(folder: Path) -> None:
    _put("b.zip", _archive([("manifest.json", b"{}"), ("results.json", b" " * 300_000_000)]), folder)


def _archive(members: Sequence[tuple[str | ZipInfo, bytes]], compression: int = ZIP_DEFLATED) -> bytes:
    content = BytesIO()
    with ZipFile(content, "w", compression) as archive:
        for name, text in members:
            archive.writestr(name, text)
    return content.getvalue()


def _twice() -> bytes:
    """Two entries with the same name; the writer would warn about them."""
    return _archive([("results.json", b"{}"), ("results.jsoN", b"{}")]).replace(b"results.jsoN", b"results.json")


def _encrypted() -> bytes:
    content = bytearray(_archive([("results.json", b"{}")]))
    content[6] |= 1
    content[content.find(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


def _link() -> bytes:
    entry = ZipInfo("results.json")
    entry.external_attr = LINK
    return _archive([(entry, b"/etc/passwd")])


ARCHIVES = {
    "empty": b"",
    "noise": b"PK" + bytes(range(100)),
    "slip": _archive([("../results.json", b"{}")]),
    "entry-twice": _twice(),
    "many": _archive([(f"f{number}", b"") for number in range(2_000)]),
    "no-results": _archive([("manifest.json", b"{}")]),
    "other-results": _archive([("manifest.json", b"{}"), ("results.json", b"[1]")]),
    "boxes": _archive([("baseline.zip", _archive([("baseline.zip", _archive([("x", b"")]))]))]),
    "encrypted": _encrypted(),
    "lzma": _archive([("results.json", b"{}")], ZIP_LZMA),
    "bzip2": _archive([("results.json", b"{}")], ZIP_BZIP2),
    "link": _link(),
}
DOCUMENTS = {
    "document-cut": b"{",
    "document-list": b"[]",
    "document-of-later": b'{"schema": "evalgate.results/9"}',
    "document-in-part": b'{"schema": "evalgate.results/1"}',
    "document-nan": b'{"schema": "evalgate.results/1", "summary": NaN}',
    "document-deep": b'{"schema":' + b"[" * 100_000,
}
TEMPLATES = {
    "range": "{% for i in range(1000000000) %}x{% endfor %}",
    "times": "{{ 'x' * 10000000000 }}",
    "power": "{{ 9 ** 9 ** 9 }}",
    "class": "{{ ''.__class__.__mro__ }}",
    "globals": "{{ cycler.__init__.__globals__ }}",
    "include": "{% include '/etc/passwd' %}",
    "import": "{% import 'os' as o %}",
    "extends": "{% extends '/etc/passwd' %}",
    "undefined": "{{ nope.nope }}",
    "syntax": "{% if %}",
    "macro": "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}",
    "deep": "{{ " + "(" * 2_000 + "1" + ")" * 2_000 + " }}",
    "loops": "{% for a in 'x'*1000 %}{% for b in 'x'*1000 %}{% for c in 'x'*1000 %}x{% endfor %}{% endfor %}{% endfor %}",
    "big": "x" * 100_000,
    "html": "<script>alert(1)</script>@octocat ![x](http://evil/x.png)",
    "format": "{{ '%1000000000d' % 1 }}",
    "center": "{{ 'x'.center(10000000000) }}",
    "join": "{{ ['x'*1000000]*100000 | join }}",
    "attribute": "{{ x|attr('__class__') }}",
    "debug": "{% debug %}",
    "digits": "{{ " + "9" * 5_000 + " }}",
    "index-of-digits": "{{ x[" + "9" * 5_000 + "] }}",
    "float-of-digits": "{{ 1e" + "9" * 400 + " }}",
    "lorem": "{{ lipsum(n=1000000) }}",
    "replace": "{{ 'a'|replace('', 'x'*1000000)|replace('x','x'*1000000) }}",
    "nul": "\0",
    "marker": "<!-- evalgate:sticky v1 key=other -->",
}
ARGUMENTS = [
    ("--fail-on", "nonsense"),
    ("--fail-on", ""),
    ("--limit", "x=1"),
    ("--limit", "record=-1"),
    ("--limit", "record=nan"),
    ("--limit", "record"),
    ("--format", "nonsense"),
    ("--format", "../../x"),
    ("--traces", ""),
    ("--traces", "/etc/hostname"),
    ("--output-dir", "suite.yaml"),
    ("--output-dir", "/proc/x"),
    ("--nonsense",),
    ("--plugin", "nonsense.module"),
    ("--jobs", "-1"),
    ("--baseline", "."),
    ("--baseline", "nope.zip"),
    ("nope.yaml",),
    ("/etc/passwd",),
]
