"""The one comment of a gate: found by its first line and its author, changed in place, never doubled."""

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
"""How long GitHub is given to finish what it did not answer."""
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
        return cls(number, address(dig(entry, "html_url")), text(dig(entry, "body")), author)


class Comments:
    """Comments of one pull request; implements `PullRequest`."""

    def __init__(self, client: Client, number: int) -> None:
        self._client = client
        self._number = number

    def upsert_comment(self, key: str, body: str, *, create: bool = True) -> Comment | None:
        """The comment of `key` with this body. None where there is none and `create` is false.

        A body that has not changed is no request. Where there are several the oldest stays alone: two runs
        at once may each have begun one. Raises Forbidden or Unreachable.
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
        """The commit at the head of the pull request now, empty where GitHub names none."""
        return sha(dig(self._client.get(f"/pulls/{self._number}"), "head", "sha")) or ""

    def _mine(self, first: str) -> list[Posted]:
        """Our comments, the oldest first: one, or none. Others may write our first line too."""
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

    def _changed(self, found: Posted, first: str, body: str) -> Comment | None:
        """The comment with its new body; None where somebody deleted it meanwhile."""
        if _same(found.body, body):
            return Comment(found.id, found.url, created=False, changed=False)
        try:
            answer = self._client.send("PATCH", f"/issues/comments/{found.id}", {"body": body})
        except NotFound:
            if found.id in {posted.id for posted in self._mine(first)}:  # hidden from the token, and there
                raise
            return None
        return _comment(answer, created=False)

    def _drop(self, doubles: Sequence[Posted]) -> None:
        for posted in doubles[:DOUBLES]:
            with suppress(Unreachable):  # the next run finds it again
                self._client.delete(f"/issues/comments/{posted.id}")

    def _created(self, first: str, body: str) -> Comment:
        """Posts; where the answer is lost it looks whether the comment is there before another try.

        There is none where the first may be there yet: better no comment in this run than two for ever.
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
    """GitHub may keep other line ends than were sent."""
    return before.replace("\r\n", "\n").strip() == after.replace("\r\n", "\n").strip()


def _comment(answer: Any, *, created: bool) -> Comment:
    posted = Posted.read(answer)
    if posted is None:
        raise Unreachable("GitHub's answer to the comment is not as promised")
    return Comment(posted.id, posted.url, created=created, changed=True)
