"""Whether a check still demands all that it did, and if not, in which of its fields it demands less."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.evaluators.core.shorthands import DEFAULT_PATH as TEXT
from evalgate.gate.weakening import strictness as orders
from evalgate.gate.weakening.strictness import Implies, Relation
from evalgate.measures.values.json_values import equal

if TYPE_CHECKING:
    from evalgate.gate.weakening.requirements import Requirement

MOST_MEMBERS = 100
"""Members of a group beyond which only equal ones count as implied."""

_ORDERS: dict[str, dict[str, Implies]] = {
    "allowed_tools": {"tools": orders.allowed},
    "forbidden_tools": {"tools": orders.forbidden},
    "contains": {"value": orders.found_in},
    "icontains": {"value": orders.found_in_any_case},
    "starts_with": {"value": orders.at_the_start},
    "ends_with": {"value": orders.at_the_end},
    "contains_all": {"values": orders.all_found},
    "contains_any": {"values": orders.any_found},
    "convergence": {"tolerance": orders.at_most},
    "cost_limit": {"max_usd": orders.at_most},
    "finish_reason": {"allowed": orders.allowed},
    "is_json": {"schema_": orders.or_nothing},
    "latency_limit": {"max_seconds": orders.at_most},
    "max_length": {"max": orders.at_most},
    "max_tool_calls": {"max": orders.at_most},
    "max_tool_errors": {"max": orders.at_most},
    "min_length": {"min": orders.at_least},
    "no_loops": {"max_repeats": orders.at_most},
    "output_contains": {"value": orders.found_in},
    "recorded_score": {"min": orders.at_least},
    "similarity": {"min_score": orders.at_least},
    "token_limit": dict.fromkeys(("max_total", "max_input", "max_output"), orders.at_most),
    "tool_latency_limit": {"max_seconds": orders.at_most},
    "trajectory_score": {"min_score": orders.at_least},
    "turn_limit": {"max_turns": orders.at_most},
    "tool_calls": {
        "min": orders.at_least,
        **dict.fromkeys(("max", "max_tool_calls", "max_tool_errors"), orders.at_most),
        "forbidden_tools": orders.forbidden,
        "allowed_tools": orders.allowed,
    },
    "expected_tool": {"min_calls": orders.at_least},
    "tool_sequence": {"is_ordered": orders.at_least, "is_closed": orders.at_least},
}
"""Fields of a type that have an order; any other field must be equal."""
_OPERATORS = {"jmespath": "value", "output_json": "target", "output_numeric": "target"}
"""Types with an `operator`, and the field that it compares with."""


class Loss(NamedTuple):
    """A field that demands less, with both values. `is_incomparable` if the two values have no order."""

    field: str
    before: Any
    after: Any
    is_other: bool


def is_kept(old: Requirement, new: Requirement) -> bool:
    """Whether everything that passes the current check would have passed the baseline's."""
    if old == new:
        return True
    if old.negate != new.negate or old.type != new.type:
        return False
    return not losses(old, new)


def losses(old: Requirement, new: Requirement) -> list[Loss]:
    """The fields in which a check of the same type demands less."""
    if old.negate != new.negate:
        return [Loss("negate", old.negate, new.negate, is_other=True)]
    if old.type == "recorded_score" and old.name != new.name:
        return [Loss("name", old.name, new.name, is_other=True)]
    if old.members or new.members:
        return _of_members(old, new)
    before, after = _comparable(old), _comparable(new)
    weaker, stronger = (after, before) if old.negate else (before, after)
    found = [
        Loss(name, before[name], after[name], is_other=not _implies(old, name, stronger, weaker))
        for name in before
        if not _implies(old, name, weaker, stronger)
    ]
    return [_as_written(loss, old, new) for loss in found]


def _implies(old: Requirement, name: str, weaker: dict[str, Any], stronger: dict[str, Any]) -> bool:
    if name == "sequence":
        return _sequence(weaker, stronger)
    if isinstance(weaker[name], Relation):
        old_one, new_one = weaker[name], stronger[name]
        if old_one.operator == new_one.operator == "contains" and old.fields.get("expression") != TEXT:
            return equal(old_one.value, new_one.value)  # in a list, `contains` looks for an equal member
        return orders.relation(old_one, new_one)
    order = _ORDERS.get(old.type, {}).get(name, orders.same)
    return order(weaker[name], stronger[name])


def _comparable(demand: Requirement) -> dict[str, Any]:
    """The fields, with those that express one demand together merged into one."""
    fields = dict(demand.fields)
    value = _OPERATORS.get(demand.type)
    if value is not None:
        fields["operator"] = Relation(fields["operator"], fields.pop(value))
    if demand.type == "tool_calls" and fields["exactly"] is not None:
        fields["min"] = fields["max"] = fields.pop("exactly")
    if demand.type == "tool_calls":
        fields.pop("exactly", None)
    if demand.type == "expected_tool":
        fields["tool"] = fields.pop("expected_tool") or fields["tool"]
        fields["min_calls"] = None if fields["is_negative"] else fields["min_calls"] or 1
    if demand.type == "tool_sequence":
        mode, extra = fields.pop("mode"), fields.pop("extra_calls")
        fields |= {"is_ordered": mode != "any_order", "is_closed": mode == "exact" or extra == "forbid"}
    return fields


def _sequence(weaker: dict[str, Any], stronger: dict[str, Any]) -> bool:
    """Steps may be left out if other calls are allowed in between; else all must be the same."""
    old, new = weaker["sequence"], stronger["sequence"]
    if equal(old, new):
        return True
    if weaker["is_closed"] or max(len(old), len(new)) > orders.LONGEST:
        return False
    return orders.subsequence(new, old) if weaker["is_ordered"] else orders.bag_within(new, old)


def _as_written(loss: Loss, old: Requirement, new: Requirement) -> Loss:
    """A loss with the field names that suites use."""
    if isinstance(loss.before, Relation):
        return loss._replace(
            before={loss.before.operator: loss.before.value}, after={loss.after.operator: loss.after.value}
        )
    words = {"is_ordered": "mode", "is_closed": "extra_calls"}
    if old.type == "tool_sequence" and loss.field in words:
        name = words[loss.field]
        if old.fields["mode"] != new.fields["mode"]:
            name = "mode"
        return loss._replace(field=name, before=old.fields[name], after=new.fields[name])
    return loss._replace(field=loss.field.removesuffix("_"))


def _of_members(old: Requirement, new: Requirement) -> list[Loss]:
    """Losses of a group: all_of must keep each member, any_of may not gain an alternative."""
    whole = Loss(old.type, len(old.members), len(new.members), is_other=True)
    if old.condition != new.condition or not old.members or not new.members:
        return [whole]
    weaker, stronger = (new, old) if old.negate else (old, new)
    if _group_implies(weaker, stronger):
        return []
    is_looser = _group_implies(stronger, weaker)
    if old.fields.get("k") != new.fields.get("k") and old.members == new.members:
        return [Loss("k", old.fields["k"], new.fields["k"], is_other=not is_looser)]
    return [whole._replace(field=f"members of {old.type}", is_other=not is_looser)]


def _group_implies(weaker: Requirement, stronger: Requirement) -> bool:
    old, new = weaker.members, stronger.members
    if weaker.type in ("all_of", "when"):
        return all(_any_keeps(each, new) for each in old)
    if weaker.type == "any_of":
        return all(any(_keeps(member, each) for member in old) for each in new)
    return old == new and weaker.fields["k"] <= stronger.fields["k"]


def _any_keeps(member: Requirement, among: tuple[Requirement, ...]) -> bool:
    return any(_keeps(member, each) for each in among)


def _keeps(old: Requirement, new: Requirement) -> bool:
    """Whether a member of a group is implied; only its demand counts there, not name or weight."""
    if old == new:
        return True
    return old.is_skippable >= new.is_skippable and is_kept(old, new)
