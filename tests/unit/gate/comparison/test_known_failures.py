"""How a failure compares with the one that the baseline has."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from run_builders import make_assertion, make_scenario, make_trial

from evalgate.gate.comparison.known_failures import compare_failures
from evalgate.models.comparison.comparison import Change
from evalgate.models.results.baseline_run import BaselineCheck, BaselineEntry, BaselineTrace, BaselineTrial


def before(verdict, statuses, checks=("c1",), outcome="failed"):
    failed = tuple(BaselineCheck(outcome, required=False, digest=each) for each in checks)
    trials = [
        BaselineTrial(n, status, 0.0, None, None, [], BaselineTrace("t", None, None), assertions=failed)
        for n, status in enumerate(statuses)
    ]
    return BaselineEntry("s", verdict, 0.0, trials)


def now(verdict, statuses, checks=("c1",), outcome="failed"):
    failed = [replace(make_assertion(outcome), digest=each) for each in checks]
    trials = [make_trial(status, number=n, assertions=failed) for n, status in enumerate(statuses)]
    return make_scenario(verdict, trials=trials)


BAD, OK, UNKNOWN = "failed", "passed", "not_evaluable"


@pytest.mark.parametrize(
    ("known", "current", "kind", "expected"),
    [
        (before("FAIL", [BAD]), now("FAIL", [BAD]), "unchanged", "same"),
        (before("FAIL", [OK, OK, OK, BAD]), now("FAIL", [BAD] * 4), "inconclusive", "worse"),
        (before("FAIL", [OK, OK, BAD, BAD]), now("FAIL", [OK, BAD, BAD, BAD]), "inconclusive", "same"),
        (before("FAIL", [OK, BAD]), now("FAIL", [OK, OK, BAD]), "unchanged", "same"),
        (before("FAIL", [BAD]), now("FAIL", [BAD]), "regressed", "worse"),
        (before("PARTIAL", [BAD]), now("HARD_FAIL", ["hard_fail"]), "unchanged", "worse"),
        (before("HARD_FAIL", [BAD]), now("FAIL", [BAD]), "improved", "same"),
        (before("FAIL", [BAD]), now("FAIL", [BAD], ["c2"]), "unchanged", "other"),
        (before("FAIL", [BAD]), now("FAIL", [BAD], ["c1", "c2"]), "unchanged", "other"),
        (before("FAIL", [BAD], ["c1", "c2"]), now("FAIL", [BAD]), "unchanged", "same"),
        (before("FAIL", [BAD], [None]), now("FAIL", [BAD], ["c2"]), "unchanged", "same"),
        (before("FAIL", [BAD], outcome=UNKNOWN), now("FAIL", [BAD]), "unchanged", "other"),
        (before("FAIL", [BAD], outcome=UNKNOWN), now("FAIL", [BAD], outcome=UNKNOWN), "unchanged", "same"),
        (before("FAIL", [BAD]), now("FAIL", [BAD], outcome=UNKNOWN), "unchanged", "same"),
        (before("MISSING", []), now("MISSING", []), "unchanged", "same"),
        (before("MISSING", []), now("FAIL", [BAD]), "unchanged", "other"),
        (before("FAIL", [BAD]), now("MISSING", []), "unchanged", "other"),
    ],
)
def test_how_a_failure_compares_with_the_baseline(known, current, kind, expected):
    assert compare_failures(current, known, Change(kind, "")) == expected
