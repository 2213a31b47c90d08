"""Calls `evalgate run` in this process and one folder, at a fixed time; tests/integration/cli starts processes."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.cli import main
from evalgate.cli.shell import Shell

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NOW = "1800000000"
WRONG_INPUT = 2


class CommandResult(NamedTuple):
    """The command's exit code and output, and its output folder."""

    code: int
    stdout: str
    stderr: str
    folder: Path
    arguments: list[str]

    @property
    def results(self) -> dict[str, Any]:
        """The run's results.json; for wrong input, which writes no files, the document that `--json` prints."""
        if self.code == WRONG_INPUT:
            content = evalgate(self.folder.parent, [*self.arguments, "--json"]).stdout.encode()
        else:
            content = (self.folder / "results.json").read_bytes()
        loaded: dict[str, Any] = json.loads(content)
        return loaded

    def text(self, name: str) -> str:
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""


def evalgate(
    folder: Path, arguments: list[str], *, now: str = NOW, environ: Mapping[str, str] | None = None
) -> CommandResult:
    """Runs `evalgate run` with the arguments, in the folder."""
    out, err = io.StringIO(), io.StringIO()
    code = main(["run", *arguments], Shell(out, err, {"SOURCE_DATE_EPOCH": now, **(environ or {})}, str(folder)))
    return CommandResult(code, out.getvalue(), err.getvalue(), folder / ".evalgate", arguments)
