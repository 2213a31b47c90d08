"""Parses what a check demands, as its evaluator does: short forms expanded, defaults filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from pydantic import ValidationError

from evalgate.evaluators.core.evaluator import EvaluatorSettings
from evalgate.evaluators.core.registry import evaluator_class
from evalgate.evaluators.core.shorthands import COMMON, GROUPS, ShorthandError, expand_shorthand

if TYPE_CHECKING:
    from evalgate.models.run.run import Required

NO_CALL = "expected_tool"
"""The type for which null has a meaning other than absence: no call at all."""
_COMMON = frozenset({"type", *COMMON})


class Requirement(Struct, frozen=True):
    """One check: `fields` are those of its type, a group has its members in `members` and `condition`."""

    type: str
    name: str | None = None
    weight: float = 1.0
    required: Required = False
    is_skippable: bool = False
    negate: bool = False
    fields: dict[str, Any] = field(default_factory=dict)
    members: tuple[Requirement, ...] = ()
    condition: Requirement | None = None

    @property
    def counts(self) -> bool:
        """False if its outcome can change nothing."""
        return bool(self.required) or self.weight > 0


def parse_requirement(raw: Any) -> Requirement | None:
    """Parses a check as written in a suite; None if this version does not understand it."""
    try:
        canonical_fields = expand_shorthand(raw).fields
        kind = canonical_fields["type"]
        is_group = kind in GROUPS and kind in canonical_fields
        model = EvaluatorSettings if is_group else evaluator_class(kind)
        if model is None:
            return None
        settings_fields = (
            {name: value for name, value in canonical_fields.items() if name in _COMMON}
            if is_group
            else canonical_fields
        )
        settings = model.model_validate(settings_fields)
    except (ShorthandError, KeyError, TypeError, ValidationError):
        return None
    values = settings.model_dump(warnings=False)  # some validators return other types than those declared
    fields = {name: value for name, value in values.items() if name not in _COMMON}
    if kind == NO_CALL:
        fields["is_negative"] = fields[NO_CALL] is None and NO_CALL in canonical_fields
    condition: Requirement | None = None
    members: tuple[Requirement, ...] = ()
    if is_group:
        condition, fields, raw_members = _parse_group(kind, canonical_fields)
        parsed = [parse_requirement(each) for each in raw_members]
        members = tuple(each for each in parsed if each is not None)
        if len(members) != len(parsed) or (kind == "when" and condition is None):
            return None
    return Requirement(
        type=kind,
        name=settings.name,
        weight=settings.weight,
        required=settings.required,
        is_skippable=settings.on_missing == "skip",
        negate=settings.negate,
        fields=fields,
        members=members,
        condition=condition,
    )


def _parse_group(kind: str, canonical_fields: dict[str, Any]) -> tuple[Requirement | None, dict[str, Any], list[Any]]:
    """A group's condition, its fields, and its members as written."""
    if kind == "when":
        return parse_requirement(canonical_fields["when"]), {}, list(canonical_fields["then"])
    if kind == "at_least":
        return None, {"k": canonical_fields[kind]["k"]}, list(canonical_fields[kind]["of"])
    return None, {}, list(canonical_fields[kind])
