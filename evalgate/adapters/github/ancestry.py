"""Asks GitHub how commits are related."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from msgspec import Struct

from evalgate.adapters.github.client import RequestRefused
from evalgate.adapters.github.responses import as_int, as_sha, objects
from evalgate.errors import NotFound
from evalgate.measures.values.dig import dig

if TYPE_CHECKING:
    from evalgate.adapters.github.client import Client

ANCESTOR_STATUSES = ("ahead", "identical")
"""Status of GitHub's comparison of A with B if A is in the history of B."""


class Reference(Struct, frozen=True):
    """How to find the commit to compare with.

    `sha` is that commit, or a commit whose first parent or whose fork point from the branch is that commit.
    `fallback` is used if GitHub no longer knows `sha`.
    """

    kind: Literal["parent", "commit", "fork_point"]
    sha: str
    fallback: str | None = None


class Ancestry:
    """Asks GitHub about commits."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def resolve(self, reference: Reference, branch: str) -> str | None:
        """The commit that the reference leads to, None if unknown."""
        try:
            if reference.kind == "parent":
                commit = self._client.get(f"/commits/{reference.sha}")
                parents = [as_sha(parent.get("sha")) for parent in objects(commit, "parents")]
                return (parents[0] if parents else None) or reference.fallback
        except (NotFound, RequestRefused):
            return reference.fallback
        return self.fork_point(branch, reference.sha) if reference.kind == "fork_point" else reference.sha

    def fork_point(self, branch: str, sha: str) -> str | None:
        """The newest commit that the branch and the commit have in common; None if there is none."""
        try:
            return as_sha(dig(self._compare(branch, sha), "merge_base_commit", "sha"))
        except (NotFound, RequestRefused):
            return None

    def distance(self, older: str, newer: str) -> int | None:
        """How many commits `newer` is ahead of `older`; None if `older` is not in its history."""
        try:
            comparison = self._compare(older, newer)
        except (NotFound, RequestRefused):
            return None
        return as_int(dig(comparison, "ahead_by")) if dig(comparison, "status") in ANCESTOR_STATUSES else None

    def _compare(self, older: str, newer: str) -> object:
        span = f"{quote(older, safe='')}...{quote(newer, safe='')}"
        return self._client.get(f"/compare/{span}", per_page=1)
