"""A check of our own on the checks page of a commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.github.annotation import Annotation

Conclusion = Literal["success", "failure", "neutral"]


class CheckRun(NamedTuple):
    """What a check run says of `commit`. `summary` is finished Markdown of at most 65,535 characters.

    The annotations' texts are as they were read: whoever sends them cleans them.
    """

    name: str
    commit: str
    conclusion: Conclusion
    title: str
    summary: str
    annotations: Sequence[Annotation] = ()
    details_url: str | None = None
