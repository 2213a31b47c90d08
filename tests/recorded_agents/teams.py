"""Agents that start other agents, the same for every framework: what each calls, and a log of what was called.

A program of `team_*.py` runs every shape that it is given, each as a scenario in one process.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalgate.recording import scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

FAIL = "fail"
"""In place of calls: the request to the model fails."""


def ask(name: str) -> tuple[str, dict[str, str]]:
    return f"ask_{name}", {"task": f"{name}, please"}


def look(path: str) -> tuple[str, dict[str, str]]:
    return "look", {"path": path}


def delete(path: str) -> tuple[str, dict[str, str]]:
    return "delete", {"path": path}


CLEANER: list[Any] = [[delete("prod")]]
SHAPES: dict[str, dict[str, list[Any]]] = {
    "delegate": {"planner": [[ask("cleaner")]], "cleaner": CLEANER},
    "nested": {
        "planner": [[ask("lead")], [look("end")]],
        "lead": [[look("a")], [ask("cleaner")]],
        "cleaner": CLEANER,
    },
    "parallel": {
        "planner": [[ask("left"), ask("right")]],
        "left": [[look("l")], [delete("l")]],
        "right": [[look("r")]],
    },
    "same_tool": {"planner": [[look("a")], [ask("reader")], [look("a")]], "reader": [[look("a")], [look("b")]]},
    "twice": {"planner": [[ask("cleaner")], [ask("cleaner")]], "cleaner": CLEANER},
    "twins": {"planner": [[ask("cleaner"), ask("cleaner")]], "cleaner": CLEANER},
    "fails": {"planner": [[ask("cleaner")], [look("a")]], "cleaner": [*CLEANER, FAIL]},
    "silent": {"planner": [[ask("writer")], [look("a")]], "writer": []},
    "deep": {
        "planner": [[ask("lead")], [look("end")]],
        "lead": [[ask("worker")], [look("lead")]],
        "worker": [[look("a")], [ask("cleaner")]],
        "cleaner": CLEANER,
    },
    "thread": {"planner": [[ask("cleaner")], [look("end")]], "cleaner": CLEANER},
    "process": {"planner": [[ask("cleaner")], [look("end")]], "cleaner": CLEANER},
    "handoff": {"planner": [[look("a")], [("transfer_to_cleaner", {})]], "cleaner": [*CLEANER, [look("b")]]},
    "transfer": {
        "planner": [[look("a")], [("transfer_to_agent", {"agent_name": "cleaner"})]],
        "cleaner": [*CLEANER, [look("b")]],
    },
}
"""The steps of each agent, by its name; the first one is asked by the user, and a step holds calls made at once."""
HANDOFF, TRANSFER, THREAD, PROCESS = "handoff", "transfer", "thread", "process"
"""TRANSFER is a handoff by the tool that Google's ADK has for it."""
ELSEWHERE = (THREAD, PROCESS)
"""Shapes whose other agents run in a thread or a process of their own, which know nothing of what started them."""
STREAMS = os.environ.get("TEAM_STREAMS") == "1"
"""Whether the frameworks ask for streams."""
TASK = "Tidy up."

_actor: ContextVar[str] = ContextVar("actor", default="root")
_log: list[Any] = []
_started: dict[str, int] = {}


def note(tool: str, **given: Any) -> str:
    """Logs a call of the agent that runs now."""
    _log.append([_actor.get(), tool, given])
    return f"{tool} done"


@contextmanager
def started(name: str) -> Iterator[None]:
    """What runs inside is another agent, started by the one that runs now."""
    path = f"{_actor.get()}/{name}"
    number = _started[path] = _started.get(path, 0) + 1
    token = _actor.set(path if number == 1 else f"{path}#{number}")
    try:
        yield
    finally:
        _actor.reset(token)


def tools_of(shape: str, name: str, run_agent: Callable[[str, str], Awaitable[str]]) -> list[Callable[..., Any]]:
    """The tools of one agent, as functions; `run_agent` runs an agent by its name with a task."""

    async def look(path: str) -> str:
        """Looks at a path."""
        return note("look", path=path)

    async def delete(path: str) -> str:
        """Deletes a path."""
        return note("delete", path=path)

    found: list[Callable[..., Any]] = [look, delete]
    asked = {call[0] for step in SHAPES[shape][name] if step != FAIL for call in step if call[0].startswith("ask_")}
    start = partial(_run_elsewhere, shape) if shape in ELSEWHERE else run_agent
    return found + [_make_ask(each.removeprefix("ask_"), start) for each in sorted(asked)]


def _make_ask(name: str, run_agent: Callable[[str, str], Awaitable[str]]) -> Callable[[str], Awaitable[str]]:
    async def ask(task: str) -> str:
        """Has another agent do a task."""
        note(f"ask_{name}", task=task)
        with started(name):
            try:
                return await run_agent(name, task)
            except Exception as error:  # noqa: BLE001 (each framework has its own error for a failed request)
                return f"failed: {type(error).__name__}"

    ask.__name__ = f"ask_{name}"
    return ask


def instructions(shape: str, name: str) -> str:
    """By these the fake provider knows which agent asks."""
    return f"You are {name} of {shape}."


RunShape = Callable[[str, str, str, str], Awaitable[str]]
"""Runs an agent of a shape, with the address of the provider and the task; returns its answer."""
_run_shape: list[RunShape] = []
_address: list[str] = []


async def _run_elsewhere(shape: str, name: str, task: str) -> str:
    loop, actor = asyncio.get_running_loop(), _actor.get()
    with ThreadPoolExecutor(1) as pool:
        run = _run_in_thread if shape == THREAD else _run_in_process
        return await loop.run_in_executor(pool, run, shape, name, task, actor)


def _run_in_thread(shape: str, name: str, task: str, actor: str) -> str:
    _actor.set(actor)
    return asyncio.run(_await(_run_shape[0](shape, _address[0], name, task)))


def _run_in_process(shape: str, name: str, task: str, actor: str) -> str:
    command = [sys.executable, sys.argv[0], "--agent", shape, name, task, actor]
    done = subprocess.run(command, env=os.environ | {"OPENAI_BASE_URL": _address[0]}, capture_output=True, check=True)
    ended = json.loads(done.stdout.splitlines()[-1])
    _log.extend(ended["log"])
    return str(ended["answer"])


def run_all(run_shape: RunShape, tracer: Any = None) -> None:
    """Runs the shapes of the command line, or one agent of one that another process started.

    Writes the truth of all as JSON to TRUTH, and what `tracer` collected of each to SPANS.
    """
    _run_shape.append(run_shape)
    if sys.argv[1] == "--agent":
        shape, name, task, actor = sys.argv[2:]
        _address.append(os.environ["OPENAI_BASE_URL"])
        answer = _run_in_thread(shape, name, task, actor)
        print(json.dumps({"answer": answer, "log": _log}))
        if tracer is not None:
            tracer.write(f"{shape}-{os.getpid()}")
        return
    truth = {}
    for shape in sys.argv[1:]:
        _log.clear()
        _started.clear()
        with scenario(shape, trial=0) as run:
            _address[:] = [run.openai_base_url or os.environ["OPENAI_BASE_URL"]]
            print(asyncio.run(_await(run_shape(shape, _address[0], next(iter(SHAPES[shape])), TASK))))
        truth[shape] = list(_log)
        if tracer is not None:
            tracer.write(shape)
    Path(os.environ["TRUTH"]).write_text(json.dumps(truth), encoding="utf-8")


async def _await(done: Awaitable[Any]) -> Any:
    return await done
