"""Goldens made from good traces, from files, and from eval sets."""

from __future__ import annotations

import json

import pytest
from documents import ROOT

ON_SQLITE = pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
SECRET = "ghp_" + "a1B2" * 9
TRACE = {
    "schema": "evalgate.trace/1",
    "scenario_id": "refund",
    "messages": [
        {"role": "user", "content": "I want my money back."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "name": "lookup_order", "arguments": {"id": 42}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "paid"},
        {"role": "assistant", "content": "Order 42 will be refunded."},
    ],
}
YAML = """\
goldens:
  - id: refund
    title: Money back
    intent: task_execution
    user_messages: [I want my money back.]
    golden_responses: [Order 42 will be refunded.]
    passing_score: 0.9
  - id: greet
    user_messages: [Hello]
    golden_responses: [Hello!]
"""


def write(folder, name, text):
    (folder / name).write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")


def test_one_command_makes_a_golden_of_a_trace(verbs, store):
    write(verbs.folder, "good.json", TRACE)
    assert verbs("goldens", "add", "--from-trace", "good.json").out == "added: refund\n"
    golden = store.goldens.get("refund")
    assert golden.user_messages == ("I want my money back.",)
    assert golden.golden_responses == ("Order 42 will be refunded.",)
    assert golden.required_tool_usage == ("lookup_order",)


@ON_SQLITE
def test_flags_add_to_the_golden_of_a_trace(verbs, store):
    write(verbs.folder, "good.json", TRACE)
    verbs(
        *("goldens", "add", "--from-trace", "good.json", "--id", "money-back", "--tag", "money"),
        *("--intent", "task_execution", "--response", "It is on its way."),
    )
    golden = store.goldens.get("money-back")
    assert (golden.tags, golden.intent) == (("money",), "task_execution")
    assert golden.golden_responses == ("It is on its way.",)
    assert golden.required_tool_usage == ("lookup_order",)


@ON_SQLITE
@pytest.mark.parametrize("name", ["openai-chat/chat.json", "anthropic/messages.json", "pydantic-ai/messages.json"])
def test_a_trace_may_be_of_any_format(verbs, store, name):
    verbs("goldens", "add", "--id", "x", "--from-trace", str(ROOT / "tests" / "recordings" / name))
    golden = store.goldens.get("x")
    assert golden.user_messages
    assert any(golden.golden_responses)


@ON_SQLITE
def test_of_several_traces_one_is_chosen(verbs, store):
    lines = [json.dumps({**TRACE, "scenario_id": f"s{number}"}) for number in range(3)]
    write(verbs.folder, "all.jsonl", "\n".join([lines[0], "{broken", *lines[1:]]))
    done = verbs("goldens", "add", "--from-trace", "all.jsonl", code=2)
    assert done.err == "error: all.jsonl holds 4 traces (choose one with --number N)\n"
    assert "all.jsonl:2" in verbs("goldens", "add", "--from-trace", "all.jsonl", "--number", "2", code=2).err
    assert "holds 4 traces" in verbs("goldens", "add", "--from-trace", "all.jsonl", "--number", "5", code=2).err
    verbs("goldens", "add", "--from-trace", "all.jsonl", "--number", "4")
    assert store.goldens.ids() == ["s2"]


@ON_SQLITE
def test_a_secret_in_a_trace_is_not_stored(verbs, store):
    messages = [
        {"role": "user", "content": f"use {SECRET}"},
        {"role": "assistant", "content": f"used {SECRET}"},
    ]
    write(verbs.folder, "t.json", {**TRACE, "messages": messages})
    verbs("goldens", "add", "--from-trace", "t.json")
    assert SECRET not in repr(store.goldens.get("refund"))


def test_files_are_imported_and_newer_ones_update_what_is_stored(verbs, store):
    write(verbs.folder, "g.yaml", YAML)
    assert verbs("goldens", "import", "g.yaml").out == "goldens: 2 new, 0 updated, 0 unchanged\n"
    assert verbs("goldens", "import", "*.yaml").out == "goldens: 0 new, 0 updated, 2 unchanged\n"
    write(verbs.folder, "g.yaml", YAML.replace("[Hello!]", "[Good morning!]"))
    assert verbs("goldens", "import", "g.yaml").out == "goldens: 0 new, 1 updated, 1 unchanged\n"
    greet = store.goldens.get("greet")
    assert (greet.golden_responses, greet.version) == (("Good morning!",), 2)


@ON_SQLITE
def test_add_accepts_only_a_file_of_new_goldens(verbs, store):
    write(verbs.folder, "g.yaml", YAML)
    assert verbs("goldens", "add", "--file", "g.yaml").out == "added: refund\nadded: greet\n"
    store.goldens.delete("greet")
    done = verbs("goldens", "add", "--file", "g.yaml", code=2)
    assert "golden `refund` is stored already" in done.err
    assert store.goldens.ids() == ["refund"]


@ON_SQLITE
def test_json_with_pairs_of_surrogates_is_json(verbs, store):
    write(verbs.folder, "g.json", '{"id": "a", "user_messages": ["hi \\ud83d\\ude00"]}')
    write(verbs.folder, "g.jsonl", '{"id": "b", "user_messages": ["hi \\ud83d\\ude00"]}\n')
    verbs("goldens", "import", "g.json", "g.jsonl")
    assert [store.goldens.get(id_).user_messages for id_ in "ab"] == [("hi \U0001f600",)] * 2


EVAL_SET = {
    "eval_set_id": "weather",
    "eval_cases": [
        {
            "eval_id": "rain",
            "conversation": [
                {
                    "user_content": {"parts": [{"text": "Will it rain \U0001f327?"}], "role": "user"},
                    "final_response": {"parts": [{"text": "Yes."}], "role": "model"},
                    "intermediate_data": {"tool_uses": [{"name": "forecast", "args": {"day": 1}}]},
                }
            ],
        }
    ],
}
OLDER = [{"query": "Hi", "expected_tool_use": [{"tool_name": "greet", "tool_input": {}}], "reference": "Hello"}]


def test_an_eval_set_is_imported_as_goldens(verbs, store):
    write(verbs.folder, "weather.evalset.json", EVAL_SET)
    assert verbs("goldens", "import", "weather.evalset.json").out == "goldens: 1 new, 0 updated, 0 unchanged\n"
    golden = store.goldens.get("rain")
    assert (golden.user_messages, golden.golden_responses) == (("Will it rain \U0001f327?",), ("Yes.",))
    assert golden.required_tool_usage == ("forecast",)


@ON_SQLITE
def test_an_eval_set_of_the_older_format_too(verbs, store):
    write(verbs.folder, "older.test.json", OLDER)
    verbs("goldens", "import", "older.test.json")
    [golden] = store.goldens.list()
    assert (golden.user_messages, golden.golden_responses) == (("Hi",), ("Hello",))


@ON_SQLITE
@pytest.mark.shared
def test_real_eval_sets_are_imported(verbs, store, shared):
    for path in (shared / "traces" / "google-adk").glob("*evalset*.json"):
        verbs("goldens", "import", str(path))
    goldens = store.goldens.list()
    assert goldens
    assert all(golden.user_messages for golden in goldens)


@ON_SQLITE
@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("g.yaml", "id: a\ntitel: x\n", 'g.yaml:2:1: unknown key "titel" (did you mean `title`?)'),
        ("g.yaml", "- {id: a}\n- {id: a}\n", "two goldens have the id `a`"),
        ("g.yaml", "- {id: a}\n- {}\n", "`id` is missing"),
        ("g.yaml", 'id: "a\\tb"\n', "`id` must have no invisible characters"),
        (
            "g.yaml",
            "id: a\ncreated_at: '0001-01-01T00:00:00+23:59'\n",
            "g.yaml:2:1: `created_at` has a value",
        ),
        ("g.yaml", "id: [", "g.yaml:2:1: this is not valid YAML"),
        ("g.jsonl", '{"id": "a"}\n{"id": 1, "id": 2}\n', "g.jsonl:2: the key `id` appears twice"),
        ("g.txt", "id: a", "no goldens file at 'g.txt'"),
        ("g.yaml", "traces: [t]\ngoldens: [{id: a}]\n", "this is a suite, not a goldens file (write its"),
        ("g.json", json.dumps({**EVAL_SET, "eval_cases": [{"eval_id": "x"}]}), "eval_cases[0]"),
    ],
)
def test_an_invalid_file_is_reported_and_nothing_is_stored(verbs, store, name, text, reason):
    write(verbs.folder, name, text)
    write(verbs.folder, "good.yaml", "id: good\n")
    done = verbs("goldens", "import", "good.yaml", name, code=2)
    assert reason in done.err
    assert store.goldens.ids() == []


@ON_SQLITE
def test_ten_megabytes_in_a_field_are_refused(verbs, store):
    write(verbs.folder, "g.yaml", f"id: a\nuser_messages: ['{'x' * 10_000_000}']\n")
    done = verbs("goldens", "import", "g.yaml", code=2)
    assert "larger than 8,000,000 bytes" in done.err
    write(verbs.folder, "g.yaml", f"id: a\nuser_messages: ['{'x' * 200_000}']\n")
    assert "at most 100000 characters" in verbs("goldens", "import", "g.yaml", code=2).err
    assert store.goldens.ids() == []
