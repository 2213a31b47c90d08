"""Finds the key under which a baseline document has a scenario of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.redaction.redact import redact
from evalgate.models.comparison.comparison import ScenarioKey

if TYPE_CHECKING:
    from collections.abc import Container


def find_baseline_key(key: ScenarioKey, baseline: Container[ScenarioKey]) -> ScenarioKey:
    """The key of a scenario in the baseline: an id that looks like a secret was redacted there."""
    if key in baseline:
        return key
    return ScenarioKey(redact(key.suite), redact(key.id), key.variant and redact(key.variant))
