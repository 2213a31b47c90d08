"""The files of traces that a recording writes, and those of earlier recordings, which it replaces."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from evalgate.features.record.adapters.trial_folder import TrialFolder
from evalgate.features.record.application.evidence import NATIVE, OTLP
from evalgate.features.record.bootstrap.project_suites import APART, SAME, ProjectSuites
from evalgate.features.record.measures.paths import build_trial_path, encode_part
from evalgate.features.record.ports import OtherPlace

if TYPE_CHECKING:
    from evalgate.features.record.models.exchange import TrialId

TRIAL_FILE = re.compile(r"/\d+(?:\.otlp)?\.jsonl$")
RECORDED_BY = re.compile(rb'"evalgate\.recording_id"\s*(?::|,\s*"value"\s*:\s*\{\s*"stringValue"\s*:)\s*"([^"\\]+)"')
"""Metadata or an attribute of a span; in the text of a message the quotes would be escaped."""


class TraceFolder:
    """Traces by trial below a folder that the user named; implements `TraceStore`."""

    def __init__(self, cwd: str, folder: str) -> None:
        self._files, self._folder = TrialFolder(cwd, folder), folder.rstrip("/")
        self._suites = ProjectSuites(cwd)
        self.removed: list[str] = []

    def remove(self, trial: TrialId) -> None:
        """Deletes the traces of a trial."""
        for suffix in (NATIVE, OTLP):
            self._remove(self._files.path(trial, suffix))

    def remove_others(self, trial: TrialId, recording_id: str) -> list[str]:
        """See TraceStore."""
        left = []
        for path in self._files.list_siblings(self._files.path(trial, NATIVE)):
            found = self._find_recording(path)
            if found is None:
                left.append(path)
            elif found != recording_id:
                self._remove(path)
        return left

    def replace_elsewhere(self, trial: TrialId, recording_id: str) -> list[OtherPlace]:
        """See TraceStore."""
        scenario, found = trial.scenario or "", []
        for suite, place in self._list_other_places(trial):
            paths = self._files.list_siblings(f"{self._folder}/{place}")
            paths = [path for path in paths if self._find_recording(path) not in (None, recording_id)]
            new = self._files.path(trial, NATIVE)
            overlap = self._suites.compare(scenario, suite, paths[0], new) if paths else APART
            for path in paths if overlap == SAME else ():
                self._remove(path)
            if overlap != APART:
                found.append(OtherPlace(paths[0].rpartition("/")[0], suite, overlap == SAME))
        return found

    def _list_other_places(self, trial: TrialId) -> list[tuple[str, str]]:
        """The suite, and the path below the folder, of a trace of the trial in each other place."""
        alone = build_trial_path(trial._replace(suite=None))
        if trial.suite is not None:
            return [(encode_part(trial.suite), alone)]
        return [(suite, f"{suite}/{alone}") for suite in self._suites_with.get(alone.partition("/")[0], ())]

    @cached_property
    def _suites_with(self) -> dict[str, list[str]]:
        """The folders by the names of those in them, when the recording begins."""
        found: dict[str, list[str]] = defaultdict(list)
        for suite in self._files.list_folders(""):
            for scenario in self._files.list_folders(suite):
                found[scenario].append(suite)
        return found

    def _find_recording(self, path: str) -> str | None:
        """The recording that wrote a file; None for one that none is known to have written."""
        found = RECORDED_BY.search(self._files.read(path)) if TRIAL_FILE.search(path) else None
        return None if found is None else found[1].decode("utf-8", "replace")

    def _remove(self, path: str) -> None:
        if self._files.remove(path):
            self.removed.append(path)

    def write(self, trial: TrialId, suffix: str, content: bytes) -> None:
        """Writes the trace of a trial as a whole; raises SettingError."""
        self._files.write(self._files.path(trial, suffix), content)
