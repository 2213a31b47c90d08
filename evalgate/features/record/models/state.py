"""What there is before or after a run."""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct

from evalgate.measures.sequences.differences import ABSENT


class StateNotReadError(Exception):
    """The state can't be read; the text says why, as the end of a sentence."""


class SeenFile(NamedTuple):
    """A file as it is; `digest` is None for one that is too large to be read, `touched` what then shows a change.

    `text` is the content of a short file that is text.
    """

    kind: Literal["file", "link", "other"]
    size: int
    digest: str | None
    touched: tuple[int, ...]
    text: str | None = None


class Snapshot(Struct, frozen=True):
    """The state at one time: `data` is what the command printed, `files` are by path; ABSENT and None if not asked for.

    `problem` says why it could not be read.
    """

    data: object = ABSENT
    files: dict[str, SeenFile] | None = None
    problem: str | None = None
