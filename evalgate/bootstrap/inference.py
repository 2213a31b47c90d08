"""Builds a suite out of traces for `init`: finds them, infers a draft, checks it, and counts what it would notice."""

from __future__ import annotations

import os
import posixpath
from typing import TYPE_CHECKING

from msgspec import Struct, field

from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.application.inference.checks import Strictness
    from evalgate.application.inference.infer import DraftSuite
    from evalgate.models.mutation import Tally
    from evalgate.models.trace.trace import Trace, TraceRecord
    from evalgate.ports import Progress
    from evalgate.settings.limits import Limits

MAX_TRIALS = 50
"""Passing traces of a scenario that a suite is learnt from."""
MAX_TRACES = 5_000
MAX_FILES = 200
"""Files that a suite lists one by one, where others beside them can't be read."""
MAX_CHANGES = 2_000
DEFAULT_PLACES = ("traces", "jobs", "*.jsonl")
AUTO = "auto"


class InferenceOptions(Struct, frozen=True):
    """What `init` was asked for: the traces, the path of the suite, its name, and how strict it is to be."""

    traces: Sequence[str]
    path: str
    name: str
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


class BuiltSuite(Struct):
    """A suite ready to be written, the traces it was learnt from, and how many small changes it catches."""

    text: str
    draft: DraftSuite
    found: FoundTraces
    caught: Tally
    without_check: Sequence[str] = field(default_factory=list)


def find_default_traces(cwd: str) -> list[str]:
    """The places where traces usually are that have files: `traces/`, else `jobs/`, else JSON lines in the folder."""
    from evalgate.bootstrap.sources import build_workspace

    workspace = build_workspace(cwd)
    return next(([place] for place in DEFAULT_PLACES if workspace.expand(place, ".")), [])


def build_suite(options: InferenceOptions, cwd: str, bounds: Limits, progress: Progress) -> BuiltSuite:
    """Reads the traces, infers and checks a suite; raises SettingError if no trace passed or nothing was learnt."""
    from evalgate.application.inference.infer import SuiteHead, infer_suite
    from evalgate.application.inference.self_check import check_draft
    from evalgate.bootstrap.sources import build_suite_files

    folder = posixpath.dirname(options.path) or "."
    found = find_traces(options, folder, cwd, bounds, progress)
    if not found.passing:
        message = f"no trace passed, of {found.failing:,} read ({found.unreadable:,} could not be read)"
        raise SettingError(Problem(message, None, "a suite is learnt from runs that succeeded; see `evalgate traces`"))
    head = SuiteHead(options.name, found.patterns, options.form, options.schema)
    draft = infer_suite(found.passing, head, options.strictness)
    draft.notes += _describe_unused(found)
    files = build_suite_files(cwd, None, bounds)
    suite = check_draft(draft, found.passing, lambda text: files.parse_text(text, options.path))
    if suite is None:
        hint = "`evalgate traces` shows which evidence they lack"
        raise SettingError(
            Problem("nothing can be checked: no calls and no answers, or ids that no suite can hold", None, hint)
        )
    empty = [scenario.id for scenario in draft.scenarios if scenario.is_empty]
    if empty:
        reason = "in which nothing can be checked, or whose id no suite can hold"
        draft.notes.append(f"left out: {len(empty):,} scenarios {reason}")
    text, _ = draft.render()
    caught = count_caught(files.parse_text(text, options.path), found.passing, progress)
    return BuiltSuite(text, draft, found, caught, empty)


def _describe_unused(found: FoundTraces) -> list[str]:
    counts = [
        (found.failing, "did not pass"),
        (found.unreadable, "could not be read"),
        (found.left_out, "passed too"),
    ]
    return [f"not used: {count:,} traces that {why}" for count, why in counts if count]


def count_caught(suite: object, traces: Sequence[Trace], progress: Progress) -> Tally:
    """How many small changes to these traces the suite catches."""
    from evalgate.application.mutation.score import MutationRun

    run = MutationRun([suite], None)  # type: ignore[list-item]
    run.add_traces(0, traces, progress)
    run.choose(MAX_CHANGES)
    return run.try_changes(None, progress).total


def find_traces(options: InferenceOptions, folder: str, cwd: str, bounds: Limits, progress: Progress) -> FoundTraces:
    """Chooses patterns that find the readable files among those named, and reads the traces that passed."""
    from evalgate.application.inference.passing import is_passing
    from evalgate.models.trace.trace import Trace

    form = options.form or AUTO
    patterns = sorted({each for named in options.traces for each in _choose_patterns(named, folder, form, cwd, bounds)})
    found = FoundTraces(patterns, [])
    trials: dict[str | None, int] = {}
    places = [posixpath.normpath(posixpath.join(folder, pattern)) for pattern in patterns]  # it may not exist yet
    for record in _read(places, ".", form, cwd, bounds) if places else ():
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


def _read(patterns: Sequence[str], folder: str, form: str, cwd: str, bounds: Limits) -> Sequence[TraceRecord]:
    from evalgate.bootstrap.sources import build_trace_files

    return build_trace_files(cwd, None, bounds).read(patterns, folder, form)  # type: ignore[return-value]


def _choose_patterns(named: str, folder: str, form: str, cwd: str, bounds: Limits) -> list[str]:
    """Patterns relative to the suite's folder: what was named, by suffixes if all files with them can be read."""
    from evalgate.bootstrap.sources import build_workspace
    from evalgate.models.trace.trace import DamagedTrace

    files = [file.path for file in build_workspace(cwd).expand(named, ".")]
    if not files:
        raise SettingError(f"no trace file at {named!r}")
    damaged = {
        record.source.path for record in _read([named], ".", form, cwd, bounds) if isinstance(record, DamagedTrace)
    }
    relative = _relate(named, folder, cwd)
    if not os.path.isdir(os.path.join(cwd, named)):  # noqa: PTH112, PTH118
        return [relative] if not damaged.intersection(files) else _list_files(files, damaged, folder, cwd)
    chosen: list[str] = []
    for suffix in sorted(set(map(_find_suffix, files))):
        members = [path for path in files if _find_suffix(path) == suffix]
        if not damaged.intersection(members) and suffix:
            chosen.append(f"{relative.rstrip('/')}/**/*{suffix}")
        elif not damaged.issuperset(members):
            chosen += _list_files(members, damaged, folder, cwd)
    return chosen


def _list_files(files: Sequence[str], damaged: set[str], folder: str, cwd: str) -> list[str]:
    """The files that can be read, up to MAX_FILES."""
    return [_relate(path, folder, cwd) for path in files if path not in damaged][:MAX_FILES]


def _find_suffix(path: str) -> str:
    """The end of a name from its last dot; of a packed file with that of what is packed.

    >>> _find_suffix("a/gpt-4.1.json"), _find_suffix("run.jsonl.gz"), _find_suffix("LICENSE")
    ('.json', '.jsonl.gz', '')
    """
    stem, suffix = posixpath.splitext(posixpath.basename(path))
    return posixpath.splitext(stem)[1] + suffix if suffix == ".gz" else suffix


def _relate(path: str, folder: str, cwd: str) -> str:
    """The path relative to a folder; one outside the working directory stays absolute if it was named so."""
    if posixpath.isabs(path) and not posixpath.normpath(path).startswith(posixpath.join(cwd, "")):
        return path
    absolute = posixpath.normpath(posixpath.join(cwd, path))
    return posixpath.relpath(absolute, posixpath.normpath(posixpath.join(cwd, folder)))


def extend_suite(path: str, trace: str, cwd: str, strictness: Strictness, bounds: Limits) -> tuple[str, list[str]]:
    """The text of a suite with the scenarios of a trace file appended, and their ids; raises SettingError.

    The suite must find the file by its `traces`, as it will in a run.
    """
    from evalgate.adapters.suites import MAX_BYTES
    from evalgate.application.evaluation.evaluate import TraceChoice
    from evalgate.application.inference.infer import infer_scenario, is_usable_id
    from evalgate.application.inference.insert import find_indent, insert_scenarios
    from evalgate.application.inference.observations import TraceSet
    from evalgate.application.inference.passing import is_passing
    from evalgate.application.inference.self_check import find_failing
    from evalgate.application.inference.suite_text import format_check, format_scenario
    from evalgate.bootstrap.sources import build_suite_files, build_trace_files, build_workspace
    from evalgate.measures.redaction.redact import redact
    from evalgate.models.trace.trace import Trace

    files = build_suite_files(cwd, None, bounds)
    suite = files.load([path]).suites[0]
    workspace = build_workspace(cwd)
    wanted = {file.path for file in workspace.expand(trace, ".")}
    if not wanted:
        raise SettingError(f"no trace file at {trace!r}")
    records = build_trace_files(cwd, None, bounds).read(*TraceChoice().resolve_for_suite(suite))
    named = [each for each in records if isinstance(each, Trace) and each.source.path in wanted and is_passing(each)]
    if not named:
        hint = f"it finds {', '.join(suite.traces or ['no traces'])}, relative to its folder"
        raise SettingError(Problem(f"suite {path} finds no trace that passed in {trace!r}", None, hint))
    known = {scenario.id for scenario in suite.scenarios}
    found = TraceSet(named)
    unusable = [id_ for id_ in found.scenarios if not is_usable_id(id_)]
    if unusable:
        raise SettingError(f"{trace} has a scenario whose id is a secret or contains *: {redact(unusable[0])[:80]!r}")
    new = [id_ for id_ in found.scenarios if id_ not in known]
    if not new:
        raise SettingError(f"suite {path} has a scenario {', '.join(found.scenarios)} already")
    text = workspace.read(path, MAX_BYTES, what="suite").decode()
    indent = find_indent(text, path)
    scenarios = [infer_scenario(id_, found.scenarios[id_], found, strictness) for id_ in new]
    while True:
        lines = [line for each in scenarios for line in format_scenario(each.id, each.fields, each.checks, indent)]
        extended = insert_scenarios(text, path, lines)
        failing = list(find_failing(files.parse_text(extended.removeprefix("\ufeff"), path), named))
        broken = {extended.splitlines()[line - 1].strip() for each in failing for line in each.lines}
        kept = [[check for check in each.checks if format_check(check, 0) not in broken] for each in scenarios]
        if [len(checks) for checks in kept] == [len(each.checks) for each in scenarios]:
            return extended, new
        for each, checks in zip(scenarios, kept, strict=True):
            each.checks = checks
