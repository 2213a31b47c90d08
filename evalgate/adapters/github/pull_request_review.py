"""Reads a pull request for approvals: its authors, who may write, its comments and its gate runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from evalgate.adapters.github.responses import as_int, as_sha, as_text, as_time, as_url, objects
from evalgate.errors import NotFound, Unreachable
from evalgate.measures.values.dig import dig
from evalgate.models.approvals.review import (
    Account,
    Contributors,
    GateRun,
    Permission,
    PullRequestComment,
    PullRequestState,
    ReportArtifact,
    TriggeringRun,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from evalgate.adapters.github.client import Client
    from evalgate.adapters.github.reports import Reports
    from evalgate.adapters.github.responses import Artifact

PAGES = 10
"""Pages that are read, of a hundred comments each."""
MOST_COMMITS = 250
"""GitHub lists at most this many commits of a pull request."""
EVENT = "pull_request"
WRITERS = frozenset({"write", "maintain", "admin"})
PERSON = "User"
UNEXPECTED_ANSWER = "unexpected response from GitHub"


class PullRequestReview:
    """Implements `Review`. Needs `pull-requests: read` and `actions: read`.

    `workflow` is the path of the gate's workflow file, `artifact` the name of the report its runs upload.
    """

    def __init__(self, client: Client, number: int, workflow: str, artifact: str, reports: Reports) -> None:
        self._client = client
        self._number = number
        self._workflow = workflow
        self._artifact = artifact
        self._reports = reports
        self._listed: dict[int, Artifact] = {}

    def change(self) -> PullRequestState:
        """The current state of the pull request, which must be of this repository; see the port."""
        entry = self._client.get(f"/pulls/{self._number}")
        head, repository_id = as_sha(dig(entry, "head", "sha")), self._client.site.repository_id
        if head is None or as_int(dig(entry, "base", "repo", "id")) != repository_id:
            raise NotFound(f"{self._number} is not a pull request of this repository")
        return PullRequestState(
            self._number,
            head,
            as_text(dig(entry, "head", "ref")),
            as_int(dig(entry, "head", "repo", "id")),
            as_text(dig(entry, "head", "repo", "owner", "login")),
            _parse_account(dig(entry, "user")),
            is_open=dig(entry, "state") == "open",
        )

    def contributors(self) -> Contributors:
        """The authors and committers of its commits; see the port."""
        ids, count, unknown = set[int](), 0, None
        for page in self._client.pages(f"/pulls/{self._number}/commits", pages=PAGES):
            for entry in objects(page):
                count += 1
                accounts = [_parse_account(entry.get("author")), _parse_account(entry.get("committer"))]
                ids |= {account.id for account in accounts if account is not None}
                if None in accounts:
                    unknown = as_sha(entry.get("sha")) or "one"
        return Contributors(frozenset(ids), "one of the first" if count >= MOST_COMMITS else unknown)

    def other_pull_requests(self, change: PullRequestState) -> Sequence[int]:
        """Other pull requests with the same head commit; see the port."""
        head = f"{change.head_owner}:{change.head_ref}"
        entries = [
            entry
            for page in self._client.pages("/pulls", state="all", head=head)
            for entry in objects(page)
            if dig(entry, "head", "sha") == change.head_sha
        ]
        numbers = [number for entry in entries if (number := as_int(entry.get("number"))) is not None]
        return sorted(number for number in numbers if number != change.number)

    def gate_runs(self, change: PullRequestState) -> Sequence[GateRun]:
        """The newest hundred runs, matched to this change by ids, not only by names; see the port."""
        name = quote(self._workflow.rpartition("/")[2])
        path = f"/actions/workflows/{name}/runs"
        answer = self._client.get(path, event=EVENT, branch=change.head_ref, per_page=100)
        found = [
            run
            for entry in objects(answer, "workflow_runs")
            if self._is_run_of(entry, change) and (run := self._parse_run(entry)) is not None
        ]
        return sorted(found, key=lambda run: (run.started_at, run.run.id), reverse=True)

    def comment(self, number: int) -> PullRequestComment | None:
        """One comment; see the port."""
        try:
            entry = self._client.get(f"/issues/comments/{number}")
        except NotFound:
            return None
        is_here = as_text(dig(entry, "issue_url")).endswith(f"/issues/{self._number}")
        return _comment(entry) if is_here else None

    def comments_since(self, since: datetime) -> Sequence[PullRequestComment]:
        """Comments since a moment; see the port."""
        stamp = since.strftime("%Y-%m-%dT%H:%M:%SZ")
        pages = self._client.pages(f"/issues/{self._number}/comments", pages=PAGES, since=stamp)
        return [found for page in pages for entry in objects(page) if (found := _comment(entry)) is not None]

    def permission(self, account: Account) -> Permission:
        """The permission of an account; see the port."""
        try:
            answer = self._client.get(f"/collaborators/{quote(account.login, safe='')}/permission")
        except NotFound:
            return Permission(None, may_write=False, role="none")
        roles = as_text(dig(answer, "permission")), as_text(dig(answer, "role_name"))
        return Permission(as_int(dig(answer, "user", "id")), may_write=roles[0] in WRITERS, role=roles[1] or roles[0])

    def reports(self, run: TriggeringRun) -> Sequence[ReportArtifact]:
        """Reports of a run; see the port."""
        self._listed |= {artifact.id: artifact for artifact in self._reports.artifacts(run, self._artifact)}
        found = [
            ReportArtifact(artifact.id, artifact.created_at)
            for artifact in self._listed.values()
            if artifact.run_id == run.id and artifact.created_at is not None
        ]
        return sorted(found, key=lambda report: report.id, reverse=True)

    def fetch(self, report: ReportArtifact) -> str:
        """Downloads a report that was listed; see the port."""
        return self._reports.download(self._listed[report.id])

    def _is_run_of(self, entry: dict[str, Any], change: PullRequestState) -> bool:
        return (
            as_int(dig(entry, "repository", "id")) == self._client.site.repository_id
            and change.head_repository_id is not None
            and as_int(dig(entry, "head_repository", "id")) == change.head_repository_id
            and entry.get("head_branch") == change.head_ref
            and entry.get("event") == EVENT
            and as_text(entry.get("path")).partition("@")[0] == self._workflow
        )

    def _parse_run(self, entry: dict[str, Any]) -> GateRun | None:
        number, head, begun = (
            as_int(entry.get("id")),
            as_sha(entry.get("head_sha")),
            as_time(entry.get("created_at")),
        )
        if number is None or head is None or begun is None:
            raise Unreachable(UNEXPECTED_ANSWER)
        repository = as_int(dig(entry, "head_repository", "id"))
        run = TriggeringRun(
            number,
            EVENT,
            repository,
            as_text(dig(entry, "head_repository", "full_name")),
            as_text(entry.get("head_branch")),
            head,
            is_same_repository=repository == self._client.site.repository_id,
            attempt=as_int(entry.get("run_attempt")) or 1,
        )
        return GateRun(run, begun, as_int(dig(entry, "actor", "id")))


def _parse_account(entry: Any) -> Account | None:
    number, login = as_int(dig(entry, "id")), as_text(dig(entry, "login"))
    return Account(number, login) if number is not None and login else None


def _comment(entry: Any) -> PullRequestComment | None:
    """A comment, None if its id or its times are missing."""
    number = as_int(dig(entry, "id"))
    created, updated = as_time(dig(entry, "created_at")), as_time(dig(entry, "updated_at"))
    if number is None or created is None or updated is None:
        return None
    is_person = dig(entry, "user", "type") == PERSON and dig(entry, "performed_via_github_app") is None
    return PullRequestComment(
        number,
        as_url(dig(entry, "html_url")),
        _parse_account(dig(entry, "user")),
        is_person=is_person,
        body=as_text(dig(entry, "body")),
        created_at=created,
        updated_at=updated,
    )
