"""An annotation in the checks view of a pull request."""

from __future__ import annotations

from typing import NamedTuple


class Annotation(NamedTuple):
    """One annotation; `level` is error, warning or notice."""

    level: str
    title: str
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
