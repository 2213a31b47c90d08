"""Decides which artifacts may be a baseline: from this repository, a push to the branch, a finished run.

A repository's artifacts include those of pull requests from forks, a fork's branch may have the name of the
baseline branch, and another workflow may use the same artifact name. Each check closes one of these holes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.github.responses import as_int, as_text
from evalgate.measures.values.nested import dig
from evalgate.records import dataclass

if TYPE_CHECKING:
    from evalgate.adapters.github.responses import Artifact

LARGEST_BASELINE = 64 * 1024 * 1024
FINISHED = ("success", "failure")
"""Conclusions of a run that was not cancelled. A failed run of the main branch may be a baseline too."""


@dataclass(frozen=True, slots=True)
class ArtifactProvenance:
    """Repository, branch and workflow that a baseline must come from."""

    repository_id: int
    branch: str
    workflow: str  # path of the workflow's file


def find_origin_problem(artifact: Artifact, origin: ArtifactProvenance) -> str | None:
    """Why the artifact is not from this repository, by its entry in the artifact list; None if it is."""
    if artifact.run_id is None:
        return "the run that made it is not known"
    if artifact.head_repository_id != origin.repository_id:
        return "it was made by a fork"
    if artifact.repository_id != origin.repository_id:
        return "it was made in another repository"
    return None


def find_size_problem(artifact: Artifact) -> str | None:
    """Why the artifact is too large, None if it is not."""
    if artifact.size > LARGEST_BASELINE:
        return f"it is larger than {LARGEST_BASELINE // 1024**2} MB"
    return None


def find_run_problem(run: Any, artifact: Artifact, origin: ArtifactProvenance) -> str | None:
    """Why the run that made the artifact is not trusted, None if it is."""
    is_here = as_int(dig(run, "repository", "id")) == origin.repository_id
    branch, commit = dig(run, "head_branch"), dig(run, "head_sha")
    must_hold = (
        (is_here and as_int(dig(run, "id")) == artifact.run_id, "its run belongs to another repository"),
        (dig(run, "event") == "push", "it was not made by a push"),
        (dig(run, "status") == "completed", "its run has not finished"),
        (dig(run, "conclusion") in FINISHED, "its run was broken off"),
        (as_text(dig(run, "path")).partition("@")[0] == origin.workflow, "it was made by another workflow"),
        (as_int(dig(run, "head_repository", "id")) == origin.repository_id, "it was made by a fork"),
        (
            (branch, commit) == (origin.branch, artifact.head_sha),
            "its run belongs to another branch or commit",
        ),
    )
    return next((reason for holds, reason in must_hold if not holds), None)
