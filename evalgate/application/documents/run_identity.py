"""What makes two finished runs the same run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import to_builtins

if TYPE_CHECKING:
    from evalgate.models.results.results import ResultsDoc

COUNTED = ("commit", "verdict", "exit_code", "report_only", "summary", "suites", "removed", "unclaimed")
"""Fields that identify a run: not its creation time, nor the age of its baseline or approvals."""
ID_LENGTH = 32


def run_identity(results: ResultsDoc, run_id: str | None) -> str:
    """A hash of results and workflow run id, so that the same results are stored only once."""
    counted = {name: dict(results)[name] for name in COUNTED}
    content = orjson.dumps([run_id, counted], default=_to_plain, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(content).hexdigest()[:ID_LENGTH]


def _to_plain(value: object) -> Any:
    """Stored trials as a list, a record as its fields."""
    return list(value) if isinstance(value, Sequence) else to_builtins(value)
