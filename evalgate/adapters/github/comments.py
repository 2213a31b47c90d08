"""The one comment of a gate: found by its first line and its author, changed in place, never doubled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalgate.adapters.github.retry import AnswerLost
from evalgate.adapters.github.shapes import listed, text, whole
from evalgate.errors import NotFound, Unreachable
from evalgate.measures.json_values import dig
from evalgate.ports import Comment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.adapters.github.client import Client

PAGES = 20
POSTS = 2
ACTIONS_BOT = ("github-actions[bot]", "Bot")


def marker(key: str) -> str:
    """The first line of the comment of this key."""
    return f"<!-- evalgate:sticky v1 key={key} -->"


@dataclass(frozen=True, slots=True)
class Posted:
    """A comment as it stands."""

    id: int
    url: str
    body: str
    author: tuple[str, str]  # login and type

    @classmethod
    def read(cls, entry: Any) -> Posted | None:
        """The comment, None where it has no id."""
        number = whole(dig(entry, "id"))
        if number is None:
            return None
        author = text(dig(entry, "user", "login")), text(dig(entry, "user", "type"))
        return cls(number, text(dig(entry, "html_url")), text(dig(entry, "body")), author)


class Comments:
    """Comments of one pull request; implements `PullRequest`."""

    def __init__(self, client: Client, number: int) -> None:
        self._client = client
        self._number = number

    def upsert_comment(self, key: str, body: str, *, create: bool = True) -> Comment | None:
        """The comment of `key` with this body. None where there is none and `create` is false.

        A body that has not changed is no request. Raises Forbidden or Unreachable.
        """
        first = marker(key)
        if body.partition("\n")[0].rstrip() != first:
            body = f"{first}\n{body}"
        found = self._mine(first)
        if found is not None:
            changed = self._changed(found, body)
            if changed is not None:
                return changed
        return self._created(first, body) if create else None

    def _mine(self, first: str) -> Posted | None:
        """Our comment, the oldest where there are several. Others may write our first line too."""
        marked = [
            posted for posted in self._all() if posted.body.lstrip().partition("\n")[0].rstrip() == first
        ]
        ours = [posted for posted in marked if posted.author == ACTIONS_BOT]
        if marked and not ours:
            me = self._me()
            ours = [posted for posted in marked if posted.author == me]
        return min(ours, key=lambda posted: posted.id, default=None)

    def _all(self) -> Iterator[Posted]:
        for page in self._client.pages(f"/issues/{self._number}/comments", pages=PAGES):
            yield from filter(None, map(Posted.read, listed(page)))

    def _me(self) -> tuple[str, str]:
        """Who the token speaks for: a person, or an app, which has a bot. Unless told otherwise, the job."""
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

    def _changed(self, found: Posted, body: str) -> Comment | None:
        """The comment with its new body; None where somebody deleted it meanwhile."""
        if _same(found.body, body):
            return Comment(found.id, found.url, created=False, changed=False)
        try:
            answer = self._client.send("PATCH", f"/issues/comments/{found.id}", {"body": body})
        except NotFound:
            return None
        return _comment(answer, created=False)

    def _created(self, first: str, body: str) -> Comment:
        """Posts; where the answer is lost it looks whether the comment is there before another try."""
        path = f"/issues/{self._number}/comments"
        for attempt in range(POSTS):
            try:
                return _comment(self._client.send("POST", path, {"body": body}), created=True)
            except AnswerLost:
                there = self._mine(first)
                if there is not None:
                    return Comment(there.id, there.url, created=True, changed=True)
                if attempt + 1 == POSTS:
                    raise
        raise AssertionError


def _same(before: str, after: str) -> bool:
    """GitHub may keep other line ends than were sent."""
    return before.replace("\r\n", "\n").strip() == after.replace("\r\n", "\n").strip()


def _comment(answer: Any, *, created: bool) -> Comment:
    posted = Posted.read(answer)
    if posted is None:
        raise Unreachable("GitHub's answer to the comment is not as promised")
    return Comment(posted.id, posted.url, created=created, changed=True)
