"""Loads once what runs in pytester would load and forget each time."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import pytest
from command import evalgate
from pytest_projects import GOOD, SUITE

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True, scope="session")
def _load_modules(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder: Path = tmp_path_factory.mktemp("first")
    for name, text in {
        "support.yaml": SUITE.replace("../", ""),
        "evalgate.yaml": "version: 1\nsuites: [support.yaml]\n",
    }.items():
        (folder / name).write_text(text)
    (folder / "traces").mkdir()
    (folder / "traces/all.jsonl").write_text("".join(GOOD.values()))
    assert evalgate(folder, []).code == 0
    for name in ("plugin", "fixture", "recording_thread"):
        import_module(f"evalgate.features.testing.{name}")
