from __future__ import annotations

import pytest
from damage import damage_document, nest_lists
from hypothesis import given

from evalgate.adapters.formats.inspect_ai import INSPECT
from evalgate.adapters.formats.inspect_ai import reader as inspect_log
from evalgate.adapters.formats.inspect_ai.reader import Sample
from evalgate.adapters.formats.inspect_ai.sample_messages import MAX_CHARS
from evalgate.errors import TraceError

LONG = "463777a091c1f1d51bd40c4824a48142"


def at(second):
    return f"2026-01-05T10:00:{second:06.3f}-04:00"


def usage(fresh, out, total=None, **fields):
    return {"input_tokens": fresh, "output_tokens": out, "total_tokens": total or fresh + out, **fields}


def model(second, tokens, *, span="solve", message="m", reason="stop", **fields):
    answer = {"id": message, "role": "assistant", "content": "..."}
    return {
        "event": "model",
        "span_id": span,
        "timestamp": at(second),
        "working_start": second,
        "model": "acme/large",
        "input": [],
        "tools": [{"name": "look", "description": f"attachment://{LONG}", "parameters": {}}],
        "output": {
            "model": "large-1",
            "choices": [{"message": answer, "stop_reason": reason}],
            "usage": tokens,
            "time": 1.0,
        },
        "working_time": 0.75,
        **fields,
    }


def span(kind, second, name, above=None, **fields):
    return {
        "event": f"span_{kind}",
        "id": name,
        "name": name,
        "span_id": name,
        "parent_id": above,
        "timestamp": at(second),
        "working_start": second,
        **fields,
    }


MESSAGES = [
    {"id": "s", "role": "system", "content": f"attachment://{LONG}"},
    {
        "id": "u",
        "role": "user",
        "content": [{"type": "text", "text": "Is it there?"}, {"type": "image", "image": "data:"}],
    },
    {
        "id": "m1",
        "role": "assistant",
        "model": "large-1",
        "content": [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "I look."}],
        "tool_calls": [
            {"id": "a", "function": "look", "arguments": {"x": 1}},
            {"id": "b", "function": "look", "arguments": {}, "parse_error": "no JSON"},
        ],
    },
    {
        "role": "tool",
        "tool_call_id": "b",
        "function": "look",
        "content": "",
        "error": {"type": "parsing", "message": "bad"},
    },
    {"role": "tool", "tool_call_id": "a", "function": "look", "content": "there"},
    {"id": "m2", "role": "assistant", "model": "large-1", "content": "Yes."},
]
EVENTS = [
    span("begin", 0, "init"),
    span("begin", 0.1, "solve", type="solver"),
    model(1, usage(100, 10, input_tokens_cache_read=60, reasoning_tokens=4), message="m1", reason="tool_calls"),
    {
        "event": "tool",
        "id": "a",
        "span_id": "solve",
        "timestamp": at(2),
        "completed": at(4),
        "working_time": 1.5,
        "working_start": 2,
    },
    model(5, usage(130, 5), message="m2"),
    span("end", 6, "solve"),
    span("begin", 6.5, "scorers"),
    span("begin", 7, "grade", "scorers", type="scorer"),
    span("begin", 7, "inner", "grade", type="agent"),
    model(8, usage(500, 50), span="inner", message="j"),
    {"event": "score", "span_id": "grade", "timestamp": at(20), "working_start": 20},
    span("end", 21, "grade", "scorers"),
]
SAMPLE = {
    "id": "there",
    "epoch": 2,
    "uuid": "u-1",
    "input": "Is it there?",
    "target": "yes",
    "messages": MESSAGES,
    "output": {"choices": [{"message": {"id": "m2", "content": "Yes."}, "stop_reason": "stop"}]},
    "scores": {"match": {"value": "C", "answer": "Yes.", "explanation": "It says yes."}},
    "metadata": {"level": 3},
    "model_usage": {"acme/large": usage(730, 65)},
    "events": EVENTS,
    "attachments": {LONG: "You look for things."},
    "total_time": 30.0,
    "working_time": 21.5,
    "error": None,
    "limit": None,
}
EVAL = {"task": "finding", "model": "acme/large", "solver": "react", "tags": ["nightly", 3]}
LOG = {"version": 2, "status": "success", "eval": EVAL, "samples": [SAMPLE]}


def build(**fields):
    return inspect_log.build(Sample(LOG, {**SAMPLE, **fields}))


def bare(**fields):
    """A sample without events."""
    return build(**{"events": [], "model_usage": {}, **fields})


def codes(trace):
    return [warning["code"] for warning in trace.warnings]


def scores(value):
    return {e["name"]: (e["score_value"], e["score_label"]) for e in bare(scores={"s": {"value": value}}).evaluations}


def test_a_sample_is_a_scenario_and_its_epoch_a_trial():
    trace = build()
    assert (trace.trace_id, trace.scenario_id, trace.trial) == ("u-1", "there", 2)
    assert trace.metadata == {"task": "finding", "target": "yes", "sample": {"level": 3}}
    assert (trace.provider, trace.model, trace.agent) == (
        "acme",
        "large",
        {"name": "react", "framework": "inspect"},
    )
    assert trace.tags == ["nightly"]
    assert inspect_log.identify(Sample(LOG, SAMPLE)) == ("there", 2)


def test_attachments_replace_their_references():
    trace = build()
    assert trace.system_instructions == trace.messages[0]["content"] == "You look for things."
    assert trace.tool_definitions[0]["description"] == "You look for things."


def test_references_of_early_logs_are_read_from_their_transcript():
    early = [{"role": "user", "content": f"tc://{LONG}"}]
    transcript = {"events": [model(1, usage(7, 1))], "content": {LONG: "Hello"}}
    sample = {"id": 1, "epoch": 1, "messages": early, "transcript": transcript}
    trace = inspect_log.build(Sample(LOG, sample))
    assert (trace.messages[0]["content"], trace.usage["input_tokens"]) == ("Hello", 7)


def test_a_missing_attachment_is_reported():
    trace = bare(attachments={})
    assert trace.messages[0]["content"] == f"attachment://{LONG}"
    assert codes(trace) == ["content_not_captured"]


def test_attachments_that_expand_beyond_the_limit_are_refused():
    many = [{"role": "user", "content": f"attachment://{LONG}"}] * 30
    with pytest.raises(TraceError, match="expand to more than 25,000,000"):
        bare(messages=many, attachments={LONG: "x" * (MAX_CHARS // 25)})


def test_calls_find_their_results_and_errors():
    one, other = build().tool_calls
    assert (one["arguments"], one["result_text"], one["status"], one["step"]) == ({"x": 1}, "there", "ok", 1)
    assert (other["status"], other["error"]) == ("error", {"type": "parsing", "message": "bad"})
    assert (other["arguments"], other["arguments_error"], other["step"]) == (None, "no JSON", 1)


def test_tools_took_as_long_as_their_event_says():
    one, other = build().tool_calls
    assert (one["duration_ms"], one["started_at"]) == (1500.0, "2026-01-05T14:00:02Z")
    assert other["duration_ms"] is None


def ran(second, call_id, name, *, scope="solve", **fields):
    event = {"event": "tool", "id": call_id, "function": name, "span_id": scope, "timestamp": at(second)}
    return {**event, "arguments": {"y": 2}, "result": "done", "error": None, **fields}


def test_calls_of_sub_agents_without_a_message_are_read_from_their_events():
    failed = {"type": "timeout", "message": "too slow"}
    events = [ran(1, "s0", "plan"), *EVENTS[:4], ran(4.5, "s1", "delete", error=failed), *EVENTS[4:]]
    first, one, sub, other = build(events=events).tool_calls
    assert [call["index"] for call in (first, one, sub, other)] == [0, 1, 2, 3]
    assert (first["name"], first["arguments"], first["result_text"], first["status"]) == (
        "plan",
        {"y": 2},
        "done",
        "ok",
    )
    assert (sub["name"], sub["status"], sub["error"]) == ("delete", "error", failed)
    assert (sub["step"], sub["turn"]) == (one["step"], one["turn"])
    assert other["id"] != "s1"


def test_calls_within_a_tools_own_events_are_read():
    whole = [EVENTS[2], {**EVENTS[3], "events": [ran(3, "s1", "ask", events=[ran(3, "s2", "delete")])]}]
    assert [call["name"] for call in build(events=whole).tool_calls][1:3] == ["ask", "delete"]


def test_an_event_of_a_known_id_and_another_tool_is_another_call():
    names = [call["name"] for call in build(events=[*EVENTS, ran(4, "a", "delete")]).tool_calls]
    assert len(names) == 3
    assert "delete" in names


def test_tools_that_scorers_used_are_not_the_agents():
    events = [*EVENTS[:-1], ran(9, "g1", "grade_it", scope="inner"), EVENTS[-1]]
    assert "grade_it" not in [call["name"] for call in build(events=events).tool_calls]


def test_thoughts_and_pictures_are_kept_apart_from_text():
    trace = build()
    assert (trace.messages[2]["content"], trace.messages[2]["reasoning"]) == ("I look.", "Hm.")
    assert trace.messages[1]["parts"] == [{"type": "text", "text": "Is it there?"}, {"type": "image"}]


def test_a_tool_that_ran_at_the_provider_is_a_call_with_its_result():
    part = {
        "type": "tool_use",
        "tool_type": "web_search",
        "id": "w",
        "name": "search",
        "arguments": '{"q": 1}',
        "result": "hit",
    }
    messages = [{"role": "assistant", "content": [part, {"type": "text", "text": "Found."}]}]
    trace = bare(messages=messages)
    call = trace.tool_calls[0]
    assert (call["name"], call["arguments"], call["result_text"], call["status"]) == (
        "search",
        {"q": 1},
        "hit",
        "ok",
    )
    assert trace.response["content"] == "Found."


def test_usage_of_judges_is_not_the_agents():
    trace = build()
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"], trace.usage["source"]) == (
        230,
        15,
        "inference_sum",
    )
    assert [(call["step"], call["usage"]["input_tokens"], call["finish_reason"]) for call in trace.llm_calls] == [
        (1, 100, "tool_calls"),
        (2, 130, "stop"),
    ]
    assert not trace.warnings


def test_scoring_between_steps_is_separate_in_early_logs():
    ends = [{"event": "step", "action": action, "type": "scorer", "name": "grade"} for action in ("begin", "end")]
    events = [
        model(1, usage(10, 1), span=None),
        ends[0],
        model(2, usage(20, 2), span=None),
        ends[1],
        model(3, usage(40, 4), span=None),
    ]
    trace = build(events=events, model_usage={})
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (50, 5)


@pytest.mark.parametrize("role", ["grader", "user"])
def test_models_in_other_roles_are_not_the_agent(role):
    trace = build(events=[model(1, usage(10, 1)), model(2, usage(20, 2), role=role)], model_usage={})
    assert trace.usage["input_tokens"] == 10


def test_answers_out_of_a_cache_and_requests_under_way_cost_nothing():
    events = [model(1, usage(10, 1)), model(2, usage(10, 1), cache="read"), model(3, None, pending=True)]
    trace = build(events=events, model_usage={})
    assert (trace.usage["input_tokens"], len(trace.llm_calls)) == (10, 1)


def test_recorded_totals_take_precedence_without_a_judge():
    trace = build(events=EVENTS[:6], model_usage={"acme/large": usage(300, 15)})
    assert (trace.usage["input_tokens"], trace.usage["source"]) == (300, "recorded_total")
    assert codes(trace) == ["total_mismatch"]


def test_without_events_the_usage_of_the_agents_model_holds():
    trace = build(events=[], model_usage={"acme/large": usage(300, 15), "acme/judge": usage(900, 90)})
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (300, 15)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (usage(15235, 281, 15516, input_tokens_cache_read=9088), 15235),
        (usage(100, 10, 310, input_tokens_cache_read=150, input_tokens_cache_write=50), 300),
        (usage(100, 10, 999, input_tokens_cache_read=150), 250),
        (usage(100, 10, 999, input_tokens_cache_read=50), 100),
        (usage(100, 10, input_tokens_cache_read=0), 100),
    ],
)
def test_the_total_decides_whether_the_input_includes_the_cache(tokens, expected):
    assert build(events=[], model_usage={"acme/large": tokens}).usage["input_tokens"] == expected


def test_costs_are_those_of_the_agent():
    assert build().cost["usd"] is None
    events = [
        model(1, usage(10, 1, total_cost=0.25)),
        *EVENTS[6:8],
        model(8, usage(9, 9, total_cost=4.0), span="grade"),
    ]
    assert build(events=events, model_usage={}).cost == {"usd": 0.25, "source": "recorded"}
    alone = build(events=[], model_usage={"acme/large": usage(10, 1, total_cost=0.5)})
    assert alone.cost["usd"] == 0.5


def test_the_agents_time_ends_before_it_is_scored():
    trace = build()
    assert trace.latency == {"total_ms": 6000.0, "source": "recorded"}
    assert (trace.started_at, trace.ended_at) == ("2026-01-05T14:00:00Z", "2026-01-05T14:00:06Z")


@pytest.mark.parametrize(
    ("fields", "latency"),
    [
        ({"events": []}, {"total_ms": 21500.0, "source": "recorded"}),
        ({"events": [], "working_time": None}, {"total_ms": 30000.0, "source": "recorded"}),
        (
            {"events": [model(900_000, usage(1, 1), timestamp=at(1))]},
            {"total_ms": 21500.0, "source": "recorded"},
        ),
        ({"working_time": None, "total_time": None}, {"total_ms": 6000.0, "source": "timestamps"}),
        ({"events": [], "working_time": None, "total_time": None}, {"total_ms": None, "source": "none"}),
    ],
)
def test_latency_is_as_precise_as_the_recorded_times(fields, latency):
    assert build(**fields).latency == latency


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("C", {"s": (1.0, "C")}),
        ("P", {"s": (0.5, "P")}),
        ("I", {"s": (0.0, "I")}),
        ("N", {"s": (0.0, "N")}),
        ("fair", {"s": (None, "fair")}),
        (0.25, {"s": (0.25, None)}),
        (True, {"s": (1.0, None)}),
        (None, {"s": (None, None)}),
        ({"a": "C", "b": 2}, {"s.a": (1.0, "C"), "s.b": (2.0, None)}),
        (["I", 1], {"s.0": (0.0, "I"), "s.1": (1.0, None)}),
        ([[1]], {"s.0": (None, None)}),
    ],
)
def test_scores_are_numbers_where_they_can_be(value, expected):
    assert scores(value) == expected


def test_a_score_keeps_its_explanation():
    assert build().evaluations[0]["explanation"] == "It says yes."


def test_a_sample_that_failed_is_an_error():
    trace = bare(error={"message": "the container died", "traceback": "..."})
    assert (trace.status, trace.error) == ("error", {"type": "sample_error", "message": "the container died"})


def test_a_sample_at_its_limit_is_incomplete():
    trace = bare(limit={"type": "token", "limit": 1000})
    assert (trace.status, trace.finish_reason, codes(trace)) == ("incomplete", "token_limit", ["incomplete"])


def test_the_answer_a_solver_handed_in_is_the_response():
    handed = {"choices": [{"message": {"id": "m2", "content": "yes"}, "stop_reason": "model_length"}]}
    assert bare(output=handed).response == {"content": "yes", "finish_reason": "length", "message_index": 5}
    strange = {"choices": [{"message": {"id": "other", "content": "no"}}]}
    assert bare(output=strange).response["content"] == "Yes."


def test_results_without_calls_are_a_warning():
    assert codes(bare(messages=MESSAGES[3:])) == ["result_without_call"]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"messages": [{"role": "robot"}]}, r"messages\[0\].role is not one of system"),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{}]}]},
            r"messages\[0\].tool_calls\[0\].function is missing",
        ),
        ({"messages": [{"role": "user", "content": 3}]}, r"messages\[0\].content is not a list"),
        ({"epoch": "x"}, "epoch is not a whole number"),
        ({"model_usage": {"acme/large": usage(-1, 1)}}, "model_usage.acme/large.input_tokens is negative"),
        ({"metadata": nest_lists(70)}, "levels deep"),
    ],
)
def test_untrustworthy_fields_are_refused_by_name(fields, problem):
    with pytest.raises(TraceError, match=problem):
        build(**fields)


@pytest.mark.parametrize(
    ("log", "problem"),
    [
        ({**LOG, "samples": []}, "the log has no samples$"),
        ({"eval": EVAL, "status": "cancelled"}, "no samples, and its run was cancelled"),
    ],
)
def test_a_log_without_samples_is_refused(log, problem):
    with pytest.raises(TraceError, match=problem):
        inspect_log.split([log])


@pytest.mark.parametrize("value", [None, 1, [], {}, {"eval": {}}, {"eval": {"task": "x"}}, {"status": "x", "eval": []}])
def test_other_documents_are_not_claimed(value):
    assert not INSPECT.claims(value)


def test_logs_are_claimed():
    assert INSPECT.claims(LOG)


@given(damage_document([LOG]))
def test_damage_is_a_trace_error_or_none(documents):
    try:
        records = inspect_log.split(documents)
    except TraceError:
        return
    for record in records:
        inspect_log.identify(record)
        try:
            inspect_log.build(record)
        except TraceError as error:
            assert "\n" not in str(error)
