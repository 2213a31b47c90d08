"""Matches arguments of a tool call: with a JSON value, or a matcher such as `{$regex: ...}`; looks calls up by them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.sequences.bipartite import BipartiteMatching
from evalgate.measures.sequences.trajectory_metrics import json_key
from evalgate.measures.text.patterns import Pattern, PatternError, find_required_text
from evalgate.measures.text.plain_text import mark_part
from evalgate.measures.values.json_values import (
    ALIASES,
    COMPARE,
    is_number,
    json_equal,
    mark_value,
    shorten,
    show,
    show_typed,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

MAX_DEPTH = 32
"""Levels of lists and objects in the arguments that a suite demands."""
DEFAULT_TOLERANCE = 1e-6


class Lookup(NamedTuple):
    """What an argument must be: one of the values with `keys`, text with `part`, or in a range."""

    name: str
    keys: Sequence[Hashable] = ()
    part: str = ""
    low: float = 0.0
    high: float = 0.0


def build_lookups(args: Mapping[str, Any]) -> list[Lookup]:
    """Builds the lookups of the arguments; those that search every text come last."""
    found = [_build_lookup(name, value) for name, value in args.items()]
    return sorted((lookup for lookup in found if lookup is not None), key=lambda lookup: lookup.part != "")


def _build_lookup(name: str, value: Any) -> Lookup | None:
    if isinstance(value, dict) and "$approx" in value:
        return _build_range(name, value["$approx"], value.get("$tol", DEFAULT_TOLERANCE))
    if isinstance(value, dict) and "$regex" in value:
        part = find_required_text(value["$regex"])
        return Lookup(name, part=part) if part else None
    members = value["$in"] if isinstance(value, dict) and "$in" in value else [value]
    return Lookup(name, list(map(json_key, members))) if all(map(is_plain, members)) else None


def _build_range(name: str, centre: float, tolerance: float) -> Lookup | None:
    try:
        centre, tolerance = float(centre), float(tolerance)
    except OverflowError:
        return None
    reach = tolerance + 1e-8 + 1e-12 * (abs(centre) + tolerance)  # more than rounding errors
    return Lookup(name, low=centre - reach, high=centre + reach)


def is_plain(value: Any) -> bool:
    """Returns whether the value contains no matcher, so that only equal values match."""
    if not isinstance(value, dict | list):
        return True
    if isinstance(value, dict) and any(str(name).startswith("$") for name in value):
        return False
    return all(map(is_plain, value.values() if isinstance(value, dict) else value))


Path = tuple[str | int, ...]
ArgsMatch = Literal["subset", "exact", "superset", "ignore"]

ABSENT: Any = object()
"""Represents an argument that the call does not have."""


class MatcherError(ValueError):
    """A demanded argument is invalid; `path` leads to it from the arguments."""

    def __init__(self, path: Path, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.path, self.message, self.hint = path, message, hint


class Mismatch(NamedTuple):
    """The first difference: its path, what was expected (in words), and the actual value."""

    path: Path
    expected: str
    got: Any

    def describe(self) -> str:
        """`arguments.query: expected "a", got "b"`."""
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{shorten(step, 40)}" for step in self.path)
        got = "nothing" if self.got is ABSENT else mark_value(self.got, 60)
        return f"{mark_part(f'arguments{place}')}: expected {self.expected}, got {got}"


Matcher = Callable[[Any], Mismatch | None]
"""Returns the mismatch of a value, or of ABSENT, if any. May raise patterns.PatternFailedError."""


def build_arguments_matcher(args: Mapping[str, Any], mode: ArgsMatch) -> Matcher:
    """Builds a matcher of the arguments of a call. Raises MatcherError.

    subset: all of `args` are there and match. superset: all arguments are in `args` and match. exact: both.
    """
    for name in args:
        if name in _NAMES:
            raise MatcherError(
                (name,), f"`{name}` is a matcher, not the name of an argument", f"write {{name: {{{name}: ...}}}}"
            )
    plain_first = sorted(args.items(), key=lambda item: isinstance(item[1], dict | list))
    children = {name: _build_matcher(value, (name,)) for name, value in plain_first}
    return _build_object(children, needs_all=mode != "superset", closed=mode != "subset", expected="an object")


def count_values(value: Any) -> int:
    """Returns how many values are compared at most to match a call with `value`."""
    if not isinstance(value, dict | list):
        return 1
    below = sum(map(count_values, value.values() if isinstance(value, dict) else value))
    if isinstance(value, dict) and isinstance(unordered := value.get("$unordered"), list):
        special = [count_values(each) for each in unordered if not is_plain(each)]
        return below + len(unordered) * sum(special)
    return 1 + below


def _build_matcher(value: Any, path: Path) -> Matcher:
    if len(path) > MAX_DEPTH:
        raise MatcherError(path, f"arguments may be nested at most {MAX_DEPTH} levels deep")
    if isinstance(value, list):
        return _build_list(
            [_build_matcher(each, (*path, index)) for index, each in enumerate(value)], mark_value(value, 60)
        )
    if not isinstance(value, dict):
        return _build_literal(value)
    if any(isinstance(name, str) and name.startswith("$") for name in value):
        return _build_special(value, path)
    children = {name: _build_matcher(each, (*path, name)) for name, each in value.items()}
    return _build_object(children, needs_all=True, closed=True, expected=mark_value(value, 60))


def _build_literal(value: Any) -> Matcher:
    expected = mark_value(value, 60)
    return lambda actual: None if json_equal(actual, value) else Mismatch((), expected, actual)


def _build_object(children: Mapping[str, Matcher], *, needs_all: bool, closed: bool, expected: str) -> Matcher:
    def match_value(actual: Any) -> Mismatch | None:
        if not isinstance(actual, dict):
            return Mismatch((), expected, actual)
        for name, child in children.items():
            if (needs_all or name in actual) and (found := child(actual.get(name, ABSENT))):
                return Mismatch((name, *found.path), found.expected, found.got)
        if closed:
            for name, value in actual.items():
                if name not in children:
                    return Mismatch((name,), "no such key", value)
        return None

    return match_value


def _build_list(children: Sequence[Matcher], expected: str) -> Matcher:
    def match_value(actual: Any) -> Mismatch | None:
        if not isinstance(actual, list) or len(actual) != len(children):
            return Mismatch((), expected, actual)
        for index, child in enumerate(children):
            if found := child(actual[index]):
                return Mismatch((index, *found.path), found.expected, found.got)
        return None

    return match_value


def _build_special(value: Mapping[Any, Any], path: Path) -> Matcher:
    names = [name for name in value if name != "$tol"]
    known = ", ".join(_NAMES)
    for name in names or ["$tol"]:
        if name not in _NAMES:
            hint = f"known: {known}; to match a plain value with such a key, use $in: [...]"
            raise MatcherError((*path, name), f"unknown matcher {show(name, 40)}", hint)
    if len(names) > 1 or ("$tol" in value and names != ["$approx"]):
        raise MatcherError(path, "a matcher can't be combined with other keys", "only $approx takes $tol")
    name = names[0]
    if name == "$approx":
        return _build_approx(value["$approx"], value.get("$tol", DEFAULT_TOLERANCE), path)
    return _BUILDERS[name](value[name], (*path, name))


def _build_approx(centre: Any, tolerance: Any, path: Path) -> Matcher:
    for name, number in (("$approx", centre), ("$tol", tolerance)):
        if not is_number(number) or (name == "$tol" and number < 0):
            least = "0 or more" if name == "$tol" else "a number"
            raise MatcherError((*path, name), f"`{name}` must be {least}, not {show_typed(number, 40)}")
    expected = mark_part(f"{show(centre, 40)} ± {show(tolerance, 40)}")

    def match_value(actual: Any) -> Mismatch | None:
        try:
            near = is_number(actual) and round(abs(actual - centre) - tolerance, DIGITS) <= 0
        except OverflowError:  # a whole number too large for a float
            near = False
        return None if near else Mismatch((), expected, actual)

    return match_value


def _build_regex(value: Any, path: Path) -> Matcher:
    if not isinstance(value, str):
        raise MatcherError(path, f"`$regex` must be a pattern, not {show_typed(value, 40)}")
    try:
        pattern = Pattern(value)
    except PatternError as error:
        place = f" (character {error.position})" if error.position else ""
        raise MatcherError(path, f"{error}{place}: {show(value, 60)}") from None
    expected = f"a match of /{shorten(value, 60)}/"

    def match_value(actual: Any) -> Mismatch | None:
        right = isinstance(actual, str) and pattern.is_found_in(actual)
        return None if right else Mismatch((), expected, actual)

    return match_value


def _build_any(value: Any, path: Path) -> Matcher:
    _require_true("$any", value, path)
    return lambda actual: Mismatch((), "any value", actual) if actual is ABSENT else None


def _build_absent(value: Any, path: Path) -> Matcher:
    _require_true("$absent", value, path)
    return lambda actual: None if actual is ABSENT else Mismatch((), "no such argument", actual)


def _require_true(name: str, value: Any, path: Path) -> None:
    if value is not True:
        raise MatcherError(path, f"`{name}` must be true, not {show_typed(value, 40)}")


def _build_in(value: Any, path: Path) -> Matcher:
    if not isinstance(value, list) or not value:
        raise MatcherError(path, f"`$in` must be a list of values, not {show_typed(value, 40)}")
    expected = f"one of {mark_value(value, 60)}"
    return lambda actual: (
        None if any(json_equal(actual, member) for member in value) else Mismatch((), expected, actual)
    )


_BOUNDS = {**COMPARE, **{alias: COMPARE[name] for alias, name in ALIASES.items()}}


def _build_len(value: Any, path: Path) -> Matcher:
    bounds = value if isinstance(value, dict) else {"eq": value}
    if not bounds or any(name not in _BOUNDS or not is_number(limit) for name, limit in bounds.items()):
        raise MatcherError(
            path, f"`$len` must be a number or bounds, not {show(value, 40)}", "for example {gte: 1, lte: 3}"
        )
    checks = [(_BOUNDS[name], limit) for name, limit in bounds.items()]
    expected = f"a length of {mark_value(value, 40)}"

    def match_value(actual: Any) -> Mismatch | None:
        right = isinstance(actual, str | list | dict) and all(holds(len(actual), limit) for holds, limit in checks)
        return None if right else Mismatch((), expected, actual)

    return match_value


def _build_unordered(value: Any, path: Path) -> Matcher:
    if not isinstance(value, list):
        raise MatcherError(path, f"`$unordered` must be a list, not {show_typed(value, 40)}")
    children = [_build_matcher(each, (*path, index)) for index, each in enumerate(value)]
    plain = Counter(json_key(each) for each in value if is_plain(each))
    special = [child for child, each in zip(children, value, strict=True) if not is_plain(each)]
    expected = f"{mark_value(value, 60)} in any order"

    def match_value(actual: Any) -> Mismatch | None:
        right = (
            isinstance(actual, list)
            and len(actual) == len(children)
            and (left := _remove_plain(actual, plain)) is not None
            and _can_match_all(left, special)
        )
        return None if right else Mismatch((), expected, actual)

    return match_value


def _remove_plain(actual: Sequence[Any], plain: Mapping[Hashable, int]) -> list[Any] | None:
    """Removes one equal value for every plain value; None if a plain value has no equal."""
    remaining, left = dict(plain), list[Any]()
    for value in actual:
        key = json_key(value)
        if remaining.get(key):
            remaining[key] -= 1
        else:
            left.append(value)
    return None if any(remaining.values()) else left


def _can_match_all(values: Sequence[Any], matchers: Sequence[Matcher]) -> bool:
    places = range(len(values))
    pairs = BipartiteMatching(lambda _: places, lambda index, place: matchers[index](values[place]) is None)
    return all(pairs.add(index, index) for index in places)


_BUILDERS: dict[str, Callable[[Any, Path], Matcher]] = {
    "$regex": _build_regex,
    "$any": _build_any,
    "$absent": _build_absent,
    "$in": _build_in,
    "$len": _build_len,
    "$unordered": _build_unordered,
}
_NAMES = ("$approx", *_BUILDERS)
