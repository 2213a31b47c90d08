"""Whether a check still demands all that it did, and if not, in which of its fields it demands less.

A check is parsed as its evaluator does: short forms expanded, defaults filled in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, field
from pydantic import ValidationError

from evalgate.evaluators.core.evaluator import EvaluatorSettings
from evalgate.evaluators.core.registry import evaluator_class
from evalgate.evaluators.core.shorthands import COMMON, GROUPS, ShorthandError, expand_shorthand
from evalgate.evaluators.core.shorthands import DEFAULT_PATH as TEXT
from evalgate.gate.weakening.strictness import (
    MAX_COMPARED,
    ORDERS,
    Implies,
    Relation,
    contains_bag,
    implies_relation,
    is_subsequence,
)
from evalgate.measures.values.json_values import json_equal

if TYPE_CHECKING:
    from collections.abc import Sequence

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


_FLAGS = frozenset({"is_ordered", "is_closed"})
"""What `mode` and `extra_calls` of a `tool_sequence` demand."""


class LoosenedField(NamedTuple):
    """A field that demands less, with both values. `is_incomparable` if the two values have no order."""

    field: str
    before: Any
    after: Any
    is_incomparable: bool


def is_implied(baseline: Requirement, current: Requirement) -> bool:
    """Whether everything that passes the current check would have passed the baseline's."""
    if baseline == current:
        return True
    if baseline.negate != current.negate or baseline.type != current.type:
        return False
    return not find_losses(baseline, current)


def find_losses(baseline: Requirement, current: Requirement) -> list[LoosenedField]:
    """The fields in which a check of the same type demands less."""
    if baseline.negate != current.negate:
        return [LoosenedField("negate", baseline.negate, current.negate, is_incomparable=True)]
    if baseline.type == "recorded_score" and baseline.name != current.name:
        return [LoosenedField("name", baseline.name, current.name, is_incomparable=True)]
    if baseline.members or current.members:
        return _find_member_losses(baseline, current)
    baseline_fields, current_fields = _normalise_fields(baseline), _normalise_fields(current)
    weaker, stronger = (current_fields, baseline_fields) if baseline.negate else (baseline_fields, current_fields)
    found = [
        LoosenedField(
            name,
            baseline_fields[name],
            current_fields[name],
            is_incomparable=not _implies(baseline, name, stronger, weaker),
        )
        for name in baseline_fields
        if not _implies(baseline, name, weaker, stronger)
    ]
    return [_restore_field_names(loss, baseline, current) for loss in found]


def _implies(requirement: Requirement, name: str, weaker: dict[str, Any], stronger: dict[str, Any]) -> bool:
    if name == "sequence":
        return _implies_sequence(weaker, stronger)
    if isinstance(weaker[name], Relation):
        weaker_relation, stronger_relation = weaker[name], stronger[name]
        if (
            weaker_relation.operator == stronger_relation.operator == "contains"
            and requirement.fields.get("expression") != TEXT
        ):
            return json_equal(
                weaker_relation.value, stronger_relation.value
            )  # in a list, `contains` looks for an equal member
        return implies_relation(weaker_relation, stronger_relation)
    return _find_order(requirement.type, name)(weaker[name], stronger[name])


def _find_order(type_name: str, field: str) -> Implies:
    """The order of a field's values, as its evaluator declares it; a field without one must be equal."""
    if field in _FLAGS:
        return ORDERS["at_least"]
    if (type_name, field) == ("expected_tool", "tool"):
        return _implies_unexpected
    declared = getattr(evaluator_class(type_name), "orders", {}).get(field)
    return json_equal if declared is None else ORDERS[declared]


def _implies_unexpected(weaker: str | Sequence[str], stronger: str | Sequence[str]) -> bool:
    """The tools that a scenario without an expected tool forbids; the one that another expects must be the same."""
    if isinstance(weaker, str) or isinstance(stronger, str):
        return weaker == stronger
    return ORDERS["forbidden"](weaker, stronger)


def _normalise_fields(requirement: Requirement) -> dict[str, Any]:
    """The fields, with those that express one demand together merged into one."""
    fields = dict(requirement.fields)
    value_field = getattr(evaluator_class(requirement.type), "compares_with", "")
    if value_field:
        fields["operator"] = Relation(fields["operator"], fields.pop(value_field))
    if requirement.type == "tool_calls" and fields["exactly"] is not None:
        fields["min"] = fields["max"] = fields.pop("exactly")
    if requirement.type == "tool_calls":
        fields.pop("exactly", None)
    if requirement.type == "expected_tool":
        expected, tools = fields.pop("expected_tool"), fields["tool"]
        fields["tool"] = (tools or ["*"]) if fields["is_negative"] else expected or tools[0]
        fields["min_calls"] = None if fields["is_negative"] else fields["min_calls"] or 1
    if requirement.type == "tool_sequence":
        mode, extra = fields.pop("mode"), fields.pop("extra_calls")
        fields |= {"is_ordered": mode != "any_order", "is_closed": mode == "exact" or extra == "forbid"}
    return fields


def _implies_sequence(weaker: dict[str, Any], stronger: dict[str, Any]) -> bool:
    """Steps may be left out if other calls are allowed in between; else all must be the same."""
    weaker_steps, stronger_steps = weaker["sequence"], stronger["sequence"]
    if json_equal(weaker_steps, stronger_steps):
        return True
    if weaker["is_closed"] or max(len(weaker_steps), len(stronger_steps)) > MAX_COMPARED:
        return False
    return (
        is_subsequence(stronger_steps, weaker_steps)
        if weaker["is_ordered"]
        else contains_bag(stronger_steps, weaker_steps)
    )


def _restore_field_names(loss: LoosenedField, baseline: Requirement, current: Requirement) -> LoosenedField:
    if isinstance(loss.before, Relation):
        return loss._replace(
            before={loss.before.operator: loss.before.value}, after={loss.after.operator: loss.after.value}
        )
    words = {"is_ordered": "mode", "is_closed": "extra_calls"}
    if baseline.type == "tool_sequence" and loss.field in words:
        name = words[loss.field]
        if baseline.fields["mode"] != current.fields["mode"]:
            name = "mode"
        return loss._replace(field=name, before=baseline.fields[name], after=current.fields[name])
    return loss._replace(field=loss.field.removesuffix("_"))


def _find_member_losses(baseline: Requirement, current: Requirement) -> list[LoosenedField]:
    """Losses of a group: all_of must keep each member, any_of may not gain an alternative."""
    whole = LoosenedField(baseline.type, len(baseline.members), len(current.members), is_incomparable=True)
    if baseline.condition != current.condition or not baseline.members or not current.members:
        return [whole]
    weaker, stronger = (current, baseline) if baseline.negate else (baseline, current)
    if _group_implies(weaker, stronger):
        return []
    is_looser = _group_implies(stronger, weaker)
    if baseline.fields.get("k") != current.fields.get("k") and baseline.members == current.members:
        return [LoosenedField("k", baseline.fields["k"], current.fields["k"], is_incomparable=not is_looser)]
    return [whole._replace(field=f"members of {baseline.type}", is_incomparable=not is_looser)]


def _group_implies(weaker: Requirement, stronger: Requirement) -> bool:
    weaker_members, stronger_members = weaker.members, stronger.members
    if weaker.type in ("all_of", "when"):
        return all(_is_implied_by_any(each, stronger_members) for each in weaker_members)
    if weaker.type == "any_of":
        return all(any(_is_member_implied(member, each) for member in weaker_members) for each in stronger_members)
    return weaker_members == stronger_members and weaker.fields["k"] <= stronger.fields["k"]


def _is_implied_by_any(member: Requirement, members: tuple[Requirement, ...]) -> bool:
    return any(_is_member_implied(member, each) for each in members)


def _is_member_implied(baseline: Requirement, current: Requirement) -> bool:
    """Whether a member of a group is implied; only its demand counts there, not name or weight."""
    if baseline == current:
        return True
    return baseline.is_skippable >= current.is_skippable and is_implied(baseline, current)
