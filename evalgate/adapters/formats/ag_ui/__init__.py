"""AG-UI: the events that an agent sends to an interface. Entry points: `AG_UI`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, first_object

STARTS = {"RUN_STARTED": "runId", "TOOL_CALL_START": "toolCallName", "TEXT_MESSAGE_START": "messageId"}
"""Types of events that only AG-UI has, and a field of each."""


def _claims_ag_ui(value: Any) -> bool:
    first = first_object(value)
    kind = first.get("type")
    return isinstance(kind, str) and kind in STARTS and STARTS[kind] in first


AG_UI = Format(
    name="ag-ui",
    needs="events such as `RUN_STARTED` with `runId`",
    claims=_claims_ag_ui,
    module="ag_ui.reader",
    joins_lines=True,
)
