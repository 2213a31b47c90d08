"""Bytecode of the built-in templates, compiled at installation; without it each run compiles them."""

from __future__ import annotations

import sys
from pkgutil import get_data
from typing import TYPE_CHECKING

from jinja2 import BytecodeCache

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2.bccache import Bucket


class TemplateCache(BytecodeCache):
    """A bytecode cache keyed by path in this package: `load` reads an entry, `save` gets a missing one.

    Jinja compares the template's source and the Python version, and compiles a changed template again.
    """

    def __init__(self, load: Callable[[str], bytes | None], save: Callable[[str, bytes], object]) -> None:
        self._load = load
        self._save = save

    def get_cache_key(self, name: str, filename: str | None = None) -> str:  # noqa: ARG002  (its location does not matter)
        """Returns the path of a template's bytecode."""
        return f"templates/__pycache__/{name}.{sys.implementation.cache_tag}.bytecode"

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fills the bucket if there is an entry."""
        bytecode = self._load(bucket.key)
        if bytecode is not None:
            bucket.bytecode_from_string(bytecode)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Saves newly compiled bytecode."""
        self._save(bucket.key, bucket.bytecode_to_string())


def open_installed_cache() -> TemplateCache:
    """Opens the cache that was compiled at installation; a run does not write to it."""
    return TemplateCache(_read_installed, lambda _place, _bytecode: None)


def _read_installed(path: str) -> bytes | None:
    try:
        return get_data("evalgate.reporting", path)
    except OSError:
        return None
