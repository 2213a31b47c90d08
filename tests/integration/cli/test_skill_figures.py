"""The figures of skills in benchmarks/README.md are those of the recordings in ../shared."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
from documents import ROOT

SHARED = ROOT.parent / "shared"
pytestmark = [
    pytest.mark.shared,
]


@pytest.fixture
def measures() -> Any:
    spec = importlib.util.spec_from_file_location("skill_measures", ROOT / "benchmarks/skills.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_recordings_of_harnesses(measures: Any, tmp_path: Any, capsys: Any) -> None:
    kept = [line for line in measures.LABELS.read_text().splitlines() if '"tau' not in line and "swe-agent" not in line]
    labels = tmp_path / "labels.jsonl"
    labels.write_text("\n".join(kept))
    assert measures.main([str(SHARED), str(labels)]) == 0
    assert "6 loads   1.00 / 1.00" in capsys.readouterr().out


@pytest.mark.matrix  # 5 seconds
def test_the_table_of_the_page(measures: Any, capsys: Any) -> None:
    assert measures.main([str(SHARED)]) == 0
    assert capsys.readouterr().out in (ROOT / "benchmarks/README.md").read_text()
