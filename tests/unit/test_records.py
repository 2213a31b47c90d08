"""`evalgate.records` compared with the dataclasses of the standard library that it replaces."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any, Generic, TypeVar

import pytest

from evalgate import records

T = TypeVar("T")


@records.dataclass(frozen=True, slots=True)
class Point:
    """A frozen record; pickle needs it at module level."""

    x: int
    y: int = 0
    notes: list[str] = records.field(default_factory=list)
    token: str = records.field(default="", repr=False)
    kept: Any = records.field(default=None, init=False, repr=False, compare=False)

    @property
    def total(self) -> int:
        return self.x + self.y


@dataclasses.dataclass(frozen=True, slots=True)
class Standard:
    x: int
    y: int = 0
    notes: list[str] = dataclasses.field(default_factory=list)
    token: str = dataclasses.field(default="", repr=False)
    kept: Any = dataclasses.field(default=None, init=False, repr=False, compare=False)


@pytest.mark.parametrize("args", [(1,), (1, 2), (1, 2, ["n"], "secret")])
def test_a_record_has_the_values_and_repr_of_a_standard_dataclass(args):
    record, standard = Point(*args), Standard(*args)

    assert repr(record).removeprefix("Point") == repr(standard).removeprefix("Standard")
    assert dataclasses.asdict(record) == dataclasses.asdict(standard)


def test_fields_are_those_of_a_standard_dataclass():
    def list_fields(cls):
        return [
            (each.name, each.type, each.default, each.default_factory, each.init, each.repr, each.compare)
            for each in dataclasses.fields(cls)
        ]

    assert list_fields(Point) == list_fields(Standard)
    assert dataclasses.is_dataclass(Point(1))
    assert dataclasses.replace(Point(1), y=5) == Point(1, 5)


def test_a_default_factory_is_called_for_each_record():
    assert Point(1).notes is not Point(1).notes


def test_records_are_equal_by_class_and_compared_fields():
    other = Point(1)
    object.__setattr__(other, "kept", "something")

    assert Point(1) == other
    assert Point(1) != Point(1, token="t")
    assert Point(1) != Standard(1)
    assert Point(1).__eq__(Standard(1)) is NotImplemented


def test_a_record_of_one_field_equals_an_equal_record_and_not_the_value():
    @records.dataclass(frozen=True, slots=True)
    class One:
        x: int

    assert One(1) == One(1)
    assert One(1) != 1
    assert len({One(1), One(1), One(2)}) == 2


def test_frozen_records_of_hashable_values_can_be_keys():
    assert hash(Point(1, 2, ())) == hash(Point(1, 2, ()))
    with pytest.raises(TypeError):
        hash(Point(1))


@pytest.mark.parametrize("name", ["x", "kept", "unknown"])
def test_a_frozen_record_can_not_be_changed(name):
    point = Point(1)

    with pytest.raises(dataclasses.FrozenInstanceError, match=name):
        setattr(point, name, 2)
    with pytest.raises(dataclasses.FrozenInstanceError, match=name):
        delattr(point, name)


def test_a_record_that_is_not_frozen_can_be_changed_and_is_not_hashable():
    @records.dataclass(slots=True)
    class Count:
        figure: int = 0

    count = Count()
    count.figure += 1

    assert count == Count(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(count)


def test_slots_allow_no_other_attributes():
    @records.dataclass(slots=True)
    class Count:
        figure: int = 0

    assert not hasattr(Count(), "__dict__")
    with pytest.raises(AttributeError):
        Count().other = 1


def test_without_slots_a_default_is_a_class_attribute():
    @records.dataclass(frozen=True)
    class Row:
        name: str
        figure: int = 7
        notes: list[str] = records.field(default_factory=list)

    assert Row.figure == 7
    assert not hasattr(Row, "notes")
    assert vars(Row("a")) == {"name": "a", "figure": 7, "notes": []}


def test_without_eq_records_are_equal_to_themselves_only():
    @records.dataclass(frozen=True, eq=False, repr=False)
    class Row:
        name: str

    row = Row("a")
    assert row == row  # noqa: PLR0124
    assert row != Row("a")
    assert hash(row) != hash(Row("a"))
    assert "object at" in repr(row)


def test_methods_that_a_class_defines_are_kept():
    @records.dataclass(frozen=True, slots=True)
    class Loud:
        name: str

        def __repr__(self):
            return self.name.upper()

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 7

    assert repr(Loud("a")) == "A"
    assert Loud("a") == 3
    assert hash(Loud("a")) == 7


def test_a_generic_record_keeps_its_parameters_methods_and_qualname():
    @records.dataclass(slots=True)
    class Group(Generic[T]):
        """Some."""

        rows: list[T]

        @classmethod
        def empty(cls):
            return cls([])

    assert Group[int].empty() == Group([])
    assert Group.__doc__ == "Some."
    assert Group.__qualname__.endswith("<locals>.Group")
    assert Point(1, 2).total == 3


def test_missing_unknown_and_too_many_values_are_refused():
    for args, named in [((), {}), ((1,), {"z": 1}), ((1,), {"kept": 1}), ((1, 2, [], "", 5), {})]:
        with pytest.raises(TypeError, match=r"Point\.__init__"):
            Point(*args, **named)


def test_replace_changes_the_given_fields_of_a_copy():
    point = Point(1, 2, ["n"])

    assert records.replace(point, y=5) == Point(1, 5, ["n"])
    assert point == Point(1, 2, ["n"])
    with pytest.raises(TypeError):
        records.replace(point, other=1)


@pytest.mark.parametrize(
    "again",
    [copy.copy, copy.deepcopy, lambda point: pickle.loads(pickle.dumps(point))],  # noqa: S301  (own bytes)
)
def test_copies_are_equal(again):
    point = Point(1, 2, ["n"])
    object.__setattr__(point, "kept", "too")

    assert again(point) == point
    assert again(point).kept == "too"


def test_a_match_pattern_has_positional_fields():
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)
