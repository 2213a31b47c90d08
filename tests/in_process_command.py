"""Runs the command in this process: what a shell would see, without starting another interpreter."""

from __future__ import annotations

from io import StringIO
from typing import NamedTuple

from documents import ROOT

from evalgate.cli import main
from evalgate.cli.shell import Shell


class CommandResult(NamedTuple):
    """A command's exit code and output."""

    exit_code: int
    out: str
    err: str


def evalgate(*arguments: str, cwd: str = str(ROOT)) -> CommandResult:
    """Runs one command, in the project's folder unless another is given."""
    shell = Shell(out=StringIO(), err=StringIO(), environ={}, cwd=cwd)
    code = main(arguments, shell)
    return CommandResult(code, shell.out.getvalue(), shell.err.getvalue())
