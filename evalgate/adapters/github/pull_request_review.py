"""Reads a pull request for approvals: its authors, who may write, its comments and its gate runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from evalgate.adapters.github.responses import address, listed, moment, sha, text, whole
from evalgate.errors import NotFound, Unreachable
from evalgate.measures.values.nested import dig
from evalgate.models.approvals.review import (
    Account,
    Contributors,
    GateRun,
    LeftReport,
    Permission,
    PullRequestComment,
    ReviewedChange,
)
from evalgate.models.approvals.triggering_run import TriggeringRun

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
NOT_AS_PROMISED = "GitHub's answer is not as promised"


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
        self._left: dict[int, Artifact] = {}

    def change(self) -> ReviewedChange:
        """The current state of the pull request, which must be of this repository; see the port."""
        entry = self._client.get(f"/pulls/{self._number}")
        head, ours = sha(dig(entry, "head", "sha")), self._client.site.repository_id
        if head is None or whole(dig(entry, "base", "repo", "id")) != ours:
            raise NotFound(f"{self._number} is no pull request of this repository")
        return ReviewedChange(
            self._number,
            head,
            text(dig(entry, "head", "ref")),
            whole(dig(entry, "head", "repo", "id")),
            text(dig(entry, "head", "repo", "owner", "login")),
            _account(dig(entry, "user")),
            is_open=dig(entry, "state") == "open",
        )

    def makers(self) -> Contributors:
        """The authors and committers of its commits; see the port."""
        known, count, unknown = set[int](), 0, None
        for page in self._client.pages(f"/pulls/{self._number}/commits", pages=PAGES):
            for entry in listed(page):
                count += 1
                accounts = [_account(entry.get("author")), _account(entry.get("committer"))]
                known |= {account.id for account in accounts if account is not None}
                if None in accounts:
                    unknown = sha(entry.get("sha")) or "one"
        return Contributors(frozenset(known), "one of the first" if count >= MOST_COMMITS else unknown)

    def twins(self, change: ReviewedChange) -> Sequence[int]:
        """Other pull requests with the same head commit; see the port."""
        head = f"{change.head_owner}:{change.head_ref}"
        entries = [
            entry
            for page in self._client.pages("/pulls", state="all", head=head)
            for entry in listed(page)
            if dig(entry, "head", "sha") == change.head_sha
        ]
        numbers = [number for entry in entries if (number := whole(entry.get("number"))) is not None]
        return sorted(number for number in numbers if number != change.number)

    def gate_runs(self, change: ReviewedChange) -> Sequence[GateRun]:
        """The newest hundred runs, matched to this change by ids, not only by names; see the port."""
        name = quote(self._workflow.rpartition("/")[2])
        path = f"/actions/workflows/{name}/runs"
        answer = self._client.get(path, event=EVENT, branch=change.head_ref, per_page=100)
        found = [
            run
            for entry in listed(answer, "workflow_runs")
            if self._is_of(entry, change) and (run := self._run(entry)) is not None
        ]
        return sorted(found, key=lambda run: (run.begun_at, run.run.id), reverse=True)

    def remark(self, number: int) -> PullRequestComment | None:
        """One comment; see the port."""
        try:
            entry = self._client.get(f"/issues/comments/{number}")
        except NotFound:
            return None
        is_here = text(dig(entry, "issue_url")).endswith(f"/issues/{self._number}")
        return _remark(entry) if is_here else None

    def remarks(self, since: datetime) -> Sequence[PullRequestComment]:
        """Comments since a moment; see the port."""
        stamp = since.strftime("%Y-%m-%dT%H:%M:%SZ")
        pages = self._client.pages(f"/issues/{self._number}/comments", pages=PAGES, since=stamp)
        return [found for page in pages for entry in listed(page) if (found := _remark(entry)) is not None]

    def permission(self, account: Account) -> Permission:
        """The permission of an account; see the port."""
        try:
            answer = self._client.get(f"/collaborators/{quote(account.login, safe='')}/permission")
        except NotFound:
            return Permission(None, may_write=False, role="none")
        words = text(dig(answer, "permission")), text(dig(answer, "role_name"))
        return Permission(
            whole(dig(answer, "user", "id")), may_write=words[0] in WRITERS, role=words[1] or words[0]
        )

    def reports(self, run: TriggeringRun) -> Sequence[LeftReport]:
        """Reports of a run; see the port."""
        self._left |= {artifact.id: artifact for artifact in self._reports.of(run, self._artifact)}
        found = [
            LeftReport(artifact.id, artifact.created_at)
            for artifact in self._left.values()
            if artifact.run_id == run.id and artifact.created_at is not None
        ]
        return sorted(found, key=lambda report: report.id, reverse=True)

    def fetch(self, report: LeftReport) -> str:
        """Downloads a report that was listed; see the port."""
        return self._reports.download(self._left[report.id])

    def _is_of(self, entry: dict[str, Any], change: ReviewedChange) -> bool:
        return (
            whole(dig(entry, "repository", "id")) == self._client.site.repository_id
            and change.head_repository_id is not None
            and whole(dig(entry, "head_repository", "id")) == change.head_repository_id
            and entry.get("head_branch") == change.head_ref
            and entry.get("event") == EVENT
            and text(entry.get("path")).partition("@")[0] == self._workflow
        )

    def _run(self, entry: dict[str, Any]) -> GateRun | None:
        number, head, begun = (
            whole(entry.get("id")),
            sha(entry.get("head_sha")),
            moment(entry.get("created_at")),
        )
        if number is None or head is None or begun is None:
            raise Unreachable(NOT_AS_PROMISED)
        repository = whole(dig(entry, "head_repository", "id"))
        run = TriggeringRun(
            number,
            EVENT,
            repository,
            text(dig(entry, "head_repository", "full_name")),
            text(entry.get("head_branch")),
            head,
            is_ours=repository == self._client.site.repository_id,
        )
        return GateRun(run, begun, whole(dig(entry, "actor", "id")))


def _account(entry: Any) -> Account | None:
    number, login = whole(dig(entry, "id")), text(dig(entry, "login"))
    return Account(number, login) if number is not None and login else None


def _remark(entry: Any) -> PullRequestComment | None:
    """A comment, None if its id or its times are missing."""
    number = whole(dig(entry, "id"))
    created, updated = moment(dig(entry, "created_at")), moment(dig(entry, "updated_at"))
    if number is None or created is None or updated is None:
        return None
    is_person = dig(entry, "user", "type") == PERSON and dig(entry, "performed_via_github_app") is None
    return PullRequestComment(
        number,
        address(dig(entry, "html_url")),
        _account(dig(entry, "user")),
        is_person=is_person,
        body=text(dig(entry, "body")),
        created_at=created,
        updated_at=updated,
    )
