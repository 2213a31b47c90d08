"""Runs of several agents with real frameworks: what is recorded, and what the framework's tracer wrote, is what was called.

Each program logs the calls as its tools run. A proxy sees no names, so the recorder's actors are compared by what they
called; a tracer's by name where it knows agents. `LIMITS` are those of a tracer, which docs/traces.md names.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import pytest
from recording_runs import AGENTS, ROOT, SDKS, environ, record_command
from team_provider import SHAPES, TeamProvider

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.open.trace_files import TraceFiles

if TYPE_CHECKING:
    from pathlib import Path

    from evalgate.models.trace.trace import Trace

CONTENT = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_AND_EVENT"}
LANGSMITH = {"LANGSMITH_TRACING": "true", "LANGSMITH_TRACING_MODE": "otel", "LANGSMITH_API_KEY": "x"}
OPENINFERENCE = str(ROOT / ".sdks/openinference")
ADK = ROOT / ".examples/google-adk/.venv/bin/python"
OF_MODELS_ONLY = {shape: "calls" for shape in SHAPES if shape not in ("silent", "handoff")}
"""Spans of model calls alone: nothing says which agent asked."""
FRAMEWORKS: dict[str, Any] = {
    "openai_agents": {"path": OPENINFERENCE},
    "openai_agents with chat": {"program": "openai_agents", "path": OPENINFERENCE, "env": {"TEAM_API": "chat"}},
    "pydantic": {"without": ("handoff",)},
    "langgraph": {"env": LANGSMITH, "limits": {"same_tool": "calls"}},
    "plain": {"path": OPENINFERENCE, "limits": OF_MODELS_ONLY},
    "adk": {"python": ADK, "env": CONTENT, "without": ("handoff",)},
}
AT_ONCE = ("parallel", "twins")
"""Shapes in which agents work at the same time: their calls have no order, and which call started each is unknown."""
SAMPLE = {"pydantic": ["nested", "twins"]}
"""What `make test` runs: two runs of one process."""

Call = tuple[str | None, str, str]


def choices() -> list[Any]:
    whole = [pytest.param(name, None, marks=pytest.mark.matrix) for name in FRAMEWORKS]
    return [*(pytest.param(name, shapes, id=f"{name}-sample") for name, shapes in SAMPLE.items()), *whole]


@pytest.mark.parametrize(("name", "shapes"), choices())
def test_the_calls_of_all_agents_are_recorded_and_traced_as_they_ran(tmp_path, name, shapes):
    framework = FRAMEWORKS[name]
    python = framework.get("python", SDKS)
    if not python.exists():
        pytest.skip("`make sdks` and `make examples` install the frameworks")
    ran = shapes or [shape for shape in SHAPES if shape not in framework.get("without", ())]
    truth = run(tmp_path, framework, name, ran)
    limits = framework.get("limits", {})
    wrong = {}
    for shape in ran:
        called = [(actor, tool, encode(given)) for actor, tool, given in truth[shape]]
        trace = read(tmp_path, f"traces/{shape}/0.jsonl")
        require_end(trace, shape)
        recorded = list_calls(trace)
        traced = list_calls(read(tmp_path, f"spans/{shape}.json"))
        if by_agent(recorded) != by_agent(called) or not is_in_order(shape, recorded, called):
            wrong[shape, "record"] = (called, recorded)
        is_same = in_order if limits.get(shape) == "calls" else by_agent
        if count(is_same(traced)) != count(is_same(called)):
            wrong[shape, "tracer"] = (called, traced)
    assert wrong == {}


def run(folder: Path, framework: dict[str, Any], name: str, shapes: list[str]) -> dict[str, Any]:
    """Records a program that runs the shapes, and returns what it called in each."""
    (folder / "spans").mkdir()
    provider = TeamProvider()
    path = ":".join(filter(None, [framework.get("path"), str(ROOT), str(AGENTS)]))
    env = environ(TRUTH=str(folder / "truth.json"), SPANS=str(folder / "spans"), PYTHONPATH=path)
    program = str(AGENTS / f"team_{framework.get('program', name)}.py")
    command = (str(framework.get("python", SDKS)), program, *shapes)
    done = record_command(
        folder, ["--provider", f"openai={provider.url}/v1"], command, {**env, **framework.get("env", {})}
    )
    provider.close()
    assert done.code == 0, done
    found: dict[str, Any] = json.loads((folder / "truth.json").read_bytes())
    return found


def read(folder: Path, name: str) -> Trace:
    (trace,) = TraceFiles(Workspace(None, str(folder))).read([name], str(folder))
    return trace  # type: ignore[return-value]


def require_end(trace: Trace, shape: str) -> None:
    """Asserts the answer and the results of a recording, and that calls to ask an agent started the others."""
    assert trace.response["content"] == ("cleaner is done" if shape == "handoff" else "planner is done")
    assert all(call["result_text"] for call in trace.tool_calls)
    for call in trace.tool_calls:
        started_by = call.get("started_by")
        assert started_by is None or trace.tool_calls[started_by]["name"].startswith("ask_")
        assert started_by is not None or call.get("actor") == "root" or shape in AT_ONCE


def list_calls(trace: Trace) -> list[Call]:
    assert not trace.gaps
    return [(call.get("actor"), call["name"], encode(call["arguments"])) for call in trace.tool_calls]


def encode(arguments: Any) -> str:
    """Arguments as text; none at all and an empty object are the same."""
    return json.dumps(arguments or {}, sort_keys=True)


def in_order(calls: list[Call]) -> list[Any]:
    return [call[1:] for call in calls]


def by_agent(calls: list[Call]) -> list[Any]:
    """What each agent called, the main agent's marked: names and places of others are not compared."""
    found: dict[str | None, list[Any]] = defaultdict(list)
    for actor, *call in calls:
        found[actor].append(call)
    return sorted([actor == "root", sorted(made)] for actor, made in found.items())


def is_in_order(shape: str, recorded: list[Call], called: list[Call]) -> bool:
    """Whether calls have the order of time; those of agents at work at once have none."""
    return shape in AT_ONCE or in_order(recorded) == in_order(called)


def count(values: list[Any]) -> Counter[str]:
    return Counter(map(repr, values))
