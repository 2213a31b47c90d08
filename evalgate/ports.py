"""What the use cases need from the world, as small protocols that adapters satisfy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol

from evalgate.models.annotation import Annotation as Annotation  # noqa: PLC0414, TC001  re-exported

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from datetime import datetime

    from evalgate.errors import Problem
    from evalgate.models.comparison import BaselineInfo
    from evalgate.models.results import ResultsDoc
    from evalgate.models.trace import Trace, TraceRecord
    from evalgate.suite.models import Configuration


class FoundFile(NamedTuple):
    """A file a glob found.

    `path` is shown to people (forward slashes, relative to the working folder where it lies below it);
    `below` is the part below the glob's fixed part; `real` is what to open.
    """

    path: str
    below: str
    real: str


class Files(Protocol):
    """The only way to the file system: bounded, and inside the workspace where one is set."""

    def expand(self, pattern: str, base: str) -> Sequence[FoundFile]:
        """Regular files that match, sorted by path. `base` is the folder a relative pattern starts from.

        Raises RefusedPath for a path outside the workspace or through a symbolic link, OverLimit for too
        many entries.
        """

    def open(self, file: FoundFile) -> BinaryIO:
        """The file's bytes as a stream; refuses what is no regular file."""

    def read(self, path: str, limit: int, *, what: str) -> bytes:
        """A whole file of at most `limit` bytes; `what` names it in the error."""


class SuiteSource(Protocol):
    """Where suites come from."""

    def load(self, configs: Sequence[str]) -> Configuration:
        """Projects and suites behind the given paths; raises SuiteError with every mistake at once."""


class TraceSource(Protocol):
    """Where recorded traces come from."""

    def read(self, patterns: Sequence[str], base: str, form: str) -> Iterator[TraceRecord]:
        """Traces in the order of their files' paths, then of the file. `form` is `auto` or a format's name.

        Damaged records are values, not exceptions. Every record has its `source` and a scenario id or
        fallback id.
        """

    def formats(self) -> Sequence[str]:
        """Names that `form` may have, besides `auto`."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline as read back: its results and, from a zip, its manifest."""

    results: ResultsDoc
    manifest: dict[str, Any] | None


class BaselineFiles(Protocol):
    """Baselines on disk: a `baseline.zip` or a `results.json`."""

    def load(self, path: str, *, whole: bool = True) -> Baseline:
        """Reads one back; raises SettingError (missing, damaged) or OverLimit.

        Not `whole`: single assertions are not checked, for a comparison reads none.
        """

    def spool(self) -> TraceSpool:
        """A place for the traces of a baseline that is being made."""

    def write(self, path: str, parts: BaselineParts) -> Sequence[Problem]:
        """Writes a `baseline.zip`; what had to be left out comes back as warnings."""


class TraceSpool(Protocol):
    """Traces on their way into a baseline, kept out of memory."""

    def add(self, trace: Trace) -> None:
        """Keeps one trace, redacted."""

    def close(self) -> None:
        """Drops what was kept."""


@dataclass(frozen=True, slots=True)
class BaselineParts:
    """What goes into a `baseline.zip`."""

    manifest: dict[str, Any]
    results: bytes
    suites: bytes
    traces: TraceSpool | None


class OutputFolder(Protocol):
    """Where a run leaves its files."""

    def path(self, name: str) -> str:
        """The full path of one of our files, whose folder is made."""

    def write(self, name: str, content: bytes) -> None:
        """Writes one of our files whole; files of others are not touched."""

    def remove(self, name: str) -> None:
        """Takes away one of our files that an earlier run left, if it is there."""


class NamedFile(Protocol):
    """One file at a place the user named."""

    def write(self, content: bytes) -> None:
        """Writes it whole; raises RefusedPath or SettingError."""


class Progress(Protocol):
    """Long work shows that it moves."""

    def advance(self, what: str, count: int = 1) -> None:
        """`count` more of `what` are done."""

    def finish(self) -> None:
        """The work has ended."""


class Clock(Protocol):
    """The time, so that nothing reads it in passing."""

    def now(self) -> datetime:
        """Now, in UTC; SOURCE_DATE_EPOCH where that is set."""


@dataclass(frozen=True, slots=True)
class FoundBaseline:
    """The baseline chosen for this run, where it lies, and what was refused on the way (one line each)."""

    info: BaselineInfo
    refused: Sequence[str] = ()


class BaselineSource(Protocol):
    """Finds the trusted baseline of the base branch."""

    def find(self, without: Collection[str] = ()) -> FoundBaseline:
        """The best one but those that lie at the paths in `without`.

        Never raises for GitHub's sake: what can't be had is a status (`none`, `expired`, `unreachable`).
        """


class Comment(NamedTuple):
    """A posted comment."""

    id: int
    url: str
    created: bool
    changed: bool


class PullRequest(Protocol):
    """The pull request the gate reports to."""

    def upsert_comment(self, key: str, body: str, *, create: bool = True) -> Comment | None:
        """Creates or updates the one comment of `key`; raises Forbidden or Unreachable.

        None where there is none and `create` is false.
        """


class ArtifactStore(Protocol):
    """Artifacts of the running workflow."""

    def upload(self, name: str, path: str) -> int:
        """Uploads one zip file as it is; returns the artifact's id; raises Unreachable."""


class StepOutput(Protocol):
    """What a workflow step hands on."""

    def outputs(self, values: dict[str, str]) -> None:
        """Sets step outputs."""

    def summary(self, markdown: str) -> None:
        """Adds to the job summary."""

    def annotate(self, annotations: Sequence[Annotation]) -> None:
        """Prints annotations, at most nine of a level and then a count."""

    def log(self, line: str) -> None:
        """Prints one line of untrusted text safely."""
