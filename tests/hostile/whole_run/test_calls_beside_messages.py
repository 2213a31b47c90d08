"""A call that a log of Inspect or tau2 holds outside of its messages is not dropped silently."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import evalgate
from trace_table import RECORDINGS

from hostile.suite_edits import write

DENY = {"type": "forbidden_tools", "tools": ["erase_all"], "required": True}
SUITE = {"suite": "s", "traces": ["../traces/*"], "scenarios": [{"id": "*", "assertions": [DENY]}]}
CALL = {"name": "erase_all", "arguments": {"id": 1}}
LOGS = {"inspect": "samples", "tau2": "simulations"}


def find_log(form: str) -> tuple[dict[str, Any], str]:
    key = LOGS[form]
    logs = (json.loads(path.read_bytes()) for path in sorted(Path(RECORDINGS / form).rglob("*.json")))
    return next(log for log in logs if isinstance(log, dict) and log.get(key)), key


@pytest.mark.parametrize("form", LOGS)
@pytest.mark.parametrize("field", [{}, {"side": CALL}, {"side": {"steps": [CALL]}}], ids=["none", "field", "inside"])
def test_a_call_beside_the_messages_is_found(tmp_path, form, field):
    log, key = find_log(form)
    log[key][0] |= field
    write(tmp_path, {"evals/s.yaml": SUITE, "traces/log.json": log})
    ran = evalgate(tmp_path, ["evals/s.yaml"])
    assert ran.code == (1 if field else 0), ran.stdout
    assert ("erase_all" in ran.stdout) == bool(field)
