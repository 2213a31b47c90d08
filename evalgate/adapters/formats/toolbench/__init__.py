"""ToolBench answers. Entry points: `TOOLBENCH`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format


def _claims_toolbench(value: Any) -> bool:
    answer = value.get("answer_generation") if isinstance(value, dict) else None
    if not isinstance(answer, dict):
        return False
    return isinstance(answer.get("train_messages"), list) or answer.get("valid_data") is False


TOOLBENCH = Format(
    name="toolbench",
    needs="an object with `answer_generation`",
    claims=_claims_toolbench,
    module="toolbench.reader",
)
