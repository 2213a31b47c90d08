from __future__ import annotations

import pytest
from span_builders import agent, call_part, chat, genai_message, response_part, span, tool, weather_run

from evalgate.adapters.formats.spans import span_records
from evalgate.adapters.formats.spans.assemble import build

USER = genai_message("user", "hi")


def names(trace):
    return [call["name"] for call in trace.tool_calls]


def run_of(asked, *tools, last=None):
    root = agent(0, 9000)
    request = chat(0, 1000, (5, 5), [USER], [genai_message("assistant", *asked)], parent=root)
    for one in tools:
        one.parent_id = root.span_id
    return build([root, request, *tools, *([] if last is None else [last])])


def test_a_span_belongs_to_the_call_of_its_id_whatever_its_arguments():
    trace = run_of(
        [call_part("f", "a", x=1), call_part("f", "b", x=1)], tool("f", call_id="b", arguments={"x": 2}, result="two")
    )
    assert [call["result"] for call in trace.tool_calls] == [None, "two"]


def test_spans_without_ids_join_by_name_and_arguments_in_order():
    trace = run_of(
        [call_part("f", "a", x=1), call_part("f", "b", x=2), call_part("f", "c", x=1)],
        tool("f", 1100, 1110, arguments={"x": 2}, result="two"),
        tool("f", 1200, 1210, arguments={"x": 1.0}, result="one"),
        tool("f", 1300, 1310, arguments={"x": 1}, result="three"),
    )
    results = {call["id"]: call["result"] for call in trace.tool_calls}
    assert results == {"a": "one", "b": "two", "c": "three"}


def test_spans_without_arguments_join_by_name():
    trace = run_of([call_part("f", "a", x=1)], tool("f", result="done"))
    assert [(call["arguments"], call["result"]) for call in trace.tool_calls] == [({"x": 1}, "done")]


def test_a_span_whose_arguments_were_wrapped_still_is_the_agents_own_call():
    trace = run_of([call_part("f", "a", x=1)], tool("f", 1100, 1110, arguments={"args": "{'x': 1}"}, result="done"))
    assert [(call["arguments"], call["result"]) for call in trace.tool_calls] == [({"x": 1}, "done")]


def test_the_same_call_made_twice_is_two_calls():
    trace = run_of(
        [call_part("f", None, x=1), call_part("f", None, x=1)],
        tool("f", arguments={"x": 1}),
        tool("f", arguments={"x": 1}),
    )
    assert names(trace) == ["f", "f"]
    assert [call["step"] for call in trace.tool_calls] == [1, 1]


def test_a_merged_span_and_a_handoff_are_not_tools():
    merged = tool("(merged tools)", call_id="m", arguments="N/A")
    handoff = span("agent_handoff", attributes={"gen_ai.operation.name": "agent_handoff"})
    attributes = {"openinference.span.kind": "TOOL", "input.value": "coordinator", "output.value": "clerk"}
    other = span("handoff to clerk", failed=True, attributes=attributes)
    assert names(run_of([call_part("f", "a")], tool("f", call_id="a"), merged, handoff, other)) == ["f"]


def test_a_clients_span_within_the_tools_own_is_the_same_execution():
    own = tool("f", 1100, 1200, call_id="a")
    client = span(
        "tools/call f",
        1110,
        1190,
        parent=own,
        attributes={"mcp.method.name": "tools/call", "gen_ai.tool.name": "f"},
    )
    trace = run_of([call_part("f", "a")], own)
    assert names(trace) == ["f"]
    root = agent(0, 9000)
    own.parent_id = root.span_id
    assert names(build([root, own, client])) == ["f"]


@pytest.mark.parametrize(("inner", "statuses"), [("t1", ["error"]), ("t2", ["ok", "error"])])
def test_an_inner_span_of_the_same_call_decides_whether_it_failed(inner, statuses):
    own = span("claude_code.tool", 1100, 1200, attributes={"tool_name": "Bash", "tool_use_id": "t1"})
    ran = {"tool_use_id": inner, "success": False, "tool_name": "Bash"}
    execution = span("claude_code.tool.execution", 1110, 1190, parent=own, attributes=ran)
    calls = build([own, execution]).tool_calls
    assert [(call["name"], call["status"]) for call in calls] == [("Bash", status) for status in statuses]


def test_an_inner_span_without_a_name_is_the_same_execution_where_it_is_of_the_same_call():
    own = span("claude_code.tool", 1100, 1200, attributes={"tool_name": "Bash", "tool_use_id": "t1"})
    execution = span("claude_code.tool.execution", 1110, 1190, parent=own, attributes={"tool_use_id": "t1"})
    assert names(build([own, execution])) == ["Bash"]


def test_calls_of_a_sub_agent_count_and_its_text_does_not():
    spans = weather_run()
    lookup = spans[2]
    child = agent(2110, 2190, "weather", parent=lookup)
    asked = genai_message("assistant", call_part("station", "c9", code="LFPB"))
    inner = chat(2111, 2150, (9, 2), [genai_message("user", "Paris?")], [asked], parent=child)
    run = tool("station", 2151, 2160, parent=child, arguments={"code": "LFPB"}, result="rain")
    trace = build([*spans, child, inner, run])
    assert names(trace) == ["get_weather", "station"]
    assert trace.tool_calls[1]["agent"] == "weather"
    assert [call["step"] for call in trace.tool_calls] == [1, 2]
    assert [message["content"] for message in trace.messages if message["role"] == "user"] == ["Weather in Paris?"]
    assert trace.response["content"] == "It rains."
    assert trace.usage["input_tokens"] == 209


def test_a_sub_agents_calls_without_spans_get_their_answers_from_its_own_messages():
    root = agent(0, 9000)
    ask = tool("ask", 90, 900, parent=root)
    child = agent(100, 800, "child", parent=ask)
    asked = genai_message("assistant", call_part("f", "c1", x=1))
    history = [USER, asked, genai_message("tool", response_part("42", "c1"))]
    spans = [
        chat(100, 200, (1, 1), [USER], [asked], parent=child),
        chat(300, 400, (1, 1), history, [genai_message("assistant", "42")], parent=child),
    ]
    main = chat(1000, 2000, (1, 1), [USER], [genai_message("assistant", "done")], parent=root)
    trace = build([root, ask, child, *spans, main])
    assert [(call["name"], call["result"]) for call in trace.tool_calls] == [("ask", None), ("f", "42")]


def test_calls_that_a_shortened_history_lacks_still_count():
    root = agent(0, 9000)
    first = chat(0, 100, (1, 1), [USER], [genai_message("assistant", call_part("early", "c1"))], parent=root)
    asked = genai_message("assistant", call_part("late", "c2"))
    second = chat(150, 180, (1, 1), [genai_message("user", "so far")], [asked], parent=root)
    history = [genai_message("user", "so far"), asked, genai_message("tool", response_part("x", "c2"))]
    last = chat(200, 300, (1, 1), history, [genai_message("assistant", "end")], parent=root)
    trace = build([root, first, second, last])
    assert [(call["name"], call["step"]) for call in trace.tool_calls] == [("early", 1), ("late", 2)]


def test_an_error_in_a_span_is_the_calls():
    failed = tool("f", call_id="a", failed=True, **{"error.type": "TimeoutError", "exit_code": 124})
    failed.status_message = "no response"
    [call] = run_of([call_part("f", "a")], failed).tool_calls
    assert call["status"] == "error"
    assert call["error"] == {"type": "TimeoutError", "message": "no response"}
    assert call["exit_code"] == 124


def test_calls_and_answers_with_ids_of_two_kinds_are_joined_in_order():
    history = [
        USER,
        genai_message("assistant", call_part("f", "fc_1", x=1)),
        genai_message("tool", response_part("done", "call_1")),
    ]
    trace = build([chat(0, 900, (1, 1), history, [genai_message("assistant", "end")])])
    assert [(call["id"], call["result"]) for call in trace.tool_calls] == [("fc_1", "done")]
    assert trace.warnings == []


def test_calls_that_a_recorder_showed_as_python_text_are_calls():
    shown = "ResponseFunctionToolCall(arguments='{\"x\": 1}', call_id='c1', name='f', type='function_call')"
    trace = build([chat(0, 900, (1, 1), [USER], [genai_message("assistant", shown)])])
    assert [(call["id"], call["name"], call["arguments"]) for call in trace.tool_calls] == [("c1", "f", {"x": 1})]


def test_the_same_first_input_on_every_request_still_gives_the_whole_conversation():
    asked = genai_message("assistant", call_part("f", "c1"))
    spans = [
        chat(0, 100, (1, 1), [USER], [asked]),
        chat(200, 300, (1, 1), [USER], [genai_message("assistant", "end")]),
    ]
    trace = build(spans)
    assert [message["role"] for message in trace.messages] == ["user", "assistant", "assistant"]
    assert names(trace) == ["f"]


def test_requests_with_only_new_messages_are_joined():
    asked = genai_message("assistant", call_part("f", "c1"))
    spans = [
        chat(0, 100, (1, 1), [USER], [asked]),
        chat(
            200, 300, (1, 1), [genai_message("tool", response_part("done", "c1"))], [genai_message("assistant", "end")]
        ),
    ]
    trace = build(spans)
    assert [message["role"] for message in trace.messages] == ["user", "assistant", "tool", "assistant"]
    assert trace.tool_calls[0]["result"] == "done"


def test_history_is_never_repeated():
    trace = build(weather_run())
    assert [message["content"] for message in trace.messages] == [
        "Weather in Paris?",
        None,
        "rainy",
        "It rains.",
    ]


def test_an_agents_own_answer_comes_last_where_the_model_did_not_say_it():
    answer = '[{"role": "assistant", "parts": [{"type": "text", "content": "Rain."}]}]'
    trace = build(weather_run(**{"gen_ai.output.messages": answer}))
    assert trace.response["content"] == "Rain."
    assert len(trace.messages) == 5
    same = answer.replace("Rain.", "It rains. ")
    assert len(build(weather_run(**{"gen_ai.output.messages": same})).messages) == 4


def test_the_same_answer_recorded_twice_appears_once():
    asked = genai_message("assistant", call_part("f", "c1", x=1))
    trace = build([chat(0, 100, (1, 1), [USER], [asked]), chat(200, 300, (1, 1), [USER], [asked])])
    assert names(trace) == ["f"]
    assert len(trace.messages) == 2


def test_a_second_execution_of_one_call_is_a_call_and_replaces_no_other():
    trace = run_of(
        [call_part("f", "a", x=1), call_part("f", "b", x=2)],
        tool("f", 1100, 1110, call_id="a", result="first"),
        tool("f", 1200, 1210, call_id="a", result="again"),
    )
    assert [(call["id"], call["result"]) for call in trace.tool_calls] == [
        ("a", "first"),
        ("b", None),
        ("a", "again"),
    ]


def test_the_same_id_on_every_call_pairs_them_in_order():
    trace = run_of(
        [call_part("f", "x", n=1), call_part("f", "x", n=2)],
        tool("f", 1100, 1110, call_id="x", result="one"),
        tool("f", 1200, 1210, call_id="x", result="two"),
    )
    assert [call["result"] for call in trace.tool_calls] == ["one", "two"]


def test_spans_without_ids_execute_the_calls_of_the_agent_that_they_ran_under():
    """Two agents make the same call: the order of time is that of the spans, and each agent has its own."""
    root = agent(0, 9000, "planner")
    asks = [("look", "a"), ("ask_reader", "x"), ("look", "a")]
    answers = [genai_message("assistant", call_part(name, f"m{n}", path=path)) for n, (name, path) in enumerate(asks)]
    results = [genai_message("tool", response_part("done", f"m{n}")) for n in range(3)]
    history = [USER, answers[0], results[0], answers[1], results[1], answers[2], results[2]]
    requests = [
        chat(1000 * n, 1000 * n + 100, (5, 5), history[: 2 * n + 1], [answer], parent=root)
        for n, answer in zip((0, 1, 7), answers, strict=True)
    ]
    last = chat(8000, 8100, (5, 5), history, [genai_message("assistant", "done")], parent=root)
    ran = [
        tool(name, start, start + (4000 if name == "ask_reader" else 10), parent=root, arguments={"path": path})
        for (name, path), start in zip(asks, (200, 1200, 7200), strict=True)
    ]
    inner = agent(1300, 5000, "reader", parent=ran[1])
    own = [
        chat(
            1000 * n, 1000 * n + 100, (5, 5), [USER], [genai_message("assistant", call_part("look", f"r{n}", path=path))],
            parent=inner,
        )
        for n, path in ((2, "a"), (3, "b"))
    ]  # fmt: skip
    own += [
        tool("look", 1000 * n + 200, 1000 * n + 210, parent=inner, arguments={"path": p})
        for n, p in ((2, "a"), (3, "b"))
    ]
    trace = build([root, *requests, *ran, inner, *own, last])
    made = [(call["actor"], call["name"], call["arguments"]["path"]) for call in trace.tool_calls]
    assert made == [
        ("root", "look", "a"),
        ("root", "ask_reader", "x"),
        ("root/reader", "look", "a"),
        ("root/reader", "look", "b"),
        ("root", "look", "a"),
    ]


def test_a_tool_that_says_that_another_called_it_is_left_out_with_a_warning():
    """A tool within a judge's span does not say so, and is left out without a word."""
    judge = span("judge", attributes={"evalgate.role": "judge"})

    def warned(*spans):
        run = span_records.AgentRun([agent(0, 10), chat(1, 2), *spans])
        trace = span_records.build(run)
        return names(trace), [each["message"] for each in trace.warnings if each["code"] == "left_out"]

    shown = "1 span of tools, such as `execute_tool delete_user`, left out as those of a judge (`evalgate.role`)"
    assert warned(tool("delete_user", 3, 4, **{"evalgate.role": "judge"})) == ([], [shown])
    assert warned(judge) == ([], [])
    assert warned(tool("look", 3, 4, **{"evalgate.role": ["judge"]})) == (["look"], [])
    assert warned(tool("look", 3, 4)) == (["look"], [])
