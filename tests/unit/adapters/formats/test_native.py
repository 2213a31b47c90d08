from __future__ import annotations

import copy
import json

import orjson
import pytest
from builders import make_call, make_trace
from hypothesis import example, given
from hypothesis import strategies as st

from evalgate.adapters.formats.native import NATIVE
from evalgate.adapters.formats.native import reader as native
from evalgate.adapters.formats.native.reader import RESULT_FIELDS
from evalgate.errors import TraceError
from evalgate.models.trace.trace import TraceLocation
from evalgate.models.trace.trace_document import encode_trace

SHORT = {
    "schema": "evalgate.trace/1",
    "trace_id": "t1",
    "scenario_id": "refund",
    "trial": 2,
    "model": "m",
    "provider": "p",
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Refund 42"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "name": "lookup_order", "arguments": {"id": 42}}],
        },
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": "no such order",
            "is_error": True,
            "exit_code": 3,
            "duration_seconds": 0.2,
        },
        {"role": "assistant", "content": "There is no order 42."},
        {"role": "user", "content": "ok"},
    ],
    "usage": {"input_tokens": 900, "output_tokens": 80},
    "cost_usd": 0.012,
    "latency_seconds": 1.001,
    "finish_reason": "end_turn",
    "started_at": "2026-01-01T01:00:00+01:00",
    "scores": {"reward": 1.0},
    "tags": {"k": "v"},
    "commit": "sha",
    "agent_hash": "h",
    "metadata": {"team": "a"},
}

ASKED = {"role": "assistant", "tool_calls": [{"name": "a"}]}


def short(**fields):
    document = copy.deepcopy(SHORT)
    document.update(fields)
    return {name: value for name, value in document.items() if value is not ...}


def refusal(document):
    with pytest.raises(TraceError) as caught:
        native.build(document)
    return str(caught.value)


def test_the_short_form_has_every_field_of_the_interface():
    trace = native.build(short())
    call = trace.tool_calls[0]
    assert (trace.trace_id, trace.scenario_id, trace.trial, trace.model, trace.provider) == (
        "t1",
        "refund",
        2,
        "m",
        "p",
    )
    assert (call["name"], call["arguments"], call["status"], call["exit_code"], call["duration_ms"]) == (
        "lookup_order",
        {"id": 42},
        "error",
        3,
        200.0,
    )
    assert call["error"] == {"type": None, "message": "no such order"}
    assert trace.response == {"content": "There is no order 42.", "finish_reason": None, "message_index": 4}
    assert (trace.usage["total_tokens"], trace.usage["source"]) == (980, "recorded_total")
    assert trace.cost == {"usd": 0.012, "source": "recorded"}
    assert trace.latency == {"total_ms": 1001.0, "source": "recorded"}
    assert (trace.finish_reason, trace.started_at) == ("stop", "2026-01-01T00:00:00Z")
    assert trace.evaluations[0]["name"] == "reward"
    assert (trace.tags, trace.commit, trace.agent_hash, trace.metadata) == (
        ["k:v"],
        "sha",
        "h",
        {"team": "a"},
    )
    assert (trace.system_instructions, trace.turn_count, trace.warnings) == ("Be kind.", 2, [])


def test_what_is_absent_is_unknown():
    trace = native.build({"schema": "evalgate.trace/1", "messages": []})
    assert trace.scenario_id is None
    assert trace.cost == {"usd": None, "source": "unknown"}
    assert trace.latency["total_ms"] is None
    assert trace.usage["total_tokens"] is None
    assert trace.response["content"] is None


@pytest.mark.parametrize("given", [42, 42.0])
def test_a_number_as_scenario_id_is_its_decimal_text(given):
    assert native.build(short(scenario_id=given)).scenario_id == "42"


def test_the_scenario_id_may_be_in_the_metadata():
    key = "evalgate.scenario.id"
    assert native.build(short(scenario_id=..., metadata={key: "other"})).scenario_id == "other"
    assert native.build(short(metadata={key: "refund"})).scenario_id == "refund"
    assert "differ" in refusal(short(metadata={key: "other"}))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"schema": "evalgate.trace/2"},
            "schema is `evalgate.trace/2`; this version reads `evalgate.trace/1`",
        ),
        ({"schema": 1}, "schema is not text"),
        ({"schema": ...}, "schema is missing"),
        ({"messages": ...}, "messages is missing"),
        ({"messages": {}}, "messages is not a list"),
        ({"messages": ["hi"]}, "messages[0] is not an object"),
        ({"messages": [{"content": "x"}]}, "messages[0].role is missing"),
        ({"messages": [{"role": "robot"}]}, "messages[0].role is not one of system"),
        ({"messages": [{"role": ["user"]}]}, "messages[0].role is not one of system"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content is neither text nor a list"),
        ({"messages": [{"role": "assistant", "tool_calls": {}}]}, "messages[0].tool_calls is not a list"),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"name": 7}]}]},
            "messages[0].tool_calls[0].name is not text",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{}]}]},
            "messages[0].tool_calls[0].name is missing",
        ),
        (
            {"messages": [ASKED, {"role": "tool", "content": "x", "is_error": "no"}]},
            "messages[1].is_error is neither true nor false",
        ),
        (
            {"messages": [ASKED, {"role": "tool", "content": "x", "exit_code": False}]},
            "messages[1].exit_code is not a whole number",
        ),
        ({"scenario_id": "x" * 513}, "scenario_id is longer than 512 characters"),
        ({"scenario_id": True}, "scenario_id is neither text nor a number"),
        ({"scenario_id": ""}, "scenario_id is empty"),
        ({"trial": "1"}, "trial is not a whole number"),
        ({"trial": True}, "trial is not a whole number"),
        ({"cost_usd": "0.01"}, "cost_usd is not a number"),
        ({"cost_usd": True}, "cost_usd is not a number"),
        ({"cost_usd": -1}, "cost_usd is negative"),
        ({"latency_seconds": "1"}, "latency_seconds is not a number"),
        ({"usage": {"input_tokens": 1.5}}, "usage.input_tokens is not a whole number"),
        ({"usage": {"input_tokens": 1e30}}, "usage.input_tokens is too large"),
        ({"trial": -1}, "trial is negative"),
        ({"trial": 10**30}, "trial is too large"),
        ({"cost_usd": 1e300}, "cost_usd is too large"),
        ({"scores": {"reward": -1e300}}, "scores.reward is too large"),
        ({"usage": []}, "usage is not an object"),
        ({"scores": {"reward": True}}, "scores.reward is not a number"),
        ({"scores": {"reward\n::": "A"}}, "scores.reward?:: is not a number"),
        ({"tags": {"k": []}}, "tags.k is neither text nor a number"),
        ({"metadata": []}, "metadata is not an object"),
        ({"started_at": "yesterday"}, "started_at is not an RFC 3339 time"),
        ({"status": "great"}, "status is not one of ok, error, incomplete"),
        ({"response": {"message_index": 99}}, "response.message_index is not the index of a message"),
        ({"tool_calls": [{"name": "a", "status": "so-so"}]}, "tool_calls[0].status is not one of ok"),
        ({"cost": {"usd": 0.02}}, "cost_usd and `cost.usd` differ"),
        ({"latency": {"total_ms": 5}}, "latency_seconds and another latency"),
        ({"duration_ms": 5}, "duration_ms and another latency"),
        ({"evaluations": [{"name": "reward", "score_value": 0}]}, "scores and `evaluations` differ"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(fields, message):
    assert refusal(short(**fields)).startswith(message)


def test_both_spellings_are_accepted_if_they_agree():
    trace = native.build(
        short(
            cost={"usd": 0.012},
            latency={"total_ms": 1001},
            evaluations=[{"name": "reward", "score_value": 1}, {"name": "other", "score_value": 0}],
        )
    )
    assert trace.cost["usd"] == 0.012
    assert len(trace.evaluations) == 2


def test_an_unknown_field_is_one_warning_with_a_suggestion():
    messages = [{"role": "user", "content": "x", "contnet": 1} for _ in range(5)]
    trace = native.build(short(messages=messages, latency_secs=3, usage={"prompt_tokens": 3}))
    warnings = {(warning["where"], warning["message"]) for warning in trace.warnings}
    assert (None, "the field `latency_secs` is unknown; did you mean `latency_seconds`?") in warnings
    assert ("messages[]", "the field `contnet` is unknown; did you mean `content`?") in warnings
    assert any(where == "usage" for where, _ in warnings)
    assert len(trace.warnings) == 3


def test_a_misspelt_field_is_reported_even_if_the_message_has_no_other():
    messages = [{"role": "user", "contnet": "x"}, ASKED, {"role": "tool", "contents": "x"}]
    assert [warning["message"] for warning in native.build(short(messages=messages)).warnings] == [
        "the field `contnet` is unknown; did you mean `content`?",
        "the field `contents` is unknown; did you mean `content`?",
    ]


def test_unknown_fields_with_endless_names_are_not_kept():
    import tracemalloc

    tracemalloc.start()
    for number in range(30):
        name = f"{number}" + "n" * 1_000_000
        (warning,) = native.build({**short(), name: 1}).warnings
        assert len(warning["message"]) < 200
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 3_000_000


def test_a_thousand_unknown_fields_are_not_a_thousand_warnings():
    assert len(native.build(short(**{f"x{n}": 1 for n in range(1000)})).warnings) == 20


@pytest.mark.parametrize(
    "place",
    ["metadata", "agent", "unheard_of"],
)
def test_depth_is_bounded_wherever_it_hides(place):
    deepest = json.loads('{"a":' * 62 + "{}" + "}" * 62)  # 63 levels, and the trace around them
    native.build(short(**{place: deepest}))
    assert "levels deep" in refusal(short(**{place: {"a": deepest}}))


def test_arguments_nested_too_deep_are_damage():
    call = {"name": "a", "arguments": json.loads('{"a":' * 60 + "1" + "}" * 60)}
    assert "levels deep" in refusal(short(messages=[{"role": "assistant", "tool_calls": [call]}]))


def test_a_result_that_is_an_object_is_kept_as_one_and_as_text():
    calls = {"role": "assistant", "tool_calls": [{"name": "a"}]}
    trace = native.build(short(messages=[calls, {"role": "tool", "content": {"b": 1, "a": 2}}]))
    assert trace.tool_calls[0]["result"] == {"a": 2, "b": 1}
    assert trace.tool_calls[0]["result_text"] == '{"a":2,"b":1}'


def test_a_call_without_an_answer_is_missing():
    trace = native.build(short(messages=[{"role": "assistant", "tool_calls": [{"name": "a"}]}]))
    assert trace.tool_calls[0]["status"] == "missing"


def test_a_cost_of_0_with_tokens_is_unknown_unless_it_is_marked_as_recorded():
    trace = native.build(short(cost_usd=0))
    assert trace.cost == {"usd": None, "source": "unknown"}
    assert trace.warnings[0]["code"] == "zero_cost"
    assert native.build(short(cost_usd=0, usage=...)).cost["usd"] == 0
    assert native.build(short(cost_usd=..., cost={"usd": 0, "source": "recorded"})).cost["usd"] == 0


def test_latency_is_taken_from_the_clock_where_it_is_not_recorded():
    trace = native.build(
        short(latency_seconds=..., started_at="2026-01-01T00:00:00Z", ended_at="2026-01-01T00:00:02.5Z")
    )
    assert trace.latency == {"total_ms": 2500.0, "source": "timestamps"}
    backwards = native.build(
        short(latency_seconds=..., started_at="2026-01-02T00:00:00Z", ended_at="2026-01-01T00:00:00Z")
    )
    assert backwards.latency["total_ms"] is None


def test_identify_reads_ids_of_records_that_are_damaged():
    assert native.identify({"scenario_id": "a", "trial": 3, "messages": 7}) == ("a", 3)
    assert native.identify({"scenario_id": "a", "trial": "x"}) == ("a", None)
    assert native.identify({"metadata": {"evalgate.scenario.id": 5}}) == ("5", None)
    assert native.identify({"scenario_id": []}) == (None, None)
    assert native.identify([]) == (None, None)


def again(trace):
    return native.build(orjson.loads(orjson.dumps(encode_trace(trace))))


TEXT = st.text(max_size=8)
WORD = st.text(min_size=1, max_size=8)
MAYBE_TEXT = st.none() | TEXT
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=5,
)
TOKENS = st.none() | st.integers(0, 10**11)
AMOUNT = st.none() | st.floats(0, 1e6)
ACTOR = st.sampled_from(["root", None, "root/cleaner#2"])
STAMP = st.sampled_from([None, "2026-01-01T00:00:00Z", "2026-02-01T00:00:00.5Z"])


@st.composite
def traces(draw):
    trace = make_trace(
        [
            make_call(
                draw(WORD),
                draw(JSON),
                index=n,
                status=draw(st.sampled_from(["ok", "error", "missing"])),
                exit_code=draw(st.none() | st.integers(-1, 255)),
                requestor=draw(st.sampled_from(["assistant", "user"])),
            )
            for n in range(draw(st.integers(0, 3)))
        ],
        draw(MAYBE_TEXT),
        user=draw(TEXT),
        scenario_id=draw(st.none() | WORD),
        trial=draw(st.none() | st.integers(0, 5)),
        trace_id=draw(TEXT),
        cost_usd=draw(AMOUNT),
        latency_seconds=draw(AMOUNT),
        scores=draw(st.dictionaries(WORD, AMOUNT, max_size=2)),
        turns=draw(st.lists(st.tuples(TEXT, TEXT), max_size=2)),
    )
    for message in trace.messages:
        message["agent"], message["reasoning"] = draw(MAYBE_TEXT), draw(MAYBE_TEXT)
        message["timestamp"], message["actor"] = draw(STAMP), draw(ACTOR)
        message["parts"] = draw(st.none() | st.lists(st.dictionaries(TEXT, JSON, max_size=2), max_size=2))
    for call in trace.tool_calls:
        call["arguments_raw"], call["arguments_error"], call["result"] = (
            draw(MAYBE_TEXT),
            draw(MAYBE_TEXT),
            draw(JSON),
        )
        call["duration_ms"], call["started_at"] = draw(AMOUNT), draw(STAMP)
        call["agent"], call["actor"] = draw(MAYBE_TEXT), draw(ACTOR)
    tokens_in, tokens_out, cached = draw(TOKENS), draw(TOKENS), draw(TOKENS)
    is_whole = tokens_in is not None and tokens_out is not None
    trace.usage["input_tokens"], trace.usage["output_tokens"] = tokens_in, tokens_out
    trace.usage["total_tokens"] = tokens_in + tokens_out if is_whole else draw(TOKENS)
    trace.usage["cache_read_input_tokens"] = cached if None in (cached, tokens_in) else min(cached, tokens_in)
    trace.usage["source"] = draw(st.sampled_from(["recorded_total", "inference_sum", "agent_span", "none"]))
    trace.cost["source"] = draw(st.sampled_from(["recorded", "computed", "partial", "unknown"]))
    trace.status = draw(st.sampled_from(["ok", "error", "incomplete"]))
    trace.error = None if trace.status == "ok" else draw(st.none() | st.just({"type": None, "message": "it broke"}))
    trace.agent = draw(st.none() | st.dictionaries(TEXT, JSON, max_size=2))
    trace.metadata = draw(st.dictionaries(TEXT, JSON, max_size=2))
    trace.tags = draw(st.lists(WORD, max_size=2))
    trace.started_at, trace.ended_at = draw(STAMP), draw(STAMP)
    trace.tool_definitions = draw(st.lists(st.dictionaries(WORD, TEXT, max_size=2), max_size=2))
    trace.warnings = draw(st.lists(st.just({"code": "c", "message": "m", "where": None}), max_size=1))
    trace.llm_calls = draw(
        st.lists(
            st.just(
                {
                    "index": 0,
                    "turn": 1,
                    "step": 1,
                    "provider": None,
                    "model": "m",
                    "response_id": None,
                    "usage": dict(trace.usage),
                    "cost_usd": 0.1,
                    "duration_ms": None,
                    "finish_reason": "stop",
                }
            ),
            max_size=1,
        )
    )
    trace.source = TraceLocation(
        draw(TEXT),
        draw(TEXT),
        draw(st.none() | st.integers(0, 9)),
        draw(st.none() | st.integers(0, 9)),
        draw(MAYBE_TEXT),
    )
    for name in (
        "conversation_id",
        "name",
        "provider",
        "model",
        "system_instructions",
        "commit",
        "agent_hash",
    ):
        setattr(trace, name, draw(MAYBE_TEXT))
    return trace


@given(traces())
def test_the_full_form_is_read_back_to_an_equal_trace(trace):
    assert again(trace) == trace


def test_a_short_trace_survives_the_full_form():
    trace = native.build(short())
    assert again(trace) == trace


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
PATHS = [
    *[(name,) for name in SHORT if name != "schema"],
    *[
        ("messages", n, name)
        for n in range(6)
        for name in (
            "role",
            "content",
            "tool_calls",
            "tool_call_id",
            "name",
            "is_error",
            "exit_code",
            "duration_seconds",
            "turn",
            "parts",
            "timestamp",
        )
    ],
    *[("messages", 2, "tool_calls", 0, name) for name in ("id", "name", "arguments")],
    *[(name,) for name in native.KNOWN - SHORT.keys()],
    ("usage", "input_tokens"),
    ("scores", "reward"),
    ("messages", 1),
]


@example([(("llm_calls",), [None])])
@given(st.lists(st.tuples(st.sampled_from(PATHS), JUNK), min_size=1, max_size=3))
def test_any_value_of_a_field_gives_a_trace_or_a_reason(changes):
    document = short()
    for path, junk in changes:
        target = document
        for step in path[:-1]:
            try:
                target = target[step]
            except (LookupError, TypeError):
                break
        else:
            if isinstance(target, dict) or (isinstance(target, list) and path[-1] in range(len(target))):
                target[path[-1]] = junk
    try:
        trace = native.build(document)
    except TraceError as error:
        assert "\n" not in str(error)
    else:
        assert again(trace) == trace
    native.identify(document)


@given(JUNK)
def test_any_json_is_refused_or_read(value):
    NATIVE.claims(value)
    native.identify(value)
    with pytest.raises(TraceError):
        native.build(value)


@pytest.mark.parametrize("place", ["duration_seconds", "latency_seconds"])
def test_a_duration_that_is_too_large_in_milliseconds_is_refused(place):
    answer = {"role": "tool", "tool_call_id": "c", "content": "ok"}
    asks = {"role": "assistant", "tool_calls": [{"id": "c", "name": "f", "arguments": {}}]}
    document = short(messages=[asks, answer], latency_seconds=1e9)
    native.build(document)
    (answer if place in RESULT_FIELDS else document)[place] = 1e12 + 1
    assert f"{place} is too large" in refusal(document)


@pytest.mark.parametrize("status", [..., None, "ok", "error"])
def test_a_run_with_an_error_ended_in_it_whatever_its_status_says(status):
    error = {"type": "exit code 1", "message": "KeyError"}
    assert native.build(short(error=error, status=status)).status == "error"
    assert native.build(short(error=None, status="ok")).status == "ok"
    assert native.build(short(error=error, status="incomplete")).status == "incomplete"
