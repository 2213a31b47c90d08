"""Inferred suites on a public benchmark: how many held-out trials they pass, and how many small changes they catch."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import pytest
from documents import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace

SHARED = ROOT.parent / "shared/traces"
pytestmark = [
    pytest.mark.shared,
]


@pytest.fixture(scope="module")
def measures() -> Any:
    spec = importlib.util.spec_from_file_location("inference_measures", ROOT / "benchmarks/inference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tau(measures: Any) -> Sequence[Trace]:
    return measures.read([str(SHARED / "tau-bench/*.json")])


@pytest.mark.matrix  # a minute
def test_at_least_80_percent_of_changes_in_tools_order_and_number_are_caught(measures: Any, tau: Sequence[Trace]):
    traces = list(filter(measures.is_passing, tau))
    rows = measures.count_caught(measures.infer(tau), [traces], tau)
    caught, tried = (sum(rows[name][at] for name in measures.STRUCTURAL) for at in (0, 1))
    assert (len(traces), tried) == (84, 1092)
    assert caught >= 0.8 * tried


@pytest.mark.matrix  # two minutes each
@pytest.mark.parametrize("strictness", ["normal", "strict"])
def test_at_least_90_percent_of_held_out_passing_trials_pass(measures: Any, tau: Sequence[Trace], strictness: str):
    passed, total, failed = measures.hold_out(tau, strictness)
    assert total == 72
    assert passed >= 0.9 * total, failed
    line = measures.describe_held_out(strictness, len(list(filter(measures.is_passing, tau))), passed, total)
    assert line in (ROOT / "benchmarks/README.md").read_text(encoding="utf-8")
