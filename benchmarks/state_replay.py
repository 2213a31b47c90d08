"""Run by state.py with the Python of an environment of tau2 or tau-bench: replays runs, and prints records that differ.

A line of JSON a run: its name, the benchmark's verdict on the database, and the database before the run, after it, and
as the task expects it, of which only records are printed that differ among the three, and some that don't.
"""

from __future__ import annotations

import json
import pickle
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

KEPT = 20
"""Records of each table that are printed although they are the same in all three."""


class Tau2Domain:
    """A domain of tau2."""

    def __init__(self, name: str) -> None:
        import_module("loguru").logger.remove()
        self._module = import_module(f"tau2.domains.{name}.environment")
        self._database = pickle.dumps(self._module.get_environment().tools.db)

    def replay(self, calls: Iterable[dict[str, Any]]) -> Any:
        """The database after these calls; one that the environment refuses changes nothing."""
        environment = self._module.get_environment(db=pickle.loads(self._database))  # noqa: S301  (our own bytes)
        for call in calls:
            with suppress(Exception):
                environment.make_tool_call(
                    call["name"], requestor=call.get("requestor") or "assistant", **call["arguments"]
                )
        return environment.tools.db.model_dump(mode="json")


class TauDomain:
    """A domain of tau-bench."""

    def __init__(self, name: str) -> None:
        tools = import_module(f"tau_bench.envs.{name}.tools").ALL_TOOLS
        self._tools = {tool.get_info()["function"]["name"]: tool for tool in tools}
        self._database = pickle.dumps(import_module(f"tau_bench.envs.{name}.data").load_data())

    def replay(self, calls: Iterable[dict[str, Any]]) -> Any:
        """The database after these calls; a call that fails may have changed something before."""
        database = pickle.loads(self._database)  # noqa: S301  (our own bytes)
        for call in calls:
            with suppress(Exception):
                self._tools[call["name"]].invoke(data=database, **call["arguments"])
        return database


def replay_runs(path: str) -> Iterator[dict[str, Any]]:
    """Yields each run whose database the benchmark judged."""
    document, name = json.loads(Path(path).read_text()), "airline" if "airline" in path else "retail"
    is_tau = isinstance(document, list)
    domain = TauDomain(name) if is_tau else Tau2Domain(name)
    before, expected = domain.replay([]), {}
    for run in list_tau_runs(document) if is_tau else list_tau2_runs(document, path):
        if run.task not in expected:
            expected[run.task] = domain.replay(run.expected)
        sides = keep_differing([before, domain.replay(run.calls), expected[run.task]])
        yield {"run": f"{Path(path).name}#{run.task}/{run.trial}", "match": run.match, "sides": sides}


class Run(NamedTuple):
    """A run, with the benchmark's verdict on its database and the calls that it expected."""

    task: Any
    trial: Any
    match: bool
    expected: list[dict[str, Any]]
    calls: list[dict[str, Any]]


def list_tau2_runs(document: Any, path: str) -> Iterator[Run]:
    """Yields the runs that have a verdict. The expected calls are recorded with it: a file may list other tasks."""
    tasks = {task["id"]: task for task in document["tasks"]}
    for run in document["simulations"]:
        reward, name = run.get("reward_info") or {}, run["task_id"]
        if reward.get("db_check") is None:
            continue
        if (tasks[name].get("initial_state") or {}).get("initialization_actions"):
            raise SystemExit(f"{path}: task {name} begins with a state of its own, which is not replayed")
        calls = [call for message in run["messages"] for call in message.get("tool_calls") or []]
        expected = [each["action"] for each in reward.get("action_checks") or []]
        yield Run(name, run.get("trial"), reward["db_check"]["db_match"], expected, calls)


def list_tau_runs(document: Any) -> Iterator[Run]:
    """Yields the runs that have a verdict.

    Where answers were judged too, only that is recorded: with all of them right, the reward is that of the database.
    """
    for run in document:
        reward = run["info"].get("reward_info") or {}
        judged = reward.get("info") or {}
        match = judged.get("r_actions", run["reward"] if judged.get("r_outputs") else None)
        if match is None:
            continue
        asked = [call["function"] for message in run["traj"] for call in message.get("tool_calls") or []]
        calls = [{"name": each["name"], "arguments": json.loads(each["arguments"])} for each in asked]
        expected = [{"name": each["name"], "arguments": each["kwargs"]} for each in reward["actions"]]
        yield Run(run["task_id"], run.get("trial"), match == 1, expected, calls)


def keep_differing(sides: Sequence[Any]) -> list[Any]:
    """The records in which the sides differ, and the first others of each table."""
    found: list[Any] = [{} for _ in sides]
    for table in sides[0]:
        rows = [side[table] for side in sides]
        names = sorted({name for each in rows for name in each})
        differing = {name for name in names if any(each.get(name) != rows[0].get(name) for each in rows)}
        kept = [*differing, *[name for name in names if name not in differing][:KEPT]]
        for side, each in zip(found, rows, strict=True):
            side[table] = {name: each[name] for name in sorted(kept) if name in each}
    return found


for file in sys.argv[1:]:
    for each in replay_runs(file):
        print(json.dumps(each))
