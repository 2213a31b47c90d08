"""Field options and validators under pydantic's names, stored unevaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MISSING: Any = type("Missing", (), {})()


class FieldMark:
    """One mark; `name` is its name in pydantic."""

    __slots__ = ("given", "name", "options")

    def __init__(self, name: str, given: tuple[Any, ...], options: dict[str, Any]) -> None:
        self.name, self.given, self.options = name, given, options


def Field(**options: Any) -> FieldMark:  # noqa: N802  (pydantic's name)
    """Bounds of a type, or the default and alias of a field."""
    return FieldMark("Field", (), options)


def BeforeValidator(function: Callable[[Any], Any], **options: Any) -> FieldMark:  # noqa: N802  (as above)
    """A function that changes a value before the type is checked."""
    return FieldMark("BeforeValidator", (function,), options)


def AfterValidator(function: Callable[[Any], Any]) -> FieldMark:  # noqa: N802  (as above)
    """A function that checks a value of the type; it raises ValueError if the value is invalid."""
    return FieldMark("AfterValidator", (function,), {})


def Discriminator(function: Callable[[Any], Any]) -> FieldMark:  # noqa: N802  (as above)
    """A function that picks the tag of a union's member from a value."""
    return FieldMark("Discriminator", (function,), {})


def Tag(name: str) -> FieldMark:  # noqa: N802  (as above)
    """The tag of a union's member."""
    return FieldMark("Tag", (name,), {})


def WithJsonSchema(schema: dict[str, Any]) -> FieldMark:  # noqa: N802  (as above)
    """A JSON Schema that replaces the one of the type."""
    return FieldMark("WithJsonSchema", (schema,), {})
