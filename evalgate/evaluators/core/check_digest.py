"""Identifies a check by what it demands, so that an approval or a comparison does not follow a name."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from evalgate.evaluators.core.registry import evaluator_class
from evalgate.evaluators.core.shorthands import GROUPS, ShorthandError, expand_shorthand, list_members

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.run.run import Required

DIGITS = 32
"""Hexadecimal digits: few enough for a line of YAML, too many to write another check with the same."""


def compute_check_digest(kind: str, written: Any, required: Required) -> str:
    """The digest of a check as written: of its type, settings, negation and `required`, not of name and weight."""
    content = {"type": kind, "required": required, "check": _list_demands(written)}
    encoded = json.dumps(content, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(encoded.encode()).hexdigest()[:DIGITS]


def _list_demands(written: Any) -> Any:
    """The settings in the canonical form, so that shorthands are equal to what they stand for."""
    try:
        fields = expand_shorthand(written).fields
    except ShorthandError:  # not written by a person
        return written
    kind = fields["type"]
    left_out = {"weight", "required", *(() if _judges_by_name(kind) else ("name",))}
    demands = {name: value for name, value in fields.items() if name not in left_out}
    if kind in GROUPS and kind in fields:
        demands |= _list_group_demands(fields)
    return demands


def _list_group_demands(fields: Mapping[str, Any]) -> dict[str, Any]:
    kind = fields["type"]
    members = [_list_demands(each) for each in list_members(fields)]
    if kind == "when":
        return {"when": _list_demands(fields["when"]), "then": members}
    return {kind: {**fields[kind], "of": members} if isinstance(fields[kind], dict) else members}


def _judges_by_name(kind: Any) -> bool:
    evaluator = evaluator_class(kind) if isinstance(kind, str) else None
    return evaluator is not None and evaluator.judges_by_name
