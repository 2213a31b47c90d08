"""Agents that another one started and of which nothing inside is recorded, such as those of a remote service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from evalgate.measures.text.globs import matches_id
from evalgate.measures.values.json_values import mark_name
from evalgate.models.trace.actors import ROOT
from evalgate.models.trace.trace import OPAQUE, OPAQUE_START

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace

MOST_NAMED = 3


def list_opaque(trace: Trace) -> list[str]:
    """The names of the agents, each once."""
    named = (warning["where"] for warning in trace.warnings if warning["code"] == OPAQUE)
    return list(dict.fromkeys(name for name in named if name is not None))


def describe_opaque(names: Sequence[str]) -> str:
    """The gap in the calls that such agents are."""
    shown = ", ".join(mark_name(name) for name in names[:MOST_NAMED])
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    advice = "record its model calls and tools too, or list it in `opaque` if they can't be"
    return f"{OPAQUE_START}the agent {shown}{more} did: {advice}"


def allow_opaque(trace: Trace, allowed: Sequence[str]) -> Trace:
    """The trace without the gap of its opaque agents if all of them are allowed; `*` matches any but the main agent.

    Any other gap in its calls remains.
    """
    names = list_opaque(trace) if allowed and "calls" in trace.gaps else ()
    if not names or trace.gaps["calls"] != describe_opaque(names):
        return trace
    if not all(name in allowed or (name != ROOT and any(matches_id(each, name) for each in allowed)) for name in names):
        return trace
    gaps = {kind: reason for kind, reason in trace.gaps.items() if kind != "calls"}
    return replace(trace, gaps=gaps, kept_view=None, identity=None)
