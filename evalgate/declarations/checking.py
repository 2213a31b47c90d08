"""Makes a check function from a type; it accepts what pydantic's strict mode certainly accepts.

Pydantic accepts the same values and returns the same results. For everything else a check is uncertain: it
does not know all of pydantic's rules, and it reports no errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from evalgate.declarations.marks import FieldMark

Check = Callable[[Any], Any]
"""Returns what pydantic would make of a value; raises UncertainValueError."""

_LARGEST = 2**53
"""Integers up to this size are exact as floats."""


class UncertainValueError(Exception):
    """Pydantic has to validate the value."""


UNSURE = UncertainValueError()


def check_of(kind: Any) -> Check:
    """The check for one type; for an unknown type it is always uncertain."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    made = _MADE.get(get_origin(kind))
    if made is not None:
        return made(kind)
    return getattr(kind, "read_surely", _unsure) if isinstance(kind, type) else _unsure


def _unsure(value: Any) -> Any:  # noqa: ARG001  (a check's signature)
    raise UNSURE


def _anything(value: Any) -> Any:
    return value


def _nothing(value: Any) -> None:
    if value is not None:
        raise UNSURE


def _text(value: Any) -> str:
    if type(value) is not str:
        raise UNSURE
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise UNSURE from None
    return value


def _truth(value: Any) -> bool:
    if type(value) is not bool:
        raise UNSURE
    return value


def _whole(value: Any) -> int:
    if type(value) is not int or not -_LARGEST < value < _LARGEST:
        raise UNSURE
    return value


def _number(value: Any) -> float:
    if type(value) is float and isfinite(value):
        return value
    return float(_whole(value))


def _check_list(kind: Any) -> Check:
    each = check_of(*get_args(kind))

    def check(value: Any) -> list[Any]:
        if type(value) is not list:
            raise UNSURE
        return value[:] if each is _anything else [each(item) for item in value]

    return check


def _check_dict(kind: Any) -> Check:
    key, item = map(check_of, get_args(kind))

    def check(value: Any) -> dict[Any, Any]:
        if type(value) is not dict:
            raise UNSURE
        return {key(name): item(given) for name, given in value.items()}

    return check


def _one_of(kind: Any) -> Check:
    words = get_args(kind)
    forms = {type(word) for word in words}

    def check(value: Any) -> Any:
        if type(value) not in forms or value not in words:
            raise UNSURE
        return value

    return _unsure if {bool, int} <= forms else check  # True equals 1


_FORMS = {each: each for each in (str, bool, NoneType, int, float, dict, list)}


def _form(kind: Any) -> Any:
    """The single Python type of a type's values; None if there are several."""
    origin = get_origin(kind)
    if origin is Annotated:
        inner, *marks = get_args(kind)
        return None if any(getattr(mark, "name", "") == "BeforeValidator" for mark in marks) else _form(inner)
    if origin is Literal:
        forms = {type(word) for word in get_args(kind)}
        return forms.pop() if len(forms) == 1 else None
    if isinstance(kind, type) and hasattr(kind, "read_surely"):
        return dict
    return _FORMS.get(origin or kind)


def _either(kind: Any) -> Check:
    """A union whose members differ in Python type; one member of several types is allowed with None."""
    members = get_args(kind)
    others = [each for each in members if each is not NoneType]
    if len(others) == 1:
        only = check_of(others[0])
        return lambda value: None if value is None else only(value)
    by_form = {_form(each): check_of(each) for each in members}
    if len(by_form) < len(members) or None in by_form or {int, float} & by_form.keys():
        return _unsure
    return lambda value: by_form.get(type(value), _unsure)(value)


def _check_annotated(kind: Any) -> Check:
    inner, *marks = get_args(kind)
    known = [mark for mark in marks if isinstance(mark, FieldMark)]
    if len(known) < len(marks):
        return _unsure
    discriminators = [mark.given[0] for mark in known if mark.name == "Discriminator"]
    check = _check_tagged_union(inner, discriminators[0]) if discriminators else check_of(inner)
    for mark in known:
        check = _WRAPPED.get(mark.name, _as_it_is)(check, mark)
    return check


def _check_tagged_union(kind: Any, name_of: Check) -> Check:
    by_name = {}
    for each in get_args(kind):
        names = [mark.given[0] for mark in each.__metadata__ if mark.name == "Tag"]
        by_name[names[0]] = check_of(each)
    return lambda value: by_name[name_of(value)](value)


def _as_it_is(check: Check, _: FieldMark) -> Check:
    return check


def _wrap_before_validator(check: Check, mark: FieldMark) -> Check:
    (change,) = mark.given
    return lambda value: check(_call_validator(change, value))


def _wrap_after_validator(check: Check, mark: FieldMark) -> Check:
    (look,) = mark.given
    return lambda value: _call_validator(look, check(value))


def _call_validator(function: Check, value: Any) -> Any:
    try:
        return function(value)
    except (ValueError, AssertionError):
        raise UNSURE from None


def check_bounds(check: Check, mark: FieldMark) -> Check:
    """Adds the bounds of `Field` to a check."""
    rules = [_BOUNDS[name](bound) for name, bound in mark.options.items() if name in _BOUNDS]
    if not rules:
        return check

    def check_within(value: Any) -> Any:
        found = check(value)
        if found is None or not all(rule(found) for rule in rules):
            raise UNSURE
        return found

    return check_within


def _matches(pattern: str) -> Callable[[str], bool]:
    """Only for ASCII text: pydantic uses another regex engine."""
    search = re.compile(pattern).search
    return lambda text: text.isascii() and text.isprintable() and search(text) is not None


_BOUNDS: dict[str, Callable[[Any], Callable[[Any], bool]]] = {
    "min_length": lambda least: lambda value: len(value) >= least,
    "max_length": lambda most: lambda value: len(value) <= most,
    "ge": lambda least: lambda value: bool(value >= least),
    "gt": lambda bound: lambda value: bool(value > bound),
    "le": lambda most: lambda value: bool(value <= most),
    "lt": lambda bound: lambda value: bool(value < bound),
    "pattern": _matches,
}
_WRAPPED = {"BeforeValidator": _wrap_before_validator, "AfterValidator": _wrap_after_validator, "Field": check_bounds}
_PLAIN: dict[Any, Check] = {
    Any: _anything,
    str: _text,
    bool: _truth,
    int: _whole,
    float: _number,
    None: _nothing,
    NoneType: _nothing,
}
_MADE: dict[Any, Callable[[Any], Check]] = {
    Annotated: _check_annotated,
    Literal: _one_of,
    Union: _either,
    UnionType: _either,
    list: _check_list,
    dict: _check_dict,
}
