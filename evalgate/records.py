"""`dataclass`, `field` and `replace` as in the standard library, but faster at creating classes.

A run loads about eighty such classes. The standard library compiles up to six functions for each, this module
one, in a fifth of the time. Type checkers see the standard library instead. What the gate does not use is
missing here: fields of base classes, `order`, `kw_only` and the like.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from dataclasses import dataclass, field, replace

__all__ = ["dataclass", "field", "replace"]

C = TypeVar("C", bound=type)
_MISSING: Any = type("Missing", (), {"__repr__": lambda _: "<factory>"})()
_set = object.__setattr__


class _Field(NamedTuple):
    default: Any = _MISSING
    default_factory: Any = _MISSING
    init: bool = True
    repr: bool = True
    compare: bool = True


def _dataclass(
    *,
    frozen: bool = False,
    slots: bool = False,
    eq: bool = True,
    repr: bool = True,  # noqa: A002  (its name in the standard library)
) -> Callable[[C], C]:
    """Makes a record class with a field per annotation; see dataclasses.dataclass."""

    def decorate(cls: C) -> C:
        fields = {name: _get_field(cls, name) for name in cls.__annotations__}
        members = _members(cls, fields, frozen=frozen)
        if eq:
            members |= _make_comparison([name for name, each in fields.items() if each.compare], frozen=frozen)
        if repr:
            members["__repr__"] = _make_repr([name for name, each in fields.items() if each.repr])
        return _add_members(cls, members, fields, slots=slots)

    return decorate


def _replace(record: Any, /, **changes: Any) -> Any:
    kept = {name: getattr(record, name) for name in record.__class__.__match_args__ if name not in changes}
    return record.__class__(**kept, **changes)


def _get_field(cls: type, name: str) -> _Field:
    value = cls.__dict__.get(name, _MISSING)
    return value if isinstance(value, _Field) else _Field(value)


def _members(cls: type, fields: Mapping[str, _Field], *, frozen: bool) -> dict[str, Any]:
    members: dict[str, Any] = {
        "__init__": _init(cls, fields, frozen=frozen),
        "__match_args__": tuple(name for name, each in fields.items() if each.init),
        "__dataclass_fields__": _Fields(fields),
    }
    if frozen:
        members |= {"__setattr__": _refuse, "__delattr__": _refuse, **_make_pickling(list(fields))}
    return members


def _init(cls: type, fields: Mapping[str, _Field], *, frozen: bool) -> Any:
    """Compiles `__init__`, the only function that needs compiling."""
    known: dict[str, Any] = {"_set": _set, "_missing": _MISSING, "__name__": cls.__module__}
    given, lines = ["self"], []
    for name, each in fields.items():
        value = name
        if each.default_factory is not _MISSING:
            known[f"_made_{name}"] = each.default_factory
            value = f"_made_{name}() if {name} is _missing else {name}" if each.init else f"_made_{name}()"
            default = "=_missing"
        elif each.default is not _MISSING:
            known[f"_default_{name}"] = each.default
            value = name if each.init else f"_default_{name}"
            default = f"=_default_{name}"
        else:
            default = ""
        if each.init:
            given.append(name + default)
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    exec(f"def __init__({', '.join(given)}):\n " + "\n ".join(lines or ["pass"]), known)  # noqa: S102
    known["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
    return known["__init__"]


def _make_comparison(names: list[str], *, frozen: bool) -> dict[str, Any]:
    key = attrgetter(*names) if names else type

    def __eq__(self: Any, other: object) -> Any:  # noqa: N807
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(key(self))

    return {"__eq__": __eq__, "__hash__": __hash__ if frozen else None}


def _make_repr(names: list[str]) -> Any:
    def __repr__(self: Any) -> str:  # noqa: N807
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({values})"

    return __repr__


def _make_pickling(names: list[str]) -> dict[str, Any]:
    def __getstate__(self: Any) -> list[Any]:  # noqa: N807
        return [getattr(self, name) for name in names]

    def __setstate__(self: Any, state: list[Any]) -> None:  # noqa: N807
        for name, value in zip(names, state, strict=True):
            _set(self, name, value)

    return {"__getstate__": __getstate__, "__setstate__": __setstate__}


def _refuse(self: object, name: str, *_: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"{name} of a {self.__class__.__qualname__} can't be changed")


def _add_members(cls: C, members: Mapping[str, Any], fields: Mapping[str, _Field], *, slots: bool) -> C:
    """Adds members that the class does not define itself; slots need a new class."""
    own = {name: value for name, value in cls.__dict__.items() if name not in fields}
    missing = {name: value for name, value in members.items() if name not in own}
    if slots:
        for name in ("__dict__", "__weakref__"):
            own.pop(name, None)
        made = type(cls)(cls.__name__, cls.__bases__, {**own, **missing, "__slots__": tuple(fields)})
        made.__qualname__ = cls.__qualname__
        return made
    for name, each in fields.items():
        if each.default is not _MISSING:
            setattr(cls, name, each.default)
        elif name in cls.__dict__:
            delattr(cls, name)
    for name, value in missing.items():
        setattr(cls, name, value)
    return cls


class _Fields:
    """`__dataclass_fields__`, made by the standard library when first read."""

    def __init__(self, fields: Mapping[str, _Field]) -> None:
        self._fields = fields

    def __get__(self, _: object, owner: type) -> Any:
        import dataclasses

        members: dict[str, Any] = {"__annotations__": owner.__annotations__}
        for name, each in self._fields.items():
            options = {key: value for key, value in each._asdict().items() if value is not _MISSING}
            members[name] = dataclasses.field(**options)
        fields: Any = vars(dataclasses.dataclass(type(owner.__name__, (), members)))["__dataclass_fields__"]
        owner.__dataclass_fields__ = fields  # type: ignore[attr-defined]
        return fields


if not TYPE_CHECKING:
    dataclass, field, replace = _dataclass, _Field, _replace
