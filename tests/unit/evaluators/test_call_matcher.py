"""The calls found by lookup are all that can match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from builders import make_call
from hypothesis import given
from hypothesis import strategies as st

from evalgate.evaluators.kinds.calls.call_matcher import CallMatcher, NameMatcher
from evalgate.evaluators.kinds.calls.steps import BROKEN, DIFFERS, MATCHES, UNKNOWN, compile_steps
from evalgate.evaluators.kinds.calls.tool_sequence import ToolSequence
from evalgate.measures.sequences.bipartite import WorkBudget
from evalgate.measures.sequences.step_matching import align_bag

if TYPE_CHECKING:
    from evalgate.models.trace.trace import ToolCall

PLAIN = st.sampled_from([None, True, 1, 1.0, 2, "ab", "a", "", [1], [1, {"x": "a"}], {"x": 1}, {}])
DEMANDS = PLAIN | st.sampled_from(
    [
        {"$regex": "a"},
        {"$regex": "ab?"},
        {"$regex": "^b|a"},
        {"$any": True},
        {"$absent": True},
        {"$approx": 1.5, "$tol": 0.5},
        {"$in": ["ab", 1, [1]]},
        {"$len": {"lte": 1}},
        {"$unordered": [1]},
        [1, {"x": {"$regex": "a"}}],
    ]
)
ARGUMENTS = st.none() | st.dictionaries(st.sampled_from("pq"), PLAIN, max_size=2)


def called(name: str, arguments: Any, status: Any) -> ToolCall:
    call: ToolCall = make_call(name, status=status)
    call["arguments"] = arguments
    return call


CALLS = st.lists(
    st.builds(called, st.sampled_from(["a", "ab"]), ARGUMENTS, st.sampled_from(["ok", "missing"])),
    max_size=12,
)
STEPS: st.SearchStrategy[Any] = st.sampled_from(["a", "a*", "*"]) | st.builds(
    lambda tool, args, status, mode: {"tool": tool, "args": args, "status": status, "args_match": mode},
    st.sampled_from(["a", "ab", "a*"]),
    st.dictionaries(st.sampled_from("pq"), DEMANDS, max_size=2),
    st.sampled_from(["ok", "any"]),
    st.sampled_from(["subset", "exact", "superset", "ignore"]),
)


@given(
    st.lists(STEPS | st.builds(lambda steps: {"one_of": steps}, st.lists(STEPS, min_size=1)), max_size=4),
    CALLS,
)
def test_candidates__leave_out_no_call_that_a_step_accepts(raw: list[Any], calls: list[ToolCall]) -> None:
    written = ToolSequence.model_validate({"type": "tool_sequence", "sequence": raw})
    steps = compile_steps(written.sequence)
    found = CallMatcher(calls, steps.kinds, 10**6)
    for kind, alternatives in enumerate(steps.kinds):
        candidates = found.candidates(kind)
        assert list(candidates) == sorted(set(candidates))
        for at, call in enumerate(calls):
            fitting = [wanted for wanted in alternatives if wanted.fits_name(call["name"])]
            best = min((wanted.judge(call) for wanted in fitting), default=DIFFERS)
            assert best == DIFFERS or at in candidates
            for found.worst_match in (MATCHES, UNKNOWN, BROKEN):
                assert found.accepts(kind, at) == (best <= found.worst_match)


NAMES = st.sampled_from(["a", "ab", "b", "a" * 70])


@given(st.lists(NAMES | st.builds(lambda tool: {"tool": tool}, NAMES), max_size=5), st.lists(NAMES, max_size=9))
def test_names__get_the_same_reason_as_calls_of_these_names(raw: list[Any], names: list[str]) -> None:
    written = ToolSequence.model_validate({"type": "tool_sequence", "sequence": raw})
    kinds = compile_steps(written.sequence).kinds
    general = CallMatcher([make_call(name) for name in names], kinds, 10**6)
    by_names = NameMatcher(names, [kind[0].tool for kind in kinds], WorkBudget(10**6))
    assert by_names.count == general.count
    for kind in range(len(kinds)):
        assert list(by_names.candidates(kind)) == list(general.candidates(kind))
        for at in range(len(names)):
            assert by_names.name(at) == general.name(at)
            assert by_names.accepts(kind, at) == general.accepts(kind, at)
            assert by_names.difference(kind, at) == general.difference(kind, at)


def test_names__are_looked_up_and_not_scanned_for_every_step() -> None:
    """Comparing each call with each step would take five million comparisons."""

    class Name(str):
        __slots__ = ()
        looks = 0

        def __eq__(self, other: object) -> bool:
            Name.looks += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    tools = [f"t{number}" for number in range(1_000)]
    written = ToolSequence.model_validate({"type": "tool_sequence", "sequence": tools, "mode": "any_order"})
    calls = NameMatcher([Name(f"t{number % 1_100}") for number in range(5_000)], tools, WorkBudget(10**6))
    align_bag(compile_steps(written.sequence).plan, calls)
    assert Name.looks <= 5 * (len(tools) + calls.count)
