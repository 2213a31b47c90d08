"""What holds for every kind of check that a suite can name, on any trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from assertion_examples import ALL, EXAMPLES, JSON, any_trace, negated_forms, parse_assertion
from hypothesis import given, settings
from hypothesis import strategies as st

from evalgate.evaluators.core.parse import Parser
from evalgate.evaluators.core.registry import BUILT_IN_TYPES

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

SWAPPED = {"passed": "failed", "failed": "passed"}


def test_every_kind__has_an_example() -> None:
    assert sorted(EXAMPLES) == sorted(BUILT_IN_TYPES)


@pytest.mark.parametrize("kind", BUILT_IN_TYPES)
@settings(max_examples=12)
@given(data=st.data(), trace=any_trace())
def test_check__ends_with_a_score_and_a_reason_and_its_negation_swaps_passed_and_failed(
    kind: str, data: st.DataObject, trace: Trace
) -> None:
    raw = {"type": kind, **data.draw(st.sampled_from(EXAMPLES[kind]))}
    found = parse_assertion(raw).assess(trace)
    assert 0 <= found.score <= 1
    assert found.reason
    assert "\n" not in found.reason
    assert not found.reason.startswith("the check crashed on this trace"), (raw, found.reason)
    for form in negated_forms(raw):
        assert parse_assertion(form).assess(trace).outcome == SWAPPED.get(found.outcome, found.outcome), form
    assert parse_assertion({"not": {"not": raw}}).assess(trace).outcome == found.outcome


MUTATIONS = JSON | st.sampled_from(
    [[], {}, [[]], "", "(", "$", -1, 10**400, [{"tool": "a", "args": {"q": {"$regex": "("}}}], {"$in": []}]
)


@given(
    raw=st.sampled_from(ALL),
    changes=st.dictionaries(
        st.sampled_from(sorted({name for raw in ALL for name in raw} | {"not", "then", "weight", "path", "params"})), MUTATIONS, min_size=1, max_size=2
    ),
    left_out=st.sets(st.sampled_from(sorted({name for raw in ALL for name in raw})), max_size=1),
    trace=any_trace(),
)  # fmt: skip
def test_check_with_other_settings__is_an_error_of_the_suite_or_judges_every_trace(
    raw: dict[str, Any], changes: dict[str, Any], left_out: set[str], trace: Trace
) -> None:
    parser = Parser(lambda _: None)
    changed = {name: value for name, value in {**raw, **changes}.items() if name not in left_out}
    found = parser.parse_assertions([changed], ())
    assert bool(found) != bool(parser.problems), changed
    for assertion in found:
        row = assertion.assess(trace)
        assert not row.reason.startswith("the check crashed on this trace"), (changed, row.reason)
        assert 0 <= row.score <= 1
