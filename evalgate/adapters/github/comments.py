"""Creates and updates a gate's only comment, which is identified by its first line and its author."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from evalgate.adapters.github.responses import address, listed, sha, text, whole
from evalgate.adapters.github.retry import AnswerLost, StillPending
from evalgate.errors import NotFound, Unreachable
from evalgate.measures.values.nested import dig
from evalgate.ports import Comment
from evalgate.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.adapters.github.client import Client

PAGES = 20
POSTS = 2
DOUBLES = 5
SETTLING_SECONDS = 1.0
"""Wait after a lost answer, so that GitHub can finish the request."""
ACTIONS_BOT = ("github-actions[bot]", "Bot")


def marker(key: str) -> str:
    """The first line of the comment with this key."""
    return f"<!-- evalgate:sticky v1 key={key} -->"


@dataclass(frozen=True, slots=True)
class Posted:
    """A comment on the pull request."""

    id: int
    url: str
    body: str
    author: tuple[str, str]  # login and type

    @classmethod
    def read(cls, entry: Any) -> Posted | None:
        """The comment from an entry of the API, None without an id."""
        number = whole(dig(entry, "id"))
        if number is None:
            return None
        author = text(dig(entry, "user", "login")), text(dig(entry, "user", "type"))
        return cls(number, address(dig(entry, "html_url")), text(dig(entry, "body")), author)


class Comments:
    """The comments of one pull request; implements `PullRequest`."""

    def __init__(self, client: Client, number: int) -> None:
        self._client = client
        self._number = number

    def upsert_comment(self, key: str, body: str, *, create: bool = True) -> Comment | None:
        """Creates or updates the comment of `key`. None if it does not exist and `create` is false.

        Sends nothing if the body is unchanged. Of several comments only the oldest is kept: two concurrent
        runs may have created one each. Raises Forbidden or Unreachable.
        """
        first = marker(key)
        if body.partition("\n")[0].rstrip() != first:
            body = f"{first}\n{body}"
        ours = self._mine(first)
        if ours:
            changed = self._changed(ours[0], first, body)
            self._drop(ours[1:])
            if changed is not None:
                return changed
        return self._created(first, body) if create else None

    def head(self) -> str:
        """The current head commit of the pull request, empty if unknown."""
        return sha(dig(self._client.get(f"/pulls/{self._number}"), "head", "sha")) or ""

    def _mine(self, first: str) -> list[Posted]:
        """EvalGate's comments, oldest first. Checks the author, since anyone can write the marker line."""
        marked = [
            posted for posted in self._all() if posted.body.lstrip().partition("\n")[0].rstrip() == first
        ]
        ours = [posted for posted in marked if posted.author == ACTIONS_BOT]
        if marked and not ours:
            me = self._me()
            ours = [posted for posted in marked if posted.author == me]
        return sorted(ours, key=lambda posted: posted.id)

    def _all(self) -> Iterator[Posted]:
        for page in self._client.pages(f"/issues/{self._number}/comments", pages=PAGES):
            yield from filter(None, map(Posted.read, listed(page)))

    def _me(self) -> tuple[str, str]:
        """Login and type of the token's owner: a user or an app's bot; by default GitHub Actions' bot."""
        try:
            user = self._client.user()
        except Unreachable:
            return self._app()
        return text(dig(user, "login")), text(dig(user, "type"))

    def _app(self) -> tuple[str, str]:
        try:
            return self._client.viewer(), "Bot"
        except Unreachable:
            return ACTIONS_BOT

    def _changed(self, found: Posted, first: str, body: str) -> Comment | None:
        """Updates the comment's body; None if it was deleted meanwhile."""
        if _same(found.body, body):
            return Comment(found.id, found.url, created=False, changed=False)
        try:
            answer = self._client.send("PATCH", f"/issues/comments/{found.id}", {"body": body})
        except NotFound:
            if found.id in {posted.id for posted in self._mine(first)}:  # hidden from the token
                raise
            return None
        return _comment(answer, created=False)

    def _drop(self, doubles: Sequence[Posted]) -> None:
        for posted in doubles[:DOUBLES]:
            with suppress(Unreachable):  # the next run tries again
                self._client.delete(f"/issues/comments/{posted.id}")

    def _created(self, first: str, body: str) -> Comment:
        """Posts the comment; after a lost answer, looks for the comment before retrying.

        No retry if the first request may still be pending: a missing comment is better than a duplicate.
        """
        path = f"/issues/{self._number}/comments"
        for attempt in range(POSTS):
            try:
                return _comment(self._client.send("POST", path, {"body": body}), created=True)
            except AnswerLost as lost:
                self._client.budget.wait(SETTLING_SECONDS)
                there = self._mine(first)
                if there:
                    return Comment(there[0].id, there[0].url, created=True, changed=True)
                if attempt + 1 == POSTS or isinstance(lost, StillPending):
                    raise
        raise AssertionError


def _same(before: str, after: str) -> bool:
    """Compares ignoring line endings, which GitHub may change."""
    return before.replace("\r\n", "\n").strip() == after.replace("\r\n", "\n").strip()


def _comment(answer: Any, *, created: bool) -> Comment:
    posted = Posted.read(answer)
    if posted is None:
        raise Unreachable("GitHub's answer to the comment is not as promised")
    return Comment(posted.id, posted.url, created=created, changed=True)
