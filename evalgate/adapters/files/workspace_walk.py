"""Finds files by pattern: `*`, `?`, `[abc]` in a name, `**` for any folders; hidden ones only if named."""

from __future__ import annotations

import fnmatch
import os
import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from evalgate.errors import Location, OverLimit, Problem, RefusedPath, SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MAX_DOUBLE_STARS = 2
MAGIC = re.compile(r"[*?\[]")
FORBIDDEN_CATEGORIES = {"Cc", "Cs", "Zl", "Zp"}
MAX_SHOWN = 200
"""Characters of a path that is too long for the system, which would hide the reason after it."""


class GlobPart(NamedTuple):
    """One component of a pattern; `test` is None for `**`."""

    test: re.Pattern[str] | None
    matches_hidden: bool  # the pattern itself starts with a dot

    def matches(self, name: str) -> bool:
        """Whether this component matches the name."""
        if self.test is None or (name.startswith(".") and not self.matches_hidden):
            return False
        return self.test.match(name) is not None


class Glob:
    """The part of a pattern from its first wildcard on, as components."""

    def __init__(self, parts: Sequence[str]) -> None:
        if parts[-1] == "**":
            parts = [*parts, "*"]
        self.parts = [_parse_part(text) for text in parts]
        self.start = self._with_skips({0})
        """The initial states: indexes of the components to match next."""

    @classmethod
    def everything(cls) -> Glob:
        """All files below a folder."""
        return cls(["**", "*"])

    @classmethod
    @lru_cache(maxsize=256)
    def split(cls, pattern: str) -> tuple[str, Glob]:
        """The folder before the first wildcard, and the rest; without a wildcard, everything below it."""
        steps = [step for step in pattern.split("/") if step not in {"", "."}]
        wild = next((number for number, step in enumerate(steps) if MAGIC.search(step)), None)
        if wild is None:
            return pattern, cls.everything()
        rest = steps[wild:]
        if ".." in rest:
            raise SettingError(Problem("`..` can't follow a wildcard", Location(pattern)))
        if rest.count("**") > MAX_DOUBLE_STARS:
            raise SettingError(Problem("a pattern may contain at most two `**`", Location(pattern)))
        start = "/" if pattern.startswith("/") else ""
        return start + "/".join(steps[:wild]), cls(rest)

    def step(self, states: frozenset[int], name: str) -> tuple[bool, frozenset[int]]:
        """Whether a file of that name matches, and the states for the content of a folder of that name."""
        last = len(self.parts) - 1
        is_match, inside = False, set()
        for state in states:
            part = self.parts[state]
            if part.test is None:
                if not name.startswith("."):
                    inside.add(state)
            elif part.matches(name):
                is_match = is_match or state == last
                if state < last:
                    inside.add(state + 1)
        return is_match, self._with_skips(inside)

    def _with_skips(self, states: set[int]) -> frozenset[int]:
        """Adds the states behind a `**`, which may match no folder."""
        reached = set(states)
        for state in sorted(states):
            following = state
            while self.parts[following].test is None:
                following += 1
                reached.add(following)
        return frozenset(reached)


class WalkPosition(NamedTuple):
    """A file or folder: path below the start, and path as reached."""

    below: str
    real: str


class Walk:
    """One search through folders; each is visited once, even if the pattern reaches it in several ways."""

    def __init__(self, glob: Glob, *, max_entries: int, refuse_links: bool, show: Callable[[str], str]) -> None:
        self._glob = glob
        self._left = self._max = max_entries
        self._refuse_links = refuse_links
        self._show = show
        self._saw_link = False

    def files(self, folder: str) -> Sequence[WalkPosition]:
        """Relative and real path of each match; a file reached through several links is found once."""
        found = list(self._search(folder))
        if self._saw_link:
            found.sort(key=lambda match: (match.below.count("/"), match.below), reverse=True)
            found = list({os.path.realpath(match.real): match for match in found}.values())
        return found

    def _search(self, folder: str) -> Iterator[WalkPosition]:
        waiting = [(WalkPosition("", folder), self._glob.start, frozenset([folder]))]
        while waiting:
            position, states, above = waiting.pop()
            for entry in self._entries(position.real):
                is_match, inside = self._glob.step(states, entry.name)
                if inside and self._is_folder(entry):
                    deeper = self._position(position, entry)
                    if not (self._saw_link and _leads_back(deeper.real, above)):
                        waiting.append((deeper, inside, above | {deeper.real}))
                elif is_match and not _is_folder(entry):  # what is no file either is refused when it is opened
                    self._note_link(entry)
                    yield self._position(position, entry)

    def _position(self, folder: WalkPosition, entry: os.DirEntry[str]) -> WalkPosition:
        self._require_good_name(entry)
        below = f"{folder.below}/{entry.name}" if folder.below else entry.name
        return WalkPosition(below, entry.path)

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        found = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._left -= 1
                    if self._left < 0:
                        raise self._too_many(folder)
                    found.append(entry)
        except PermissionError:
            raise RefusedPath(Problem("no permission to read the folder", Location(self._show(folder)))) from None
        except OSError as error:
            reason = f"the folder can't be searched: {error.strerror or 'unknown error'}"
            raise RefusedPath(Problem(reason, Location(self._show(folder)[:MAX_SHOWN]))) from None
        return found

    def _too_many(self, folder: str) -> OverLimit:
        problem = f"more than {self._max:,} files and folders would have to be searched"
        return OverLimit(Problem(problem, Location(self._show(folder)), "use a more specific folder"))

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        if not _is_folder(entry):
            return False
        self._note_link(entry)
        return True

    def _note_link(self, entry: os.DirEntry[str]) -> None:
        if not entry.is_symlink():
            return
        if self._refuse_links:
            raise link_error(self._show(entry.path))
        self._saw_link = True

    def _require_good_name(self, entry: os.DirEntry[str]) -> None:
        if not entry.name.isprintable() and any(
            unicodedata.category(char) in FORBIDDEN_CATEGORIES for char in entry.name
        ):
            shown = self._show(entry.path).encode("unicode_escape", "backslashreplace").decode("ascii")
            problem = "the file name contains control characters or is not UTF-8"
            raise RefusedPath(Problem(problem, Location(shown), "rename it"))


def _leads_back(folder: str, above: frozenset[str]) -> bool:
    """Whether a folder is one of those above it, reached through a link."""
    return os.path.realpath(folder) in map(os.path.realpath, above)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder; False for a link that leads in a circle."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def link_error(shown: str) -> RefusedPath:
    """The error for a symbolic link in untrusted files."""
    return RefusedPath(
        Problem("symbolic links are not followed", Location(shown), "use the path of the file or folder it points to")
    )


@lru_cache(maxsize=256)
def _parse_part(text: str) -> GlobPart:
    if text == "**":
        return GlobPart(None, matches_hidden=False)
    return GlobPart(re.compile(fnmatch.translate(text)), matches_hidden=text.startswith("."))
