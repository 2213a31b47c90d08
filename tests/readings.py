"""What is read from documents of each format, as `tests/readings/<format>.jsonl` keeps it: a line a case."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from documents import ROOT

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.writers import get_writer
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

if TYPE_CHECKING:
    from pathlib import Path

    from evalgate.models.trace.trace import TraceRecord

READINGS = ROOT / "tests" / "readings"
VALUES = frozenset({"arguments", "result", "metadata", "tool_definitions"})
"""Fields of a trace with free values, which are kept as they are."""


def read_documents(form: str, documents: list[Any]) -> list[dict[str, Any]]:
    """The traces of a file with these documents, each as a native trace; of a damaged one, why it is refused.

    `identified` is what is known of the record even if it is damaged: scenario id and trial.
    """
    known = detect.find_format(form)
    assert known is not None
    try:
        records = known.reader.split(documents if known.joins_lines else documents[0])
    except TraceError as error:
        return [{"refused": str(error)}]
    numbers = range(len(records)) if len(records) > 1 else [None]
    found = []
    for number, record in zip(numbers, records, strict=True):
        location = TraceLocation("trace.json", form, None, number)
        found.append(describe(read_record(known.reader, record, location, "trace.json")))
        identity = known.reader.identify(record)
        if identity != (None, None):
            found[-1]["identified"] = list(identity)
    return found


def describe(found: TraceRecord) -> dict[str, Any]:
    """A trace as a native document without fields that are unknown."""
    if isinstance(found, DamagedTrace):
        return {"refused": found.reason, "scenario_id": found.scenario_id, "trial": found.trial}
    document = get_writer("native")(found)
    return {key: _drop_unknown(value) for key, value in document.items() if key not in {"schema", "source"}}


def load_cases(path: Path) -> list[dict[str, Any]]:
    """The cases of one format."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_cases(path: Path, cases: list[dict[str, Any]]) -> None:
    """Writes the cases of one format."""
    lines = [json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in cases]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _drop_unknown(value: Any) -> Any:
    if isinstance(value, list):
        return [_drop_unknown(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: each if key in VALUES else _drop_unknown(each)
        for key, each in value.items()
        if key == "arguments" or each not in (None, [], {})
    }
