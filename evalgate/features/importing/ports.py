"""What reads the files of other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.errors import Location


class OriginDocument(Protocol):
    """A file of the origin: its content, and where a part of it is."""

    @property
    def value(self) -> Any:
        """The content: plain data."""

    def locate(self, path: tuple[str | int, ...]) -> Location:
        """Where the part at a path is, or the closest part around it."""


class OriginFiles(Protocol):
    """Reads files that a file of the origin names, if they are in the workspace."""

    def read_beside(self, reference: str, document: OriginDocument) -> Sequence[OriginDocument]:
        """The files that a reference names, beside the document; raises InvalidInput."""
