"""Ports: small protocols through which use cases reach the outside; adapters implement them.

Entry points: `Files`, `TraceSource`, `SuiteSource`, `BaselineFiles`, `batches.Engine`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol

from msgspec import Struct

from evalgate.models.github import Annotation as Annotation  # noqa: TC001  re-exported

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from evalgate.errors import Problem
    from evalgate.measures.prices import Rates
    from evalgate.models.approvals.approval import Approval, ApprovalFile
    from evalgate.models.approvals.review import TriggeringRun
    from evalgate.models.comparison.comparison import BaselineInfo
    from evalgate.models.comparison.weakening import WatchedFiles
    from evalgate.models.github import CheckRun, TemplateFile
    from evalgate.models.mutation import SuiteMutations
    from evalgate.models.results.baseline_run import BaselineRun
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.chunks import Content
    from evalgate.models.trace.trace import Trace, TraceLocation, TraceRecord
    from evalgate.suite.models import Configuration, Form, Suite


class FoundFile(NamedTuple):
    """A file that a glob matched.

    `path` is for display (forward slashes, relative to the working directory if inside it); `below` is the part
    below the glob's fixed part; `real` is the path to open.
    """

    path: str
    below: str
    real: str


class Files(Protocol):
    """The only access to the file system: bounded, and confined to the workspace if one is set."""

    def expand(self, pattern: str, base: str) -> Sequence[FoundFile]:
        """Regular files that match, sorted by path; relative patterns start from the folder `base`.

        Raises RefusedPath for a path outside the workspace or through a symbolic link, OverLimit for too many
        entries.
        """

    def open(self, file: FoundFile) -> BinaryIO:
        """Opens the file as a stream of bytes; refuses anything but a regular file."""

    def size(self, file: FoundFile) -> int:
        """Bytes of the file on disk; 0 if unknown, in which case reading it reports why."""

    def digest(self, file: FoundFile) -> str:
        """SHA-256 of the file; of a remote one, of what its store says of its content."""

    def read(self, path: str, limit: int, *, what: str) -> bytes:
        """Reads a whole file of at most `limit` bytes; `what` names it in the error."""


class SuiteSource(Protocol):
    """Where suites come from."""

    def load(self, configs: Sequence[str]) -> Configuration:
        """Projects and suites at the given paths; raises SuiteError listing every error."""

    def parse_text(self, text: str, path: str) -> Suite:
        """The suite in a text that is not a file yet, as if it were at this path; raises SuiteError."""

    def find_name(self, path: str) -> str | None:
        """The name of the suite in a file; None if there is none."""

    def load_approvals(self, file: ApprovalFile) -> Sequence[Approval]:
        """The approvals in a file; raises SuiteError listing every error."""


class PriceTable(Protocol):
    """A list of model prices, the same for a whole run."""

    @property
    def label(self) -> str:
        """Its name and version."""

    def rates(self, model: str, provider: str | None, request_tokens: int) -> Rates | None:
        """Prices of a model for requests of this many input tokens; None if it is not listed."""


class TraceSource(Protocol):
    """Where traces come from."""

    def read(self, patterns: Sequence[str], base: str, form: Form) -> Iterator[TraceRecord]:
        """Traces, ordered by file path, then by position in the file.

        `form` is `auto`, the name of a format, or a suite's custom format.

        Damaged records are values, not exceptions. Every record has its `source` and a scenario id or
        fallback id.
        """

    def formats(self) -> Sequence[str]:
        """Valid names for `form`, besides `auto` and `custom`."""


class NearbyTraces(NamedTuple):
    """A folder below the working directory, and how many traces it holds; without `is_all` it may hold more."""

    folder: str
    traces: int
    is_all: bool


class TraceArchive(TraceSource, Protocol):
    """A trace source that also finds its files, and reads the traces kept in a baseline."""

    def find_files(self, patterns: Sequence[str], base: str) -> Sequence[FoundFile]:
        """The files that `read` reads, in this order; raises as it does."""

    def find_nearby(self) -> Sequence[NearbyTraces]:
        """The folders below the working directory that hold traces, the first few; a bounded search."""

    def encode_trace(self, trace: Trace) -> bytes:
        """Encodes a trace as a line of a baseline's traces, redacted."""

    def restore_trace(self, line: bytes) -> Trace | None:
        """Parses a line of a baseline's traces; None if it can't be read."""


class Baseline(Struct, frozen=True):
    """A baseline read from disk: its results and, from a zip, its manifest."""

    results: ResultsDoc
    manifest: dict[str, Any] | None


class ComparableBaseline(NamedTuple):
    """What a comparison needs of a baseline: its run and, from a zip, its manifest."""

    run: BaselineRun
    manifest: dict[str, Any] | None


class BaselineFiles(Protocol):
    """Baselines on disk: a `baseline.zip` or a `results.json`."""

    def load(self, path: str) -> Baseline:
        """Reads a baseline; raises SettingError (missing, damaged) or OverLimit."""

    def load_run(self, path: str, *, whole: bool = False) -> ComparableBaseline:
        """Reads what a comparison needs, and all results if `whole`; raises the same errors as `load`."""

    def read_traces(self, path: str) -> Iterator[bytes]:
        """The traces a baseline keeps, unpacked as they are read: one a line, see TraceArchive.

        A results.json has none. Raises SettingError (missing, damaged) or OverLimit, also midway.
        """

    def read_suites(self, path: str) -> bytes | None:
        """The suites a baseline keeps, as JSON; None if it has none, like a results.json.

        Raises SettingError (missing, damaged) or OverLimit.
        """

    def open_spool(self, encode: Callable[[Trace], bytes]) -> TraceSpool:
        """A temporary store for the traces of a baseline that is being written; `encode` returns a trace's line."""

    def write(self, path: str, parts: BaselineParts) -> Sequence[Problem]:
        """Writes a `baseline.zip`; returns warnings about what was left out."""


class TraceSpool(Protocol):
    """Traces to be written to a baseline, kept out of memory."""

    @property
    def is_full(self) -> bool:
        """Whether further traces are dropped."""

    def add(self, trace: Trace) -> None:
        """Keeps one trace, redacted."""

    def add_line(self, source: TraceLocation, line: bytes | None) -> None:
        """Keeps a line that was encoded elsewhere; None counts a trace that did not fit."""

    def lines(self) -> Iterator[bytes]:
        """The lines that were kept, in order."""

    def close(self) -> None:
        """Discards what was kept."""


class BaselineParts(Struct, frozen=True):
    """The content of a `baseline.zip`."""

    manifest: dict[str, Any]
    results: Content
    suites: bytes
    traces: TraceSpool | None


class OutputFolder(Protocol):
    """The folder a run writes its files to."""

    def require_writable(self) -> None:
        """Raises InvalidInput if the folder can't be written; creates nothing."""

    def holds(self, name: str, path: str) -> bool:
        """Whether a path that the user named is the output file of this name."""

    def path(self, name: str) -> str:
        """The full path of an output file; creates its folder."""

    def write(self, name: str, content: Content) -> None:
        """Writes a whole output file; files EvalGate did not write are not touched."""

    def replace_all(self, contents: Mapping[str, Content], stale: Collection[str]) -> None:
        """Writes several output files and removes `stale` ones: all of them, or none if it is interrupted."""


class NamedFile(Protocol):
    """One file at a path the user named."""

    def write(self, content: bytes) -> None:
        """Writes the whole file; raises RefusedPath or SettingError."""


class ApprovalSource(Protocol):
    """Where a project keeps its approvals file."""

    def read(self) -> ApprovalFile | None:
        """The file, None if it does not exist; raises Unreachable or InvalidInput."""


class Fingerprints(Protocol):
    """Fingerprints of files, to detect that they changed."""

    def read_watched(self, globs: Sequence[str]) -> WatchedFiles:
        """All matching files; raises InvalidInput, also if a glob matches none."""


class MutationComparer(Protocol):
    """Counts how many small changes of a run's traces its suites notice, and how many those of its baseline do."""

    def compare(self, configuration: Configuration, baseline: Configuration) -> Sequence[SuiteMutations]:
        """The counts of each suite that differs from the baseline's."""


class TemplateSource(Protocol):
    """Where a project keeps its template for the comment."""

    def read(self) -> TemplateFile:
        """The template; raises Unreachable or InvalidInput."""


class Progress(Protocol):
    """Shows the progress of long work."""

    def begin(self, suite: str) -> None:
        """The traces of a suite come next; `suite` is its path."""

    def advance(self, what: str, count: int = 1) -> None:
        """`count` more items of the kind `what` are done."""

    def finish(self) -> None:
        """Ends the progress display."""


class Clock(Protocol):
    """The current time, passed in so that no code reads the system clock directly."""

    def now(self) -> datetime:
        """The current time in UTC, or SOURCE_DATE_EPOCH if set."""


class FoundBaseline(Struct, frozen=True):
    """The baseline chosen for this run, its path, and why others were refused (one line each)."""

    info: BaselineInfo
    refused: Sequence[str] = ()


class BaselineSource(Protocol):
    """Finds the trusted baseline of the base branch."""

    def find(self, without: Collection[str] = ()) -> FoundBaseline:
        """The best baseline, except those at the paths in `without`.

        Never raises for failures of GitHub: an unavailable baseline is a status (`none`, `expired`,
        `unreachable`).
        """


class Comment(NamedTuple):
    """A posted comment; `found_body` is what it held before."""

    id: int
    url: str
    created: bool
    changed: bool
    found_body: str = ""


class PullRequest(Protocol):
    """The pull request the gate reports to."""

    def upsert_comment(
        self,
        key: str,
        body: str,
        *,
        create: bool = True,
        keep: Callable[[str], bool] | None = None,
        revise: Callable[[str, str], str] | None = None,
    ) -> Comment | None:
        """Creates or updates the one comment of `key`, unless `keep` of a posted body is true.

        `revise` makes of the new body and the posted one what is written in its place.
        None if `create` is false and there is no comment yet. Raises Forbidden or Unreachable.
        """

    def merge_comment(
        self, key: str, merge: Callable[[Sequence[str]], str | None], retired: str = ""
    ) -> Comment | None:
        """Writes what `merge` makes of the posted bodies of `key`, and reads again whether it stayed.

        Where it begins the comment, that of the key `retired` goes. None if `merge` wants nothing written. Raises
        Forbidden or Unreachable.
        """

    def head(self) -> str:
        """The current head commit, empty if unknown; raises Unreachable."""


class CheckRuns(Protocol):
    """Check runs that EvalGate adds to those of the workflow's jobs."""

    def post(self, check: CheckRun) -> str:
        """Posts one completed check run; raises Forbidden or Unreachable.

        Returns GitHub's reason if it rejects the annotations, which the text lists then; else empty.
        """


class OpenPullRequest(NamedTuple):
    """An open pull request and its head commit."""

    number: int
    head_sha: str


class PullRequestFinder(Protocol):
    """Finds the pull requests that a run may belong to."""

    def find_open(self, run: TriggeringRun) -> Sequence[OpenPullRequest]:
        """Open pull requests from the run's branch and repository, at any commit; raises Unreachable."""


class ReportSource(Protocol):
    """Reports that runs uploaded for a publishing workflow; their content is untrusted."""

    def fetch(self, run: TriggeringRun, name: str) -> str | None:
        """Downloads the run's artifact of that name; the zip's path, None without such an artifact.

        Raises Unreachable, with the reason, if it is unavailable or differs from what was uploaded.
        """


class ReportFiles(Protocol):
    """The zip that carries a report from one run to another."""

    def pack(self, results: bytes) -> str:
        """Writes a results document to a zip; returns its path."""

    def unpack(self, path: str) -> bytes:
        """The results document of an untrusted zip; raises SettingError or OverLimit."""


class ArtifactStore(Protocol):
    """Artifacts of the running workflow."""

    def upload(self, name: str, path: str, expires_at: datetime | None = None) -> int:
        """Uploads one zip file unchanged; returns the artifact's id; raises Unreachable.

        It is kept until `expires_at`, without one as long as the repository is set to.
        """


class StepOutput(Protocol):
    """What a workflow step passes on: outputs, summary, annotations and log."""

    def outputs(self, values: dict[str, str]) -> None:
        """Sets step outputs."""

    def summary(self, markdown: str) -> None:
        """Adds to the job summary."""

    def annotate(self, annotations: Sequence[Annotation]) -> None:
        """Prints annotations: at most nine of a level, then a count of the rest."""

    def log(self, line: str) -> None:
        """Prints one line, escaping untrusted text."""
