"""Every text of every record of results.json is cleaned: its fields are found by their types, none is listed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

import orjson
import pytest
from msgspec import Meta, Struct, UnsetType, to_builtins

from evalgate.models.results.results import ResultsDoc
from evalgate.models.run.bounds import MOST, WORD, Name
from evalgate.models.run.golden import GoldenTrial
from evalgate.models.run.trial_doc import GoldenTrialDoc
from evalgate.reporting.results.clean_values import clean_record
from evalgate.reporting.results.trial_doc import BUILDERS

SECRET = f"ghp_{'Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6'}"


def find_records(kind: Any, found: dict[type[Struct], None] | None = None) -> list[type[Struct]]:
    """The records in a document type that are not part of another record."""
    found = {} if found is None else found
    if isinstance(kind, type) and issubclass(kind, Struct):
        found[kind] = None
    elif is_typeddict(kind):
        for each in get_type_hints(kind).values():
            find_records(each, found)
    else:
        for each in get_args(kind):
            find_records(each, found)
    return list(found)


def fill(  # noqa: PLR0911  one for each kind of type
    kind: Any, path: tuple[str, ...], texts: dict[tuple[str, ...], bool], planted: tuple[str, ...] = ()
) -> Any:
    """A value of this type with the secret in the text at one path; `texts` gets each path, and whether it is free."""
    origin, arguments = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and issubclass(kind, Struct):
        hints = get_type_hints(kind, include_extras=True)
        return kind(**{name: fill(hints[name], (*path, name), texts, planted) for name in kind.__struct_fields__})
    if kind in BUILT:
        return fill(BUILT[kind], path, texts, planted)
    if is_typeddict(kind) or hasattr(kind, "_fields"):
        hints = get_type_hints(kind, include_extras=True)
        return kind(**{name: fill(each, (*path, name), texts, planted) for name, each in hints.items()})
    if origin is Literal:
        return arguments[0]
    if origin is Annotated:
        metas = [each for each in arguments[1:] if isinstance(each, Meta)]
        value = fill(arguments[0], path, texts, planted)
        texts |= {path: False} if any(each.pattern or WORD in (each.extra or {}) for each in metas) else {}
        return value
    if kind is str:
        texts[path] = True
        return SECRET if path == planted else "a"
    if kind in {int, float, bool}:
        return kind(1)
    if kind is Any:
        return fill(str, path, texts, planted)
    if origin in {dict, Mapping}:
        return {"a": fill(arguments[1], (*path, "a"), texts, planted)}
    several = [each for each in arguments if each not in {NoneType, UnsetType, Ellipsis}]
    found = fill(several[0], path, texts, planted)
    return [found] if origin in {list, tuple, Sequence} else found


def list_texts(kind: type[Struct]) -> list[tuple[type[Struct], tuple[str, ...]]]:
    texts: dict[tuple[str, ...], bool] = {}
    fill(kind, (), texts)
    return [(kind, path) for path, is_free in texts.items() if is_free]


BUILT = {GoldenTrialDoc: GoldenTrial}
"""Documents that a function builds of another record."""
RECORDS = find_records(ResultsDoc)
TEXTS = [each for kind in RECORDS for each in list_texts(kind)]


@pytest.mark.parametrize(
    ("kind", "path"), TEXTS, ids=lambda each: each.__name__ if isinstance(each, type) else ".".join(each)
)
def test_a_secret_in_any_text_of_a_record_is_redacted(kind, path):
    record = fill(kind, (), {}, path)
    assert SECRET in orjson.dumps(to_builtins(record)).decode()
    assert SECRET not in orjson.dumps(to_builtins(clean_record(record, kind, BUILDERS.get))).decode()


def test_texts_of_every_part_are_found():
    assert {
        ("TrajectoryDiff", ("steps", "changes", "current")), ("CallsDiff", ("baseline",)),
        ("TrialDoc", ("pricing", "usage", "model")), ("TrialDoc", ("golden", "turns", "tool_results")),
        ("TrialDoc", ("golden", "issues", "message")),
    } <= {(kind.__name__, path) for kind, path in TEXTS}  # fmt: skip


class Odd(Struct):
    field: set[str]


class Listed(Struct):
    names: Annotated[list[Name], Meta(extra={MOST: 2})]
    count: int
    absent: str | UnsetType


def test_a_field_of_an_unknown_type_is_an_error():
    with pytest.raises(TypeError, match="how to clean"):
        clean_record(Odd({"a"}), Odd)


def test_a_record_is_bounded():
    found = clean_record(Listed(["n" * 700, "b", "c"], 2**70, "t" * 2_020), Listed)
    assert found == Listed([f"{'n' * 600}… (+100)", "b"], 2**63 - 1, f"{'t' * 2_000}… (+20)")
    assert clean_record(found, Listed) == found


def test_a_text_is_not_cut_where_the_count_is_as_long():
    assert clean_record(Listed([], 0, "t" * 2_006), Listed).absent == "t" * 2_006
