"""One run of a team: what was called, what its recordings have of it, and in which order `show` prints it."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from in_process_command import evalgate
from msgspec import Struct, field

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


Call = tuple[str | None, str, str]
"""Who made it, the tool, and its arguments as text."""
SHOWN = re.compile(r"^ +call \d+ (\S+)", re.MULTILINE)
HARD_FAIL = 1


class Recording(Struct):
    """A recording of a run: its files below the folder of runs, and what it is compared in.

    `sees` is `agents`; `calls` where nothing says which agent made a call; `main` where it is incomplete and says so.
    """

    name: str
    path: str
    sees: str = "agents"


class Row(Struct):
    """A run: `calls` as they were made, how many each recording has, and what is wrong with one."""

    framework: str
    shape: str
    calls: list[Call]
    found: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


def check_run(folder: Path, row: Row, recordings: Sequence[Recording], forbidden: str, *, has_order: bool) -> Row:
    """Compares the recordings of a run with what it called, and judges each; returns the row with what is wrong.

    `has_order`: no two agents worked at once, so that the calls of all have an order.
    """
    must_stop = any(tool == forbidden for _, tool, _ in row.calls)
    for recording in recordings:
        traces = read(folder, recording.path)
        calls = [call for trace in traces for call in list_calls(trace)]
        row.found[recording.name] = len(calls)
        code = judge(folder, recording.path, forbidden)
        if recording.sees == "main":
            wrong = ["the gate is green"] if must_stop and code == 0 else []
        else:
            wrong = [*_compare(row, recording, calls), *_describe_gaps(traces)]
            wrong += [] if code == (HARD_FAIL if must_stop else 0) else [f"the gate ends with {code}"]
        if recording.sees == "agents":
            order = _list_tools(row.calls if has_order else calls)
            shown = SHOWN.findall(show(folder, recording.path))
            wrong += [] if shown == order else [f"show prints {' '.join(shown)}"]
        row.wrong += [f"{recording.name}: {each}" for each in wrong]
    return row


def _compare(row: Row, recording: Recording, calls: list[Call]) -> list[str]:
    view = _by_agent if recording.sees == "agents" else _by_call
    made, recorded = (Counter(map(repr, view(each))) for each in (row.calls, calls))
    return [f"lost {each}" for each in made - recorded] + [f"invented {each}" for each in recorded - made]


def _describe_gaps(traces: list[Trace]) -> list[str]:
    return [f"incomplete: {trace.gaps['calls']}" for trace in traces if "calls" in trace.gaps]


def _list_tools(calls: list[Call]) -> list[str]:
    return [tool for _, tool, _ in calls]


def _by_agent(calls: list[Call]) -> list[Any]:
    """What each agent called, in its order, the main agent's marked: names and places of others are not compared."""
    found: dict[str | None, list[Any]] = defaultdict(list)
    for actor, *call in calls:
        found[actor].append(call)
    return sorted([actor == "root", made] for actor, made in found.items())


def _by_call(calls: list[Call]) -> list[Any]:
    return [call[1:] for call in calls]


def read(folder: Path, path: str) -> list[Trace]:
    """The traces of a glob; AssertionError for one that can't be read."""
    found = list(TraceFiles(Workspace(None, str(folder))).read([path], str(folder)))
    unread = [each for each in found if not isinstance(each, Trace)]
    assert found, path
    assert not unread, unread
    return found  # type: ignore[return-value]


def list_calls(trace: Trace) -> list[Call]:
    """The calls of all agents of a trace."""
    return [(call.get("actor"), call["name"], encode(call["arguments"])) for call in trace.tool_calls]


def encode(arguments: Any) -> str:
    """Arguments as text; none at all and an empty object are the same."""
    return json.dumps(arguments or {}, sort_keys=True)


def show(folder: Path, path: str) -> str:
    """What `show` prints of a recording."""
    file = min(folder.glob(path))
    return evalgate("show", "--full", str(file), cwd=str(folder)).out


def judge(folder: Path, path: str, forbidden: str) -> int:
    """The exit code of a gate that forbids a tool to every agent of a recording."""
    check = {"type": "forbidden_tools", "tools": [forbidden], "required": True}
    scenario = {"id": "team", "match": {"path": path}, "assertions": [check]}
    suite = {"suite": "team", "traces": [path], "scenarios": [scenario]}
    (folder / "suite.yaml").write_text(json.dumps(suite), encoding="utf-8")
    return evalgate("run", "suite.yaml", "--no-baseline-zip", cwd=str(folder)).exit_code
