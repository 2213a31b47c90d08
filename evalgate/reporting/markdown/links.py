"""Links to files and commits on GitHub, built from validated parts: no text of a trace or suite becomes a URL."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import escape_cell, escape_link, escape_span, to_one_line

if TYPE_CHECKING:
    from evalgate.models.github import Pages
    from evalgate.models.run.trial_doc import LocationDoc

SHORT_SHA = 7
MAX_NAME, MAX_PATH = 120, 1_000
_UNENCODED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~/")
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class RunPages(NamedTuple):
    """What a report links to: the page of the whole report, the run that made it, and the pages of its commit.

    `origin` is a Markdown line about the run, `makes_baseline` whether it leaves the baseline of its branch, `merges`
    whether anything is merged by its verdict.
    """

    report_url: str | None = None
    origin: str = ""
    of_commit: Pages | None = None
    makes_baseline: bool = False
    merges: bool = True


class Links:
    """Formats places and commits as code spans, which are links if their pages on GitHub are known."""

    def __init__(self, pages: Pages | None = None) -> None:
        self._pages = pages

    def place(self, location: LocationDoc | None) -> str:
        """Formats a file of the judged commit as `file:line`, without its folder if it is a link; empty for None."""
        if location is None:
            return ""
        path, line = location.file, location.line
        if self._pages is None or not _is_plain(path):
            return escape_span(wording.location(location), MAX_NAME)
        pages = self._pages
        url = f"{pages.server_url}/{pages.head_repository}/blob/{pages.commit}/{_encode_path(path)}"
        name = posixpath.basename(path)
        return escape_link(f"{name}:{line}", f"{url}#L{line}") if line else escape_link(name, url)

    @property
    def failure(self) -> str:
        """How the run ended, if its report says otherwise; else empty."""
        return self._pages.failure if self._pages else ""

    def judged(self, sha: str) -> str:
        """Formats the judged commit, and which attempt of its run this is if it is not the first."""
        attempt = self._pages.attempt if self._pages else 1
        return f"**Commit** {self.head(sha)}{f' (attempt {attempt:,} of this run)' if attempt > 1 else ''}"

    def head(self, sha: str) -> str:
        """Formats the judged commit."""
        return self._commit(sha, self._pages.head_repository if self._pages else "")

    def base(self, sha: str) -> str:
        """Formats a commit of the repository itself, such as the baseline's."""
        return self._commit(sha, self._pages.repository if self._pages else "")

    def _commit(self, sha: str, repository: str) -> str:
        short = sha[:SHORT_SHA]
        if self._pages is None or not _SHA.fullmatch(sha):
            return escape_cell(short)
        return escape_link(short, f"{self._pages.server_url}/{repository}/commit/{sha}")


def _encode_path(path: str) -> str:
    return "".join(chr(byte) if byte in _UNENCODED else f"%{byte:02X}" for byte in path.encode())


def _is_plain(path: str) -> bool:
    """Whether a path may be part of a URL: relative, without `..`, with nothing redacted, invisible or cut."""
    is_inside = not path.startswith("/") and ".." not in path.split("/") and posixpath.normpath(path) == path
    return is_inside and path != "." and len(path) <= MAX_PATH and to_one_line(path, None) == path
