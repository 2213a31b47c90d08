"""Adding a text never removes a source, removing one never adds one; the time is linear."""

from __future__ import annotations

import time
from typing import Any

from builders import make_call, make_message, make_trace
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.provenance.leaves import list_leaves
from evalgate.measures.provenance.trace_sources import ArgumentSources

LISTED = (
    "order W123 w124 ann lee ann@example.com card_77 480 120.50 1,000 May 20 2024-05-20 the 21st tomorrow friday "
    "2:30pm 14:30 ; , economy #W123 credit_card_7334 7334"
)
WORDS = st.sampled_from(LISTED.split())
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)
RESULTS = st.one_of(TEXTS, st.lists(st.fixed_dictionaries({"price": st.integers(1, 40), "id": WORDS}), max_size=3))
VALUES = st.one_of(TEXTS, WORDS, st.integers(10, 200), st.sampled_from(["2024-05-21", "2024-05-20T14:30:00", 601]))


def build(user: str, later: str, system: str, results: list[Any], value: Any) -> Any:
    calls = [make_call(f"tool{at % 2}", {}, index=at, result=result) for at, result in enumerate(results)]
    trace = make_trace([*calls, make_call("send", {"value": value}, index=len(calls), turn=2)])
    trace.messages = [make_message(content=user), make_message(1, content=later, turn=2)]
    trace.system_instructions, trace.started_at = system, "2024-05-19T10:00:00Z"
    return trace


def kinds(trace: Any) -> list[set[str]]:
    provenance, number = ArgumentSources(trace), len(trace.tool_calls)
    leaves = list_leaves(trace.tool_calls[-1]["arguments"])
    return [{each.kind for each in provenance.find(number, leaf).sources} for leaf in leaves]


@given(TEXTS, TEXTS, TEXTS, st.lists(RESULTS, max_size=3), VALUES, st.data())
def test_removing_a_text_never_adds_a_source(
    user: str, later: str, system: str, results: list[Any], value: Any, data: st.DataObject
) -> None:
    every = kinds(build(user, later, system, results, value))
    removed = data.draw(st.sampled_from(["user", "later", "system", *range(len(results))]))
    fewer = kinds(
        build(
            "" if removed == "user" else user,
            "" if removed == "later" else later,
            "" if removed == "system" else system,
            ["" if at == removed else each for at, each in enumerate(results)],
            value,
        )
    )
    assert all(less <= more for less, more in zip(fewer, every, strict=True))


@given(st.one_of(TEXTS, st.text(max_size=30)))
def test_a_text_is_the_source_of_itself(text: str) -> None:
    trace = build(text, "", "", [], text)
    assert all("user" in found for found in kinds(trace))


def measure(calls: int) -> float:
    """CPU seconds to find the sources of four values of each call."""
    note = "order sent on May 20 " + "a" * 120
    rows = [{"id": f"W{1000000 + at}", "price": at * 1.25, "note": note} for at in range(calls)]
    made = [make_call("get", {"id": f"W{999999 + at}"}, index=at, result=row) for at, row in enumerate(rows)]
    trace = make_trace(made)
    trace.messages = [make_message(content="Cancel the order W999999 tomorrow")]
    more = {"note": "order sent", "amount": 77, "day": "2024-05-21"}
    started = time.process_time()
    provenance = ArgumentSources(trace)
    for number, call in enumerate(trace.tool_calls, 1):
        for leaf in list_leaves({**call["arguments"], **more}):
            provenance.find(number, leaf)
    return time.process_time() - started


def test_linear_time() -> None:
    assert min(measure(1_000) for _ in range(2)) < 8 * measure(250)
