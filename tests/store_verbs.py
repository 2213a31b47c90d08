"""The verbs over a store, called in this process at a fixed time."""

from __future__ import annotations

import json
from io import StringIO
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from evalgate.cli import main
from evalgate.cli.shell import Shell

if TYPE_CHECKING:
    from pathlib import Path

NOW = "1767220849"  # 2025-12-31T22:40:49Z


class CommandResult(NamedTuple):
    """A command's exit code and output."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Verbs:
    """`verbs("goldens", "list")`, in one folder and on one store."""

    def __init__(self, folder: Path, store_url: str) -> None:
        self.folder = folder
        self.environ = {"SOURCE_DATE_EPOCH": NOW, "EVALGATE_STORE_URL": store_url}

    def __call__(self, *words: str, code: int = 0, **environ: str) -> CommandResult:
        out, err = StringIO(), StringIO()
        exit_code = main(words, Shell(out, err, {**self.environ, **environ}, str(self.folder)))
        result = CommandResult(exit_code, out.getvalue(), err.getvalue())
        assert exit_code == code, result
        return result


@pytest.fixture
def verbs(tmp_path: Path, store_url: str) -> Verbs:
    """The verbs, once on SQLite and once on PostgreSQL."""
    folder = tmp_path / "work"
    folder.mkdir()
    return Verbs(folder, store_url)
