"""A repository with an agent's traces and a suite on them, and the runs that judge it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from fakes.hub import FakeHub

BOT = "github-actions[bot]"
SUITE = """\
version: 1
suite: support
traces: ["../traces/*.json"]
scenarios:
  - id: refund
    assertions:
      - {type: tool_called, tool: lookup_order, required: true}
      - {type: output_contains, value: refunded}
"""
FORK = 2002


def trace(*, tool: str = "lookup_order", content: str = "refunded") -> dict[str, Any]:
    call = {"id": "c1", "name": tool, "arguments": {"id": 42}}
    return {
        "schema": "evalgate.trace/1",
        "scenario_id": "refund",
        "messages": [
            {"role": "user", "content": "refund me"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "found"},
            {"role": "assistant", "content": content},
        ],
    }


def write_trace(workspace: Path, document: dict[str, Any]) -> None:
    """Writes the agent's trace."""
    (workspace / "traces/refund.json").write_text(json.dumps(document))


def make_workspace(folder: Path) -> Path:
    """A checkout with suite and trace."""
    (folder / "evals").mkdir(parents=True)
    (folder / "traces").mkdir()
    (folder / "evals/support.yaml").write_text(SUITE)
    write_trace(folder, trace())
    return folder


def current(hub: FakeHub) -> dict[str, Any]:
    """The run that uploads belong to."""
    return next(run for run in hub.state["runs"] if run["id"] == hub.state["runtime"]["run_id"])


def on_main(hub: FakeHub, event: str = "push") -> None:
    """The current run is one on main, by default of a push."""
    main = hub.state["refs"]["refs/heads/main"]
    current(hub).update(event=event, head_branch="main", head_sha=main, pulls=[])


def next_run(hub: FakeHub, conclusion: str, **other: Any) -> None:
    """The current run ends and another begins, by default a pull request's."""
    before = current(hub)
    before.update(status="completed", conclusion=conclusion)
    after = {**before, "id": before["id"] + 1, "status": "in_progress", "conclusion": None}
    after.update({"event": "pull_request", "head_branch": "feature/x", "pulls": [7], **other})
    hub.state["runs"].append(after)
    hub.state["runtime"]["run_id"] = after["id"]


def own_comments(hub: FakeHub) -> list[str]:
    """The bodies of the Action's comments."""
    return [comment["body"] for comment in hub.comments_of(BOT)]


def without_origin(comment: str) -> str:
    """A comment without its second line, which names the step that posted it."""
    marker, origin, report = comment.split("\n", 2)
    assert origin.startswith("<!-- evalgate:origin v1 ")
    return f"{marker}\n{report}"
