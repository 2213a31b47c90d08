"""Claude Code itself with sub-agents: its requests, its session files and its stream hold the calls that were asked for."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from fakes.providers import Answer
from integration.record.test_teams import by_agent, encode, list_calls, read
from recording_runs import ROOT, environ, record_command
from team_provider import AGENT, FAIL, SHAPES, TeamProvider

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = next(
    ROOT.glob(".examples/claude-agent-sdk/.venv/lib/python3*/site-packages/claude_agent_sdk/_bundled/claude"), None
)
FLAGS = "--dangerously-skip-permissions --output-format stream-json --verbose"
RAN = [shape for shape in SHAPES if shape != "handoff"]


class Provider(TeamProvider):
    """Asks for Claude Code's own tools; `asked` are the calls of each agent."""

    def __init__(self, *, in_background: bool) -> None:
        super().__init__()
        self.asked: list[Any] = []
        self._more = {} if in_background else {"run_in_background": False}

    def choose_answer(self, api: str, body: dict[str, Any], text: str) -> Answer | None:
        """The next step of the agent; a text for requests that only want a title."""
        found = AGENT.search(json.dumps(body.get("messages", [])))
        if found is None or not body.get("tools"):
            return Answer("a title")
        agent, shape = found.groups()
        number = self.find_step(agent, json.dumps(body["messages"]))
        steps = SHAPES[shape][agent]
        if number >= len(steps) or steps[number] == FAIL:
            return None if number < len(steps) else Answer(f"{agent} is done")
        calls = [self._translate(shape, *call) for call in steps[number]]
        self.asked += [(agent, *call) for call in calls]
        return Answer(None, tuple(calls), self.make_key(agent, number))

    def _translate(self, shape: str, tool: str, given: dict[str, str]) -> tuple[str, dict[str, Any]]:
        if tool.startswith("ask_"):
            prompt = f"You are {tool.removeprefix('ask_')} of {shape}."
            return "Agent", {"description": "x", "prompt": prompt, "subagent_type": "general-purpose", **self._more}
        return "Bash", {"command": f"echo {tool} {given['path']}", "description": "x"}


@pytest.mark.matrix
@pytest.mark.skipif(PROGRAM is None, reason="`make examples` installs Claude Code with the Claude Agent SDK")
@pytest.mark.parametrize("in_background", [False, True])
@pytest.mark.parametrize("shape", RAN)
def test_claude_code_is_recorded_and_read_as_it_ran(tmp_path: Path, shape: str, in_background: bool) -> None:
    provider = Provider(in_background=in_background)
    (tmp_path / "work").mkdir()
    line = (
        f'cd {tmp_path}/work && exec {PROGRAM} -p {FLAGS} "You are planner of {shape}." < /dev/null > ../stream.jsonl'
    )
    env = environ(HOME=str(tmp_path / "home"), IS_SANDBOX="1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1")
    words = ["--provider", f"anthropic={provider.url}", "--scenario", "refund"]
    done = record_command(tmp_path, words, ("sh", "-c", line), env)
    provider.close()
    assert done.code == 0, done
    asked = Counter((name, encode(given)) for _, name, given in provider.asked)
    recorded, session = (
        list_calls(read(tmp_path, path)) for path in ("traces/refund/0.jsonl", "home/.claude/projects/*/*.jsonl")
    )
    assert Counter((name, given) for _, name, given in recorded) == asked
    assert by_agent(session) == by_agent(recorded)
    of_root = Counter((name, encode(given)) for agent, name, given in provider.asked if agent == "planner")
    assert Counter((name, given) for actor, name, given in session if actor == "root") == of_root
    if shape != "nested":  # the stream leaves out what a sub-agent's sub-agent calls, and its evidence says so
        assert by_agent(list_calls(read(tmp_path, "stream.jsonl"))) == by_agent(recorded)
