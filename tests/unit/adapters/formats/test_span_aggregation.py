from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from span_builders import agent, call_part, chat, genai_message, response_part, span, tool, weather_run

from evalgate.adapters.formats.spans.assemble import build
from evalgate.adapters.formats.spans.dialects import read_facts
from evalgate.errors import TraceError

USER = genai_message("user", "hi")
ANSWER = genai_message("assistant", "hello", finish="stop")


def totals(trace):
    return trace.usage["input_tokens"], trace.usage["output_tokens"], len(trace.llm_calls)


def codes(trace):
    return [warning["code"] for warning in trace.warnings]


def test_a_run_is_read_whole():
    trace = build(weather_run())
    assert [message["role"] for message in trace.messages] == ["user", "assistant", "tool", "assistant"]
    assert totals(trace) == (200, 60, 2)
    assert trace.usage["total_tokens"] == 260
    assert trace.latency == {"total_ms": 5000.0, "source": "span"}
    assert trace.response["content"] == "It rains."
    assert trace.finish_reason == "stop"
    assert trace.agent == {"name": "helper", "framework": None}
    assert (trace.status, trace.warnings) == ("ok", [])
    [call] = trace.tool_calls
    assert (call["name"], call["arguments"], call["result"]) == ("get_weather", {"city": "Paris"}, "rainy")
    assert (call["duration_ms"], call["status"], call["step"], call["turn"]) == (100.0, "ok", 1, 1)
    assert [(call["step"], call["turn"]) for call in trace.llm_calls] == [(1, 1), (2, 1)]


def test_a_request_within_a_request_is_the_same():
    outer = chat(0, 1000, (100, 10))
    middle = span("wrapper", 5, 995, parent=outer)
    inner = chat(10, 990, (100, 10), [USER], [ANSWER], parent=middle, response_id="r1")
    trace = build([outer, middle, inner])
    assert totals(trace) == (100, 10, 1)
    assert trace.llm_calls[0]["response_id"] == "r1"


def test_requests_with_one_response_id_are_the_same_anywhere():
    root = agent()
    seen = [chat(0, 10, (7, 3), parent=root, response_id="r1") for _ in range(2)]
    assert totals(build([root, *seen])) == (7, 3, 1)


@pytest.mark.parametrize(
    ("tokens", "answer"), [((7, 9), ()), ((7, 3), [genai_message("assistant", call_part("delete_all"))])]
)
def test_consecutive_requests_that_differ_are_two_whatever_their_id(tokens, answer):
    root = agent()
    first = chat(
        0, 10, (7, 3), [USER], [genai_message("assistant", call_part("look"))], parent=root, response_id="mock"
    )
    later = chat(10, 20, tokens, [USER], answer, parent=root, response_id="mock")
    trace = build([root, first, later])
    assert totals(trace) == (14, 3 + tokens[1], 2)
    assert {call["name"] for call in trace.tool_calls} == {"look"} | ({"delete_all"} if answer else set())


def test_a_request_with_one_response_id_seen_again_later_is_counted_once():
    root = agent()
    seen = [chat(start, start + 10, (7, 3), parent=root, response_id="r1") for start in (0, 500)]
    assert totals(build([root, *seen])) == (7, 3, 1)


def test_a_request_that_wraps_several_of_one_id_restates_their_sum():
    outer = chat(0, 1000, (30, 6), [USER])
    steps = [
        chat(0, 400, (10, 2), parent=outer, response_id="mock"),
        chat(500, 900, (20, 4), parent=outer, response_id="mock"),
    ]
    assert totals(build([outer, *steps])) == (30, 6, 2)


def test_a_sub_agents_request_within_its_parents_request_is_another():
    root = agent(0, 900, "root")
    outer = chat(0, 900, (323, 11), parent=root)
    child = agent(100, 890, "child", parent=outer)
    inner = [chat(100, 400, (453, 6), parent=child), chat(400, 880, (487, 25), parent=child)]
    assert totals(build([root, outer, child, *inner])) == (1263, 42, 3)


def test_a_request_that_wraps_several_restates_their_sum():
    outer = chat(0, 1000, (30, 6), [USER])
    steps = [chat(0, 400, (10, 2), parent=outer, response_id="a"), chat(500, 900, (20, 4), parent=outer)]
    assert totals(build([outer, *steps])) == (30, 6, 2)


def test_usage_metered_by_the_provider_takes_precedence_over_that_of_a_platform():
    outer = chat(0, 1000, (2000, 768))
    inner = chat(10, 990, (900, 171), parent=outer)

    def read_metered(one):
        return replace(read_facts(one), is_metered=one is outer)

    assert totals(build([outer, inner], read_metered)) == (2000, 768, 1)


def test_the_usage_of_an_agent_counts_once_where_no_request_has_any():
    root = agent(**{"gen_ai.usage.input_tokens": 4, "gen_ai.usage.output_tokens": 767})
    child = agent(10, 90, "child", parent=root, **{"gen_ai.usage.input_tokens": 2, "gen_ai.usage.output_tokens": 3})
    trace = build([root, child])
    assert trace.usage["total_tokens"] == 771
    assert trace.usage["source"] == "agent_span"


def test_the_usage_of_an_agent_that_is_not_the_sum_is_a_warning():
    spans = weather_run(**{"gen_ai.usage.input_tokens": 150, "gen_ai.usage.output_tokens": 42})
    trace = build(spans)
    assert totals(trace) == (200, 60, 2)
    assert codes(trace) == ["total_mismatch"]
    assert "192" in trace.warnings[0]["message"]


@pytest.mark.parametrize(("output", "is_reported"), [(62, False), (63, True)])
def test_a_difference_of_one_percent_is_not_a_warning(output, is_reported):
    spans = weather_run(**{"gen_ai.usage.input_tokens": 200, "gen_ai.usage.output_tokens": output})
    assert ("total_mismatch" in codes(build(spans))) is is_reported


@pytest.mark.parametrize("kind", ["EVALUATOR", "EMBEDDING"])
def test_judges_and_embeddings_are_not_the_agents(kind):
    judge = span("judge", 0, 10, attributes={"openinference.span.kind": kind, "llm.token_count.prompt": 99})
    within = chat(1, 9, (50, 50), parent=judge)
    assert totals(build([*weather_run(), judge, within])) == (200, 60, 2)


def test_an_agent_that_is_marked_as_the_user_is_not_the_agent():
    simulator = agent(0, 10, "simulator", **{"evalgate.role": "user"})
    trace = build([*weather_run(), simulator, chat(1, 9, (50, 50), parent=simulator)])
    assert totals(trace) == (200, 60, 2)
    assert trace.agent["name"] == "helper"


def test_tokens_of_0_everywhere_are_unknown():
    trace = build([chat(0, 10, (0, 0), [USER], [ANSWER])])
    assert trace.usage["total_tokens"] is None


def test_a_request_without_tokens_beside_others_makes_the_sum_incomplete_but_not_a_failed_one():
    silent = chat(0, 10, None, [USER])
    trace = build([*weather_run(), silent])
    assert "tokens_incomplete" in codes(trace)
    assert set(trace.usage.values()) == {None, "none"}
    silent.has_failed = True
    trace = build([*weather_run(), silent])
    assert "tokens_incomplete" not in codes(trace)
    assert totals(trace)[:2] == (200, 60)


@pytest.mark.parametrize(("stated", "total"), [((250, 70), 320), ((200, 60), None), ((100, 30), None)])
def test_of_calls_metered_in_part_the_agents_own_total_counts_if_it_is_more(stated, total):
    whole = agent(0, 1000, "helper")
    whole.attributes |= {"gen_ai.usage.input_tokens": stated[0], "gen_ai.usage.output_tokens": stated[1]}
    calls = [chat(1, 10, (200, 60), [USER], parent=whole), chat(11, 20, None, [USER], [ANSWER], parent=whole)]
    usage = build([whole, *calls]).usage
    assert (usage["total_tokens"], usage["source"]) == (total, "none" if total is None else "agent_span")


def test_cached_tokens_that_are_more_than_the_input_are_not_part_of_it():
    trace = build([chat(0, 900, (4, 7), [USER], [ANSWER], **{"gen_ai.usage.cache_read.input_tokens": 900})])
    assert (trace.usage["input_tokens"], trace.usage["total_tokens"]) == (904, 911)
    assert codes(trace) == []


def test_recorded_costs_add_up_and_0_beside_tokens_is_unknown():
    spans = weather_run()
    spans[1].attributes["operation.cost"] = 0.002
    assert build(spans).cost == {"usd": None, "source": "partial", "known_usd": 0.002}
    spans[3].attributes["operation.cost"] = 0.001
    assert build(spans).cost == {"usd": 0.003, "source": "recorded"}
    spans[3].attributes["operation.cost"] = 0
    trace = build(spans)
    assert trace.cost == {"usd": None, "source": "partial", "known_usd": 0.002}
    assert codes(trace) == ["zero_cost"]


@pytest.mark.parametrize(("stated", "usd"), [(0.005, 0.005), (0.002, None), (0.001, None)])
def test_if_only_some_calls_have_a_cost_the_agents_own_counts_if_it_is_higher(stated, usd):
    spans = weather_run(**{"llm.cost.total": stated})
    spans[1].attributes["operation.cost"] = 0.002
    assert build(spans).cost["usd"] == usd


def test_an_agents_cost_counts_where_no_request_has_one():
    trace = build(weather_run(**{"llm.cost.total": 0.25}))
    assert trace.cost == {"usd": 0.25, "source": "recorded"}


def test_the_order_of_spans_changes_nothing():
    spans = weather_run()
    expected = build(spans)
    for seed in range(10):
        shuffled = random.Random(seed).sample(spans, len(spans))  # noqa: S311
        assert build(shuffled) == expected


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 1)), max_size=6), st.randoms(use_true_random=False))
def test_wrapping_or_repeating_a_request_never_changes_the_totals(changes, chance):
    spans = weather_run()
    requests = [spans[1], spans[3]]
    for number, (is_wrapped, which) in enumerate(changes):
        target = requests[which]
        if is_wrapped:
            wrapper = span(f"POST {number}", 0, 5000, parent=None)
            wrapper.parent_id, target.parent_id = target.parent_id, wrapper.span_id
            spans.append(wrapper)
        else:
            again = replace(target, span_id=f"again{number}", parent_id=target.span_id)
            requests[which] = again
            spans.append(again)
    chance.shuffle(spans)
    trace = build(spans)
    assert totals(trace) == (200, 60, 2)
    assert trace.response["content"] == "It rains."
    assert [call["name"] for call in trace.tool_calls] == ["get_weather"]


def test_spans_without_an_agent_are_not_a_trace():
    with pytest.raises(TraceError, match=r"no span records what an agent did \(2 spans\)"):
        build([span("GET /"), span("queue")])


def test_cycles_of_parents_are_cut():
    spans = weather_run()
    spans[0].parent_id = spans[3].span_id
    assert totals(build(spans)) == (200, 60, 2)


def test_values_nested_too_deep_are_refused():
    deep = []
    for _ in range(80):
        deep = [deep]
    with pytest.raises(TraceError, match="64 levels"):
        build([span("chat", attributes={"gen_ai.operation.name": "chat", "x": deep})])


def test_a_replayed_answer_is_suspicious():
    trace = build([chat(0, 4, (10, 290), [USER], [ANSWER])])
    assert codes(trace) == ["suspicious_latency"]
    assert "290 tokens were generated in 4.0 ms" in trace.warnings[0]["message"]
    assert codes(build([chat(0, 4000, (10, 290), [USER], [ANSWER])])) == []


def test_a_run_that_took_no_time_is_suspicious():
    assert codes(build([agent(0, 0), chat(0, 0, None, [USER], [ANSWER])])) == ["suspicious_latency"]


def test_latency_is_that_of_the_outermost_agent_and_not_of_enclosing_spans():
    around = span("POST /invocations", 0, 9000)
    spans = weather_run()
    spans[0].parent_id = around.span_id
    assert build([around, *spans]).latency["total_ms"] == 5000.0


def test_latency_without_an_agent_is_from_the_first_start_to_the_last_end():
    assert build(weather_run()[1:]).latency["total_ms"] == 4800.0


def test_an_agent_that_failed_makes_the_run_an_error():
    root = agent(failed=True, **{"error.type": "Timeout"})
    root.status_message = "took too long"
    trace = build([root])
    assert trace.status == "error"
    assert trace.error == {"type": "Timeout", "message": "took too long"}


def test_an_agent_without_an_end_is_incomplete():
    trace = build([agent(0, None), chat(0, 900, (1, 1), [USER], [ANSWER])])
    assert trace.status == "incomplete"
    assert codes(trace) == ["incomplete"]


def test_a_failed_tool_within_does_not_fail_the_run():
    spans = weather_run()
    spans[2].has_failed = True
    trace = build(spans)
    assert trace.status == "ok"
    assert trace.tool_calls[0]["status"] == "error"


def test_scenario_trial_and_conversation_come_from_evalgate_attributes():
    spans = weather_run(**{"evalgate.scenario.id": "paris", "evalgate.trial": "2", "gen_ai.conversation.id": "k"})
    trace = build(spans)
    assert (trace.scenario_id, trace.trial, trace.conversation_id) == ("paris", 2, "k")


def test_tool_calls_without_content_come_from_spans_alone():
    root = agent()
    request = chat(0, 100, (5, 5), parent=root)
    runs = [tool("a", 110, 120, parent=root), tool("b", 111, 130, parent=root)]
    later = chat(200, 300, (5, 5), parent=root)
    trace = build([root, request, *runs, later])
    assert [(call["name"], call["arguments"], call["step"]) for call in trace.tool_calls] == [
        ("a", None, 1),
        ("b", None, 1),
    ]
    assert codes(trace) == ["content_not_captured", *["missing_evidence"] * 3]
    assert set(trace.gaps) == {"messages", "arguments", "results"}
    assert trace.messages == []


def test_a_result_in_neither_place_is_missing():
    asked = genai_message("assistant", call_part("f", "c1", x=1), finish="tool_calls")
    trace = build([chat(0, 900, (5, 5), [USER], [asked])])
    assert trace.tool_calls[0]["status"] == "missing"
    assert codes(trace) == ["results_missing"]


def test_answers_may_have_either_name():
    history = [
        USER,
        genai_message("assistant", call_part("f", "c1")),
        genai_message("tool", response_part("done", "c1", key="result")),
    ]
    assert build([chat(0, 900, (5, 5), history, [ANSWER])]).tool_calls[0]["result"] == "done"


@pytest.mark.parametrize("ids", [("a", "b", "c"), ("c", "b", "a"), ("b", "c", "a")])
def test_spans_that_begin_at_the_same_time_keep_the_recorded_order(ids):
    whole = agent(0, 900)
    tools = [
        tool(name, 10, 60, parent=whole, span_id=each)
        for name, each in zip(("fetch", "build", "apply"), ids, strict=True)
    ]
    assert [call["name"] for call in build([whole, *tools]).tool_calls] == ["fetch", "build", "apply"]
    chats = [chat(10, 60, (number, 1), parent=whole, span_id=each) for number, each in enumerate(ids, 1)]
    assert [call["usage"]["input_tokens"] for call in build([whole, *chats]).llm_calls] == [1, 2, 3]


@pytest.mark.parametrize("first_end", [0.3, 0.06, 0.04])
@pytest.mark.parametrize("last_end", [0.06, 0.04, 0])
def test_calls_within_one_millisecond_of_nodes_clock_keep_their_order(first_end, last_end):
    """Spans of Node begin at a whole millisecond and end an exact duration later, so the first may end last."""
    question, asked, again = USER, *(genai_message("assistant", call_part("f", name, x=name)) for name in ("c1", "c2"))
    answers = [genai_message("tool", response_part("done", name)) for name in ("c1", "c2")]
    spans = [
        chat(0, first_end, (5, 1), [question], [asked]),
        tool("f", 0, 0.05, call_id="c1", arguments={"x": "c1"}, result="done"),
        chat(0, 0.1, (6, 1), [question, asked, answers[0]], [again]),
        tool("f", 0, 0.02, call_id="c2", arguments={"x": "c2"}, result="done"),
        chat(0, last_end, (7, 1), [question, asked, answers[0], again, answers[1]], [ANSWER]),
    ]
    trace = build(spans)
    assert trace.response["content"] == "hello"
    assert [(call["id"], call["step"]) for call in trace.tool_calls] == [("c1", 1), ("c2", 2)]
    assert [(call["usage"]["input_tokens"], call["step"]) for call in trace.llm_calls] == [(5, 1), (6, 2), (7, 3)]
    assert trace.finish_reason == "stop"
