"""The example whose transcript is perfect and whose database is not: green on main, red on the pull request."""

from __future__ import annotations

import shlex
import shutil
import sys
from typing import TYPE_CHECKING, Any

from recording_runs import ROOT, environ, evalgate, record_command, trace_of

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = ROOT / "examples/order-state"
SUITE = "evals/orders.yaml"


def record(folder: Path, *words: str) -> list[tuple[Any, ...]]:
    """What the agent said and called, after it was recorded."""
    flags = ["--suite", SUITE, "--flush", "0", "--state", shlex.join([sys.executable, "dump_state.py"]), *words]
    assert record_command(folder, flags, (sys.executable, "agent.py"), environ(PYTHONPATH=str(ROOT))).code == 0
    messages = trace_of(folder, "orders/refund-one-of-two/0")["messages"]
    return [(each["role"], each.get("content"), each.get("tool_calls")) for each in messages]


def test_only_the_database_tells_the_versions_apart(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("traces", "*.db", "main"))
    said = record(tmp_path)
    assert len(said) == 4
    assert evalgate(tmp_path, "run", SUITE, "--output-dir", "main").code == 0
    assert record(tmp_path, "--env", "VERSION=pr") == said
    judged = evalgate(tmp_path, "run", SUITE, "--baseline", "main/baseline.zip", "--html", "report.html")
    cause = 'orders.B2.status changed from "shipped" to "refunded"'
    assert judged.code == 1
    assert judged.out.splitlines()[:2] == (EXAMPLE / "README.md").read_text().split("```text\n")[1].splitlines()[:2]
    assert cause in judged.out
    comment = (tmp_path / ".evalgate/comment.md").read_text()
    assert comment.index("` orders.B2.status ` changed from") < comment.index("<details>")
    assert "orders.B2.status" in (tmp_path / "report.html").read_text()
