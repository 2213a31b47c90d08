"""Run by state.py with the Python of tau2's environment: replays runs, and prints the records that differ.

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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

KEPT = 20
"""Records of each table that are printed although they are the same in all three."""


class Domain:
    """A domain of tau2, whose name is in that of the file."""

    def __init__(self, path: str) -> None:
        import_module("loguru").logger.remove()
        name = "airline" if "airline" in path else "retail"
        self._module = import_module(f"tau2.domains.{name}.environment")
        self._database = pickle.dumps(self._module.get_environment().tools.db)

    def replay(self, calls: Sequence[dict[str, Any]]) -> Any:
        """The database after these calls; one that the environment refuses changes nothing."""
        environment = self._module.get_environment(db=pickle.loads(self._database))  # noqa: S301  (our own bytes)
        for call in calls:
            with suppress(Exception):
                environment.make_tool_call(
                    call["name"], requestor=call.get("requestor") or "assistant", **call["arguments"]
                )
        return environment.tools.db.model_dump(mode="json")


def replay_runs(path: str) -> Iterator[dict[str, Any]]:
    """Yields each run whose database the benchmark judged, with the actions that it expected of this run.

    They are recorded with the verdict: one file lists other tasks than those that were run.
    """
    document = json.loads(Path(path).read_text())
    domain, expected = Domain(path), {}
    tasks = {task["id"]: task for task in document["tasks"]}
    before = domain.replay([])
    for run in document["simulations"]:
        reward = run.get("reward_info") or {}
        if reward.get("db_check") is None:
            continue
        name = run["task_id"]
        if (tasks[name].get("initial_state") or {}).get("initialization_actions"):
            raise SystemExit(f"{path}: task {name} begins with a state of its own, which is not replayed")
        if name not in expected:
            expected[name] = domain.replay([each["action"] for each in reward.get("action_checks") or []])
        calls = [call for message in run["messages"] for call in message.get("tool_calls") or []]
        sides = keep_differing([before, domain.replay(calls), expected[name]])
        shown = f"{Path(path).name}#{name}/{run.get('trial')}"
        yield {"run": shown, "match": reward["db_check"]["db_match"], "sides": sides}


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
