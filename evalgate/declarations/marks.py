"""What declarations say beside types, under pydantic's names: kept as said until somebody asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MISSING: Any = type("Missing", (), {})()
"""Where nothing is said."""


class FieldMark:
    """One thing that is said; `name` is pydantic's word for it."""

    __slots__ = ("given", "name", "options")

    def __init__(self, name: str, given: tuple[Any, ...], options: dict[str, Any]) -> None:
        self.name, self.given, self.options = name, given, options


def Field(**options: Any) -> FieldMark:  # noqa: N802  (pydantic's name)
    """Bounds of a type, or the default and alias of a field."""
    return FieldMark("Field", (), options)


def BeforeValidator(function: Callable[[Any], Any], **options: Any) -> FieldMark:  # noqa: N802  (as above)
    """A function that changes what is given before the type looks at it."""
    return FieldMark("BeforeValidator", (function,), options)


def AfterValidator(function: Callable[[Any], Any]) -> FieldMark:  # noqa: N802  (as above)
    """A function that looks at what the type accepts; it raises ValueError for what can't be meant."""
    return FieldMark("AfterValidator", (function,), {})


def Discriminator(function: Callable[[Any], Any]) -> FieldMark:  # noqa: N802  (as above)
    """A function that names the member of a union by what is given."""
    return FieldMark("Discriminator", (function,), {})


def Tag(name: str) -> FieldMark:  # noqa: N802  (as above)
    """The name of a member."""
    return FieldMark("Tag", (name,), {})


def WithJsonSchema(schema: dict[str, Any]) -> FieldMark:  # noqa: N802  (as above)
    """What the JSON Schema says in place of the type."""
    return FieldMark("WithJsonSchema", (schema,), {})
