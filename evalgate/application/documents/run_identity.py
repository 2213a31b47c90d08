"""What makes two finished runs the same run."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from evalgate.models.results.results import ResultsDoc

COUNTED = ("commit", "verdict", "exit_code", "report_only", "summary", "suites", "removed", "unclaimed")
"""Fields that identify a run: not its creation time, nor the age of its baseline or approvals."""
ID_LENGTH = 32


def run_identity(results: ResultsDoc, run_id: str | None) -> str:
    """A hash of results and workflow run id, so that the same results are stored only once."""
    counted = {name: dict(results)[name] for name in COUNTED}
    content = orjson.dumps([run_id, counted], default=list, option=orjson.OPT_SORT_KEYS)  # `list` for trials
    return hashlib.sha256(content).hexdigest()[:ID_LENGTH]
