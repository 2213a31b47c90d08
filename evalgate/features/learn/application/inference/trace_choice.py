"""Chooses the globs that a suite names its traces by, and reads its traces: those that passed, and the others."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec import Struct, field

from evalgate.application.evaluation.scenario_selection import is_selected
from evalgate.errors import SettingError
from evalgate.features.learn.application.tool_kinds import refuse_unknown
from evalgate.models.results.document_names import TRACE_PLACES
from evalgate.models.trace.trace import NO_KINDS, DamagedTrace, ToolKinds, Trace, format_place
from evalgate.models.trace.trace_view import list_evidence
from evalgate.scoring.recorded_result import find_recorded_result, is_passing

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from evalgate.features.learn.application.inference.checks import Strictness
    from evalgate.ports import Files, Progress, TraceSource

MAX_TRIALS = 50
"""Passing traces of a scenario that a suite is learnt from."""
MAX_TRACES = 5_000
"""Traces of a kind that are kept in memory, and judged by the suite."""
MAX_FILES = 200
"""Files that a suite lists one by one, where others beside them can't be read."""
AUTO = "auto"
_MAGIC = re.compile(r"[*?\[]")


class InferenceOptions(Struct, frozen=True):
    """What `init` was asked for: the traces, the path of the suite, its name, and how strict it is to be.

    Paths are relative to the working directory `cwd`, an absolute path. `scenarios` are the ids to learn, in which
    `*` matches any characters; empty for all. `kinds` are tools of which a person says whether they are look-ups.
    """

    traces: Sequence[str]
    path: str
    name: str
    cwd: str
    strictness: Strictness = "normal"
    form: str | None = None
    schema: str | None = None
    scenarios: Sequence[str] = ()
    kinds: ToolKinds = NO_KINDS


class FoundTraces(Struct):
    """The traces of a suite: `patterns` relative to its folder, the traces that passed, and those that did not.

    `results` counts the names of the scores by which traces passed; `without_calls` record nothing of what the
    agent did; `surplus` passed, but the suite is learnt from enough others; `unreadable` are files that can't be read
    as a whole, each with the first reason, and `damaged` the places of traces that can't be read in files that are
    used, with the reason.
    """

    patterns: Sequence[str]
    passing: list[Trace] = field(default_factory=list)
    failing: list[Trace] = field(default_factory=list)
    results: Counter[str] = field(default_factory=Counter)
    without_calls: list[Trace] = field(default_factory=list)
    surplus: list[Trace] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)
    damaged: dict[str, str] = field(default_factory=dict)
    left_out: int = 0

    @property
    def read(self) -> int:
        """Number of traces that could be read."""
        return len(self.readable) + self.left_out

    @property
    def readable(self) -> list[Trace]:
        """All traces that a run judges, but for those left out."""
        return [*self.passing, *self.failing, *self.without_calls, *self.surplus]

    @property
    def trials(self) -> Counter[str]:
        """Number of trials of each scenario, whether they passed or not."""
        return Counter(trace.scenario_id for trace in self.readable if trace.scenario_id is not None)

    @property
    def unlearnt(self) -> list[str]:
        """The scenarios of which no trial passed."""
        passing = {trace.scenario_id for trace in self.passing}
        return list(dict.fromkeys(id_ for each in self.failing if (id_ := each.scenario_id) and id_ not in passing))


def find_default_traces(files: Files) -> list[str]:
    """The places where traces usually are that have files: `traces/`, else `jobs/`, else JSON lines in the folder."""
    return next(([place] for place in TRACE_PLACES if files.expand(place, ".")), [])


def find_traces(options: InferenceOptions, files: Files, traces: TraceSource, progress: Progress) -> FoundTraces:
    """Chooses patterns that find the readable files among those named, and reads the traces; raises SettingError."""
    chooser = _PatternChooser(options, files, traces)
    found = FoundTraces(sorted({each for named in options.traces for each in chooser.choose(named)}))
    found.unreadable = chooser.unreadable
    count: Counter[str | None] = Counter()
    places = [posixpath.normpath(posixpath.join(chooser.folder, each)) for each in found.patterns]  # it may not exist
    for record in traces.read(places, ".", chooser.form) if places else ():
        progress.advance("traces")
        if not isinstance(record, Trace):
            source = record.source
            found.damaged[format_place(source.path, source.line, source.record)] = record.reason
        elif is_selected(options.scenarios, record.scenario_id or "", None):
            record.take_kinds(options.kinds)
            _sort_in(record, found, count)
    refuse_unknown(options.kinds, found.readable)
    if options.scenarios and not found.read:
        raise SettingError(f"no trace of {', '.join(map(repr, options.scenarios))}, see `evalgate traces`")
    return found


def _sort_in(trace: Trace, found: FoundTraces, count: Counter[str | None]) -> None:
    """Adds a trace to those found; `count` has the passing trials of each scenario."""
    if not records_calls(trace):
        found.without_calls.append(trace)
    elif not is_passing(trace):
        if len(found.failing) < MAX_TRACES:
            found.failing.append(trace)
        else:
            found.left_out += 1
    elif count[trace.scenario_id] >= MAX_TRIALS or len(found.passing) >= MAX_TRACES:
        if len(found.surplus) < MAX_TRACES:
            found.surplus.append(trace)
        else:
            found.left_out += 1
    else:
        count[trace.scenario_id] += 1
        found.passing.append(trace)
        if (result := find_recorded_result(trace)) is not None:
            found.results[result.describe()] += 1


def records_calls(trace: Trace) -> bool:
    """Whether a trace shows what the agent did; one of its tokens alone does not."""
    states = list_evidence(trace)
    return bool(trace.tool_calls) or (states["calls"] != "missing" and states["messages"] != "missing")


class _PatternChooser:
    """Turns what was named into patterns relative to the suite's folder."""

    def __init__(self, options: InferenceOptions, files: Files, traces: TraceSource) -> None:
        self._files, self._traces, self._cwd = files, traces, options.cwd
        self.folder = posixpath.dirname(options.path) or "."
        self.form = options.form or AUTO
        self.unreadable: dict[str, str] = {}
        """Files that no pattern names, since not all of them can be read, with the first reason."""

    def choose(self, named: str) -> list[str]:
        """What was named, by suffixes if all files with them can be read."""
        files = [file.path for file in self._files.expand(named, ".")]
        if not files:
            raise SettingError(f"no trace file at {named!r}")
        damaged: dict[str, str] = {}
        readable: set[str] = set()
        for record in self._traces.read([named], ".", self.form):
            if isinstance(record, DamagedTrace):
                damaged.setdefault(record.source.path, record.reason)
            else:
                readable.add(record.source.path)
        if damaged.keys() >= set(files):  # better some of a file than nothing
            damaged = {path: reason for path, reason in damaged.items() if path not in readable}
        self.unreadable |= damaged
        listed = [path for path in files if path not in damaged]
        if not self._is_folder(named, files):
            return self._list_files(listed) if damaged else [self._relate(named)]
        chosen: list[str] = []
        for suffix in sorted(set(map(_find_suffix, files))):
            members = [path for path in files if _find_suffix(path) == suffix]
            if suffix and damaged.keys().isdisjoint(members):
                chosen.append(f"{_escape(self._relate(named).rstrip('/'))}/**/*{_escape(suffix)}")
            else:
                chosen += self._choose_in_folders(suffix, members, damaged)
        return chosen

    def _choose_in_folders(self, suffix: str, files: Sequence[str], damaged: Collection[str]) -> list[str]:
        """Files with this suffix by folder: all of one if they can be read and are several, else by name."""
        chosen: list[str] = []
        for folder, found in groupby(files, posixpath.dirname):
            members = list(found)
            if suffix and len(members) > 1 and set(damaged).isdisjoint(members):
                chosen.append(f"{_escape(self._relate(folder or '.'))}/*{_escape(suffix)}")
            else:
                chosen += self._list_files([path for path in members if path not in damaged])
        return chosen

    def _is_folder(self, named: str, files: Sequence[str]) -> bool:
        """Whether this is the path of a folder: all files are below it."""
        return all(self._find_absolute(path).startswith(f"{self._find_absolute(named)}/") for path in files)

    def _find_absolute(self, path: str) -> str:
        return posixpath.normpath(posixpath.join(self._cwd, path))

    def _list_files(self, files: Sequence[str]) -> list[str]:
        """Files by name, up to MAX_FILES."""
        return [_escape(self._relate(path)) for path in files][:MAX_FILES]

    def _relate(self, path: str) -> str:
        """The path relative to the suite's folder; one outside the working directory stays absolute if named so."""
        absolute = self._find_absolute(path)
        if posixpath.isabs(path) and not absolute.startswith(posixpath.join(self._cwd, "")):
            return path
        return posixpath.relpath(absolute, self._find_absolute(self.folder))


def _escape(path: str) -> str:
    """A path as a pattern that matches only it.

    >>> _escape("run[1]/a*.json")
    'run[[]1]/a[*].json'
    """
    return _MAGIC.sub(lambda found: f"[{found[0]}]", path)


def _find_suffix(path: str) -> str:
    """The end of a name from its last dot; of a packed file with that of what is packed.

    >>> _find_suffix("a/gpt-4.1.json"), _find_suffix("run.jsonl.gz"), _find_suffix("LICENSE")
    ('.json', '.jsonl.gz', '')
    """
    stem, suffix = posixpath.splitext(posixpath.basename(path))
    return posixpath.splitext(stem)[1] + suffix if suffix == ".gz" else suffix
