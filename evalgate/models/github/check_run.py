"""EvalGate's check run on the checks page of a commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.github.annotation import Annotation

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
