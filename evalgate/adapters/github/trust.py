"""Which artifacts may be a baseline: made here, by a push to the branch, by a finished run of the workflow.

The list of a repository's artifacts holds those of pull requests from forks too, a fork's branch may have the
name of ours, and another workflow may use the artifact's. Each check closes one such way in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalgate.adapters.github.shapes import text, whole
from evalgate.measures.json_values import dig

if TYPE_CHECKING:
    from evalgate.adapters.github.shapes import Artifact

LARGEST_BASELINE = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a baseline must come from."""

    repository_id: int
    branch: str
    workflow: str  # path of the workflow's file


def foreign(artifact: Artifact, wanted: Provenance) -> str | None:
    """Why the artifact is none of ours, by what the list says of it; None where it may be."""
    if artifact.run_id is None:
        return "the run that made it is not known"
    if artifact.head_repository_id != wanted.repository_id:
        return "it was made by a fork"
    if artifact.repository_id != wanted.repository_id:
        return "it was made in another repository"
    return None


def unsuitable(artifact: Artifact) -> str | None:
    """Why the artifact can't be used though it may be ours."""
    if artifact.size > LARGEST_BASELINE:
        return f"it is larger than {LARGEST_BASELINE // 1024**2} MB"
    if artifact.head_sha is None:
        return "its commit is not known"
    return None


def run_refused(run: Any, artifact: Artifact, wanted: Provenance) -> str | None:
    """Why the run that made the artifact is not to be trusted, None where it is."""
    path = text(dig(run, "path")).partition("@")[0]
    if dig(run, "event") != "push":
        return "it was not made by a push"
    if dig(run, "status") != "completed":
        return "its run has not finished"
    if path != wanted.workflow:
        return "it was made by another workflow"
    if whole(dig(run, "head_repository", "id")) != wanted.repository_id:
        return "it was made by a fork"
    if dig(run, "head_branch") != wanted.branch or dig(run, "head_sha") != artifact.head_sha:
        return "its run belongs to another branch or commit"
    return None
