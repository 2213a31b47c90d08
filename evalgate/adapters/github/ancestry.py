"""Where a commit stands to the one a pull request is built on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from evalgate.adapters.github.client import RequestRefused
from evalgate.adapters.github.responses import listed, sha, whole
from evalgate.errors import NotFound
from evalgate.measures.values.nested import dig
from evalgate.records import dataclass

if TYPE_CHECKING:
    from evalgate.adapters.github.client import Client

CONTAINED = ("ahead", "identical")
"""What a comparison from A to B says where A is in the history of B."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The commit to compare with, said by what is known of it.

    `sha` is the commit itself, or one whose first parent, or point of leaving the branch, is meant.
    `fallback` stands in where GitHub no longer knows the commit.
    """

    kind: Literal["parent", "commit", "fork_point"]
    sha: str
    fallback: str | None = None


class Ancestry:
    """Asks GitHub about commits."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def resolve(self, reference: Reference, branch: str) -> str | None:
        """The commit meant, None where it can't be told."""
        try:
            if reference.kind == "parent":
                commit = self._client.get(f"/commits/{reference.sha}")
                parents = [sha(parent.get("sha")) for parent in listed(commit, "parents")]
                return (parents[0] if parents else None) or reference.fallback
            if reference.kind == "fork_point":
                return sha(dig(self._compare(branch, reference.sha), "merge_base_commit", "sha"))
        except (NotFound, RequestRefused):
            return reference.fallback
        return reference.sha

    def distance(self, older: str, newer: str) -> int | None:
        """How many commits `newer` has that `older` has not; None where `older` is not in its history."""
        try:
            comparison = self._compare(older, newer)
        except (NotFound, RequestRefused):
            return None
        return whole(dig(comparison, "ahead_by")) if dig(comparison, "status") in CONTAINED else None

    def _compare(self, older: str, newer: str) -> object:
        span = f"{quote(older, safe='')}...{quote(newer, safe='')}"
        return self._client.get(f"/compare/{span}", per_page=1)
