"""Loads the real traces that hold a call, one document or a few lines each, and judges rewritten ones."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson
from assess_assertion import compile_assertion

from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.models.trace.trace import DamagedTrace, Trace
from evalgate.ports import FoundFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.evaluators.core.assertion import Assertion

SHARED = Path(__file__).resolve().parents[3] / "shared" / "traces"
NOT_TRACES = frozenset({"README.md", "provenance.jsonl", "sealed.bin"})
LARGE = 600_000
"""Files of many conversations, of which some are taken."""
PARTS = 8
NAMES = 3
"""Names of a file's tools that are forbidden, one at a time."""
FILE = FoundFile("t.json", "t.json", "t.json")


class Recording(NamedTuple):
    """One document, or the lines of a file, and the call that is forbidden."""

    label: str
    lines: tuple[bytes, ...]
    name: str
    callers: frozenset[tuple[str | None, int | None]]
    """Scenario and trial of the traces with the call."""


class _OneFile:
    """The file system with one file in memory."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def expand(self, pattern: str, base: str) -> Sequence[FoundFile]:
        del pattern, base
        return [FILE]

    def open(self, file: FoundFile) -> io.BytesIO:
        del file
        return io.BytesIO(self._content)

    def size(self, file: FoundFile) -> int:
        del file
        return len(self._content)

    def read(self, path: str, limit: int, *, what: str) -> bytes:
        raise NotImplementedError(path, limit, what)


def read(content: bytes) -> list[Trace | DamagedTrace]:
    """The records of a file with this content."""
    return list(TraceFiles(_OneFile(content)).read(["*"], ""))


def is_passed(trace: Trace, name: str) -> bool:
    """Whether a required `forbidden_tools` of this name passes."""
    assertion = compile_assertion({"type": "forbidden_tools", "tools": [name], "required": True})
    return assertion.assess(trace).outcome == "passed"


DENIALS: tuple[dict[str, object], ...] = (
    {"type": "forbidden_tools", "tools": ["*"]},
    {"type": "allowed_tools", "tools": []},
    {"type": "max_tool_calls", "max": 99},
    {"type": "max_tool_errors", "max": 99},
    {"type": "tool_calls", "exactly": 0},
    {"type": "tool_sequence", "sequence": [], "extra_calls": "forbid"},
    {"type": "no_tool", "tool": "*"},
    {"type": "no_run_code"},
    {"type": "no_loops"},
    {"type": "expected_tool", "expected_tool": None},
    {"not": {"type": "tool_called", "tool": "*"}},
    {"path": "metadata.tool_call_count", "lte": 99},
    {"path": "length(errors)", "lte": 99},
)
"""Checks that pass on a run without calls, and so on none of which it is not known."""


@cache
def _compile_denials() -> list[Assertion]:
    return [compile_assertion(each) for each in DENIALS]


def list_passed_denials(trace: Trace) -> list[str]:
    """The checks of `DENIALS` that pass, by name."""
    return [each.name for each in _compile_denials() if each.assess(trace).outcome == "passed"]


def find_passed(recording: Recording, content: bytes) -> list[str]:
    """The scenarios that pass and whose original trace had the call."""
    records = read(content)
    passed = {
        (record.scenario_id, record.trial)
        for record in records
        if isinstance(record, Trace) and is_passed(record, recording.name)
    }
    if found := passed & recording.callers:
        return [str(scenario) for scenario, _ in found]
    return ["all"] if records and len(passed) == len(records) else []


def list_recordings() -> Iterator[Recording]:
    """Each file, or some of its conversations, with each of the first names it calls."""
    for path in sorted(SHARED.rglob("*")):
        if not path.is_file() or path.name in NOT_TRACES or "schemas" in path.parts:
            continue
        for index, lines in enumerate(_list_units(path.read_bytes())):
            records = [record for record in read(b"\n".join(lines)) if isinstance(record, Trace)]
            for name in list(dict.fromkeys(name for record in records for name in _list_called(record)))[:NAMES]:
                without = {(one.scenario_id, one.trial) for one in records if name not in _list_called(one)}
                callers = {(one.scenario_id, one.trial) for one in records} - without
                yield Recording(f"{path.relative_to(SHARED)}#{index}", tuple(lines), name, frozenset(callers))


def _list_called(trace: Trace) -> list[str]:
    return [call["name"] for call in trace.tool_calls if call["requestor"] == "assistant"]


def _list_units(content: bytes) -> list[list[bytes]]:
    """The lines of a file; of a large file some of its conversations, each by itself."""
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        lines = [line for line in content.splitlines() if line.strip()]
        try:
            for line in lines:
                orjson.loads(line)
        except orjson.JSONDecodeError:
            return []
        return [lines]
    if len(content) < LARGE:
        return [[orjson.dumps(document)]]
    if isinstance(document, list):
        return [[orjson.dumps([each])] for each in document[:: max(1, len(document) // PARTS)]]
    runs = document["simulations"]
    return [[orjson.dumps({**document, "simulations": [each]})] for each in runs[:: max(1, len(runs) // PARTS)]]
