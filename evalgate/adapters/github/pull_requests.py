"""Finds the pull requests that a finished run may have been for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.github.responses import as_int, as_sha, objects
from evalgate.measures.values.dig import dig
from evalgate.ports import OpenPullRequest

if TYPE_CHECKING:
    from evalgate.adapters.github.client import Client
    from evalgate.models.approvals.review import TriggeringRun


class Pulls:
    """Pull requests of one repository; implements `PullRequestFinder`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def find_open(self, run: TriggeringRun) -> list[OpenPullRequest]:
        """Open ones from the run's branch. The repository is matched by id, as names can be reused."""
        if run.head_repository_id is None:
            return []
        head = f"{run.head_owner}:{run.head_branch}"
        return [
            found
            for page in self._client.pages("/pulls", state="open", head=head)
            for entry in objects(page)
            if self._is_from_run(entry, run) and (found := _parse_pull_request(entry)) is not None
        ]

    def _is_from_run(self, entry: dict[str, Any], run: TriggeringRun) -> bool:
        return (
            as_int(dig(entry, "head", "repo", "id")) == run.head_repository_id
            and dig(entry, "head", "ref") == run.head_branch
            and as_int(dig(entry, "base", "repo", "id")) == self._client.site.repository_id
            and entry.get("state") == "open"
        )


def _parse_pull_request(entry: dict[str, Any]) -> OpenPullRequest | None:
    number, head = as_int(entry.get("number")), as_sha(dig(entry, "head", "sha"))
    return OpenPullRequest(number, head) if number is not None and number > 0 and head else None
