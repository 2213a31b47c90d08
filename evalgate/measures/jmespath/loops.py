"""Steps of a query that follow names, or loop over the members of lists and objects.

Each loop spends its work before it does it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Step = Callable[[Any], Any]
    Spend = Callable[[int], None]


def field(name: str) -> Step:
    """The member of an object, or the section of a view; None for any other value."""

    def step(value: Any) -> Any:
        if value is None:
            return None
        try:
            return value.get(name)
        except AttributeError:
            return None

    return step


def fields(names: Sequence[str]) -> Step:
    """One name after the other."""
    first, *others = names
    if not others:
        return field(first)
    if len(others) == 1:
        return _two_fields(first, others[0])

    def step(value: Any) -> Any:
        try:
            for name in names:
                if value is None:
                    return None
                value = value.get(name)
        except AttributeError:
            return None
        return value

    return step


def _two_fields(first: str, second: str) -> Step:
    def step(value: Any) -> Any:
        if value is None:
            return None
        try:
            inner = value.get(first)
            return None if inner is None else inner.get(second)
        except AttributeError:
            return None

    return step


def not_null(find: Step, spend: Spend) -> Step:
    """The members of a list except nulls."""

    def step(value: Any) -> Any:
        members = find(value)
        if not isinstance(members, list):
            return None
        spend(len(members))
        return [member for member in members if member is not None]

    return step


def each_field(find: Step, name: str, spend: Spend) -> Step:
    """One field of each member of a list."""
    of_anything = field(name)

    def step(value: Any) -> Any:
        members = find(value)
        if not isinstance(members, list):
            return None
        spend(len(members))
        try:
            return [found for member in members if (found := member.get(name)) is not None]
        except AttributeError:  # a member that is no object
            return [found for member in members if (found := of_anything(member)) is not None]

    return step


def each(find: Step, body: Step, cost: int, spend: Spend) -> Step:
    """What `body` finds in each member of a list."""

    def step(value: Any) -> Any:
        members = find(value)
        if not isinstance(members, list):
            return None
        spend(len(members) * cost)
        return [found for member in members if (found := body(member)) is not None]

    return step


def each_value(find: Step, body: Step, cost: int, spend: Spend) -> Step:
    """What `body` finds in each value of an object."""

    def step(value: Any) -> Any:
        members = find(value)
        if not isinstance(members, dict):
            return None
        spend(len(members) * cost)
        return [found for member in members.values() if (found := body(member)) is not None]

    return step


def filter_members(find: Step, holds: Step, cost: int, spend: Spend) -> Step:
    """The members of a list for which `holds` is true."""

    def step(value: Any) -> Any:
        members = find(value)
        if not isinstance(members, list):
            return None
        spend(len(members) * cost)
        return [member for member in members if holds(member) and member is not None]

    return step


def filter_by_text(find: Step, texts: Sequence[tuple[str, str]], cost: int, spend: Spend) -> Step:
    """The members of a list in which these fields equal these texts, as in most filters."""
    select = _selecting(texts)

    def step(value: Any) -> Any:
        members = find(value)
        if not isinstance(members, list):
            return None
        spend(len(members) * cost)
        try:
            return select(members)
        except AttributeError:  # a member that is no object
            return select([member for member in members if isinstance(member, dict)])

    return step


def _selecting(texts: Sequence[tuple[str, str]]) -> Callable[[list[Any]], list[Any]]:
    (name, text), *others = texts
    if not others:
        return lambda members: [member for member in members if member.get(name) == text]
    (second, other), *more = others
    if not more:
        return lambda members: [
            member for member in members if member.get(name) == text and member.get(second) == other
        ]
    return lambda members: [member for member in members if all(member.get(n) == t for n, t in texts)]


def each_kept(find: Step, holds: Step, body: Step, cost: int, spend: Spend) -> Step:
    """What `body` finds in each member for which `holds` is true."""

    def step(value: Any) -> Any:
        members = find(value)
        if not isinstance(members, list):
            return None
        spend(len(members) * cost)
        return [found for member in members if holds(member) and (found := body(member)) is not None]

    return step


def flatten_members(find: Step, spend: Spend) -> Step:
    """The members of a list, with nested lists flattened one level; the list itself if it has none."""

    def step(value: Any) -> Any:
        members = find(value)
        if not isinstance(members, list):
            return None
        if list not in map(type, members):
            return members
        flat: list[Any] = []
        for member in members:
            if isinstance(member, list):
                spend(1 + len(member))
                flat += member
            else:
                flat.append(member)
        return flat

    return step
