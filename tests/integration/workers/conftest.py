"""Recordings that are judged once by one process, to be held against every other way to judge them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import many_recordings
import pytest
from command import evalgate
from leavings import left_in

if TYPE_CHECKING:
    from pathlib import Path

    from leavings import Judged


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """A run without a baseline."""
    return _judged(tmp_path_factory.mktemp("first"), [])


@pytest.fixture(scope="session")
def judged_again(judged: Judged, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """A run of other recordings by other rules, held against the first."""
    baseline = str(judged.folder / ".evalgate" / "baseline.zip")
    folder = tmp_path_factory.mktemp("second")
    return _judged(folder, ["--baseline", baseline], seed=2, word="refunded", required="true")


@pytest.fixture(scope="session")
def few(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """A few recordings, judged by three suites: a batch each."""
    from leavings import Judged

    folder = tmp_path_factory.mktemp("few")
    many_recordings.write_few(folder)
    ran = evalgate(folder, ["--jobs", "1"])
    assert ran.code == 1, ran.stderr
    return Judged(folder, [], left_in(folder / ".evalgate"))


def _judged(folder: Path, arguments: list[str], *, seed: int = 1, **rules: str) -> Judged:
    from leavings import Judged

    many_recordings.write(folder, seed=seed, **rules)
    ran = evalgate(folder, ["--jobs", "1", *arguments])
    assert ran.code == 1, ran.stderr
    return Judged(folder, arguments, left_in(folder / ".evalgate"))
