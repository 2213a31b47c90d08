"""`evalgate.declarations` compared with the pydantic models that it replaces."""

from __future__ import annotations

import copy
import pickle
from importlib import import_module
from inspect import isabstract
from pathlib import Path
from random import Random
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin

import pytest
import yaml
from pydantic import ValidationError

from evalgate.declarations import AfterValidator, BeforeValidator, Closed, Field, full_model
from evalgate.declarations.checking import UncertainValueError
from evalgate.evaluators.core.registry import BUILT_IN_TYPES
from evalgate.suite.schema.suite_file import ProjectFile, SuiteFile

ROOT = Path(__file__).resolve().parents[2]
for room in (
    "suite.schema.approvals_file",
    "suite.schema.golden_file",
    *{f"evaluators.kinds.{module}" for module, _ in BUILT_IN_TYPES.values()},
):
    import_module(f"evalgate.{room}")


def _declared(base: Any) -> list[Any]:
    found = [each for each in base.__subclasses__() if each.__module__.startswith("evalgate.")]
    return [*found, *(inner for each in found for inner in _declared(each))]


DECLARED = sorted(
    {each for each in _declared(Closed) if not isabstract(full_model(each))},
    key=lambda each: each.__qualname__,
)
WORDS = ["", "a", " ", "*", "a:b", "EQ", "2026-02-30", "2026-02-28", "7d", "é", "0" * 64, "x" * 600]
FIGURES = [None, True, False, 0, 1, -1, 2.5, -0.5, float("inf"), float("nan")]
MANY = [
    [],
    ["a"],
    [1],
    [[]],
    {},
    {"a": 1},
    {"tool": "a"},
    {"one_of": ["a", {"tool": "b"}]},
    {1: 2},
    ("a",),
    {"a"},
]
JUNK = [*WORDS, *FIGURES, *MANY]
PLAIN: dict[Any, list[Any]] = {
    str: [*WORDS, *["a", "2026-02-28"] * 5],
    int: [-1, 0, 1, 2, 3],
    float: [0, 0.5, 1, 2.0, -1],
    bool: [True, False],
}


def make_value(kind: Any, pick: Random) -> Any:
    """A value that a type probably accepts."""
    origin, inner = get_origin(kind), get_args(kind)
    if pick.random() < 0.05:
        return copy.deepcopy(pick.choice(JUNK))
    if origin in (Annotated, Union, UnionType):
        return make_value(inner[0] if origin is Annotated else pick.choice(inner), pick)
    if origin is list:
        return [make_value(inner[0], pick) for _ in range(pick.randrange(3))]
    if origin is dict:
        return {pick.choice(["a", "Bc", "", 1]): make_value(inner[1], pick) for _ in range(pick.randrange(3))}
    if isinstance(kind, type) and issubclass(kind, Closed):
        return make_mapping(kind, pick)
    choices = inner if origin is Literal else PLAIN.get(kind, [None])
    return pick.choice(choices)


def make_mapping(declared: Any, pick: Random) -> dict[str, Any]:
    """A mapping with some keys of a class, sometimes without a required one or with an unknown one."""
    fields = list(declared.model_fields.values())
    set_fields = [each for each in fields if pick.random() < (0.97 if is_due(declared, each) else 0.3)]
    found = {each.key: make_value(each.kind, pick) for each in set_fields}
    if pick.random() < 0.05:
        found[pick.choice(["unknown", *declared.model_fields])] = "a"
    return found


def is_due(declared: Any, field: Any) -> bool:
    return bool(full_model(declared).model_fields[field.name].is_required())


def dump_record(found: Any, **options: Any) -> str:
    """All values of a record and the names of its set fields."""
    set_fields = found.model_dump(exclude_unset=True, **options)
    return repr((found.model_dump(**options), set_fields, sorted(found.model_fields_set)))


@pytest.mark.parametrize("declared", DECLARED, ids=lambda each: each.__qualname__)
def test_a_class_accepts_what_its_pydantic_model_accepts_and_nothing_else(declared: Any) -> None:
    pick, accepted = Random(8), 0  # noqa: S311  (values to try)
    for _ in range(40):
        value = make_mapping(declared, pick)
        before = repr(value)
        try:
            expected = dump_record(full_model(declared).model_validate(value), warnings=False)
        except ValidationError:
            with pytest.raises(UncertainValueError):
                declared.read_surely(value)
        else:
            accepted += 1
            assert dump_record(declared.read_surely(value)) == expected
        assert repr(value) == before
    assert accepted


SUITES = [*ROOT.glob("examples/**/*.yaml"), *ROOT.glob("evals/**/*.yaml"), *ROOT.glob("benchmarks/*.yaml")]


@pytest.mark.parametrize("path", SUITES, ids=lambda path: str(path.relative_to(ROOT)))
def test_suites_and_projects_are_read_without_pydantic(path: Path) -> None:
    value = yaml.safe_load(path.read_text(encoding="utf-8"))
    if "scenarios" in value:
        assert SuiteFile.read_surely(value).scenarios
    elif "suites" in value:
        assert ProjectFile.read_surely(value).suites


class Inner(Closed):
    """A part."""

    size: Annotated[int, Field(ge=1)] = 1


def _even(value: int) -> int:
    if value % 2:
        raise ValueError("must be even")
    return value


class Outer(Closed):
    """One of each."""

    version: ClassVar[int] = 3
    words: list[str] = ["a"]  # noqa: RUF012  (each record gets a copy)
    other: Annotated[str | None, Field(alias="in")] = None
    inner: Inner = Inner.from_defaults()
    parts: dict[str, Inner] = Field(default_factory=dict, max_length=2)
    even: Annotated[int, AfterValidator(_even)] = 2
    text: Annotated[str, BeforeValidator(str.strip), Field(pattern="^[a-z]+$")] = "a"

    @property
    def total(self) -> int:
        return self.inner.size + self.even


def test_a_record_is_frozen_compared_copied_and_pickled() -> None:
    made = Outer.model_validate({"in": "x", "parts": {"a": {"size": 2}}})

    assert (made.other, made.parts["a"].size, made.total, made.version) == ("x", 2, 3, 3)
    assert made.model_fields_set == {"other", "parts"}
    sent = pickle.loads(pickle.dumps(made))  # noqa: S301  (own bytes)
    for same in (sent, copy.deepcopy(made), Outer(**{"in": "x"}, parts=made.parts)):
        assert same == made
        assert repr(same) == repr(made)
    assert made != Outer(**{"in": "y"}, parts=made.parts)
    assert made != Outer(even=2, **{"in": "x"}, parts=made.parts)
    with pytest.raises(AttributeError, match="even of a Outer can't be changed"):
        made.even = 4  # type: ignore[misc]


def test_defaults_are_not_shared_between_records() -> None:
    one, other = Outer.from_defaults(), Outer.model_validate({})

    one.words.append("b")
    assert (other.words, Outer.from_defaults().words) == (["a"], ["a"])
    assert one.model_fields_set == set()


def test_a_copy_takes_the_given_values() -> None:
    made = Inner.from_defaults().model_copy(update={"size": 5})

    assert (made.size, made.model_fields_set) == (5, {"size"})


@pytest.mark.parametrize("text", ["é" * 3, "abc\n", "\ud800"])
def test_an_uncertain_value_is_decided_by_pydantic(text: str) -> None:
    value = {"text": text, "even": 2**70, "inner": {"size": 2**60}}
    with pytest.raises(UncertainValueError):
        Outer.read_surely(value)
    if text.isascii():
        made = Outer.model_validate(value)
        assert type(made) is Outer
        assert type(made.inner) is Inner
        assert (made.text, made.even, made.inner.size) == ("abc", 2**70, 2**60)
    else:
        with pytest.raises(ValidationError):
            Outer.model_validate(value)


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"even": 3}, ("even",)),
        ({"other": "x"}, ("other",)),
        ({"parts": {"a": {"size": 0}}}, ("parts", "a", "size")),
        ({"parts": {"a": {}, "b": {}, "c": {}}}, ("parts",)),
        ({"text": "B"}, ("text",)),
        ({"words": ("a",)}, ("words",)),
        ({"inner": {"size": True}}, ("inner", "size")),
        ([], ()),
    ],
)
def test_errors_are_reported_by_pydantic(value: Any, place: tuple[str, ...]) -> None:
    with pytest.raises(ValidationError) as refused:
        Outer.model_validate(value)
    assert refused.value.errors()[0]["loc"] == place
