"""The suite that `init` writes from an agent's first recordings finds another flight and another address."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from evalgate.cli import main
from evalgate.cli.shell import Shell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def evalgate(folder: Path, *words: str) -> tuple[int, str]:
    out = io.StringIO()
    code = main(words, Shell(out, io.StringIO(), {}, str(folder), None))
    return code, " ".join(out.getvalue().split())


def another_address(line: str) -> str:
    """The record with another recipient of the mail."""
    record = json.loads(line)
    for each in [*record["messages"], record]:
        for call in each.get("tool_calls", []):
            if call["name"] == "send_mail":
                call["arguments"]["to"] = "eve@example.org"
    return json.dumps(record)


@pytest.mark.parametrize(
    ("source", "change", "reason"),
    [
        ("traces-wrongarg", str, 'flight_id "TP534" comes from nowhere'),
        ("traces-main", another_address, 'to "eve@example.org" comes from nowhere'),
    ],
)
def test_it_is_found(source: str, change: Callable[[str], str], reason: str, tmp_path: Path, shared: Path) -> None:
    recordings = shared / "cases/first-hour"
    for folder, origin, edit in (("main", recordings / "traces-main", str), ("changed", recordings / source, change)):
        for path in origin.rglob("*.jsonl"):
            place = tmp_path / folder / path.relative_to(origin)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("".join(f"{edit(line)}\n" for line in path.read_text().splitlines()))
    assert evalgate(tmp_path, "init", "main", "--out", "evals/travel.yaml")[0] == 0
    assert evalgate(tmp_path, "run", "evals/travel.yaml")[0] == 0
    code, found = evalgate(
        tmp_path, "run", "evals/travel.yaml", "--traces", "changed/**/*.jsonl", "--output-dir", "out"
    )
    assert code == 1
    assert reason in found
