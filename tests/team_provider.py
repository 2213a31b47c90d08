"""A model for the teams of tests/recorded_agents/teams.py: it answers each agent with its next step."""

from __future__ import annotations

import itertools
import json
import re
import sys
from pathlib import Path
from typing import Any

from fakes.providers import Answer, FakeProviders

sys.path.append(str(Path(__file__).parent / "recorded_agents"))
from teams import FAIL, SHAPES

AGENT = re.compile(r"You are (\w+) of (\w+)\.")
CALL_ID = re.compile(r"(?:call|toolu)_(\w+)-(\d+)-\d+_\d+")


class TeamProvider(FakeProviders):
    """Answers by the agent that the instructions name, and by the ids of the calls that the request holds.

    An id names the agent and its step, so that a conversation that was handed over is understood.
    """

    def __init__(self) -> None:
        super().__init__()
        self._numbers = itertools.count()

    def choose_answer(self, api: str, body: dict[str, Any], text: str) -> Answer | None:
        """The next step of the agent; None, which is an error, where it fails."""
        del api, text
        asked = json.dumps(body)
        agent, shape = AGENT.findall(asked)[-1]
        steps = SHAPES[shape][agent]
        number = self.find_step(agent, asked)
        if number >= len(steps):
            return Answer(f"{agent} is done")
        return None if steps[number] == FAIL else Answer(None, tuple(steps[number]), self.make_key(agent, number))

    def find_step(self, agent: str, asked: str) -> int:
        """The step of an agent whose calls a request does not hold yet."""
        return max((int(step) for name, step in CALL_ID.findall(asked) if name == agent), default=-1) + 1

    def make_key(self, agent: str, number: int) -> str:
        """What the ids of the calls of a step begin with."""
        return f"{agent}-{number}-{next(self._numbers)}"
