"""`evalgate traces` lists what traces record, `evalgate show` prints one as a conversation."""

from __future__ import annotations

import json
import os
import re
import time

import pytest
from in_process_command import evalgate

from evalgate.cli.traces import UNLIMITED
from evalgate.models.trace.trace import DamagedTrace, TraceLocation
from evalgate.reporting.terminal.trace_table import build_damaged_row, render_fitted_table, render_trace_table

ROOT_OF_TRACES = os.path.join(os.path.dirname(__file__), "../../../shared/traces")  # noqa: PTH118, PTH120
LONG = "\n".join(f"line {number}" for number in range(40))
TRACE = {
    "schema": "evalgate.trace/1",
    "trace_id": "t-1",
    "scenario_id": "refund",
    "trial": 2,
    "model": "gpt-test",
    "messages": [
        {"role": "system", "content": LONG},
        {"role": "user", "content": "Where is my order?"},
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [{"id": "c1", "name": "lookup_order", "arguments": {"id": "A-1"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "not found \x1b[31m", "is_error": True},
        {"role": "assistant", "content": "It is late. My key is sk-ant-api03-" + "a1B2" * 23 + "-AA"},
    ],
    "usage": {"input_tokens": 1000, "output_tokens": 234},
    "evaluations": [{"name": "reward", "score_value": 0.5}],
}


@pytest.fixture
def traces(tmp_path):
    (tmp_path / "good").mkdir()
    (tmp_path / "empty").mkdir()
    answered = [*TRACE["messages"][:2], {"role": "assistant", "content": "Soon."}]
    second = {**TRACE, "trace_id": "t-2", "scenario_id": "parcel", "messages": answered}
    lines = [json.dumps(TRACE), json.dumps(second), "{"]
    (tmp_path / "good/all.jsonl").write_text("\n".join(lines))
    (tmp_path / "empty/notes.json").write_text('{"widgets": 1}')
    return tmp_path


@pytest.mark.parametrize(
    ("suite", "folder", "place"),
    [(None, "traces", "traces"), ("../good/*.jsonl", "good", "good/*.jsonl"), ("../none/*.jsonl", "traces", "traces")],
)
def test_without_a_name_the_traces_of_the_suites_are_listed_or_those_of_the_usual_folder(
    tmp_path, suite, folder, place
) -> None:
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "all.jsonl").write_text(json.dumps(TRACE))
    if suite is not None:
        (tmp_path / "evals").mkdir()
        check = {"id": "refund", "assertions": [{"type": "not_empty"}]}
        (tmp_path / "evals/s.yaml").write_text(json.dumps({"suite": "s", "traces": [suite], "scenarios": [check]}))
    done = evalgate("traces", cwd=str(tmp_path))
    assert (done.exit_code, "refund" in done.out) == (0, True)
    assert f"note: no traces were named, so these are those of {place}\n" in done.err


def test_without_a_name_and_without_traces_one_line_says_what_to_do(tmp_path) -> None:
    done = evalgate("traces", cwd=str(tmp_path))
    assert (done.exit_code, done.err.count("\n")) == (2, 1)
    assert "`evalgate record` writes traces/" in done.err
    shown = evalgate("show", cwd=str(tmp_path))
    assert (shown.exit_code, shown.err.count("\n"), "`evalgate traces` lists both" in shown.err) == (2, 1, True)


def test_the_table_has_a_row_per_trace_and_names_what_holds_none(traces) -> None:
    done = evalgate("traces", str(traces))
    header, first, second, damaged = (line.split() for line in done.out.splitlines())
    assert done.exit_code == 0, done.err
    assert header == [
        "trace",
        "scenario",
        "trial",
        "format",
        "model",
        "turns",
        "calls",
        "tokens",
        "cost",
        "latency",
        "status",
        "result",
        "evidence",
    ]
    assert first == [
        f"{traces}/good/all.jsonl:1",
        "refund",
        "2",
        "native",
        "gpt-test",
        "1",
        "1",
        "1,234",
        "\u2013",
        "\u2013",
        "ok",
        *["reward", "0.5"],
        *["no", "cost,", "times"],
    ]
    assert second[:2] == [f"{traces}/good/all.jsonl:2", "parcel"]
    assert "unreadable" in damaged
    assert f"{traces}/good/all.jsonl:3: the JSON ends unexpectedly" in done.err
    assert f"note: no trace in {traces}/empty (1 file, notes.json): no format matches" in done.err


def test_the_json_has_the_figures_and_the_evidence(traces) -> None:
    done = evalgate("traces", "--json", str(traces / "good"), str(traces / "empty"))
    document = json.loads(done.out)
    first = document["traces"][0]
    assert document["schema"] == "evalgate.traces/1"
    assert (first["trace_id"], first["total_tokens"], first["cost_usd"]) == ("t-1", 1234, None)
    assert (first["evidence"]["calls"], first["evidence"]["cost"]) == ("complete", "missing")
    assert first["result"] == {"name": "reward", "value": 0.5, "passed": False}
    assert document["traces"][2]["reason"].startswith("the JSON ends")
    assert document["folders_without_traces"] == [{"folder": f"{traces}/empty", "files": 1}]


def test_equal_reasons_of_a_folder_are_one_note_that_names_a_file(traces) -> None:
    for name in ("b.json", "c.json"):
        (traces / f"empty/{name}").write_text("{")
        (traces / f"good/{name}").write_text("{")
    done = evalgate("traces", str(traces))
    assert done.exit_code == 0
    assert f"note: {traces}/good: 3 files, e.g. all.jsonl:3: the JSON ends" in done.err
    assert f"note: no trace in {traces}/empty (2 files, e.g. b.json): the JSON ends" in done.err
    assert f"note: no trace in {traces}/empty (1 file, notes.json): no format matches" in done.err


def test_a_file_given_by_name_that_cannot_be_read_is_named_as_typed(traces) -> None:
    typed = f"{traces}/good/../empty/notes.json"
    alone = evalgate("traces", typed)
    assert (alone.exit_code, alone.out) == (2, "")
    assert alone.err.startswith(f"note: {typed}: no format matches")
    assert evalgate("traces", typed, "--json").exit_code == 2
    beside = evalgate("traces", typed, f"{traces}/good")
    assert beside.exit_code == 2
    assert f"note: {typed}: no format matches" in beside.err
    assert evalgate("traces", f"{traces}/empty").exit_code == 0


@pytest.mark.parametrize(
    "spelling", ["{}/a.json", "{}//a.json", "{}/./a.json", "{}/../{name}/a.json", "a.json", "./a.json", "link"]
)
@pytest.mark.parametrize("beside", [False, True])
def test_a_refused_file_given_by_name_is_exit_code_2_however_it_is_spelled(
    tmp_path, monkeypatch, spelling, beside
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.json").write_text('{"call_type": "x", "startTime": 1, "endTime": 2}')
    (tmp_path / "good.json").write_text(json.dumps(TRACE))
    (tmp_path / "link").symlink_to("a.json")
    typed = spelling.format(tmp_path, name=tmp_path.name)
    done = evalgate("traces", "--json", typed, *(["good.json"] if beside else []), cwd=str(tmp_path))
    (refused,) = json.loads(done.out)["refused"]
    assert done.exit_code == 2
    assert refused["path"].endswith(("a.json", "link"))
    assert refused["reason"].startswith("no format matches")
    assert refused["nearest"] == ["litellm"]
    assert evalgate("traces", typed, cwd=str(tmp_path)).err.startswith(f"note: {typed}: no format matches")


def test_every_reason_is_in_the_json_also_of_a_record_beside_others(traces) -> None:
    done = evalgate("traces", "--json", f"{traces}/good/all.jsonl", f"{traces}/empty")
    refused = {each["path"]: each["reason"] for each in json.loads(done.out)["refused"]}
    assert done.exit_code == 0
    assert list(refused) == [f"{traces}/empty/notes.json", f"{traces}/good/all.jsonl:3"]
    assert refused[f"{traces}/good/all.jsonl:3"].startswith("the JSON ends")


def test_the_table_of_a_terminal_fits_and_has_no_empty_column() -> None:
    row = {**build_damaged_row(DamagedTrace("broken", TraceLocation(f"{'p' * 90}/last.json", "native", None, 101)))}
    header, line = render_fitted_table([{**row, "model": "m"}], 70).splitlines()
    assert header.split() == ["trace", "scenario", "format", "model", "status"]
    assert re.match("p+\u2026p*/last.json#102 ", line)
    assert len(line) <= 70


@pytest.mark.parametrize(
    ("name", "why"), [("none*", "nothing matches"), ("none", "it does not exist"), ("empty", "the folder is empty")]
)
def test_a_pattern_without_a_file_is_an_error_with_its_reason(tmp_path, name, why) -> None:
    (tmp_path / "empty").mkdir()
    done = evalgate("traces", str(tmp_path / name))
    assert (done.exit_code, done.err) == (2, f"error: no trace file at '{tmp_path}/{name}' ({why})\n")


@pytest.mark.shared
def test_every_folder_of_real_traces_is_in_one_table_in_ten_seconds_of_cpu() -> None:
    start = time.thread_time()
    done = evalgate("traces", ROOT_OF_TRACES)
    assert time.thread_time() - start < 10
    assert done.exit_code == 0
    assert len(done.out.splitlines()) > 400
    assert "note: no trace in " in done.err


def test_a_conversation_is_printed_with_its_calls_indented_and_long_parts_folded(traces) -> None:
    done = evalgate("show", f"{traces}/good/all.jsonl")
    assert done.exit_code == 0
    assert "several traces, this is #1" in done.err
    text = done.out
    assert "  line 11\n  ... 28 more lines (--full prints all)\n" in text
    call = '  Let me look.\n    call 1 lookup_order {"id":"A-1"}\n      -> error: not found'
    assert call in text
    assert text.index("\nuser\n") < text.index("  Where is my order?") < text.index("\nassistant\n")
    assert "\ntool\n" not in text
    assert "\x1b" not in text
    assert "a1B2a1B2" not in text


def test_one_of_several_traces_is_chosen_by_number_and_printed_whole(traces) -> None:
    done = evalgate("show", f"{traces}/good/all.jsonl#2", "--full")
    assert (done.exit_code, done.err) == (0, "")
    assert "scenario parcel, trial 2" in done.out
    assert "  line 39\n" in done.out
    assert "more line" not in done.out


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("#3", "all.jsonl:3: the JSON ends unexpectedly"),
        ("#4", "no trace number 4 at "),
        ("#0", "'0' is not the number of a trace (write TRACE#1 for the first)"),
        ("#two", "'two' is not the number of a trace"),
        ("x", "no trace file at "),
        (":3", "all.jsonl:3: the JSON ends unexpectedly"),
        (":9", "no trace at line 9 of "),
        (":2#2", "no trace number 2 at line 2 of "),
    ],
)
def test_a_trace_that_cannot_be_shown_is_one_line(traces, number: str, message: str) -> None:
    done = evalgate("show", f"{traces}/good/all.jsonl{number}")
    assert (done.exit_code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err


@pytest.mark.parametrize("name", ["list.json", "blank.jsonl"])
def test_what_the_table_names_is_what_show_prints(tmp_path, name: str) -> None:
    documents = [{**TRACE, "trace_id": f"t-{each}", "scenario_id": f"s-{each}"} for each in range(3)]
    (tmp_path / "list.json").write_text(json.dumps(documents))
    (tmp_path / "blank.jsonl").write_text("\n\n".join(map(json.dumps, documents)))
    rows = [line.split()[:2] for line in evalgate("traces", str(tmp_path / name)).out.splitlines()[1:]]
    assert [scenario for _, scenario in rows] == ["s-0", "s-1", "s-2"]
    assert rows[2][0] == f"{tmp_path}/{name}{'#3' if name == 'list.json' else ':5'}"
    for place, scenario in rows:
        shown = evalgate("show", place)
        assert (shown.exit_code, shown.err) == (0, "")
        assert f"scenario {scenario}, trial 2" in shown.out
        assert f"({place}, format native)" in " ".join(shown.out.split())


def test_an_id_is_never_cut_and_a_place_only_on_a_terminal() -> None:
    row = {**build_damaged_row(DamagedTrace("broken", TraceLocation("p" * 90, "native", None, 101)))}
    row |= {"scenario_id": "s" * 150, "model": "m" * 60, "reason": "broken"}
    line = render_trace_table([row], 80).splitlines()[1]
    assert line.split()[:2] == [f"{'p' * 16}\u2026{'p' * 11}#102", "s" * 150]
    assert "p" * 90 + "#102" in render_trace_table([row], UNLIMITED)
    assert "m" * 7 + "\u2026" in line
    assert "m" * 60 in render_trace_table([row], UNLIMITED)


def test_a_name_with_the_sign_is_a_file(traces) -> None:
    (traces / "a#1").write_text(json.dumps(TRACE))
    assert "scenario refund" in evalgate("show", f"{traces}/a#1").out
    assert "scenario refund" in evalgate("show", f"{traces}/a#1#1").out


def test_calls_that_no_message_requests_are_shown_in_their_turn(tmp_path) -> None:
    calls = [{"turn": 1, "name": "one", "arguments": {}}, {"turn": 2, "name": "two", "arguments": {}}]
    messages = [{"role": "user", "content": "apple"}, {"role": "user", "content": "pear"}]
    trace = {"schema": "evalgate.trace/1", "messages": messages, "tool_calls": calls}
    (tmp_path / "t.json").write_text(json.dumps(trace))
    words = evalgate("show", str(tmp_path / "t.json")).out.split()
    assert [word for word in words if word in ("apple", "one", "pear", "two")] == ["apple", "one", "pear", "two"]


@pytest.mark.parametrize(("place", "scenario"), [("good/all.jsonl:2", "parcel"), ("good/all.jsonl#1", "refund")])
def test_query_takes_the_places_that_show_takes(traces, place: str, scenario: str) -> None:
    done = evalgate("query", "metadata.scenario_id", f"{traces}/{place}")
    assert (done.exit_code, done.out) == (0, f'"{scenario}"\n')
    done = evalgate("query", f"{traces}/{place}", "metadata.scenario_id")
    assert "the expression comes first" in done.err
    assert "no trace at line 9 of " in evalgate("query", "metadata.scenario_id", f"{traces}/good/all.jsonl:9").err


def test_unknown_calls_are_not_counted_as_none(tmp_path) -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "x", "finish_reason": "tool_calls"}]
    (tmp_path / "t.json").write_text(json.dumps({"messages": messages}))
    trace = str(tmp_path / "t.json")
    listed = json.loads(evalgate("traces", trace, "--json").out)["traces"][0]
    assert (listed["tool_calls"], listed["evidence"]["calls"]) == (None, "missing")
    assert evalgate("query", "metadata.tool_call_count", trace).out == "null\n"
    assert "1 turn, calls unknown, tokens" in evalgate("show", trace).out
