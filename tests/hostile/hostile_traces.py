"""Traces written to hang, crash, fill memory, read elsewhere, or pass by accident."""

from __future__ import annotations

import gzip
import json
import os
from functools import partial
from io import BytesIO
from random import Random
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZipFile

from hostile.hostile_case import ENDS, GOOD, NOT_GREEN, PASSES, Case, answer, nest_list, trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NOISE = Random(1).randbytes(5_000)  # noqa: S311  (the same in every run)
CALL = {"id": "1", "name": "x", "arguments": {}}


def cases() -> Iterator[Case]:
    """Every hostile trace."""
    for ends, contents in ((NOT_GREEN, BROKEN), (ENDS, ODD)):
        for name, content in contents.items():
            yield Case(f"trace-{name}", ends, traces=partial(_one, content))
    for ends, fields in ((NOT_GREEN, WRONG_FIELDS), (ENDS, ODD_FIELDS)):
        for name, changes in fields.items():
            yield Case(f"trace-{name}", ends, traces=partial(_one, trace(**changes)))
    for name, (ends, file, content) in PACKED.items():
        yield Case(f"trace-{name}", ends, traces=partial(_one, content, file))
    for number, name in enumerate(NAMES):
        yield Case(f"trace-name-{number}", ENDS, traces=partial(_one, b"{bad", name))
    yield from _large()
    yield from _places()


def _one(content: bytes, name: str = "t.jsonl") -> Mapping[str, bytes]:
    return {name: content}


def _large() -> Iterator[Case]:
    def of(name: str, ends: frozenset[int], **fields: Any) -> Case:
        return Case(f"trace-{name}", ends, traces=lambda: {"t.jsonl": trace(**fields)})

    yield of("line-of-30-mb", NOT_GREEN, metadata={"x": "y" * 30_000_000})
    yield of("line-of-24-mb", ENDS, metadata={"x": "y" * 24_000_000})
    yield of("tiny-numbers", ENDS, metadata={"x": [0] * 8_000_000})
    yield of("tiny-objects", ENDS, metadata={"x": [{}] * 5_000_000})
    yield of("a-million-keys", ENDS, metadata={f"k{number}": number for number in range(1_000_000)})
    yield of("messages", ENDS, messages=[{"role": "assistant", "content": "ok"}] * 200_000)
    yield of("calls", ENDS, messages=[{"role": "assistant", "content": "ok", "tool_calls": [CALL] * 100_000}])
    yield Case("trace-bad-lines", NOT_GREEN, traces=lambda: {"t.jsonl": b"{\n" * 100_000})
    yield Case("trace-blank-lines", NOT_GREEN, traces=lambda: {"t.jsonl": b"\n" * 1_000_000})
    yield Case(
        "trace-ids",
        NOT_GREEN,
        traces=lambda: {"t.jsonl": b"".join(trace(scenario_id=f"s{number}") for number in range(101_000))},
    )
    yield Case("trace-brackets", NOT_GREEN, traces=lambda: {"t.jsonl": b"[" * 1_000_000})
    yield Case("trace-deep", NOT_GREEN, traces=lambda: {"t.jsonl": b'{"a":' * 100_000 + b"1" + b"}" * 100_000})
    yield Case("trace-gzip-bomb", NOT_GREEN, traces=lambda: {"t.json.gz": gzip.compress(_blanks())})
    yield Case("trace-zip-bomb", NOT_GREEN, traces=lambda: {"t.eval": _archive({"samples/1.json": _blanks()})})
    many = {f"samples/{number}.json": b"{}" for number in range(20_000)}
    yield Case("trace-zip-of-many", NOT_GREEN, traces=lambda: {"t.eval": _archive(many)})
    spans = _field(1, _field(2, b"\x12\x00" * 2_000_000))
    yield Case("trace-empty-spans", ENDS, traces=lambda: {"t.pb": spans})
    yield Case("trace-empty-fields", NOT_GREEN, traces=lambda: {"t.pb": b"\x0a\x00" * 10_000_000})


def _blanks() -> bytes:
    return b"[" + b" " * 300_000_000


def _places() -> Iterator[Case]:
    def at(name: str, make: Any) -> Case:
        return Case(f"trace-{name}", NOT_GREEN, traces=dict, prepare=make)

    yield at("pipe", lambda folder: os.mkfifo(folder / "traces/t.json"))
    yield at("link-to-passwords", lambda folder: (folder / "traces/t.json").symlink_to("/etc/passwd"))
    yield at("link-in-a-circle", lambda folder: (folder / "traces/t.json").symlink_to("t.json"))
    yield at("link-to-zeros", lambda folder: (folder / "traces/t.json").symlink_to("/dev/zero"))
    yield at("folder", lambda folder: (folder / "traces/t.json").mkdir())
    yield at("name-of-other-bytes", _name_of_other_bytes)
    yield at("thousands-of-files", _thousands)


def _name_of_other_bytes(folder: Path) -> None:
    with open(os.fsencode(folder / "traces") + b"/\xff\xfe.json", "wb") as file:  # noqa: PTH123  (no text)
        file.write(GOOD)


def _thousands(folder: Path) -> None:
    for number in range(21_000):
        (folder / f"traces/{number}.json").touch()


def _archive(members: Mapping[str, bytes]) -> bytes:
    content = BytesIO()
    with ZipFile(content, "w", ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return content.getvalue()


def _field(number: int, content: bytes) -> bytes:
    """A field of a protobuf message."""
    size, digits = len(content), b""
    while True:
        low, size = size & 127, size >> 7
        digits += bytes([low | (128 if size else 0)])
        if not size:
            return bytes([number << 3 | 2]) + digits + content


def _with(before: bytes, after: bytes) -> bytes:
    changed = GOOD.replace(before, after, 1)
    assert changed != GOOD
    return changed


BROKEN = {
    "empty": b"",
    "blank": b"  \n\n",
    "nul": b"\0" * 1_000,
    "noise": NOISE,
    "too-deep": trace(metadata={"x": nest_list(90)}),
    "nan": trace(cost_usd=float("nan")),
    "infinity": trace(cost_usd=float("inf")),
    "overflow": _with(b'"schema"', b'"cost_usd": 1e999, "schema"'),
    "long-number": _with(b'"schema"', b'"cost_usd": ' + b"9" * 5_000 + b', "schema"'),
    "key-twice": _with(b'"schema"', b'"scenario_id": "b", "schema"'),
    "key-twice-deeper": _with(b'"content": "ok"', b'"content": "no", "content": "ok"'),
    "key-twice-escaped": _with(b'"content": "ok"', b'"content": "no", "\\u0063ontent": "ok"'),
    "utf-16": GOOD.decode().encode("utf-16"),
    "latin-1": json.dumps({"schema": "evalgate.trace/1", "x": "\xe9"}, ensure_ascii=False).encode("latin-1"),
    "more-after-it": GOOD.strip() + b" x\n",
    "cut": GOOD[:50],
    "second-cut": GOOD + GOOD[:40],
    "single-quotes": GOOD.replace(b'"', b"'"),
    "comment": b"// x\n" + GOOD,
}
ODD = {
    "byte-order-mark": b"\xef\xbb\xbf" + GOOD,
    "half-a-pair": trace(metadata={"x": "\ud800"}),
    "half-a-pair-in-answer": answer("ok\ud800"),
    "nul-in-answer": answer("ok\0"),
}
WRONG_FIELDS: dict[str, dict[str, Any]] = {
    "cost-text": {"cost_usd": "0"},
    "cost-true": {"cost_usd": True},
    "cost-below-zero": {"cost_usd": -1},
    "cost-list": {"cost_usd": []},
    "latency-below-zero": {"latency_seconds": -1},
    "latency-text": {"latency_seconds": "1"},
    "usage-text": {"usage": "x"},
    "usage-below-zero": {"usage": {"input_tokens": -5}},
    "usage-half": {"usage": {"input_tokens": 1.5}},
    "usage-true": {"usage": {"input_tokens": True}},
    "trial-text": {"trial": "x"},
    "trial-huge": {"trial": 10**30},
    "messages-map": {"messages": {}},
    "messages-text": {"messages": "x"},
    "messages-null": {"messages": None},
    "messages-numbers": {"messages": [1, 2]},
    "role-number": {"messages": [{"role": 1, "content": "ok"}]},
    "content-number": {"messages": [{"role": "assistant", "content": 5}]},
    "calls-map": {"messages": [{"role": "assistant", "content": "ok", "tool_calls": {}}]},
    "scenario-list": {"scenario_id": ["a"]},
    "schema-9": {"schema": "evalgate.trace/9"},
    "scores-text": {"scores": "x"},
    "score-nan": {"scores": {"reward": "NaN"}},
}
ODD_FIELDS: dict[str, dict[str, Any]] = {
    "schema-number": {"schema": 1},
    "role-unknown": {"messages": [{"role": "wizard", "content": "ok"}]},
    "content-map": {"messages": [{"role": "assistant", "content": {"a": 1}}]},
    "call-without-name": {"messages": [{"role": "assistant", "content": "ok", "tool_calls": [{"id": "1"}]}]},
    "scenario-long": {"scenario_id": "x" * 5_000},
    "scenario-command": {"scenario_id": "a\n::error::x"},
    "time-words": {"started_at": "yesterday"},
    "time-huge": {"started_at": 10**30},
    "tags-number": {"tags": 5},
    "key-unknown": {"mesages": []},
    "secret": {"scenario_id": "ghp_" + "a" * 36},
    "mention": {"scenario_id": "@octocat ![x](https://evil.example/x.png) <b>"},
}
PACKED = {
    "gzip-cut": (NOT_GREEN, "t.jsonl.gz", gzip.compress(GOOD * 50, mtime=0)[:60]),
    "gzip-twice": (NOT_GREEN, "t.jsonl.gz", gzip.compress(gzip.compress(GOOD, mtime=0), mtime=0)),
    "gzip": (PASSES, "t.jsonl.gz", gzip.compress(GOOD, mtime=0)),
    "gzip-and-more": (ENDS, "t.jsonl.gz", gzip.compress(GOOD, mtime=0) + b"junk"),
    "gzip-wrong-sum": (NOT_GREEN, "t.jsonl.gz", gzip.compress(GOOD, mtime=0)[:-8] + b"\0" * 8),
    "gzip-of-nothing": (NOT_GREEN, "t.jsonl.gz", gzip.compress(b"", mtime=0)),
    "zip-of-noise": (NOT_GREEN, "t.eval", b"PK\x03\x04" + NOISE[:500]),
}
NAMES = [
    "a\nb.json",
    "-rf.json",
    "::error::.json",
    "a\u202eb.json",
    "$(id).json",
    "`id`.json",
    "<img src=x>.json",
    "@octocat.json",
    "x" * 200 + ".json",
]
