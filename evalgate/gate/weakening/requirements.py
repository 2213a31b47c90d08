"""Parses what a check demands, as its evaluator does: short forms expanded, defaults filled in."""

from __future__ import annotations

from typing import Any

from evalgate.declarations import refusal
from evalgate.evaluators.core.evaluator import EvaluatorSettings
from evalgate.evaluators.core.registry import evaluator_class
from evalgate.evaluators.core.shorthands import COMMON, GROUPS, ShorthandError, canonical
from evalgate.records import dataclass, field

NO_CALL = "expected_tool"
"""The type for which null has a meaning other than absence: no call at all."""
_COMMON = frozenset({"type", *COMMON})


@dataclass(frozen=True, slots=True)
class Requirement:
    """One check: `fields` are those of its type, a group has its members in `members` and `condition`."""

    type: str
    name: str | None = None
    weight: float = 1.0
    required: bool = False
    is_skippable: bool = False
    negate: bool = False
    fields: dict[str, Any] = field(default_factory=dict)
    members: tuple[Requirement, ...] = ()
    condition: Requirement | None = None

    @property
    def counts(self) -> bool:
        """False if its outcome can change nothing."""
        return self.required or self.weight > 0


def demand_of(written: Any) -> Requirement | None:
    """Parses a check as written in a suite; None if this version does not understand it."""
    try:
        form = canonical(written).fields
        kind = form["type"]
        is_group = kind in GROUPS and kind in form
        model = EvaluatorSettings if is_group else evaluator_class(kind)
        if model is None:
            return None
        own = {name: value for name, value in form.items() if name in _COMMON} if is_group else form
        settings = model.model_validate(own)
    except (ShorthandError, KeyError, TypeError, refusal()):
        return None
    plain = settings.model_dump()
    fields = {name: value for name, value in plain.items() if name not in _COMMON}
    if kind == NO_CALL:
        fields["is_negative"] = fields[NO_CALL] is None and NO_CALL in form
    condition: Requirement | None = None
    members: tuple[Requirement, ...] = ()
    if is_group:
        condition, fields, listed = _group(kind, form)
        found = [demand_of(each) for each in listed]
        members = tuple(each for each in found if each is not None)
        if len(members) != len(found) or (kind == "when" and condition is None):
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


def _group(kind: str, form: dict[str, Any]) -> tuple[Requirement | None, dict[str, Any], list[Any]]:
    """A group's condition, its fields, and its members as written."""
    if kind == "when":
        return demand_of(form["when"]), {}, list(form["then"])
    if kind == "at_least":
        return None, {"k": form[kind]["k"]}, list(form[kind]["of"])
    return None, {}, list(form[kind])
