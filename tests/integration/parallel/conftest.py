"""Traces judged once by one process, to be compared with every other way to judge them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import many_traces
import pytest
from command import evalgate
from run_outputs import read_outputs

if TYPE_CHECKING:
    from pathlib import Path

    from run_outputs import JudgedRun


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> JudgedRun:
    """A run without a baseline."""
    return _judged(tmp_path_factory.mktemp("first"), [])


@pytest.fixture(scope="session")
def judged_again(judged: JudgedRun, tmp_path_factory: pytest.TempPathFactory) -> JudgedRun:
    """A run of other traces by other rules, compared with the first."""
    baseline = str(judged.folder / ".evalgate" / "baseline.zip")
    folder = tmp_path_factory.mktemp("second")
    return _judged(folder, ["--baseline", baseline], seed=2, word="refunded", required="always")


@pytest.fixture(scope="session")
def few(tmp_path_factory: pytest.TempPathFactory) -> JudgedRun:
    """A few traces, judged by three suites: a batch each."""
    from run_outputs import JudgedRun

    folder = tmp_path_factory.mktemp("few")
    many_traces.write_few(folder)
    ran = evalgate(folder, ["--jobs", "1"])
    assert ran.code == 1, ran.stderr
    return JudgedRun(folder, [], read_outputs(folder / ".evalgate"))


def _judged(folder: Path, arguments: list[str], *, seed: int = 1, **rules: str) -> JudgedRun:
    from run_outputs import JudgedRun

    many_traces.write(folder, seed=seed, **rules)
    ran = evalgate(folder, ["--jobs", "1", *arguments])
    assert ran.code == 1, ran.stderr
    return JudgedRun(folder, arguments, read_outputs(folder / ".evalgate"))
