"""Teams of frameworks whose programs are tests/recorded_agents/team_*.py; each logs the calls as its tools run."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from msgspec import Struct, field
from recording_runs import AGENTS, ROOT, SDKS, environ, record_command
from team_provider import SHAPES, TeamProvider
from teams import ELSEWHERE, TRANSFER

from team_runs.rows import Recording, Row, check_run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

OPENINFERENCE = str(ROOT / ".sdks/openinference")
CONTENT = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_AND_EVENT"}
LANGSMITH = {"LANGSMITH_TRACING": "true", "LANGSMITH_TRACING_MODE": "otel", "LANGSMITH_API_KEY": "x"}
STREAMS = {"TEAM_STREAMS": "1"}
ADK = ROOT / ".examples/google-adk/.venv/bin/python"
AT_ONCE = ("parallel", "twins")
"""Shapes in which agents work at the same time: their calls have no order, and which call started each is unknown."""
FORBIDDEN = "delete"
OF_MODELS_ONLY = {shape: "calls" for shape in SHAPES if shape not in ("silent", "handoff")}
"""Spans of model calls alone: nothing says which agent asked."""
NO_TRACER = "none"


class Framework(Struct):
    """A framework: its program and packages, the shapes it has no way to do, and what its tracer does not see.

    `package` is the one whose version counts; `sees` says of a shape what its tracer sees, if not all agents: NO_TRACER
    where it does not say enough to compare.
    """

    program: str
    package: str
    python: Path = SDKS
    path: str = ""
    env: dict[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    sees: dict[str, str] = field(default_factory=dict)

    @property
    def shapes(self) -> list[str]:
        """The shapes that it runs."""
        return [shape for shape in SHAPES if shape not in self.without and (shape != TRANSFER or self.program == "adk")]


FRAMEWORKS = {
    "OpenAI Agents SDK": Framework("openai_agents", "openai-agents", path=OPENINFERENCE),
    "OpenAI Agents SDK, chat": Framework(
        "openai_agents", "openai-agents", path=OPENINFERENCE, env={"TEAM_API": "chat"}
    ),
    "OpenAI Agents SDK, streams": Framework("openai_agents", "openai-agents", path=OPENINFERENCE, env=STREAMS),
    "Pydantic AI": Framework("pydantic", "pydantic-ai-slim", without=("handoff",)),
    "Pydantic AI, streams": Framework(  # the span of a stream that failed says neither so nor what came
        "pydantic", "pydantic-ai-slim", env=STREAMS, without=("handoff",), sees={"fails": NO_TRACER}
    ),
    "LangGraph": Framework("langgraph", "langgraph", env=LANGSMITH, sees={"same_tool": "calls"}),
    "LangGraph, streams": Framework("langgraph", "langgraph", env=LANGSMITH | STREAMS, sees={"same_tool": "calls"}),
    "OpenAI SDK": Framework(  # without an agent's span each model call elsewhere is a trace, with what was called before
        "plain", "openai", path=OPENINFERENCE, sees=OF_MODELS_ONLY | dict.fromkeys(ELSEWHERE, NO_TRACER)
    ),
    "Google ADK": Framework("adk", "google-adk", python=ADK, env=CONTENT, without=("handoff",)),
    "Google ADK, streams": Framework("adk", "google-adk", python=ADK, env=CONTENT | STREAMS, without=("handoff",)),
}
"""By the name that the table has."""


def run_framework(folder: Path, name: str, shapes: Sequence[str] = ()) -> list[Row]:
    """Records the shapes in one process and checks each; AssertionError if the recording fails."""
    framework = FRAMEWORKS[name]
    ran = [*(shapes or framework.shapes)]
    truth = _record(folder, framework, ran)
    rows = []
    for shape in ran:
        calls = [(actor, tool, json.dumps(given or {}, sort_keys=True)) for actor, tool, given in truth[shape]]
        sees = framework.sees.get(shape, "calls" if shape in ELSEWHERE else "agents")
        of_proxy = "calls" if shape == TRANSFER else "agents"  # each agent has a conversation of its own there
        found = [
            Recording("record", f"traces/{shape}/0.jsonl", of_proxy),
            Recording("tracer", f"spans/{shape}*.json", sees),
        ]
        found = found[: 1 if sees == NO_TRACER else 2]
        rows.append(check_run(folder, Row(name, shape, calls), found, FORBIDDEN, has_order=shape not in AT_ONCE))
    return rows


def find_version(name: str) -> str:
    """The version of a framework's package as it is installed."""
    framework = FRAMEWORKS[name]
    asked = f"import importlib.metadata as m; print(m.version({framework.package!r}))"
    done = subprocess.run([str(framework.python), "-c", asked], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _record(folder: Path, framework: Framework, shapes: Sequence[str]) -> dict[str, list[list[str]]]:
    """Records a program that runs the shapes, and returns what it called in each."""
    (folder / "spans").mkdir()
    provider = TeamProvider()
    path = ":".join(filter(None, [framework.path, str(ROOT), str(AGENTS)]))
    env = environ(TRUTH=str(folder / "truth.json"), SPANS=str(folder / "spans"), PYTHONPATH=path)
    command = (str(framework.python), str(AGENTS / f"team_{framework.program}.py"), *shapes)
    done = record_command(folder, ["--provider", f"openai={provider.url}/v1"], command, {**env, **framework.env})
    provider.close()
    assert done.code == 0, done
    found: dict[str, list[list[str]]] = json.loads((folder / "truth.json").read_bytes())
    return found
