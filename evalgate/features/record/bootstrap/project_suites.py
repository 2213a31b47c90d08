"""Which suite of the project reads two folders, in which `record` wrote recordings of one scenario."""

from __future__ import annotations

import posixpath
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from evalgate.errors import InvalidInput
from evalgate.features.record.measures.paths import encode_part
from evalgate.measures.text.globs import GlobError, compile_path_glob, matches_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.suite.models import Suite


Overlap = Literal["same", "apart", "unknown"]
SAME: Overlap = "same"
APART: Overlap = "apart"
UNKNOWN: Overlap = "unknown"
"""Whether one suite alone reads both of two places, no suite reads both, or neither is sure."""


class ProjectSuites:
    """The suites that `evalgate run` judges in a folder, which are loaded when they are asked for."""

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd

    def compare(self, scenario: str, suite: str, old: str, new: str) -> Overlap:
        """How two paths of traces of a scenario are read; `suite` is the one that may read both, as paths name it."""
        if self._suites is None:
            return UNKNOWN
        named = [each for each in self._suites if _names(each, scenario)]
        reading = [[each for each in named if self._reads(each, path)] for path in (old, new)]
        if not any(each in reading[1] for each in reading[0]):
            return APART
        is_one = reading[0] == reading[1] and [encode_part(each.name) for each in reading[0]] == [suite]
        return SAME if is_one else UNKNOWN

    @cached_property
    def _suites(self) -> Sequence[Suite] | None:
        """None where there are none, or one of them can't be read."""
        from evalgate.bootstrap.sources import build_suite_files

        try:
            return build_suite_files(self._cwd).load([]).suites
        except InvalidInput:
            return None

    def _reads(self, suite: Suite, path: str) -> bool:
        """Whether the suite reads a trace; one without globs reads what the command names, so it may."""
        if suite.traces is None:
            return True
        place = posixpath.normpath(posixpath.join(self._cwd, path))
        globs = [posixpath.normpath(posixpath.join(self._cwd, suite.traces_folder, each)) for each in suite.traces]
        try:
            return any(compile_path_glob(form).fullmatch(place) for glob in globs for form in (glob, f"{glob}/**"))
        except GlobError:
            return True


def _names(suite: Suite, scenario: str) -> bool:
    """Whether a scenario of the suite may select a trace of this id; one without an id selects by something else."""
    wanted = (each.match.scenario_id for each in suite.scenarios)
    return any(each is None or matches_id(each, scenario) for each in wanted)
