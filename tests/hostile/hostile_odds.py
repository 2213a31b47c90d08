"""Odd ways to write suites, traces and names; those named harmless must be accepted."""

from __future__ import annotations

import gzip
import json
from functools import partial
from typing import TYPE_CHECKING, Any

from hostile.hostile_case import (
    ENDS,
    GOOD,
    HEAD,
    NOT_GREEN,
    PASSES,
    REFUSED,
    SUITE,
    Case,
    answer,
    checks,
    trace,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RECORD = 25_000_000
"""Bytes of the largest record."""


def cases() -> Iterator[Case]:
    """Every odd input."""
    for name, line in WRONG_LINES.items():
        yield Case(f"line-{name}", REFUSED, f"{SUITE}{line}\n")
    for name, line in FINE_LINES.items():
        yield Case(f"harmless-line-{name}", PASSES, f"{SUITE}{line}\n")
    for name, suite in FINE_SUITES.items():
        yield Case(f"harmless-suite-{name}", PASSES, suite)
    for name, number in FINE_NUMBERS.items():
        yield Case(f"harmless-number-{name}", PASSES, traces=partial(_one, _with(number)))
    for name, number in WRONG_NUMBERS.items():
        yield Case(f"number-{name}", NOT_GREEN, traces=partial(_one, _with(number)))
    for name, scenario in IDS.items():
        yield Case(f"trace-id-{name}", ENDS, traces=partial(_one, trace(scenario_id=scenario)))
    for name in (b"a|b", b"##[error]x", b"%0A", b"=1", b"a\\b", b"a'b\"c", b"[a]?", b"#L1", b"~"):
        yield Case(f"trace-file-{name!r}", ENDS, traces=partial(_named, name))
    yield from _large()


def _large() -> Iterator[Case]:
    """Records of the maximum size, judged and stored within the limits."""
    for name, keeps in (("judged", False), ("kept", True)):
        for content, record in FINE_RECORDS.items():
            yield Case(f"harmless-{content}-{name}", PASSES, traces=partial(_made, record), keeps=keeps)
    yield Case("record-too-large", NOT_GREEN, traces=partial(_made, partial(_of_size, RECORD + 2)))
    yield Case("gzip-members", PASSES, traces=lambda: {"t.jsonl.gz": _packed(GOOD) + _packed(GOOD)})
    yield Case("gzip-line", NOT_GREEN, traces=lambda: {"t.jsonl.gz": _packed(b'{"x":"' + b"y" * 300_000_000)})
    yield Case("gzip-nothings", ENDS, traces=lambda: {"t.jsonl.gz": _packed(b"") * 100_000})


def _one(content: bytes) -> Mapping[str, bytes]:
    return {"t.jsonl": content}


def _named(name: bytes) -> Mapping[str, bytes]:
    content = json.dumps({"schema": "evalgate.trace/1", "messages": []}).encode()
    return {f"{name.decode()}.jsonl": content}


def _made(record: Any) -> Mapping[str, bytes]:
    return _one(record())


def _of_size(size: int) -> bytes:
    """A record of so many bytes, without its line end."""
    return trace(metadata={"x": "y" * (size + 1 - len(trace(metadata={"x": ""})))})


def _packed(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def _with(number: str) -> bytes:
    return GOOD.replace(b'"schema"', f'"metadata": {{"x": {number}}}, "cost_usd": {number}, "schema"'.encode(), 1)


WRONG_LINES = {
    "merge-of-nothing": "defaults: {<<: {assertions: []}}",
    "key-that-is-true": "true: 1",
    "key-that-is-on": "on: 1",
    "own-tag": "description: !foo x",
    "text-tag": "description: !!str x",
    "alias-of-nothing": "description: *x",
    "anchor-of-nothing": "description: &",
    "digits": "threshold: " + "9" * 5_000,
    "hexadecimal": "threshold: 0x1",
    "octal": "threshold: 0o1",
    "minutes": "threshold: 0:30",
    "infinite": "threshold: .inf",
    "bell": "description: \x07",
    "deleted": "description: \x7f",
    "no-character": "description: \ufffe",
    "escaped-half": 'description: "\\ud800"',
    "open-quote": "description: 'x",
    "open-list": "tags: [a",
    "colons": "a: b: c",
    "at": "description: @x",
    "back-tick": "description: `x",
    "percent": "description: %x",
    "second-end": "...\nfoo: 1",
    "indent-of-nothing": "description: |9\n x",
    "long-description": f"description: {'d' * 10_001}",
}
FINE_LINES = {
    "word-yes": "description: 'yes'",
    "date": "description: '2001-01-01'",
    "exponent": "threshold: 5.0e-1",
    "letters": "description: \u8bd5\u9a8c \u05d0 \xe9 \U0001f468\u200d\U0001f469",
    "block": "description: |\n  ::error::x\n  b",
    "folded": "description: >-\n  ##[error]x\n  b",
    "end": "...",
    "long-description": f"description: {'d' * 10_000}",
    "comments": "# x\n" * 5_000,
    "size": "# " + "x" * (1_000_000 - len(SUITE) - 3),
}
FINE_SUITES: dict[str, str | bytes] = {
    "mark-and-windows-lines": b"\xef\xbb\xbf" + SUITE.replace("\n", "\r\n").encode(),
    "blanks-at-ends": SUITE.replace("\n", "  \n"),
    "quoted-keys": SUITE.replace("version:", "'version':"),
    "directive": f"%YAML 1.1\n---\n{SUITE}",
    "nested": checks("{path: '@', matches_schema: " + "{properties: {a: " * 25 + "{}" + "}}" * 25 + "}"),
    "negations": checks("{not: " * 56 + "{contains: ok}" + "}" * 56),
    "json": json.dumps(
        {
            "version": 1,
            "suite": "s",
            "traces": ["traces/*"],
            "scenarios": [{"id": "*", "assertions": [{"contains": "ok"}]}],
        }
    ),
    "ids": f"{HEAD}scenarios:\n"
    + "".join(
        f"- {{id: {each}, optional: true, assertions: [{{contains: ok}}]}}\n"
        for each in (42, "'2026-01-01'", "'a/b|c'", "\u8bd5\u9a8c", "\U0001f389", "x" * 512)
    )
    + "- {id: '*', assertions: [{contains: ok}]}\n",
}
FINE_NUMBERS = {
    "power": "1e-3",
    "capital": "1E0",
    "minus-nothing": "-0",
    "tiny": "1e-400",
    "digits": "0." + "1" * 4_000,
}
WRONG_NUMBERS = {
    "zero-first": "01",
    "plus": "+1",
    "hexadecimal": "0x1",
    "bare-point": "1.",
    "digits": "9" * 400,
}
IDS: dict[str, Any] = {
    "nul": "a\0b",
    "line": "a\nb",
    "backwards": "\u202eabc",
    "no-width": "a\u200bb",
    "tag": "a\U000e0041",
    "blank": "  ",
    "star": "*",
    "above": "../../etc",
    "marks": "a" + "\u0301" * 300,
    "formula": "=1+1",
    "picture": "<img src=x>",
    "address": "www.evil.example",
    "private": "\ue000",
    "comment": "--> x",
    "float": 1.5,
    "true": True,
    "mapping": {},
    "513": "x" * 513,
}
FINE_RECORDS = {
    "largest-record": partial(_of_size, RECORD - 1),
    "largest-answer": lambda: answer("ok " + "y" * 24_900_000),
    "letters": lambda: json.dumps(
        {
            "schema": "evalgate.trace/1",
            "scenario_id": "a",
            "messages": [{"role": "assistant", "content": "ok " + "\u8a66" * 8_000_000}],
        },
        ensure_ascii=False,
    ).encode(),
    "a-million-numbers": lambda: trace(metadata={"x": [0] * 1_000_000}),
    "100000-keys": lambda: trace(metadata={f"k{number}": number for number in range(100_000)}),
    "98000-messages": lambda: trace(
        messages=[{"role": "user", "content": "q"}, {"role": "assistant", "content": "ok"}] * 49_000
    ),
}
