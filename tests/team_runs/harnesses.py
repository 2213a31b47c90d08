"""Teams of Claude Code and Codex themselves: what a model asked for, what `record` has of it, and their own files."""

from __future__ import annotations

import json
import re
import subprocess
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from fakes.providers import Answer
from recording_runs import ROOT, environ, record_command
from team_provider import AGENT, FAIL, SHAPES, TeamProvider

from team_runs.frameworks import AT_ONCE
from team_runs.rows import Call, Recording, Row, check_run, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

ELSEWHERE = ("thread", "process", "handoff", "transfer")
"""Shapes that make no difference, or have no like, where every agent is a conversation of one program."""
RAN = [shape for shape in SHAPES if shape not in ELSEWHERE]
TITLE = Answer("a title")
Asked = tuple[str, dict[str, Any]]


class HarnessProvider(TeamProvider):
    """Asks for the tools of a coding agent; `asked` are the calls of each run of an agent, in order of time."""

    api = ""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Call] = []

    def choose_answer(self, api: str, body: dict[str, Any], text: str) -> Answer | None:
        """The next step of the agent; a text for requests that only want a title."""
        del api, text
        asked = json.dumps(self.find_conversation(body))
        found = AGENT.search(asked)
        if found is None or not body.get("tools"):
            return TITLE
        agent, shape = found.groups()
        number, steps = self.find_step(agent, asked), self.list_steps(shape, agent)
        if number >= len(steps):
            return Answer(f"{agent} is done")
        if steps[number] == FAIL:
            return None
        calls = [self.translate(shape, asked, *call) for call in steps[number]]
        key = self.make_key(agent, number)
        begun = re.search(rf"{agent}-0-\d+", asked)
        actor = "root" if agent == "planner" else begun[0] if begun else key
        self.asked += [(actor, name.rpartition(".")[2], encode(given)) for name, given in calls]
        return Answer(None, tuple(calls), key)

    def find_conversation(self, body: dict[str, Any]) -> Any:
        """What the messages of a request are."""
        raise NotImplementedError

    def list_steps(self, shape: str, agent: str) -> list[Any]:
        """The steps of an agent as this harness takes them."""
        return SHAPES[shape][agent]

    def translate(self, shape: str, asked: str, tool: str, given: dict[str, str]) -> Asked:
        """A call of the harness, for one of a shape."""
        raise NotImplementedError


class ClaudeProvider(HarnessProvider):
    """For Claude Code: `look` is a command, `delete` writes a file."""

    def __init__(self, *, in_background: bool) -> None:
        super().__init__()
        self._more = {} if in_background else {"run_in_background": False}

    def find_conversation(self, body: dict[str, Any]) -> Any:
        """The messages, without instructions."""
        return body.get("messages", [])

    def translate(self, shape: str, asked: str, tool: str, given: dict[str, str]) -> Asked:
        """A call of `Agent`, `Bash` or `Write`."""
        if tool.startswith("ask_"):
            prompt = f"You are {tool.removeprefix('ask_')} of {shape}."
            return "Agent", {"description": "x", "prompt": prompt, "subagent_type": "general-purpose", **self._more}
        if tool == "delete":
            return "Write", {"file_path": f"{given['path']}.txt", "content": "gone"}
        return "Bash", {"command": f"echo {tool} {given['path']}", "description": "x"}


class CodexProvider(HarnessProvider):
    """For Codex: `look` is a command, `delete` opens an image; who starts an agent waits for it in its next step."""

    def find_conversation(self, body: dict[str, Any]) -> Any:
        """The items, without instructions."""
        return body.get("input", [])

    def list_steps(self, shape: str, agent: str) -> list[Any]:
        """The steps, each that starts agents followed by one that waits for all of them."""
        found = []
        for step in SHAPES[shape][agent]:
            started = sum(call[0].startswith("ask_") for call in step) if step != FAIL else 0
            found += [step, [("wait", {"back": str(back)}) for back in range(started, 0, -1)]][: 2 if started else 1]
        return found

    def translate(self, shape: str, asked: str, tool: str, given: dict[str, str]) -> Asked:
        """A call of `spawn_agent`, `wait_agent`, `exec_command` or `view_image`."""
        if tool.startswith("ask_"):
            return "multi_agent_v1.spawn_agent", {"message": f"You are {tool.removeprefix('ask_')} of {shape}."}
        if tool == "wait":
            started = re.findall(r'agent_id\\*":\s*\\*"([0-9a-f-]+)', asked)
            return "multi_agent_v1.wait_agent", {"targets": [started[-int(given["back"])]]}
        if tool == "delete":
            return "view_image", {"path": f"{given['path']}.png"}
        return "exec_command", {"cmd": f"echo {tool} {given['path']}"}


CLAUDE = next(
    ROOT.glob(".examples/claude-agent-sdk/.venv/lib/python3*/site-packages/claude_agent_sdk/_bundled/claude"), None
)
CODEX = next(ROOT.glob(".harnesses/node_modules/@openai/codex-*/vendor/*/bin/codex"), None)
CLAUDE_FLAGS = "--dangerously-skip-permissions --output-format stream-json --verbose"
CODEX_FLAGS = "--json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox -m gpt-fake"
CODEX_SETTINGS = (
    """-c model_provider='"fake"' -c agents.max_depth=4 -c model_providers.fake='{name="fake",env_key="OPENAI_API_KEY","""
    """wire_api="responses",base_url="'$OPENAI_BASE_URL'"}'"""
)
INNER = ("nested", "deep")
"""Shapes in which sub-agents start others: Claude Code's stream leaves out what these call, and says so."""


def run_claude(folder: Path, shape: str, *, in_background: bool = False) -> Row:
    """A run of Claude Code in an empty folder of its own."""
    provider = ClaudeProvider(in_background=in_background)
    _record(folder, f"{CLAUDE} -p {CLAUDE_FLAGS}", shape, ["--provider", f"anthropic={provider.url}"])
    provider.close()
    row = Row(f"Claude Code{', in the background' if in_background else ''}", shape, provider.asked)
    found = [Recording("record", RECORDED), Recording("session", "home/.claude/projects/*/*.jsonl")]
    found.append(Recording("stream", "stream.jsonl", "main" if shape in INNER else "agents"))
    return check_run(folder, row, found, "Write", has_order=not (in_background or shape in AT_ONCE))


def run_codex(folder: Path, shape: str) -> Row:
    """A run of Codex in an empty folder of its own; its stream has the main agent's calls only, and says so.

    An agent is at work while the one that started it asks its model whether to wait.
    """
    provider = CodexProvider()
    _record(folder, f"{CODEX} exec {CODEX_FLAGS} {CODEX_SETTINGS}", shape, ["--provider", f"openai={provider.url}/v1"])
    provider.close()
    found = [Recording("record", RECORDED), Recording("rollouts", "home/.codex/sessions/*/*/*/rollout-*.jsonl")]
    found.append(Recording("stream", "stream.jsonl", "main"))
    return check_run(folder, Row("Codex", shape, provider.asked), found, "view_image", has_order=False)


RECORDED = "traces/team/0.jsonl"


def _record(folder: Path, program: str, shape: str, flags: Sequence[str]) -> None:
    (folder / "work").mkdir()
    (folder / "home/.codex").mkdir(parents=True)
    line = f'cd {folder}/work && exec {program} "You are planner of {shape}." < /dev/null > ../stream.jsonl'
    more = {
        "IS_SANDBOX": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CODEX_HOME": str(folder / "home/.codex"),
    }
    env = environ(HOME=str(folder / "home"), **more)
    done = record_command(folder, [*flags, "--scenario", "team"], ("sh", "-c", line), env)
    assert done.code == 0, done


def find_version(program: Path) -> str:
    """The version that a harness says it has."""
    done = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=True)
    return re.sub(r"[^\d.]", "", done.stdout)


class Harness(NamedTuple):
    """A coding agent: its program, None if it is not installed, and what runs a shape."""

    program: Path | None
    run: Callable[[Path, str], Row]


HARNESSES = {
    "Claude Code": Harness(CLAUDE, run_claude),
    "Claude Code, in the background": Harness(CLAUDE, partial(run_claude, in_background=True)),
    "Codex": Harness(CODEX, run_codex),
}
