"""What the use cases need from the world, as small protocols that adapters satisfy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol

from evalgate.models.github.annotation import Annotation as Annotation  # noqa: TC001  re-exported
from evalgate.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from datetime import datetime

    from evalgate.errors import Problem
    from evalgate.measures.prices import Rates
    from evalgate.models.approvals.approval import Approval, ApprovalFile
    from evalgate.models.approvals.triggering_run import TriggeringRun
    from evalgate.models.comparison.baseline_run import BaselineRun
    from evalgate.models.comparison.comparison import BaselineInfo
    from evalgate.models.github.check_run import CheckRun
    from evalgate.models.github.template_file import TemplateFile
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.results.standings import StandingsDoc
    from evalgate.models.run.chunks import Content
    from evalgate.models.trace.trace import Trace, TraceLocation, TraceRecord
    from evalgate.suite.custom_format import Custom
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

    def size(self, file: FoundFile) -> int:
        """Bytes of the file as it lies there; 0 where that can't be told, which reading will tell."""

    def read(self, path: str, limit: int, *, what: str) -> bytes:
        """A whole file of at most `limit` bytes; `what` names it in the error."""


class SuiteSource(Protocol):
    """Where suites come from."""

    def load(self, configs: Sequence[str]) -> Configuration:
        """Projects and suites behind the given paths; raises SuiteError with every mistake at once."""

    def approvals(self, file: ApprovalFile) -> Sequence[Approval]:
        """The approvals that a file holds; raises SuiteError with every mistake at once."""


class PriceTable(Protocol):
    """A list of what models cost, the same for a whole run."""

    @property
    def label(self) -> str:
        """Its name and version."""

    def rates(self, model: str, provider: str | None, request_tokens: int) -> Rates | None:
        """Prices of a model for requests of so many input tokens; None where it is not listed."""


class TraceSource(Protocol):
    """Where recorded traces come from."""

    def read(self, patterns: Sequence[str], base: str, form: str | Custom) -> Iterator[TraceRecord]:
        """Traces in the order of their files' paths, then of the file.

        `form` is `auto`, a format's name, or what a suite says of its own.

        Damaged records are values, not exceptions. Every record has its `source` and a scenario id or
        fallback id.
        """

    def formats(self) -> Sequence[str]:
        """Names that `form` may have, besides `auto` and `custom`."""


class TraceArchive(TraceSource, Protocol):
    """A source that also reads traces which a baseline keeps."""

    def restored(self, line: bytes) -> Trace | None:
        """A trace out of a line of a baseline; None where it can't be read."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline as read back: its results and, from a zip, its manifest."""

    results: ResultsDoc
    manifest: dict[str, Any] | None


class EarlierBaseline(NamedTuple):
    """A baseline as a comparison reads it: its run and, from a zip, its manifest."""

    run: BaselineRun
    manifest: dict[str, Any] | None


class BaselineFiles(Protocol):
    """Baselines on disk: a `baseline.zip` or a `results.json`."""

    def load(self, path: str, *, whole: bool = True) -> Baseline:
        """Reads one back; raises SettingError (missing, damaged) or OverLimit.

        Not `whole`: single assertions are not checked, for a comparison reads none.
        """

    def earlier(self, path: str, *, whole: bool = False) -> EarlierBaseline:
        """Reads as much of one as a comparison needs, with its document where it is to be `whole`.

        Raises as `load` does.
        """

    def traces(self, path: str) -> Iterator[bytes]:
        """The traces that a baseline keeps, one document of `evalgate.trace/1` a line, as they are unpacked.

        A results.json has none. Raises SettingError (missing, damaged) or OverLimit, also midway.
        """

    def suites(self, path: str) -> bytes | None:
        """The suites that a baseline keeps, as JSON; None where it has none, as a results.json.

        Raises SettingError (missing, damaged) or OverLimit.
        """

    def spool(self) -> TraceSpool:
        """A place for the traces of a baseline that is being made."""

    def write(self, path: str, parts: BaselineParts) -> Sequence[Problem]:
        """Writes a `baseline.zip`; what had to be left out comes back as warnings."""


class TraceSpool(Protocol):
    """Traces on their way into a baseline, kept out of memory."""

    @property
    def is_full(self) -> bool:
        """Whether nothing more is kept."""

    def add(self, trace: Trace) -> None:
        """Keeps one trace, redacted."""

    def take(self, source: TraceLocation, line: bytes | None) -> None:
        """Keeps a line that was made elsewhere; None counts a trace for which there is no room."""

    def close(self) -> None:
        """Drops what was kept."""


@dataclass(frozen=True, slots=True)
class BaselineParts:
    """What goes into a `baseline.zip`."""

    manifest: dict[str, Any]
    results: Content
    suites: bytes
    traces: TraceSpool | None
    standings: StandingsDoc | None = None


class OutputFolder(Protocol):
    """Where a run leaves its files."""

    def path(self, name: str) -> str:
        """The full path of one of our files, whose folder is made."""

    def write(self, name: str, content: Content) -> None:
        """Writes one of our files whole; files of others are not touched."""

    def remove(self, name: str) -> None:
        """Takes away one of our files that an earlier run left, if it is there."""


class NamedFile(Protocol):
    """One file at a place the user named."""

    def write(self, content: bytes) -> None:
        """Writes it whole; raises RefusedPath or SettingError."""


class ApprovalSource(Protocol):
    """Where a project keeps its approvals."""

    def read(self) -> ApprovalFile | None:
        """The file, None where there is none; raises Unreachable or InvalidInput."""


class Fingerprints(Protocol):
    """What files are, told in one word."""

    def of(self, globs: Sequence[str]) -> str:
        """The fingerprint of the files that match; raises InvalidInput, also where a glob finds none."""


class TemplateSource(Protocol):
    """Where a project keeps its own words for the comment."""

    def read(self) -> TemplateFile:
        """The template; raises Unreachable or InvalidInput."""


class Progress(Protocol):
    """Long work shows that it moves."""

    def begin(self, suite: str) -> None:
        """The traces of a suite, told by its path, are next."""

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

    def head(self) -> str:
        """The commit at its head now, empty where that is not known; raises Unreachable."""


class CheckRuns(Protocol):
    """Checks of our own beside those of the jobs."""

    def post(self, check: CheckRun) -> None:
        """Writes one, complete; raises Forbidden or Unreachable."""


class OpenPullRequest(NamedTuple):
    """A pull request that is open, and the commit at its head."""

    number: int
    head_sha: str


class PullRequestFinder(Protocol):
    """Finds the pull requests that a run may have been for."""

    def open_from(self, run: TriggeringRun) -> Sequence[OpenPullRequest]:
        """Open ones from the run's branch of the run's repository, at whatever commit; raises Unreachable."""


class ReportSource(Protocol):
    """Reports that runs left for a publishing workflow. A stranger may have made them."""

    def fetch(self, run: TriggeringRun, name: str) -> str | None:
        """Downloads the run's artifact of that name; the zip's path, None where the run left none.

        Raises Unreachable, with the reason, for one that can't be had or is not what was uploaded.
        """


class ReportFiles(Protocol):
    """The zip in which a report travels from one run to another."""

    def pack(self, results: bytes) -> str:
        """Writes the zip of a results document; its path."""

    def unpack(self, path: str) -> bytes:
        """The results document in a zip that a stranger may have made; raises SettingError or OverLimit."""


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
