"""Chooses the globs that a suite names its traces by, and reads the traces that passed."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from msgspec import Struct

from evalgate.application.inference.passing import is_passing
from evalgate.errors import SettingError
from evalgate.models.trace.trace import DamagedTrace, Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.application.inference.checks import Strictness
    from evalgate.ports import Files, Progress, TraceSource

MAX_TRIALS = 50
"""Passing traces of a scenario that a suite is learnt from."""
MAX_TRACES = 5_000
MAX_FILES = 200
"""Files that a suite lists one by one, where others beside them can't be read."""
DEFAULT_PLACES = ("traces", "jobs", "*.jsonl")
AUTO = "auto"


class InferenceOptions(Struct, frozen=True):
    """What `init` was asked for: the traces, the path of the suite, its name, and how strict it is to be.

    Paths are relative to the working directory `cwd`, an absolute path.
    """

    traces: Sequence[str]
    path: str
    name: str
    cwd: str
    strictness: Strictness = "normal"
    form: str | None = None
    schema: str | None = None


class FoundTraces(Struct):
    """The traces of a suite: `patterns` relative to its folder, those that passed, and how many did not."""

    patterns: Sequence[str]
    passing: list[Trace]
    failing: int = 0
    unreadable: int = 0
    left_out: int = 0


def find_default_traces(files: Files) -> list[str]:
    """The places where traces usually are that have files: `traces/`, else `jobs/`, else JSON lines in the folder."""
    return next(([place] for place in DEFAULT_PLACES if files.expand(place, ".")), [])


def find_traces(options: InferenceOptions, files: Files, traces: TraceSource, progress: Progress) -> FoundTraces:
    """Chooses patterns that find the readable files among those named, and reads the traces that passed."""
    chooser = _PatternChooser(options, files, traces)
    patterns = sorted({each for named in options.traces for each in chooser.choose(named)})
    found = FoundTraces(patterns, [])
    trials: dict[str | None, int] = {}
    places = [posixpath.normpath(posixpath.join(chooser.folder, pattern)) for pattern in patterns]  # it may not exist
    for record in traces.read(places, ".", chooser.form) if places else ():
        progress.advance("traces")
        if not isinstance(record, Trace):
            found.unreadable += 1
        elif not is_passing(record):
            found.failing += 1
        elif trials.setdefault(record.scenario_id, 0) >= MAX_TRIALS or len(found.passing) >= MAX_TRACES:
            found.left_out += 1
        else:
            trials[record.scenario_id] += 1
            found.passing.append(record)
    return found


class _PatternChooser:
    """Turns what was named into patterns relative to the suite's folder."""

    def __init__(self, options: InferenceOptions, files: Files, traces: TraceSource) -> None:
        self._files, self._traces, self._cwd = files, traces, options.cwd
        self.folder = posixpath.dirname(options.path) or "."
        self.form = options.form or AUTO

    def choose(self, named: str) -> list[str]:
        """What was named, by suffixes if all files with them can be read."""
        files = [file.path for file in self._files.expand(named, ".")]
        if not files:
            raise SettingError(f"no trace file at {named!r}")
        damaged = {
            record.source.path
            for record in self._traces.read([named], ".", self.form)
            if isinstance(record, DamagedTrace)
        }
        relative = self._relate(named)
        if not self._is_folder(named, files):
            return [relative] if not damaged.intersection(files) else self._list_files(files, damaged)
        chosen: list[str] = []
        for suffix in sorted(set(map(_find_suffix, files))):
            members = [path for path in files if _find_suffix(path) == suffix]
            if not damaged.intersection(members) and suffix:
                chosen.append(f"{relative.rstrip('/')}/**/*{suffix}")
            elif not damaged.issuperset(members):
                chosen += self._list_files(members, damaged)
        return chosen

    def _is_folder(self, named: str, files: Sequence[str]) -> bool:
        """Whether this is the path of a folder: all files are below it."""
        return all(self._find_absolute(path).startswith(f"{self._find_absolute(named)}/") for path in files)

    def _find_absolute(self, path: str) -> str:
        return posixpath.normpath(posixpath.join(self._cwd, path))

    def _list_files(self, files: Sequence[str], damaged: set[str]) -> list[str]:
        """The files that can be read, up to MAX_FILES."""
        return [self._relate(path) for path in files if path not in damaged][:MAX_FILES]

    def _relate(self, path: str) -> str:
        """The path relative to the suite's folder; one outside the working directory stays absolute if named so."""
        absolute = self._find_absolute(path)
        if posixpath.isabs(path) and not absolute.startswith(posixpath.join(self._cwd, "")):
            return path
        return posixpath.relpath(absolute, self._find_absolute(self.folder))


def _find_suffix(path: str) -> str:
    """The end of a name from its last dot; of a packed file with that of what is packed.

    >>> _find_suffix("a/gpt-4.1.json"), _find_suffix("run.jsonl.gz"), _find_suffix("LICENSE")
    ('.json', '.jsonl.gz', '')
    """
    stem, suffix = posixpath.splitext(posixpath.basename(path))
    return posixpath.splitext(stem)[1] + suffix if suffix == ".gz" else suffix
