"""Checks that an artifact was made by a run whose baselines are trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.adapters.github.responses import as_int, as_text
from evalgate.measures.values.dig import dig
from evalgate.models.github import BASELINE_EVENTS

if TYPE_CHECKING:
    from evalgate.adapters.github.responses import Artifact

LARGEST_BASELINE = 64 * 1024 * 1024
FINISHED = ("success", "failure")
"""Conclusions of a run that was not cancelled. A failed run of the main branch may be a baseline too."""
NAMED_BY = "`baseline-workflow`"
"""The input that a refusal names."""


class ArtifactProvenance(Struct, frozen=True):
    """Repository, branch and workflow that a baseline must come from."""

    repository_id: int
    branch: str
    workflow: str  # path of the workflow's file


def find_origin_problem(artifact: Artifact, repository_id: int) -> str | None:
    """Why the artifact is not from this repository, by its entry in the artifact list; None if it is."""
    if artifact.run_id is None:
        return "its workflow run is unknown"
    if artifact.head_repository_id != repository_id:
        return "it was made by a fork"
    if artifact.repository_id != repository_id:
        return "it was made in another repository"
    return None


def find_size_problem(artifact: Artifact) -> str | None:
    """Why the artifact is too large, None if it is not."""
    if artifact.size > LARGEST_BASELINE:
        return f"it is larger than {LARGEST_BASELINE // 1024**2} MB"
    return None


def find_run_problem(run: Any, run_id: int | None, commit: str | None, origin: ArtifactProvenance) -> str | None:
    """Why the run, which should have this id and be of this commit, is not trusted; None if it is."""
    is_here = as_int(dig(run, "repository", "id")) == origin.repository_id
    other_workflow = f"it was made by another workflow than {origin.workflow}; {NAMED_BY} names the one that counts"
    must_hold = (
        (is_here and as_int(dig(run, "id")) == run_id, "its run belongs to another repository"),
        (dig(run, "event") in BASELINE_EVENTS, "it was not made by a push, a schedule or workflow_dispatch"),
        (dig(run, "status") == "completed", "its run has not finished"),
        (dig(run, "conclusion") in FINISHED, "its run was cancelled or did not complete"),
        (as_text(dig(run, "path")).partition("@")[0] == origin.workflow, other_workflow),
        (as_int(dig(run, "head_repository", "id")) == origin.repository_id, "it was made by a fork"),
        (
            (dig(run, "head_branch"), dig(run, "head_sha")) == (origin.branch, commit),
            "its run belongs to another branch or commit",
        ),
    )
    return next((reason for holds, reason in must_hold if not holds), None)
