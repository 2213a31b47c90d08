"""Whether a check still demands all that it did, and if not, in which of its fields it demands less.

A check is parsed as its evaluator does: short forms expanded, defaults filled in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace
from pydantic import ValidationError

from evalgate.evaluators.core.evaluator import Evaluator, EvaluatorSettings
from evalgate.evaluators.core.registry import BUILT_IN_TYPES, evaluator_class
from evalgate.evaluators.core.shorthands import COMMON, GROUPS, ShorthandError, expand_shorthand
from evalgate.evaluators.core.shorthands import DEFAULT_PATH as TEXT
from evalgate.gate.weakening.strictness import (
    MAX_COMPARED,
    ORDERS,
    Relation,
    contains_bag,
    implies_relation,
    is_subsequence,
)
from evalgate.measures.values.json_values import json_equal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.evaluators.core.evaluator import Order
    from evalgate.models.run.run import Required

_COMMON = frozenset({"type", *COMMON})


class Requirement(Struct, frozen=True):
    """One check: `fields` are those of its type, a group has its members in `members` and `condition`.

    `demands` are what is compared: the fields, of which some are merged into one, by name.
    """

    type: str
    name: str | None = None
    weight: float = 1.0
    required: Required = False
    is_skippable: bool = False
    negate: bool = False
    agent: str = "any"
    fields: dict[str, Any] = field(default_factory=dict)
    demands: dict[str, Any] = field(default_factory=dict)
    members: tuple[Requirement, ...] = ()
    condition: Requirement | None = None

    @property
    def counts(self) -> bool:
        """False if its outcome can change nothing."""
        return bool(self.required) or self.weight > 0


def parse_requirement(raw: Any) -> Requirement | None:
    """Parses a check as written in a suite; None if this version does not understand it."""
    try:
        written = expand_shorthand(raw).fields
        kind = written["type"]
        is_group = kind in GROUPS and kind in written
        model = EvaluatorSettings if is_group else evaluator_class(kind)
        if model is None:
            return None
        given = {name: value for name, value in written.items() if name in _COMMON} if is_group else written
        settings = model.model_validate(given)
    except (ShorthandError, KeyError, TypeError, ValidationError):
        return None
    found = Requirement(
        type=kind,
        name=settings.name,
        weight=settings.weight,
        required=settings.required,
        is_skippable=settings.on_missing == "skip",
        negate=settings.negate,
        agent=settings.agent,
    )
    return _add_fields(found, settings) if isinstance(settings, Evaluator) else _add_members(found, written)


def _add_fields(found: Requirement, settings: Evaluator) -> Requirement:
    values = settings.model_dump(warnings=False)  # some validators return other types than those declared
    fields = {name: value for name, value in values.items() if name not in _COMMON}
    return replace(found, fields=fields, demands=_merge_fields(settings, fields))


def _add_members(group: Requirement, written: Mapping[str, Any]) -> Requirement | None:
    """The group with what it holds; None if this version does not understand all of it."""
    kind, fields = group.type, dict[str, Any]()
    condition, listed = None, written["then"] if kind == "when" else written[kind]
    if kind == "when" and (condition := parse_requirement(written["when"])) is None:
        return None
    if kind == "at_least":
        fields, listed = {"k": listed["k"]}, listed["of"]
    members = tuple(parse_requirement(each) for each in listed)
    return None if None in members else replace(group, fields=fields, members=members, condition=condition)


def _merge_fields(settings: Evaluator, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields, with those that express one demand together merged into one."""
    if settings.type not in BUILT_IN_TYPES:  # another author's code, which may raise anything
        return fields
    demands = settings.merge_fields(dict(fields))
    if settings.compares_with:
        demands["operator"] = Relation(demands["operator"], demands.pop(settings.compares_with))
    return demands


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
    if baseline.agent != current.agent:
        return [LoosenedField("agent", baseline.agent, current.agent, is_incomparable=True)]
    kind = evaluator_class(baseline.type)
    if kind is not None and kind.judges_by_name and baseline.name != current.name:
        return [LoosenedField("name", baseline.name, current.name, is_incomparable=True)]
    if baseline.members or current.members:
        return _find_member_losses(baseline, current)
    weaker, stronger = (current, baseline) if baseline.negate else (baseline, current)
    orders = {} if kind is None else kind.orders
    found = [
        LoosenedField(name, before, current.demands[name], is_incomparable=not _implies(orders, name, stronger, weaker))
        for name, before in baseline.demands.items()
        if not _implies(orders, name, weaker, stronger)
    ]
    return [_restore_field_names(loss, baseline, current) for loss in found]


def _implies(orders: Mapping[str, Order], name: str, weaker: Requirement, stronger: Requirement) -> bool:
    """Compares one demand in the order that the evaluator declares; without one, both values must be equal."""
    order = orders.get(name)
    if order == "steps":
        return _implies_sequence(weaker.demands, stronger.demands)
    values = weaker.demands[name], stronger.demands[name]
    if isinstance(values[0], Relation):
        return _implies_relation(*values, is_about_text=weaker.fields.get("expression") == TEXT)
    return ORDERS[order or "unordered"](*values)


def _implies_relation(weaker: Relation, stronger: Relation, *, is_about_text: bool) -> bool:
    if weaker.operator == stronger.operator == "contains" and not is_about_text:
        return json_equal(weaker.value, stronger.value)  # in a list, `contains` looks for an equal member
    return implies_relation(weaker, stronger)


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
    kind = evaluator_class(baseline.type)
    for name in () if kind is None else kind.merged.get(loss.field, ()):
        if baseline.fields[name] != current.fields[name]:
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
