"""Keeps the bytecode of the built-in templates where Python keeps that of this module."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from jinja2 import FileSystemBytecodeCache

from evalgate.reporting import markdown

if TYPE_CHECKING:
    from jinja2.bccache import Bucket

FOLDER = f"{markdown.__path__[0]}/__pycache__"


class TemplateCache(FileSystemBytecodeCache):
    """Bytecode by template and Python version; Jinja compiles a template again if its source has changed.

    Nothing is saved if the folder is missing or can't be written, or if Python was started not to write bytecode.
    """

    def __init__(self) -> None:
        super().__init__(FOLDER, f"%s.{sys.implementation.cache_tag}.bytecode")

    def get_cache_key(self, name: str, filename: str | None = None) -> str:  # noqa: ARG002  (its location does not matter)
        """Returns the name of the template."""
        return name

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Saves newly compiled bytecode."""
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                super().dump_bytecode(bucket)
