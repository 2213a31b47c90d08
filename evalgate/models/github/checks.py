"""An annotation in the checks view of a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Annotation(NamedTuple):
    """One annotation; `level` is error, warning or notice."""

    level: str
    title: str
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None


Conclusion = Literal["success", "failure", "neutral"]


class CheckRun(NamedTuple):
    """The content of a check run of `commit`. `summary` is finished Markdown of at most 65,535 characters.

    The texts of the annotations are not escaped: the sender does that.
    """

    name: str
    commit: str
    conclusion: Conclusion
    title: str
    summary: str
    annotations: Sequence[Annotation] = ()
    details_url: str | None = None
