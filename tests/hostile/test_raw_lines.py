"""Every line of bytes becomes a trace with all that it holds, or one worded error; `make matrix` tries 120,000."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, Trace
from hostile import raw_lines
from hostile.raw_lines import GOOD, Facts, RefusedError, UndecidedError, Writer, read, read_lines, start_draw

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_REASON = 400
BATCH = 500
MANY, FEW = 30_000, 300
EXPECT = {"native": raw_lines.expect_native, "chat": raw_lines.expect_chat}
HARMLESS = "nothing in it can be a call"
"""What a warning says of an unknown field that stops no gate."""


def check_lines(lines: Iterable[bytes], kind: str) -> None:
    """Reads the lines as one file, and compares what became of each with what its bytes say."""
    lines = list(lines)
    found = read_lines(lines, kind)
    for number, line in enumerate(lines, 1):
        if line.strip():
            check_record(found.pop(number), line, kind)
    assert not found


def check_record(record: Any, line: bytes, kind: str) -> None:
    """The record is what its line says: a trace with these facts, or an error in one line of words."""
    facts: Facts | None = None
    try:
        facts = EXPECT[kind](raw_lines.parse_strictly(line.strip()))
    except RefusedError as reason:
        assert isinstance(record, DamagedTrace), (line, str(reason))
    except UndecidedError:
        pass
    if isinstance(record, DamagedTrace):
        assert facts is None or facts.may_hold_calls, (line, record.reason)
        assert record.reason.isprintable(), line
        assert 0 < len(record.reason) <= LONGEST_REASON, (line, record.reason)
    else:
        assert isinstance(record, Trace), line
        if facts is not None:
            check_facts(record, facts, line)


def check_facts(trace: Trace, facts: Facts, line: bytes) -> None:
    """The trace holds every value, and warns of every field that it does not hold."""
    messages = [(message["role"], message["content"]) for message in trace.messages]
    for (role, content), (expected_role, expected) in zip(messages, facts.messages, strict=True):
        held = orjson.loads(content or "") if isinstance(expected, dict) else content
        assert (role, held) == (expected_role, expected), line
    assert [(call["id"], call["name"], call["arguments"]) for call in trace.tool_calls] == facts.calls, line
    assert all(
        call["arguments"] is not None or call["arguments_error"] or not call["arguments_raw"]
        for call in trace.tool_calls
    )
    values = facts.values
    assert {key: trace.usage[key] for key in values["usage"]} == values["usage"], line
    assert {score["name"]: score["score_value"] for score in trace.evaluations} == values["scores"], line
    for name in ("trial", "model", "provider", "metadata", "tags"):
        assert getattr(trace, name) == values[name], (line, name)
    assert values["scenario_id"] is None or trace.scenario_id == values["scenario_id"], line
    warned = {(one["where"], one["message"]) for one in trace.warnings if one["code"] == "unknown_field"}
    for where, name in facts.unknown:
        shown = "".join(char if char.isprintable() else "?" for char in name)
        assert any(place == where and f"the field `{shown}` is unknown" in message for place, message in warned), line
    stated = [each for each in warned if HARMLESS not in each[1]]
    assert len(stated) <= len(facts.unknown) <= len(warned), line
    is_known = not facts.may_hold_calls or len(stated) < len(warned)
    assert trace.source.format == "native" or is_known or "calls" in trace.gaps, line


def check_many(kind: str, seed: int, count: int) -> None:
    """Draws this many lines and checks them in files of some."""
    draw = start_draw(seed)
    for _ in range(count // BATCH + 1):
        check_lines([raw_lines.draw_line(draw, kind) for _ in range(min(BATCH, count))], kind)


@pytest.mark.parametrize("kind", GOOD)
def test_a_line_is_read_right_or_refused_in_words(kind: str) -> None:
    check_many(kind, 1, FEW)


@pytest.mark.matrix
@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize("kind", GOOD)
def test_any_line_is_read_right_or_refused_in_words(kind: str, seed: int) -> None:
    check_many(kind, seed, MANY)


@pytest.mark.parametrize("kind", GOOD)
def test_a_key_twice_is_refused_wherever_it_is_and_however_it_is_written(kind: str) -> None:
    draw = start_draw(5)
    tree = raw_lines.draw_tree(draw, kind)
    lines = []
    for spacing in (0, 1):
        for escapes in (0.0, 1.0):
            write = Writer(draw, spacing, escapes).write
            for each in raw_lines.list_objects(tree):
                for key, value in list(each):
                    for other in (value, "other"):
                        each.append([key, other])
                        lines.append(write(tree))
                        each.pop()
    check_lines(lines, kind)
    records = read_lines(lines, kind).values()
    assert len(records) > 100
    assert all(isinstance(each, DamagedTrace) and "appears twice in one object" in each.reason for each in records)


@pytest.mark.parametrize("kind", GOOD)
def test_a_line_that_ends_early_is_refused_wherever_it_ends(kind: str) -> None:
    line = Writer(start_draw(6), 1, 0.1).write(raw_lines.draw_tree(start_draw(6), kind)).replace(b"\n", b" ")
    check_lines([line[:end] for end in range(1, len(line) + 1)], kind)


@pytest.mark.parametrize("kind", GOOD)
def test_one_document_is_read_like_a_line(kind: str) -> None:
    draw = start_draw(7)
    for _ in range(FEW):
        line = raw_lines.draw_line(draw, kind)
        with contextlib.suppress(TraceError, RefusedError, UndecidedError):
            for record in read(line):
                plain = line.strip().removeprefix(b"\xef\xbb\xbf")
                facts = EXPECT[kind](raw_lines.parse_strictly(plain))
                if isinstance(record, Trace):
                    check_facts(record, facts, line)


def test_the_checked_lines_are_of_all_kinds() -> None:
    """Lines are read, refused as JSON and refused for their fields, each at least in one of ten."""
    draw = start_draw(8)
    outcomes = {"read": 0, "json": 0, "fields": 0, "open": 0}
    for number in range(600):
        kind = list(GOOD)[number % 2]
        try:
            document = raw_lines.parse_strictly(raw_lines.draw_line(draw, kind).strip())
        except RefusedError:
            outcomes["json"] += 1
            continue
        try:
            EXPECT[kind](document)
            outcomes["read"] += 1
        except (RefusedError, UndecidedError) as error:
            outcomes["fields" if isinstance(error, RefusedError) else "open"] += 1
    assert min(outcomes["read"], outcomes["json"], outcomes["fields"]) > 60, outcomes
    assert outcomes["open"] < 60, outcomes
