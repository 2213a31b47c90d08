"""Our templates as bytecode, made when the gate was installed; without it each run compiles them."""

from __future__ import annotations

import sys
from pkgutil import get_data
from typing import TYPE_CHECKING

from jinja2 import BytecodeCache

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2.bccache import Bucket


class Compiled(BytecodeCache):
    """Bytecode by its place in this room: `stored` yields what there is, `keep` is given what there was not.

    Jinja compares the source and the Python it is for, so a template that has changed is compiled again.
    """

    def __init__(self, stored: Callable[[str], bytes | None], keep: Callable[[str, bytes], object]) -> None:
        self._stored = stored
        self._keep = keep

    def get_cache_key(self, name: str, filename: str | None = None) -> str:  # noqa: ARG002  (wherever it lies)
        """The place of a template's bytecode."""
        return f"templates/__pycache__/{name}.{sys.implementation.cache_tag}.bytecode"

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fills the bucket if there is something to fill it with."""
        stored = self._stored(bucket.key)
        if stored is not None:
            bucket.bytecode_from_string(stored)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Hands on what had to be compiled."""
        self._keep(bucket.key, bucket.bytecode_to_string())


def installed() -> Compiled:
    """What was compiled when the gate was installed; a run adds nothing to it."""
    return Compiled(_installed, lambda _place, _bytecode: None)


def _installed(place: str) -> bytes | None:
    try:
        return get_data("evalgate.reporting", place)
    except OSError:
        return None
