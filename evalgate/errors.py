"""All errors, each with its exit code and the code that documents use for it.

EvalGateError                 70  a bug in EvalGate, unless a subclass sets another code
|-- JudgeCrashed              70  a bug in EvalGate in the judge's process
|-- InvalidInput               2  something the user can fix: message, location, hint
|   |-- SuiteError                a suite or project file (`invalid_suite`)
|   |-- SettingError              a flag, an action input, a file named by one (`invalid_setting`)
|   |   |-- TrackerKeyMissing     a tracker is named and its key is not in the environment
|   |   `-- InvalidTemplate       a project's template: only a warning if there is a verdict
|   |-- RefusedPath               a path outside the workspace, a symbolic link (`refused_path`)
|   `-- OverLimit                 a limit of the run was exceeded (`over_limit`)
|-- ShardMissing               3  a shard of the run is missing
|-- RulesMissing               3  the rules that should decide are missing
|-- ReportMissing              3  another run left no report that can be read
|-- TraceError                 -  one unreadable trace: becomes a result, never an exit
`-- Unreachable                4  GitHub or a store refused, did not answer, or not as documented
    |-- RulesUnreachable          the rules that should decide: there is no baseline to read
    |-- Forbidden                 the token lacks a permission
    |-- NotFound                  there is no such resource
    |-- StoreUnreachable          a store that can't be read or written
    |-- TrackerUnreachable        a tracker that did not answer in time
    `-- TrackerRefused            a tracker that did not accept a request
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Location(NamedTuple):
    """A position in a file; line and column count from 1, None for the whole file."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in self if part is not None)


class Problem(NamedTuple):
    """One problem: what is wrong, where it is, how to fix it; `code` is its kind if it is only a warning."""

    message: str
    location: Location | None = None
    hint: str | None = None
    code: str = "note"

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        remedy = f" ({self.hint})" if self.hint else ""
        return f"{place}{self.message}{remedy}"


class EvalGateError(Exception):
    """Base of all errors; `problems` names each error once, never the text of a library's exception."""

    exit_code = 70
    code = "internal"

    def __init__(self, *problems: Problem | str) -> None:
        found = (Problem(each) if isinstance(each, str) else each for each in problems)
        self.problems: Sequence[Problem] = list(dict.fromkeys(found))  # a file may be read for two purposes
        super().__init__("\n".join(map(str, self.problems)))


class JudgeCrashed(EvalGateError):
    """A bug in EvalGate in the judge's process: the class of the exception, and where it was raised."""

    def __init__(self, kind: str, places: Sequence[str]) -> None:
        super().__init__(kind)
        self.kind = kind
        self.places = list(places)


class InvalidInput(EvalGateError):
    """Invalid input that the user can fix."""

    exit_code = 2
    code = "invalid_setting"


class SuiteError(InvalidInput):
    """A suite or project file is invalid."""

    code = "invalid_suite"


class SettingError(InvalidInput):
    """A flag, an action input or a file named by one is invalid."""

    code = "invalid_setting"


@contextmanager
def report_full_temp_folder() -> Iterator[None]:
    """Raises SettingError where a temporary file can't be written, as on a full disk."""
    try:
        yield
    except OSError as error:
        message = f"can't write to the folder for temporary files: {error.strerror or 'unknown error'}"
        hint = "free space there, or set TMPDIR to another folder"
        raise SettingError(Problem(message, None, hint)) from None


class TrackerKeyMissing(SettingError):
    """A tracker is named and its key is not in the environment, as in a pull request from a fork."""


class InvalidTemplate(SettingError):
    """A project's template that can't be used; the built-in template is used instead."""


class RefusedPath(InvalidInput):
    """A path leaves the workspace, goes through a symbolic link or is not a regular file."""

    code = "refused_path"


class OverLimit(InvalidInput):
    """A suite, a given baseline or the run as a whole exceeded a limit."""

    code = "over_limit"


class ShardMissing(EvalGateError):
    """Shards of a run are missing, so their results are unknown."""

    exit_code = 3
    code = "missing_shard"


class RulesMissing(EvalGateError):
    """The rules that should decide are missing, and no others may replace them."""

    exit_code = 3
    code = "no_baseline"


class ReportMissing(EvalGateError):
    """Another run left no report that can be read, so what it found is unknown."""

    exit_code = 3
    code = "no_report"


class BaselineUnreadable(RulesMissing):
    """The baseline that should hold the rules can't be read; another one may."""


class TraceError(EvalGateError):
    """A trace that can't be read. The caller turns it into a result; it never ends the run."""

    exit_code = 1
    code = "trace"
    nearest: Sequence[str] = ()
    """The formats whose fields the content has, if no format claims it."""


class UnknownFormatError(TraceError):
    """A file that no format claims; `nearest` are the formats that it nearly is."""

    def __init__(self, message: str, nearest: Sequence[str]) -> None:
        super().__init__(message)
        self.nearest = nearest


class Unreachable(EvalGateError):
    """GitHub or a store refused a request, or did not answer in time, or not as documented."""

    exit_code = 4
    code = "unreachable"


class RulesUnreachable(Unreachable):
    """The rules that should decide can't be loaded because the baseline can't be fetched."""


class Forbidden(Unreachable):
    """The token lacks a permission."""


class TokenRejected(Unreachable):
    """GitHub does not know the token."""


class NotFound(Unreachable):
    """GitHub has no such resource."""


class ArtifactExists(Unreachable):
    """The run has an artifact of this name already, which stays."""


class StoreUnreachable(Unreachable):
    """A store that can't be read or written now; messages never contain its credentials."""


class TrackerUnreachable(Unreachable):
    """A tracker that did not answer in time, or not as documented."""

    code = "tracker_unreachable"


class TrackerRefused(Unreachable):
    """A tracker that did not accept a request: the key, the address or the content."""

    code = "tracker_refused"
