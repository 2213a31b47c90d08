"""The trace that a person names: FILE, FILE:LINE, FILE#NUMBER, or the id of a scenario of the last run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from evalgate.cli.command import CUSTOM
from evalgate.errors import InvalidInput, Problem, SettingError
from evalgate.models.results.document_names import RESULTS_PATH, TRACE_PLACES

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from evalgate.cli.shell import Shell
    from evalgate.models.results.results import ResultsDoc, SuiteDoc, UnclaimedDoc
    from evalgate.models.run.trial_doc import TrialDoc
    from evalgate.models.trace.trace import TraceLocation

TRACE_ENDINGS = (".json", ".jsonl", ".ndjson", ".gz")
TRACE_HELP = (
    "a trace file of any format; TRACE#2 is its second trace, TRACE:2 that of line 2; or the id of a scenario of"
    " the last run, or its beginning: the first trial that did not pass"
)


class TracePlace(NamedTuple):
    """A file, folder or glob, and the line or number of the trace in it."""

    path: str
    line: int | None = None
    number: int | None = None

    @property
    def is_file(self) -> bool:
        """Whether no trace in the file is chosen."""
        return self.line is None and self.number is None

    def matches(self, source: TraceLocation, count: int) -> bool:
        """Whether this is the place of a trace that is the `count`-th to be read, from 1; of a file, of its first."""
        if self.line is not None and self.line != source.line:
            return False
        number = self.number or 1
        if self.line is not None:
            return number == (source.record or 0) + 1
        return number == (count if source.line is not None or source.record is None else source.record + 1)

    def describe_absence(self, count: int) -> str:
        """What to report if none of `count` traces has this place."""
        if not count:
            return f"no trace file at {self.path!r}"
        number = "" if self.number is None else f" number {self.number:,}"
        if self.line is not None:
            return f"no trace{number} at line {self.line:,} of {self.path!r}"
        return f"no trace{number} at {self.path!r}, the last one is number {count:,}"


def describe_missing(named: Sequence[str], cwd: str) -> Problem:
    """What to report if none of these files, folders and globs has a trace file: with one, also why not."""
    message = f"no trace file at {', '.join(map(repr, named))}"
    if len(named) != 1:
        return Problem(message)
    path = os.path.join(cwd, named[0])  # noqa: PTH118
    if os.path.isdir(path):  # noqa: PTH112
        return Problem(message, None, "the folder is empty" if not os.listdir(path) else "the folder has no such file")  # noqa: PTH208
    return Problem(message, None, "nothing matches" if "*" in named[0] else "it does not exist")


def choose_default(arguments: Namespace, shell: Shell) -> list[str]:
    """The traces that the suites of the folder read, else those in the usual places; a note names them.

    Raises SettingError if there are none. The format of a single suite is that of its traces.
    """
    from evalgate.bootstrap.sources import build_suite_files, build_workspace

    try:
        suites = build_suite_files(shell.cwd).load([] if arguments.config is None else [arguments.config]).suites
    except InvalidInput:  # none, or one with an error, which `validate` explains
        suites = []
    globs = [os.path.join(suite.traces_folder, each) for suite in suites for each in suite.traces or ()]  # noqa: PTH118
    files = build_workspace(shell.cwd)
    found = [each for each in dict.fromkeys(map(os.path.normpath, globs)) if files.expand(each, ".")]
    if found and len(suites) == 1 and suites[0].format_name == CUSTOM:
        arguments.config = suites[0].path
    found = found or [each for each in TRACE_PLACES if files.expand(each, ".")][:1]
    if not found:
        hint = "name a file, a folder or a glob; `evalgate record` writes traces/"
        raise SettingError(
            Problem("no suite finds traces, and there are none in traces/, jobs/ or *.jsonl", None, hint)
        )
    shell.note(f"note: no traces were named, so these are those of {', '.join(found)}")
    return found


def find_place(text: str, arguments: Namespace, shell: Shell) -> TracePlace:
    """The place of a trace as written, or of the trial of the scenario whose id it is; raises SettingError.

    A note names that trial. If only its suite describes its format, that becomes the suite of `--config`.
    """
    place = _parse_place(text, shell.cwd)
    if _may_exist(place.path, shell.cwd) or not os.path.lexists(os.path.join(shell.cwd, RESULTS_PATH)):  # noqa: PTH118
        return place
    from evalgate.bootstrap.sources import build_baseline_files

    results = build_baseline_files(shell.cwd).load(RESULTS_PATH).results
    unclaimed = _find_unclaimed(text, results)
    if unclaimed is not None:
        place = TracePlace(unclaimed["path"], unclaimed["line"], _count_from_one(unclaimed["record"]))
        shell.note(f"note: no suite has a scenario {unclaimed['scenario_id']}: {place.path} records it")
        return place
    found = _find_trial(text, results)
    if found is None:
        return place
    suite, trial, which = found
    trace = trial.trace
    if trace.format == CUSTOM and arguments.config is None:
        arguments.config = suite["path"]
    place = TracePlace(trace.path, trace.line, _count_from_one(trace.record))
    shell.note(f"note: {which}")
    return place


def looks_like_file(text: str) -> bool:
    """Whether a word names a trace file, and no expression."""
    return text.rpartition("#")[0].endswith(TRACE_ENDINGS) or text.partition(":")[0].endswith(TRACE_ENDINGS)


def _may_exist(path: str, cwd: str) -> bool:
    return "*" in path or "?" in path or os.path.lexists(os.path.join(cwd, path))  # noqa: PTH118


def _count_from_one(record: int | None) -> int | None:
    return None if record is None else record + 1


def _find_unclaimed(text: str, document: ResultsDoc) -> UnclaimedDoc | None:
    """The first trace of the last run with this scenario id, or its beginning, if no scenario has it."""
    from evalgate.measures.text.ids import find_ids

    if find_ids(text, (each["id"] for suite in document["suites"] for each in suite["scenarios"])):
        return None
    ids = find_ids(text, (each["scenario_id"] for each in document["unclaimed"] if each["scenario_id"]))
    return next((each for each in document["unclaimed"] if len(ids) == 1 and each["scenario_id"] == ids[0]), None)


def _find_trial(text: str, document: ResultsDoc) -> tuple[SuiteDoc, TrialDoc, str] | None:
    """The first trial of a scenario that did not pass, else its first, in words too; None if there is no such id."""
    from evalgate.application.evaluation.scenario_selection import choose_id
    from evalgate.measures.text.ids import find_ids
    from evalgate.models.trace.trace import format_place

    scenarios = [(suite, each) for suite in document["suites"] for each in suite["scenarios"]]
    if looks_like_file(text) and not find_ids(text, (each["id"] for _, each in scenarios)):
        return None
    message = f"no trace file at {text!r}, and the last run has no scenario `{text}`"
    id_ = choose_id(text, (each["id"] for _, each in scenarios), message)
    trials = [(suite, trial) for suite, each in scenarios if each["id"] == id_ for trial in each["trials"]]
    if not trials:
        raise SettingError(f"scenario `{id_}` has no trace in the last run")
    suite, trial = min(trials, key=lambda each: each[1].status == "passed")
    trace = trial.trace
    place = format_place(trace.path, trace.line, trace.record)
    status = trial.status.replace("_", " ")
    return suite, trial, f"scenario {id_}, trial {trial.trial} of the last run ({status}): {place}"


def _parse_place(text: str, cwd: str) -> TracePlace:
    """Divides FILE:LINE and FILE#NUMBER; a file whose name looks so is found by its whole name."""
    if os.path.lexists(os.path.join(cwd, text)):  # noqa: PTH118
        return TracePlace(text)
    path, mark, digits = text.rpartition("#")
    if not mark:
        return _parse_line(text)
    number = _parse_number(digits)
    if number is None:
        raise SettingError(
            Problem(f"{digits[:40]!r} is not the number of a trace", None, "write TRACE#1 for the first")
        )
    place = TracePlace(path) if os.path.lexists(os.path.join(cwd, path)) else _parse_line(path)  # noqa: PTH118
    return place._replace(number=number)


def _parse_line(text: str) -> TracePlace:
    path, _, digits = text.rpartition(":")
    line = _parse_number(digits) if path else None
    return TracePlace(text) if line is None else TracePlace(path, line)


def _parse_number(digits: str) -> int | None:
    return int(digits[:9]) if digits.isascii() and digits.isdigit() and int(digits[:9]) > 0 else None
