"""`run --watch`: judges whenever a file changes or a key is pressed, and prints a line each time."""

from __future__ import annotations

import os
import posixpath
import queue
import threading
import time
from typing import TYPE_CHECKING

from evalgate.adapters.suites import FALLBACK
from evalgate.bootstrap.sources import build_suite_files, build_workspace
from evalgate.errors import EvalGateError, Problem, SettingError
from evalgate.gate.common.scenarios import list_scenario_docs
from evalgate.models.results.document_names import OUTPUT_FOLDER, PROJECT
from evalgate.reporting.text.wording import scenario_name

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

    from evalgate.cli.shell import Shell
    from evalgate.models.results.results import ResultsDoc

POLL, SETTLE = 0.5, 0.3
"""Seconds between two looks at the files, and for which they must stay as they are before a run."""
MOST_NAMED = 5
CLEAR = "\x1b[H\x1b[2J"
KEYS = "watching; Enter: run again, f: only what failed, q: quit"
END, FAILED_ONLY = "q", "f"

Verdicts = dict[tuple[str, str, str | None], str]


def watch(arguments: Namespace, shell: Shell, judge: Callable[[Sequence[str]], ResultsDoc | None]) -> int:
    """Runs until `q`; `judge` judges these scenarios, all if there are none, and returns None for wrong input.

    Raises SettingError in CI, where it would never end.
    """
    if shell.environ.get("CI", "").lower() not in ("", "0", "false"):
        raise SettingError(Problem("--watch does not run in CI", None, "leave it out"))
    if arguments.json or arguments.shard is not None:
        raise SettingError("--watch prints a line a run: it takes neither --json nor --shard")
    watcher = _Watcher(arguments, shell, judge)
    watcher.run(failed_only=False)
    while (key := watcher.wait()) != END:
        watcher.run(failed_only=key == FAILED_ONLY or (arguments.failed and key is None))
    return 0


class _Watcher:
    def __init__(self, arguments: Namespace, shell: Shell, judge: Callable[[Sequence[str]], ResultsDoc | None]) -> None:
        self._scenarios, self._shell, self._judge = list(arguments.scenarios), shell, judge
        self._files = _PolledFiles(arguments, shell.cwd)
        self._keys: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._verdicts: Verdicts = {}
        self._seen: dict[str, tuple[int, int]] = {}
        if shell.stdin is not None:
            threading.Thread(target=self._read_keys, daemon=True).start()

    def run(self, *, failed_only: bool) -> None:
        """Judges all scenarios, or those that did not pass; wrong input is reported, and nothing ends."""
        failed = [scenario_pattern(key) for key, verdict in self._verdicts.items() if verdict != "PASS"]
        only = failed if failed_only and failed else []
        self._files.find_traces()
        self._seen = self._files.look()
        if self._shell.is_terminal:
            self._shell.out.write(CLEAR)
        try:
            results = self._judge(only or self._scenarios)
        except EvalGateError as error:
            self._shell.report_problems(error.problems)
            results = None
        if results is not None:
            found = collect_verdicts(results)
            before, self._verdicts = self._verdicts, {**self._verdicts, **found} if only else found
            self._shell.print_safe(describe_run(self._verdicts, before))
        self._shell.note(KEYS)
        self._shell.flush()

    def wait(self) -> str | None:
        """Waits for a key, or for files that changed and then stay as they are; None for these."""
        while True:
            try:
                return self._keys.get(timeout=POLL)
            except queue.Empty:
                found = self._files.look()
            if found == self._seen:
                continue
            while True:
                time.sleep(SETTLE)
                settled = self._files.look()
                if settled == found:
                    return None
                found = settled

    def _read_keys(self) -> None:
        for line in self._shell.stdin or ():
            self._keys.put(line.strip()[:1].lower())


class _PolledFiles:
    """Time and size of each file whose change starts a run: suites, the project file, traces and the template.

    A suite with errors leaves the traces that were watched.
    """

    def __init__(self, arguments: Namespace, cwd: str) -> None:
        self._arguments, self._cwd = arguments, cwd
        self._workspace = build_workspace(cwd)
        self._suites: list[str] = []
        self._traces: list[tuple[str, str]] = []

    def look(self) -> dict[str, tuple[int, int]]:
        """The files there are now, by path."""
        arguments = self._arguments
        named = [*(arguments.configs or (PROJECT, FALLBACK)), *filter(None, [arguments.template]), *self._suites]
        return self._stat([*((path, ".") for path in named), *self._traces])

    def find_traces(self) -> None:
        """Finds out which traces the suites name now."""
        try:
            suites = build_suite_files(self._cwd).load(self._arguments.configs).suites
        except EvalGateError:
            return
        self._suites = [suite.path for suite in suites]
        given = self._arguments.traces
        self._traces = [(glob, ".") for glob in given or ()] or [
            (glob, suite.traces_folder) for suite in suites for glob in suite.traces or ()
        ]

    def _stat(self, patterns: list[tuple[str, str]]) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        output = posixpath.join(os.path.realpath(self._cwd), OUTPUT_FOLDER, "")
        for pattern, base in dict.fromkeys(patterns):
            try:
                files = self._workspace.expand(pattern, base)
            except EvalGateError:
                continue
            for file in files:
                if file.real.startswith(output):
                    continue
                try:
                    seen = os.stat(file.real)  # noqa: PTH116  (a text, and many of them)
                except OSError:
                    continue
                found[file.real] = (seen.st_mtime_ns, seen.st_size)
        return found


def collect_verdicts(results: ResultsDoc) -> Verdicts:
    """The verdict of each scenario and variant."""
    return {key: each["verdict"] for key, each in list_scenario_docs(results)}


def describe_run(verdicts: Verdicts, before: Verdicts) -> str:
    """One run in a line: how many pass, and which don't.

    >>> describe_run({("s", "refund", None): "FAIL", ("s", "greet", None): "PASS"}, {("s", "refund", None): "PASS"})
    '1 pass, 1 fail: refund (was pass)'
    """
    failed = [key for key, verdict in verdicts.items() if verdict != "PASS"]
    named = [
        f"{scenario_name(key[1], key[2])}{' (was pass)' if before.get(key) == 'PASS' else ''}"
        for key in failed[:MOST_NAMED]
    ]
    named += [f"and {len(failed) - MOST_NAMED} more"] if len(failed) > MOST_NAMED else []
    return f"{len(verdicts) - len(failed)} pass, {len(failed)} fail{': ' if failed else ''}{', '.join(named)}"


def scenario_pattern(key: tuple[str, str, str | None]) -> str:
    """A scenario as `--scenario` takes it."""
    return key[1] if key[2] is None else f"{key[1]}[{key[2]}]"
