"""Parts of a document of the origin, each with its path, so that a line of the suite can say where it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.features.importing.ports import OriginDocument


class OriginPart(NamedTuple):
    """A value in a document of the origin, and the path to it."""

    value: Any
    document: OriginDocument
    path: tuple[str | int, ...] = ()

    @property
    def place(self) -> str:
        """File and line."""
        location = self.document.locate(self.path)
        return location.file if location.line is None else f"{location.file}:{location.line}"

    def get(self, key: str) -> OriginPart:
        """The value of a key, None without it."""
        value = self.value.get(key) if isinstance(self.value, dict) else None
        return OriginPart(value, self.document, (*self.path, key))

    def items(self) -> Iterator[OriginPart]:
        """The items of a list; anything else in its place is one item, so that it is not overlooked."""
        if self.value is not None and not isinstance(self.value, list):
            yield self
        elif self.value is not None:
            for number, value in enumerate(self.value):
                yield OriginPart(value, self.document, (*self.path, number))

    def mapping(self) -> dict[str, Any]:
        """The value if it is an object, else an empty one."""
        return self.value if isinstance(self.value, dict) else {}
