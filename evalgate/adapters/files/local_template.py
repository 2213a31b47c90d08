"""Reads a project's template from a trusted workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.github import MAX_TEMPLATE_BYTES, TemplateFile

if TYPE_CHECKING:
    from evalgate.ports import Files


class LocalTemplate:
    """Implements `TemplateSource` with a file of the workspace."""

    def __init__(self, files: Files, path: str) -> None:
        self._files = files
        self._path = path

    def read(self) -> TemplateFile:
        """Reads the template; raises InvalidInput."""
        return TemplateFile.from_bytes(
            self._path, self._files.read(self._path, MAX_TEMPLATE_BYTES, what="the template")
        )
