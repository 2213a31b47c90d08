"""Finds the pull requests of a finished run, and creates and updates a gate's only comment on one.

The comment is identified by its first line and its author.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.adapters.github.responses import as_int, as_sha, as_text, as_url, objects
from evalgate.adapters.github.retries import AnswerLost, StillPending
from evalgate.errors import NotFound, Unreachable
from evalgate.measures.values.dig import dig
from evalgate.ports import Comment, OpenPullRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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


PAGES = 20
TRIES = 2
MAX_DUPLICATES_DELETED = 5
MERGES = 4
"""How often at most a comment that others write, too, is written: once, and three times again."""
SETTLING_SECONDS = 1.0
"""Wait after a lost answer, so that GitHub can finish the request."""
ACTIONS_BOT = ("github-actions[bot]", "Bot")


def marker(key: str) -> str:
    """The first line of the comment with this key."""
    return f"<!-- evalgate:sticky v1 key={key} -->"


class PostedComment(Struct, frozen=True):
    """A comment on the pull request."""

    id: int
    url: str
    body: str
    author: tuple[str, str]  # login and type

    @classmethod
    def from_entry(cls, entry: Any) -> PostedComment | None:
        """The comment from an entry of the API, None without an id."""
        number = as_int(dig(entry, "id"))
        if number is None:
            return None
        author = as_text(dig(entry, "user", "login")), as_text(dig(entry, "user", "type"))
        return cls(number, as_url(dig(entry, "html_url")), as_text(dig(entry, "body")), author)


class Comments:
    """The comments of one pull request; implements `PullRequest`."""

    def __init__(self, client: Client, number: int) -> None:
        self._client = client
        self._number = number

    def upsert_comment(
        self,
        key: str,
        body: str,
        *,
        create: bool = True,
        keep: Callable[[str], bool] | None = None,
        revise: Callable[[str, str], str] | None = None,
    ) -> Comment | None:
        """Creates or updates the comment of `key`. None if it does not exist and `create` is false.

        Sends nothing if the body is unchanged, or if `keep` of a posted body is true; `revise` makes the body of the
        new and the posted one. Of several comments, as two
        concurrent runs may create, only that one stays, or else the oldest. Raises Forbidden or Unreachable.
        """
        heading = marker(key)
        if body.partition("\n")[0].rstrip() != heading:
            body = f"{heading}\n{body}"
        own_comments = self._find_own(heading)
        if own_comments:
            kept = next((each for each in own_comments if keep is not None and keep(each.body)), None)
            found = kept or own_comments[0]
            body = body if revise is None else revise(body, found.body)
            is_unchanged = kept is not None or _is_same_body(found.body, body)
            changed = _comment(found) if is_unchanged else self._update(found, heading, body)
            self._delete_duplicates([each for each in own_comments if each.id != found.id])
            if changed is not None:
                return changed._replace(found_body=found.body)
        return self._create(heading, body) if create else None

    def merge_comment(
        self, key: str, merge: Callable[[Sequence[str]], str | None], retired: str = ""
    ) -> Comment | None:
        """Writes what `merge` makes of the posted bodies of `key`, oldest first, into the oldest; None if that is None.

        Others may write at the same moment: it reads again after a while, and merges again if its own part is gone.
        Where it begins the comment, that of the key `retired` goes.
        """
        heading, written = marker(key), None
        for attempt in range(MERGES):
            if attempt:
                self._client.deadline.wait(SETTLING_SECONDS)
            posted = self._find_own(heading)
            body = merge([each.body for each in posted])
            if body is None:
                return written
            if posted and _is_same_body(posted[0].body, body):
                self._delete_duplicates(posted[1:])
                return written or _comment(posted[0])
            if not posted and retired:
                self._delete_duplicates(self._find_own(marker(retired)))
            written = (self._update(posted[0], heading, body) if posted else self._create(heading, body)) or written
        return written

    def head(self) -> str:
        """The current head commit of the pull request, empty if unknown."""
        return as_sha(dig(self._client.get(f"/pulls/{self._number}"), "head", "sha")) or ""

    def _find_own(self, heading: str) -> list[PostedComment]:
        """EvalGate's comments, oldest first. Checks the author, since anyone can write the marker line."""
        marked = [posted for posted in self._fetch() if posted.body.lstrip().partition("\n")[0].rstrip() == heading]
        own_comments = [posted for posted in marked if posted.author == ACTIONS_BOT]
        if marked and not own_comments:
            author = self._find_author()
            own_comments = [posted for posted in marked if posted.author == author]
        return sorted(own_comments, key=lambda posted: posted.id)

    def _fetch(self) -> Iterator[PostedComment]:
        for page in self._client.pages(f"/issues/{self._number}/comments", pages=PAGES):
            yield from filter(None, map(PostedComment.from_entry, objects(page)))

    def _find_author(self) -> tuple[str, str]:
        """Login and type of the token's owner: a user or an app's bot; by default GitHub Actions' bot."""
        try:
            user = self._client.user()
        except Unreachable:
            return self._find_app_author()
        return as_text(dig(user, "login")), as_text(dig(user, "type"))

    def _find_app_author(self) -> tuple[str, str]:
        try:
            return self._client.viewer(), "Bot"
        except Unreachable:
            return ACTIONS_BOT

    def _update(self, found: PostedComment, heading: str, body: str) -> Comment | None:
        """Updates the comment's body; None if it was deleted meanwhile."""
        try:
            answer = self._client.send("PATCH", f"/issues/comments/{found.id}", {"body": body})
        except NotFound:
            if found.id in {posted.id for posted in self._find_own(heading)}:  # hidden from the token
                raise
            return None
        return _comment_from_answer(answer, created=False)

    def _delete_duplicates(self, duplicates: Sequence[PostedComment]) -> None:
        for posted in duplicates[:MAX_DUPLICATES_DELETED]:
            with suppress(Unreachable):  # the next run tries again
                self._client.delete(f"/issues/comments/{posted.id}")

    def _create(self, heading: str, body: str) -> Comment:
        """Posts the comment; after a lost answer, looks for the comment before retrying.

        No retry if the first request may still be pending: a missing comment is better than a duplicate.
        """
        path = f"/issues/{self._number}/comments"
        for attempt in range(TRIES):
            try:
                return _comment_from_answer(self._client.send("POST", path, {"body": body}), created=True)
            except AnswerLost as lost:
                self._client.deadline.wait(SETTLING_SECONDS)
                found = self._find_own(heading)
                if found:
                    return Comment(found[0].id, found[0].url, created=True, changed=True)
                if attempt + 1 == TRIES or isinstance(lost, StillPending):
                    raise
        raise AssertionError


def _comment(posted: PostedComment) -> Comment:
    return Comment(posted.id, posted.url, created=False, changed=False)


def _is_same_body(posted: str, wanted: str) -> bool:
    """Compares ignoring line endings, which GitHub may change."""
    return posted.replace("\r\n", "\n").strip() == wanted.replace("\r\n", "\n").strip()


def _comment_from_answer(answer: Any, *, created: bool) -> Comment:
    posted = PostedComment.from_entry(answer)
    if posted is None:
        raise Unreachable("unexpected response from GitHub to the comment")
    return Comment(posted.id, posted.url, created=created, changed=True)
