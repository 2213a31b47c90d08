"""The files whose changes start a run: suites, the project file, traces and the template."""

from __future__ import annotations

import os
import posixpath
from typing import TYPE_CHECKING

from evalgate.adapters.suites import FALLBACK
from evalgate.bootstrap.sources import build_suite_files, build_workspace
from evalgate.errors import EvalGateError
from evalgate.models.results.document_names import OUTPUT_FOLDER, PROJECT

if TYPE_CHECKING:
    from argparse import Namespace


class PolledFiles:
    """Time and size of each file that a run reads; a suite with errors leaves the traces that were watched."""

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
