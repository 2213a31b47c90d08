"""Expands the shorthands of assertions in a suite into the canonical form, before any other step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.evaluators.core.field_problems import FieldProblem, Path, suggest
from evalgate.evaluators.core.operators import OPERATORS
from evalgate.measures.values.json_values import ALIASES, json_type, show, show_typed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DEFAULT_PATH = "response.content"
GROUPS = ("all_of", "any_of", "at_least", "when")
COMMON = ("name", "weight", "required", "on_missing", "negate", "dimension", "agent")
STATE = "state"
"""The type of check that takes an operator as a key, as one without a type does."""

_OPERATOR_KEYS = {*OPERATORS, *ALIASES}


def finds_prose(path: str) -> bool:
    """Whether an expression finds what was said, in which another hyphen is the same word; in a value it is not."""
    return path.strip().endswith("content")


class CanonicalForm(NamedTuple):
    """An assertion in its canonical form; `origin` maps a field to its path in the suite."""

    fields: dict[str, Any]
    origin: dict[str, Path]

    def source_path(self, path: Path) -> Path:
        """Returns the path in the suite of a path in the canonical form."""
        if not path or not isinstance(path[0], str):
            return path
        return (*self.origin.get(path[0], (path[0],)), *path[1:])


class ShorthandError(ValueError):
    """The shorthand can't be expanded."""

    def __init__(self, path: Path, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.problem = FieldProblem(path, message, hint)


def expand_shorthand(raw: Any) -> CanonicalForm:
    """Expands one assertion of a suite into its canonical form. Raises ShorthandError."""
    if not isinstance(raw, dict):
        raise ShorthandError((), f"an assertion must be a mapping, not {show_typed(raw, 40)}", _suggest_type(raw))
    if "not" in raw:
        return _expand_negation(raw)
    if "params" in raw:
        return _expand_params(raw)
    if any(group in raw for group in GROUPS):
        return _expand_group(raw)
    if raw.get("type") == STATE and "operator" not in raw:
        return _expand_state(raw)
    if "type" in raw:
        return CanonicalForm(raw, {})
    return _expand_operator(raw)


def iter_checks(written: Any, *, is_negated: bool = False) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """Yields the fields of the checks of an entry of a suite, and whether each must not pass, also inside groups."""
    try:
        fields = expand_shorthand(written).fields
    except ShorthandError:  # not written by a person: the suite is valid
        return
    is_negated ^= fields.get("negate") is True
    kind = fields.get("type")
    if kind not in GROUPS:
        yield fields, is_negated
        return
    if kind == "when":  # a condition that does not hold skips the check
        yield from iter_checks(fields["when"], is_negated=not is_negated)
    for each in list_members(fields):
        yield from iter_checks(each, is_negated=is_negated)


def list_members(fields: Mapping[str, Any]) -> list[Any]:
    """The members of a group in its canonical form, without the condition of a `when`."""
    kind = fields["type"]
    members = fields.get("then" if kind == "when" else kind)
    members = members.get("of") if isinstance(members, dict) else members
    return members if isinstance(members, list) else []


def list_names_in(fields: Mapping[str, Any], name: str) -> Iterator[str]:
    """The names of tools in a field of a check as written."""
    return _list_names(_find_field(fields, name))


def list_steps_in(fields: Mapping[str, Any], name: str) -> Iterator[tuple[str, ...]]:
    """The names of tools in a field of a check as written, those together of which one is enough."""
    waiting = [_find_field(fields, name)]
    for each in waiting:  # which grows
        if isinstance(each, list):
            waiting += each
        elif names := tuple(_list_names(each)):
            yield names


def _find_field(fields: Mapping[str, Any], name: str) -> Any:
    """A field as written, or with a dot the field of an object: `source.tool` is none if `source` is a path."""
    name, _, inner = name.partition(".")
    found = fields.get(name)
    return (found.get(inner) if isinstance(found, dict) else None) if inner else found


def _list_names(named: Any) -> Iterator[str]:
    """The names in a field: one, a list of them, or the steps of a sequence."""
    if isinstance(named, str):
        yield named
    elif isinstance(named, list):
        for each in named:
            yield from _list_names(each)
    elif isinstance(named, dict):
        yield from _list_names(named.get("tool") or named.get("one_of"))


def _expand_negation(raw: Mapping[str, Any]) -> CanonicalForm:
    """Expands `not: {...}`: the inner assertion, negated; keys beside `not` belong to the same assertion."""
    inner = expand_shorthand_at(raw["not"], ("not",))
    origin = {name: ("not", *inner.origin.get(name, (name,))) for name in inner.fields}
    fields = dict(inner.fields)
    for name, value in raw.items():
        if name == "not":
            continue
        if name not in COMMON:
            raise ShorthandError((name,), f"{show(name)} can't be combined with `not`", "move it inside `not`")
        if name in fields:
            raise ShorthandError((name,), f"`{name}` is given both inside and outside `not`", "remove one")
        fields[name], origin[name] = value, (name,)
    if not isinstance(fields.get("negate", False), bool):
        raise ShorthandError(origin["negate"], f"`negate` must be true or false, not {show(fields['negate'])}")
    fields["negate"] = not fields.get("negate", False)
    return CanonicalForm(fields, origin)


def expand_shorthand_at(raw: Any, path: Path) -> CanonicalForm:
    """Calls `expand_shorthand` for a part at `path`, and puts that path before those of its errors."""
    try:
        return expand_shorthand(raw)
    except ShorthandError as error:
        problem = error.problem
        raise ShorthandError((*path, *problem.path), problem.message, problem.hint) from None


def _expand_params(raw: Mapping[str, Any]) -> CanonicalForm:
    params = raw["params"]
    if not isinstance(params, dict):
        raise ShorthandError(("params",), f"`params` must be a mapping, not {json_type(params)}")
    if "type" not in raw:
        raise ShorthandError((), "`params` needs a `type` next to it")
    fields = {name: value for name, value in raw.items() if name != "params"}
    for name, value in params.items():
        if name in fields:
            raise ShorthandError(("params", name), f"`{name}` is given both inside and outside `params`", "remove one")
        fields[name] = value
    return CanonicalForm(fields, {name: ("params", name) for name in params})


def _expand_group(raw: Mapping[str, Any]) -> CanonicalForm:
    given = [group for group in GROUPS if group in raw]
    allowed = {*COMMON, given[0], *(("then",) if given[0] == "when" else ())}
    for name in raw:
        if name not in allowed:
            raise ShorthandError((name,), f"{show(name)} can't be combined with `{given[0]}`", suggest(name, allowed))
    return CanonicalForm({**raw, "type": given[0]}, {})


def _expand_operator(raw: Mapping[str, Any]) -> CanonicalForm:
    """Expands `{path, OP: value}` into a query."""
    operators = _list_operators(raw)
    if len(operators) != 1:
        unknown = next((name for name in raw if name not in {*_OPERATOR_KEYS, *COMMON, "path"}), None)
        found = "no operator" if not operators else f"the operators {', '.join(operators)}"
        hint = _suggest_type(unknown) or suggest(unknown, _OPERATOR_KEYS) if unknown is not None else None
        raise ShorthandError(
            () if unknown is None else (unknown,),
            f"an assertion needs a `type`, or a path with exactly one operator; this one has {found}",
            hint or "for example {path: response.content, contains: refund}",
        )
    operator = operators[0]
    fields: dict[str, Any] = {"type": "jmespath", "operator": operator, "value": raw[operator]}
    fields["expression"] = raw.get("path", DEFAULT_PATH)
    fields |= {name: value for name, value in raw.items() if name not in {operator, "path"}}
    return CanonicalForm(fields, {"expression": ("path",), "value": (operator,), "operator": (operator,)})


def _expand_state(raw: Mapping[str, Any]) -> CanonicalForm:
    """Expands `{type: state, path, OP: value}`, which differs from a query in what it reads."""
    operators = _list_operators(raw)
    if len(operators) != 1:
        found = "no operator" if not operators else f"the operators {', '.join(operators)}"
        example = "for example {type: state, path: orders.A7.status, eq: refunded}"
        raise ShorthandError((), f"`{STATE}` needs a path with exactly one operator; this one has {found}", example)
    fields = {name: value for name, value in raw.items() if name != operators[0]}
    fields |= {"operator": operators[0], "value": raw[operators[0]]}
    return CanonicalForm(fields, {"value": (operators[0],), "operator": (operators[0],)})


def _list_operators(raw: Mapping[str, Any]) -> list[str]:
    return [name for name in raw if name in _OPERATOR_KEYS]


def _suggest_type(word: Any) -> str | None:
    """Suggests how to write a check given by its type alone, as text or as a key."""
    from evalgate.evaluators.core.registry import evaluator_types

    return f"write {{type: {word}, ...}}" if isinstance(word, str) and word in evaluator_types() else None
