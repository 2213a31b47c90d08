from __future__ import annotations

import json

import pytest
from damage import damage_document, nest_lists
from fakes.files import MemoryFiles
from hypothesis import given

from evalgate.adapters.formats.core.format import TraceLimits
from evalgate.adapters.formats.custom.reader import build, identify, make_format, split
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.adapters.suites.yaml_tree import load
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.parse import SharedDefaults, parse_suite
from evalgate.suite.suite_file import Defaults

TAIL = "format: custom\nscenarios: [{id: a, assertions: [{contains: x}]}]\n"
ALL = """\
custom:
  records: runs
  id: run
  scenario_id: case
  trial: attempt
  messages: log
  message: {role: who, content: text, tool_calls: did, tool_call_id: answers, tool_name: of, error: failed,
            reasoning: why, timestamp: at}
  tool_calls: {id: nr, name: fn, arguments: args, result: out, status: ok, error: problem, exit_code: code,
               duration_seconds: took}
  roles: {bot: assistant, human: user, env: tool}
  response: answer
  status: state
  error: failure
  finish_reason: ended
  model: engine
  provider: maker
  started_at: begun
  ended_at: over
  cost_usd: bill.usd
  latency_seconds: seconds
  input_tokens: bill.in
  output_tokens: bill.out
  total_tokens: bill.all
  cache_read_input_tokens: bill.cached
  scores: marks
  tags: labels
  metadata: "{team: team}"
"""


def custom(text):
    mistakes = Diagnostics()
    document = load(text + TAIL, "s.yaml")
    suite, _ = parse_suite(document, "s.yaml", ".", SharedDefaults(None, Defaults()), mistakes)
    assert mistakes.problems == []
    return suite.custom


EVERYTHING = custom(ALL)


def run(**fields):
    return {
        "run": 7,
        "case": "refund",
        "attempt": 1,
        "team": "shop",
        "log": [
            {"who": "human", "text": "Refund order 5.", "at": 1780680349},
            {
                "who": "bot",
                "why": "An order first.",
                "did": [
                    {"nr": 1, "fn": "lookup", "args": {"id": 5}},
                    {"nr": 2, "fn": "plan", "args": '{"x": 1}', "out": {"n": 2}, "ok": True, "took": 0.25},
                    {"nr": 3, "fn": "pay", "problem": {"why": "broke"}, "code": 3},
                ],
            },
            {"who": "env", "answers": 1, "text": {"found": True}},
            {"who": "bot", "text": "Refunded."},
        ],
        "answer": "Refunded.",
        "state": "ok",
        "ended": "end_turn",
        "engine": "m-1",
        "maker": "acme",
        "begun": "2026-01-01T00:00:00",
        "bill": {"usd": 0.02, "in": 900, "out": 80, "cached": 100},
        "seconds": 2.5,
        "marks": {"reward": True, "speed": 0.5},
        "labels": {"env": "ci"},
        **fields,
    }


def read(files, mapping=EVERYTHING, **limits):
    content = {name: value.encode() for name, value in files.items()}
    return list(TraceFiles(MemoryFiles(content), TraceLimits(**limits)).read(["t"], "", mapping))


def test_every_field_is_read_from_the_path_in_the_suite():
    trace = build(EVERYTHING, run())
    assert (trace.trace_id, trace.scenario_id, trace.trial) == ("7", "refund", 1)
    assert [(m["role"], m["content"]) for m in trace.messages] == [
        ("user", "Refund order 5."),
        ("assistant", None),
        ("tool", '{"found":true}'),
        ("assistant", "Refunded."),
    ]
    assert trace.messages[0]["timestamp"] == "2026-06-05T17:25:49Z"
    assert trace.messages[1]["reasoning"] == "An order first."
    assert (trace.provider, trace.model, trace.finish_reason) == ("acme", "m-1", "stop")
    assert trace.started_at == "2026-01-01T00:00:00Z"
    assert trace.cost == {"usd": 0.02, "source": "recorded"}
    assert trace.latency == {"total_ms": 2500, "source": "recorded"}
    assert trace.usage["total_tokens"] == 980
    assert trace.usage["cache_read_input_tokens"] == 100
    assert trace.scores == {"reward": 1.0, "speed": 0.5}
    assert (trace.tags, trace.metadata) == (["env:ci"], {"team": "shop"})
    assert trace.response == {"content": "Refunded.", "finish_reason": None, "message_index": 3}


def test_calls_find_their_results_anywhere():
    lookup, plan, pay = build(EVERYTHING, run()).tool_calls
    assert (lookup["id"], lookup["result_text"], lookup["status"]) == ("1", '{"found":true}', "ok")
    assert (plan["arguments"], plan["result"], plan["duration_ms"]) == ({"x": 1}, {"n": 2}, 250)
    assert (pay["status"], pay["error"]["message"], pay["exit_code"]) == ("error", '{"why":"broke"}', 3)
    assert lookup["step"] == plan["step"] == pay["step"] == 1


def test_calls_that_are_listed_separately_are_merged_with_those_of_messages():
    mapping = custom("custom: {messages: log, tool_calls: {path: calls}}\n")
    shown = [{"id": "c1", "name": "a", "arguments": {}}, {"id": "c2", "name": "b", "arguments": {}}]
    log = [{"role": "assistant", "content": None, "tool_calls": shown}]
    calls = [{"id": "c2", "name": "b", "result": "2"}, {"name": "a", "result": "1"}, {"name": "new"}]
    trace = build(mapping, {"log": log, "calls": calls})
    assert [(call["name"], call["result"]) for call in trace.tool_calls] == [
        ("a", "1"),
        ("b", "2"),
        ("new", None),
    ]


def test_without_messages_input_calls_and_response_are_the_conversation():
    mapping = custom("custom: {input: q, response: a, tool_calls: {path: steps, name: tool, result: got}}\n")
    trace = build(mapping, {"q": "Weather?", "a": "Rain.", "steps": [{"tool": "look", "got": 5}]})
    assert [(m["role"], m["content"]) for m in trace.messages] == [
        ("user", "Weather?"),
        ("assistant", None),
        ("assistant", "Rain."),
    ]
    assert (trace.tool_calls[0]["result"], trace.tool_calls[0]["turn"]) == (5, 1)
    assert trace.response["content"] == "Rain."
    assert trace.warnings == []


def test_the_response_may_be_any_value_and_in_no_message():
    mapping = custom("custom: {messages: log, response: a}\n")
    trace = build(mapping, {"log": [{"role": "user", "content": "x"}], "a": {"b": [1]}})
    assert trace.response == {"content": '{"b":[1]}', "finish_reason": None, "message_index": None}


def test_fields_that_the_suite_does_not_name_are_unknown():
    trace = build(custom("custom: {response: a}\n"), {"a": "x"})
    assert trace.cost["usd"] is trace.latency["total_ms"] is trace.model is trace.scenario_id is None
    assert trace.usage["source"] == "none"


@pytest.mark.parametrize(
    ("mapping", "kinds"),
    [
        ("response: a", ["calls"]),
        ("response: a, tool_calls: {path: calls}", []),
        ("response: a, messages: log", []),
    ],
)
def test_calls_are_unknown_unless_the_suite_says_where_they_are(mapping, kinds):
    trace = build(
        custom(f"custom: {{{mapping}}}\n"), {"a": "x", "calls": [], "log": [{"role": "user", "content": "x"}]}
    )
    assert list(trace.gaps) == kinds


def test_a_failed_run_is_an_error():
    trace = build(EVERYTHING, run(state=None, failure="timeout"))
    assert (trace.status, trace.error["message"]) == ("error", "timeout")
    assert build(EVERYTHING, run(state="incomplete")).status == "incomplete"


def test_latency_may_be_the_time_between_start_and_end():
    mapping = custom("custom: {response: a, started_at: s, ended_at: e}\n")
    trace = build(mapping, {"a": "x", "s": 1780680349500, "e": 1780680350.75})
    assert trace.latency == {"total_ms": 1250, "source": "timestamps"}


def test_a_cost_of_0_beside_tokens_is_unknown():
    trace = build(EVERYTHING, run(bill={"usd": 0, "in": 5, "out": 5}))
    assert trace.cost["usd"] is None
    assert "zero_cost" in [warning["code"] for warning in trace.warnings]


def test_a_tool_message_that_failed_fails_its_call():
    log = [*run()["log"][:2], {"who": "env", "answers": 1, "text": "gone", "failed": True}]
    assert build(EVERYTHING, run(log=log)).tool_calls[0]["status"] == "error"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"bill": {"usd": "two"}},
            "custom.cost_usd (`bill.usd`) is not a number: it found `two`",
        ),
        ({"bill": {"in": -1}}, "custom.input_tokens (`bill.in`) is negative: it found -1"),
        ({"log": None}, "custom.messages (`log`) finds nothing"),
        ({"log": {"a": 1}}, "custom.messages (`log`) is not a list: it found an object with `a`"),
        (
            {"log": [{"who": "robot", "text": "x"}]},
            "custom.message.role (`who`) of message 1 is `robot`, which is not in `roles`",
        ),
        ({"log": [{"text": "x"}]}, "custom.message.role (`who`) of message 1 finds nothing"),
        (
            {"log": [{"who": "bot", "did": [{"args": {}}]}]},
            "custom.tool_calls.name (`fn`) of call 1 of message 1 finds nothing",
        ),
        (
            {"log": [{"who": "bot", "did": [{"fn": "a", "ok": "maybe"}]}]},
            "custom.tool_calls.status (`ok`) of call 1 of message 1 is not one of ok, error, true, false: it found `maybe`",
        ),
        ({"begun": "yesterday"}, "custom.started_at (`begun`) is not an RFC 3339 time: it found `yesterday`"),
        ({"marks": [1]}, "custom.scores (`marks`) is not an object: it found a list"),
        ({"labels": 5}, "custom.tags (`labels`) is neither a list of text nor an object: it found 5"),
        ({"case": True}, "custom.scenario_id (`case`) is neither text nor a number: it found true"),
        ({"state": "fine"}, "custom.status (`state`) is not one of error, incomplete, ok: it found `fine`"),
    ],
)
def test_an_error_names_the_expression_and_the_value_found(change, message):
    with pytest.raises(TraceError) as caught:
        build(EVERYTHING, run(**change))
    assert str(caught.value) == message


def test_a_path_to_calls_that_finds_nothing_is_an_error():
    mapping = custom("custom: {response: a, tool_calls: {path: cals}}\n")
    with pytest.raises(TraceError, match=r"custom\.tool_calls\.path \(`cals`\) finds nothing; append"):
        build(mapping, {"a": "x", "calls": []})


def test_an_expression_that_fails_is_an_error():
    mapping = custom("custom: {response: 'sum(a)'}\n")
    with pytest.raises(TraceError, match=r"custom\.response \(`sum\(a\)`\) fails: function sum\(\) can't take"):
        build(mapping, {"a": 5})


def test_a_run_of_which_nothing_is_found_is_refused():
    with pytest.raises(TraceError, match="finds no message, call or response"):
        build(custom("custom: {response: a, input: b}\n"), {"c": 1})


def test_records_lead_to_the_runs():
    assert split(EVERYTHING, {"runs": [1, 2]}) == [1, 2]
    plain = custom("custom: {response: a}\n")
    assert split(plain, [1, 2]) == [1, 2]
    assert split(plain, {"a": 1}) == [{"a": 1}]
    with pytest.raises(TraceError, match=r"custom\.records \(`runs`\) finds nothing"):
        split(EVERYTHING, {"rows": []})
    with pytest.raises(TraceError, match=r"custom\.records \(`runs`\) is not a list: it found `x`"):
        split(EVERYTHING, {"runs": "x"})


def test_scenario_and_trial_of_a_run_that_can_not_be_read_are_kept():
    assert identify(EVERYTHING, run(log=5)) == ("refund", 1)
    assert identify(EVERYTHING, 5) == (None, None)
    assert identify(EVERYTHING, run(case=[])) == (None, 1)


def test_files_are_read_as_documents_and_as_lines():
    document = json.dumps({"runs": [run(case="a"), run(case="b", log=5)]})
    lines = "\n".join(json.dumps({"runs": [run(case=name)]}) for name in "cd")
    one, broken, three, four = read({"t/1.json": document, "t/2.jsonl": lines})
    assert [one.scenario_id, three.scenario_id, four.scenario_id] == ["a", "c", "d"]
    assert isinstance(broken, DamagedTrace)
    assert (broken.scenario_id, broken.source.record) == ("b", 1)
    assert {one.source.format, four.source.format} == {"custom"}
    assert (three.source.line, four.source.line) == (1, 2)


def test_a_file_without_runs_is_refused_and_the_expression_named():
    (broken,) = read({"t/1.json": '{"rows": []}'})
    assert broken.reason == "custom.records (`runs`) finds nothing"
    (broken,) = read({"t/1.json": "{"})
    assert "JSON" in broken.reason


def test_the_format_of_a_suite_claims_every_document():
    known = make_format(EVERYTHING)
    assert (known.name, known.claims({"schema": "evalgate.trace/1"})) == ("custom", True)


def test_a_record_nested_too_deep_is_refused():
    with pytest.raises(TraceError, match="64 levels"):
        build(EVERYTHING, run(x=nest_lists(70)))


@given(damage_document({"runs": [run()]}))
def test_any_damage_gives_a_trace_or_a_reason(document):
    try:
        for record in split(EVERYTHING, document):
            identify(EVERYTHING, record)
            build(EVERYTHING, record)
    except TraceError as error:
        assert "\n" not in str(error)


FAILED = [{"status": "Failed"}, {"error": "Traceback"}, {"error": {"message": "boom"}}, {"exit_code": 1}]
WELL = [{"status": "completed", "error": None, "exit_code": 0}, {"status": {"code": 1}, "error": ""}]


@pytest.mark.parametrize(("mapping", "reads"), [("", True), ("  status: state\n", False), ("  error: why\n", False)])
def test_fields_that_say_that_a_run_failed_are_read_unless_the_mapping_says_where(mapping, reads):
    found = custom(f"custom:\n  messages: log\n  message: {{role: who, content: text, tool_calls: did}}\n{mapping}")
    ends = [build(found, {"log": [{"who": "user", "text": "Refund"}], **fields}).status for fields in (*FAILED, *WELL)]
    assert ends == ["error" if reads else "ok"] * len(FAILED) + ["ok"] * len(WELL)


def test_a_mapped_end_that_is_missing_makes_calls_incomplete():
    (trace,) = read({"t": json.dumps({"runs": [run(state="incomplete")]})})
    assert "calls" in trace.gaps
