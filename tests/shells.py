"""The command in this very process: as a shell would see it, without the start-up of another interpreter."""

from __future__ import annotations

from io import StringIO
from typing import NamedTuple

from documents import ROOT

from evalgate.cli import main
from evalgate.cli.shell import Shell


class Ended(NamedTuple):
    """What a command left behind."""

    exit_code: int
    out: str
    err: str


def evalgate(*arguments: str) -> Ended:
    """Runs one command in the project's folder."""
    shell = Shell(out=StringIO(), err=StringIO(), environ={}, cwd=str(ROOT))
    code = main(arguments, shell)
    return Ended(code, shell.out.getvalue(), shell.err.getvalue())
