"""The verb `skill`, which prints what a coding agent needs to know to work with EvalGate."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from evalgate.cli.command import Command

if TYPE_CHECKING:
    from argparse import Namespace

    from evalgate.cli.shell import Shell

TEXT = files("evalgate.features.coding_agent") / "templates" / "SKILL.md"


def print_skill(arguments: Namespace, shell: Shell) -> int:  # noqa: ARG001  every verb has the same form
    """Prints SKILL.md; returns 0."""
    shell.print_line(TEXT.read_text(encoding="utf-8").rstrip("\n"))
    return 0


COMMANDS = {
    "skill": Command(
        print_skill,
        [],
        """examples:
  evalgate skill                                            read it
  mkdir -p .claude/skills/evalgate && evalgate skill > .claude/skills/evalgate/SKILL.md
""",
    ),
}
