"""EvalGate's decisions, apart from wording, equal the digests in tests/behaviour/expected."""

from __future__ import annotations

import pytest
from behaviour import prove

PARTS = 5


@pytest.mark.parametrize("name", prove.acceptance_cases())
def test_an_acceptance_case_behaves_as_expected(name):
    assert prove.digest(prove.acceptance_cases()[name]()) == prove.expected("acceptance")[name]


def test_the_demo_behaves_as_expected():
    assert prove.digest(prove.demo()) == prove.expected("demo")["demo"]


@pytest.mark.shared
@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.matrix) for part in range(1, PARTS))])
def test_real_traces_behave_as_expected(shared, part):
    """A part of them; `prove.py` and `make matrix` compare all."""
    runs, expected = prove.recordings(), prove.expected("traces")
    names = list(expected)[part::PARTS]
    found = {name: prove.digest(runs[name]()) for name in names}
    assert prove.differences(found, {name: expected[name] for name in names}) == []


@pytest.mark.shared
def test_every_digest_of_a_real_trace_has_its_trace(shared):
    """Others may lie there: digests are for the files that they list."""
    assert prove.expected("traces").keys() - prove.recordings().keys() == set()


def test_every_acceptance_case_has_a_digest():
    assert prove.expected("acceptance").keys() == prove.acceptance_cases().keys()


def test_digests_ignore_wording_and_include_outcomes():
    row = {"outcome": "failed", "reason": "as it was", "evidence": {"found": 1}}
    digest = prove.digest(prove.without_prose(row))
    assert prove.digest(prove.without_prose({**row, "reason": "in other words"})) == digest
    assert prove.digest(prove.without_prose({**row, "outcome": "passed"})) != digest
    assert prove.digest(prove.without_prose({**row, "evidence": {"found": 2}})) != digest
    assert prove.digest(prove.without_prose({**row, "reason": None})) != digest
