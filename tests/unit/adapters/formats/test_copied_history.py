"""Forks of sessions, copies of their lines, and snapshots of one message: what was copied is context."""

from __future__ import annotations

import json

import pytest

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.claude_code.reader import READER as CLAUDE
from evalgate.adapters.formats.codex.reader import READER as CODEX
from evalgate.adapters.formats.core.builder.trace_builder import read_records
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.models.trace.trace import TraceLocation

FORKED_AT = 10


def read(reader, lines):
    records = reader.split(lines)
    assert records
    return list(read_records(reader, lines, TraceLocation("t.jsonl", "codex"), "t.jsonl"))


def codes(trace):
    return [warning["code"] for warning in trace.warnings]


def commands(trace):
    return [call["arguments"]["command"] for call in trace.tool_calls]


def at(second, kind, **payload):
    return {"timestamp": f"2026-06-01T10:00:{second:02}.000Z", "type": kind, "payload": payload}


def meta(second, thread, **fields):
    stamp = f"2026-06-01T10:00:{second:02}.000Z"
    return at(second, "session_meta", id=thread, timestamp=stamp, cli_version="0.150.0", **fields)


def item(second, kind, **fields):
    return {**at(second, "response_item"), "payload": {"type": kind, **fields}}


def turn(second, call_id, command):
    arguments = f'{{"command": "{command}"}}'
    asked = [{"type": "input_text", "text": command}]
    answered = [{"type": "output_text", "text": "ok"}]
    return [
        item(second, "message", role="user", content=asked),
        item(second, "function_call", call_id=call_id, name="shell_command", arguments=arguments),
        item(second, "function_call_output", call_id=call_id, output="Exit code: 0"),
        item(second, "message", role="assistant", content=answered),
    ]


def counter(second, total, last=None):
    def usage(pair):
        return {"input_tokens": pair[0], "output_tokens": pair[1], "total_tokens": sum(pair)}

    info = {"total_token_usage": usage(total)} | ({} if last is None else {"last_token_usage": usage(last)})
    return {**at(second, "event_msg"), "payload": {"type": "token_count", "info": info}}


def tokens(trace):
    return trace.usage["input_tokens"], trace.usage["output_tokens"]


PARENT = [meta(0, "P"), *turn(1, "p", "rm -rf build"), counter(2, (50, 9), (50, 9))]
OWN = [*turn(12, "f", "ls"), counter(13, (53, 10), (3, 1))]
SPAWNED = {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "P"}}}}


@pytest.mark.parametrize("mark", [{"forked_from_id": "P"}, SPAWNED], ids=["fork", "sub-agent"])
@pytest.mark.parametrize("history", [PARENT, PARENT[1:]], ids=["with its settings", "without"])
def test_a_fork_of_codex_is_its_own_work(mark, history):
    [trace] = read(CODEX, [meta(FORKED_AT, "F", **mark), *history, *OWN])
    assert (commands(trace), tokens(trace), trace.trace_id) == (["ls"], (3, 1), "F")
    assert [message["content"] for message in trace.messages if message["role"] == "user"] == ["rm -rf build", "ls"]
    assert codes(trace) == ["copied_context"]
    assert len(trace.llm_calls) == 1


def test_copied_lines_that_carry_the_time_of_the_fork_count_and_are_named():
    late = [{**line, "timestamp": "2026-06-01T10:00:11.000Z"} for line in PARENT]
    [trace] = read(CODEX, [meta(FORKED_AT, "F", forked_from_id="P"), *late, *OWN])
    assert commands(trace) == ["rm -rf build", "ls"]
    assert codes(trace) == ["history_may_be_copied"]


@pytest.mark.parametrize(
    ("fields", "counts", "right"),
    [
        ({}, [counter(3, (53, 10), (3, 1))], (3, 1)),
        ({}, [counter(3, (53, 10), (3, 1)), counter(4, (60, 12), (7, 2))], (10, 3)),
        ({}, [counter(3, (50, 9))], (50, 9)),
        ({}, [counter(3, (50, 9), (50, 9)), counter(4, (50, 9), (50, 9))], (50, 9)),
        ({"forked_from_id": "P"}, [counter(13, (53, 10))], (None, None)),
        ({"forked_from_id": "P"}, [counter(13, (53, 10), (3, 1))], (3, 1)),
    ],
    ids=["inherited", "inherited, then more", "a first total is the first turn", "repeated", "unknown start", "fork"],
)
def test_an_inherited_counter_does_not_count(fields, counts, right):
    [trace] = read(CODEX, [meta(0, "F", **fields), *turn(12, "f", "ls"), *counts])
    assert tokens(trace) == right


def test_several_rollouts_of_a_file_stay_several():
    traces = read(CODEX, [*PARENT, meta(20, "Q"), *turn(21, "q", "pwd")])
    assert [commands(trace) for trace in traces] == [["rm -rf build"], ["pwd"]]


def say(session, uuid, message, parent=None, **fields):
    kind = message["role"]
    return {"type": kind, "sessionId": session, "uuid": uuid, "parentUuid": parent, "message": message, **fields}


def asked(session, uuid, text, parent=None, **fields):
    return say(session, uuid, {"role": "user", "content": text}, parent, **fields)


def answered(session, uuid, blocks, tokens_out=10, message_id=None, **fields):
    usage = {"input_tokens": 5, "output_tokens": tokens_out}
    message = {"id": message_id or uuid, "role": "assistant", "model": "m", "content": blocks, "usage": usage}
    return say(session, uuid, message, **fields)


def use(call_id, command):
    return {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": command} if command else {}}


def work(session, start, command, parent=None, **fields):
    names = [f"{start}{number}" for number in range(4)]
    result = {"type": "tool_result", "tool_use_id": names[1], "content": "x"}
    return [
        asked(session, names[0], command, parent, **fields),
        answered(session, names[1], [use(names[1], command)], **fields),
        say(session, names[2], {"role": "user", "content": [result]}, **fields),
        answered(session, names[3], [{"type": "text", "text": "ok"}], **fields),
    ]


def requested_by(session, lines):
    """Lines as `--fork-session` copies them: with the new session's id, and in answers that of the request's."""
    return [{**line, "requestSessionId": session} if line["message"]["role"] == "assistant" else line for line in lines]


COPIES = {
    "fork-session of 2.1.330": [
        {"type": "mode", "mode": "normal", "sessionId": "F"},
        *requested_by("P", work("F", "p", "rm -rf build")),
        *requested_by("F", work("F", "f", "ls", parent="p3")),
    ],
    "fork-session": [*work("P", "p", "rm -rf build"), *work("F", "f", "ls", parent="p3")],
    "branch": [*work("F", "p", "rm -rf build", forkedFrom={"sessionId": "P"}), *work("F", "f", "ls")],
}


@pytest.mark.parametrize("lines", COPIES.values(), ids=COPIES)
def test_a_fork_of_claude_code_is_its_own_work(lines):
    [trace] = read(CLAUDE, lines)
    assert (commands(trace), tokens(trace), trace.conversation_id) == (["ls"], (10, 20), "F")
    assert [message["content"] for message in trace.messages if message["role"] == "user"] == ["rm -rf build", "ls"]
    assert codes(trace) == ["copied_context"]


def test_lines_that_a_resumed_session_repeats_count_once():
    copied = work("R", "p", "rm -rf build")
    first, second = read(CLAUDE, [*work("P", "p", "rm -rf build"), *copied, *work("R", "r", "ls")])
    assert (commands(first), commands(second)) == (["rm -rf build"], ["ls"])
    assert codes(second) == ["copied_context"]


@pytest.mark.parametrize(
    "lines",
    [
        work("F", "p", "ls", forkedFrom={"sessionId": "P"}),
        [{"type": "mode", "mode": "normal", "sessionId": "F"}, *requested_by("P", work("F", "p", "ls"))],
    ],
)
def test_a_session_of_nothing_but_copies_is_the_run(lines):
    [trace] = read(CLAUDE, lines)
    assert commands(trace) == ["ls"]


def test_requests_as_they_were_sent_are_no_messages_and_hide_no_calls():
    sent = {"role": "system", "content": [{"type": "text", "text": "# Environment"}], "output_config": {"effort": "x"}}
    lines = [
        {"type": "api-request-shape", "sessionId": "P", "shape": {"tools": [{"name": "Bash", "input_schema": {}}]}},
        {"type": "api-request-blob", "sessionId": "P", "message": sent, "hash": "x"},
        {"type": "api-request", "sessionId": "P", "params": {"model": "m", "betas": ["b"]}, "tail": ["x"]},
        {"type": "tools-used", "sessionId": "P", "tools": ["Bash"]},
        {"type": "cost-state", "sessionId": "P", "totalCostUSD": 0.1, "modelUsage": {"m": {"inputTokens": 1}}},
    ]
    [trace] = read(CLAUDE, [*work("P", "p", "ls"), *lines])
    assert [message["role"] for message in trace.messages] == ["user", "assistant", "tool", "assistant"]
    assert (commands(trace), codes(trace), dict(trace.gaps)) == (["ls"], [], {})


def test_sessions_without_a_link_stay_several_though_ids_repeat():
    traces = read(CLAUDE, [*work("A", "u", "ls"), *work("B", "u", "pwd")])
    assert [commands(trace)[-1] for trace in traces] == ["ls", "pwd"]


def test_a_snapshot_of_a_message_replaces_the_one_before():
    text, more = {"type": "text", "text": "Let me"}, {"type": "text", "text": "Let me look."}
    lines = [
        asked("T", "v0", "List."),
        answered("T", "v1", [text], 1, "m1"),
        answered("T", "v2", [more, use("t1", None)], 9, "m1"),
        answered("T", "v3", [more, use("t1", "ls")], 30, "m1"),
    ]
    [trace] = read(CLAUDE, lines)
    assert (commands(trace), tokens(trace)) == (["ls"], (5, 30))
    assert trace.messages[1]["content"] == "Let me look."


def test_blocks_of_different_messages_replace_nothing():
    lines = [answered("T", "a", [use("t1", "ls")]), answered("T", "b", [use("t2", "pwd")])]
    [trace] = read(CLAUDE, [asked("T", "q", "List."), *lines])
    assert commands(trace) == ["ls", "pwd"]


ORIGINAL = work("P", "p", "rm -rf build")
RESUMED = [*work("R", "p", "rm -rf build"), *work("R", "r", "ls", parent="p3")]
GONE_ON = [*ORIGINAL, *work("P", "q", "pwd", parent="p3")]
LAST = [*work("S", "p", "rm -rf build"), *work("S", "r", "ls"), *work("S", "s", "id")]


def timed(*times, lines):
    """Lines with times: four of each second that is given."""
    return [{**line, "timestamp": f"2026-11-01T00:00:{times[n // 4]:02}Z"} for n, line in enumerate(lines)]


FOLDERS = {
    "a session and its resumption": ({"a": ORIGINAL, "b": RESUMED}, {"a": ["rm -rf build"], "b": ["ls"]}),
    "of which the first goes on": (
        {"a": timed(1, 9, lines=RESUMED), "b": timed(1, 5, lines=GONE_ON)},
        {"a": ["ls"], "b": ["rm -rf build", "pwd"]},
    ),
    "resumed twice": (
        {"a": LAST, "b": ORIGINAL, "c": RESUMED},
        {"a": ["id"], "b": ["rm -rf build"], "c": ["ls"]},
    ),
    "the resumption alone": ({"b": RESUMED}, {"b": ["rm -rf build", "ls"]}),
    "the same session twice": ({"a": ORIGINAL, "b": GONE_ON}, {"a": ["rm -rf build"], "b": ["rm -rf build", "pwd"]}),
    "another session whose ids repeat": (
        {"a": work("A", "p", "ls"), "b": work("B", "p", "pwd")},
        {"a": ["ls"], "b": ["pwd"]},
    ),
}


@pytest.mark.parametrize("asked_for", ["*", "each"])
@pytest.mark.parametrize(("files", "right"), FOLDERS.values(), ids=FOLDERS)
def test_a_resumed_session_in_a_file_of_its_own_counts_what_it_did_itself(tmp_path, files, right, asked_for):
    for name, lines in files.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (tmp_path / "damaged.jsonl").write_text('{"uuid": "p0", "message"\n')
    for name in files:
        pattern = f"{name}.jsonl" if asked_for == "each" else "[abc].jsonl"
        traces = {each.source.path[0]: each for each in TraceFiles(Workspace(None, str(tmp_path))).read([pattern], "")}
        assert commands(traces[name]) == right[name]
