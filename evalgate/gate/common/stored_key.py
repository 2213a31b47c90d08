"""How documents name the scenarios of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.redaction.redact import redact
from evalgate.models.comparison.comparison import ScenarioKey

if TYPE_CHECKING:
    from collections.abc import Container


def stored_key(key: ScenarioKey, baseline: Container[ScenarioKey]) -> ScenarioKey:
    """The key that a document has for a scenario: an id that reads like a secret stands redacted there."""
    if key in baseline:
        return key
    return ScenarioKey(redact(key.suite), redact(key.id), key.variant and redact(key.variant))
