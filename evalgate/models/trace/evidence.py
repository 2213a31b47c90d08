"""Evidence: what a trace holds that assertions can be judged by, and which of it may be incomplete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

EvidenceKind = Literal["messages", "calls", "arguments", "results", "usage", "cost", "times", "errors"]
EvidenceState = Literal["complete", "partial", "missing"]
KINDS: tuple[EvidenceKind, ...] = get_args(EvidenceKind)

NO_GAPS: Mapping[EvidenceKind, str] = {}
"""The gaps of a trace are the kinds of evidence that may be incomplete, each with the reason."""
