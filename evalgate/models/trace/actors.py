"""Who acted in a trace: the main agent is `root`, one that it started has a path of names below it.

An agent that takes over the main conversation (a handoff) is `root` too; its recorded name tells it apart.
"""

from __future__ import annotations

from collections import Counter

ROOT = "root"
UNNAMED = "agent"
"""The name in the path of an agent whose name is not recorded."""
HELPER = "helper#"
"""Begins the actor of a model call that only gives an answer a structure: what it asks for was not executed."""
MAX_NAME = 60
"""Characters of a name in a path."""


class ActorPaths:
    """Gives each agent of a trace a path of its own.

    >>> paths = ActorPaths()
    >>> paths.add(ROOT, "cleaner"), paths.add(ROOT, "cleaner"), paths.add("root/cleaner", None)
    ('root/cleaner', 'root/cleaner#2', 'root/cleaner/agent')
    """

    def __init__(self) -> None:
        self._counts = Counter[str]()

    def add(self, starter: str, name: str | None) -> str:
        """The path of the next agent of this name that the actor `starter` started."""
        path = f"{starter}/{_clean_name(name or UNNAMED)}"
        self._counts[path] += 1
        count = self._counts[path]
        return path if count == 1 else f"{path}#{count}"


def _clean_name(name: str) -> str:
    """A name without the signs that separate the parts of a path."""
    return name[:MAX_NAME].replace("/", "_").replace("#", "_")


def is_helper(actor: str | None) -> bool:
    """Whether it is a model call for a structure of the answer, whose calls nothing executes."""
    return actor is not None and actor.startswith(HELPER)
