"""What can go wrong, each with the exit code it ends in and the word documents use for it.

EvalGateError                 70  our bug, unless a subclass says otherwise
|-- JudgeCrashed              70  our bug, in a process of its own
|-- InvalidInput               2  something a person can mend: text, place, remedy
|   |-- SuiteError                a suite or project file (`invalid_suite`)
|   |-- SettingError              a flag, an action input, a file named by one (`invalid_setting`)
|   |   `-- TemplateFlaw          a template of a project's own: a warning where a verdict stands
|   |-- RefusedPath               a path outside the workspace, a symbolic link (`refused_path`)
|   `-- OverLimit                 a bound of the run was passed (`over_limit`)
|-- ShardMissing               3  a part of a run is not there
|-- RulesMissing                3  rules that were to decide are not at hand
|-- TraceError                 -  one unreadable trace: becomes a result, never an exit
`-- Unreachable                4  GitHub or a store did not answer, or not as promised
    |-- RulesUnreachable          rules that were to decide, as GitHub did not answer
    |-- Forbidden                 the token may not do this
    |-- NotFound                  there is no such thing
    `-- StoreUnreachable          a store that can't be read or written
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Location(NamedTuple):
    """A place in a file; line and column count from 1, None where a whole file is meant."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in self if part is not None)


class Problem(NamedTuple):
    """One mistake: what is wrong, where it stands, how to mend it."""

    message: str
    location: Location | None = None
    hint: str | None = None

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        remedy = f" ({self.hint})" if self.hint else ""
        return f"{place}{self.message}{remedy}"


class EvalGateError(Exception):
    """Base of all errors; `problems` holds one line a mistake, never a foreign library's text."""

    exit_code = 70
    code = "internal"

    def __init__(self, *problems: Problem | str) -> None:
        self.problems: Sequence[Problem] = [Problem(p) if isinstance(p, str) else p for p in problems]
        super().__init__("\n".join(map(str, self.problems)))


class JudgeCrashed(EvalGateError):
    """A bug of ours in a process of its own: what kind of exception it was, and where."""

    def __init__(self, kind: str, places: Sequence[str]) -> None:
        super().__init__(kind)
        self.kind = kind
        self.places = list(places)


class InvalidInput(EvalGateError):
    """Something handed to the gate is wrong and a person can mend it."""

    exit_code = 2
    code = "invalid_setting"


class SuiteError(InvalidInput):
    """A suite or project file says something that can't be meant."""

    code = "invalid_suite"


class SettingError(InvalidInput):
    """A flag, an action input or a file that one names."""

    code = "invalid_setting"


def no_room(error: OSError) -> SettingError:
    """What is told where the system takes no more temporary files."""
    why = error.strerror or "the system refused"
    message = f"the folder for temporary files can't take what was found: {why}"
    return SettingError(Problem(message, None, "make room there, or name another with TMPDIR"))


class TemplateFlaw(SettingError):
    """A template of a project's own that can't be used; the comment is then ours."""


class RefusedPath(InvalidInput):
    """A path leaves the workspace, passes a symbolic link or is no regular file."""

    code = "refused_path"


class OverLimit(InvalidInput):
    """A limit of the run was passed by a suite, a named baseline or the run as a whole."""

    code = "over_limit"


class ShardMissing(EvalGateError):
    """Shards of a run are not there, so that nobody knows what they would say."""

    exit_code = 3
    code = "missing_shard"


class RulesMissing(EvalGateError):
    """The rules that were to decide are not at hand, and no others may."""

    exit_code = 3
    code = "no_baseline"


class TraceError(EvalGateError):
    """A trace that can't be read. The caller turns it into a result; it never ends the run."""

    exit_code = 1
    code = "trace"


class Unreachable(EvalGateError):
    """GitHub or a store did not answer in time, or not as promised."""

    exit_code = 4
    code = "unreachable"


class RulesUnreachable(Unreachable):
    """The rules that were to decide, as GitHub did not answer."""


class Forbidden(Unreachable):
    """The token may not do this."""


class NotFound(Unreachable):
    """GitHub knows no such thing."""


class StoreUnreachable(Unreachable):
    """A store that can't be read or written now; its credentials are never told."""
