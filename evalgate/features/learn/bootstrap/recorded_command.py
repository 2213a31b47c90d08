"""The command that recorded an agent's traces, in a form that records each scenario of a suite."""

from __future__ import annotations

import posixpath
import re
import shlex
from typing import TYPE_CHECKING

from msgspec import Struct

from evalgate.models.trace.trace import AGENT_COMMAND, BASE_URLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalgate.models.trace.trace import Trace

_PLAIN_URL = re.compile(r"https://[A-Za-z0-9.-]+(?::[0-9]+)?(?:/[A-Za-z0-9._~-]+)*")
"""An address that is one word in YAML, and that GitHub does not evaluate."""
_INTERPRETER = re.compile(r"python[0-9.]*")


class AgentCommand(Struct, frozen=True):
    """What starts an agent, and the options of `record` before it that say what a trace has."""

    words: tuple[str, ...]
    options: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The command as a shell reads it."""
        return shlex.join(self.words)


def split_command(text: str) -> AgentCommand | None:
    """A command, after options and `--` if it has any; None for one that a shell could not read.

    >>> split_command("--state=./dump -- /p/.venv/bin/python3.12 agent.py")
    AgentCommand(words=('python', 'agent.py'), options=('--state=./dump',))
    """
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    at = words.index("--") + 1 if words and words[0].startswith("--") and "--" in words else 0
    if len(words) == at:
        return None
    return AgentCommand((_name_program(words[at]), *words[at + 1 :]), tuple(words[: max(0, at - 1)]))


def _name_program(program: str) -> str:
    """The program as another machine finds it: by its name, unless it is a file of the project."""
    name = posixpath.basename(program)
    if _INTERPRETER.fullmatch(name):
        return "python"
    return name if program.startswith("/") else program


def find_command(traces: Iterable[Trace], prompts: Mapping[str, str | None]) -> AgentCommand | None:
    """The one command that recorded all of these traces that name one; None without it.

    The request of a scenario, and then its id, become `{prompt}` and `{scenario}`. `prompts` are the requests that
    the suite names by scenario: if one has none, requests stay as they are.
    """
    recorded = [
        (trace.scenario_id, command)
        for trace in traces
        if isinstance(text := trace.metadata.get(AGENT_COMMAND), str) and (command := split_command(text)) is not None
    ]
    known = {} if None in prompts.values() else prompts
    by_prompt = {_fill(command, {known.get(id_ or ""): "{prompt}"}) for id_, command in recorded}
    if len(by_prompt) == 1:
        return by_prompt.pop()
    both = {_fill(command, {id_: "{scenario}", known.get(id_ or ""): "{prompt}"}) for id_, command in recorded}
    return both.pop() if len(both) == 1 else None


def _fill(command: AgentCommand, places: Mapping[str | None, str]) -> AgentCommand:
    """The command with places for the words that are values of one scenario."""
    program, *words = command.words
    return AgentCommand((program, *(places.get(word, word) for word in words)), command.options)


def list_base_urls(traces: Iterable[Trace]) -> dict[str, str | None]:
    """The providers that were not asked at their own default, each with the one address that is recorded, if one is."""
    found: dict[str, set[str]] = {}
    for trace in traces:
        text = trace.metadata.get(BASE_URLS)
        for place in text.split(",") if isinstance(text, str) else ():
            name, _, url = place.partition("=")
            found.setdefault(name, set()).add(url)
    return {name: _choose_url(urls) for name, urls in sorted(found.items())}


def _choose_url(urls: set[str]) -> str | None:
    url = urls.pop() if len(urls) == 1 else ""
    return url if _PLAIN_URL.fullmatch(url) else None


def list_providers(traces: Iterable[Trace]) -> Sequence[str]:
    """The providers of models that the traces name, each once."""
    return sorted({trace.provider for trace in traces if trace.provider is not None})
