"""Trajectories of other projects, compared with what plain code finds in the files."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.native import reader as native
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.models.trace.trace import DamagedTrace, Trace
from evalgate.models.trace.trace_document import encode_trace

SHARED = Path(__file__).resolve().parents[4] / "shared" / "traces"
pytestmark = [
    pytest.mark.shared,
]


def records(*patterns):
    return list(TraceFiles(Workspace(None, str(SHARED))).read(patterns, ""))


def read(*patterns):
    found = records(*patterns)
    assert all(isinstance(record, Trace) for record in found), [
        record.reason for record in found if isinstance(record, DamagedTrace)
    ]
    return {Path(trace.source.path).name: trace for trace in found}


def raw(name):
    return orjson.loads((SHARED / name).read_bytes())


def path_starting(folder, start):
    return next(path for path in sorted((SHARED / folder).iterdir()) if path.name.startswith(start))


@pytest.fixture(scope="module")
def swe():
    return read("swe-agent/*.traj")


def test_every_swe_agent_trajectory_is_read(swe):
    assert len(swe) == 12
    assert {trace.source.format for trace in swe.values()} == {"swe-agent"}


def test_swe_agents_made_one_call_a_step(swe):
    for name, trace in swe.items():
        trajectory = raw(f"swe-agent/{name}")["trajectory"]
        assert len(trace.tool_calls) == len(trajectory), name
        assert {call["status"] for call in trace.tool_calls} <= {"ok", "unknown"}, name
        assert trace.turn_count == 1, name
    assert sum(len(trace.tool_calls) for trace in swe.values()) == 111


def test_swe_agents_called_by_text_have_the_command_as_argument(swe):
    for name, trace in swe.items():
        document = raw(f"swe-agent/{name}")
        if any("tool_calls" in message for message in document["history"]):
            continue
        actions = [step["action"].strip() for step in document["trajectory"]]
        assert [call["arguments"] for call in trace.tool_calls] == [{"command": each} for each in actions]
        assert [call["name"] for call in trace.tool_calls] == [each.split()[0] for each in actions]


def test_swe_agents_called_by_tools_have_their_own_arguments(swe):
    trace = swe[path_starting("swe-agent", "tests__test_data__trajectories__gpt4__swe-agent-test-repo").name]
    assert [call["name"] for call in trace.tool_calls] == ["find_file", "open", "edit", "bash", "submit"]
    assert trace.tool_calls[0]["arguments"] == {"file_name": "missing_colon.py"}
    assert (trace.scenario_id, trace.model) == ("SWE-agent__test-repo-i1", "gpt-4o")
    assert trace.tool_calls[0]["duration_ms"] == pytest.approx(281.412833)


def test_swe_agents_hand_in_what_they_submitted(swe):
    for name, trace in swe.items():
        info = raw(f"swe-agent/{name}")["info"]
        assert trace.response["content"] == info["submission"], name
        assert (trace.status, trace.finish_reason) == ("ok", "stop"), name


def test_figures_of_swe_agents_are_known_where_they_were_metered(swe):
    known = {trace.usage["total_tokens"]: trace.cost["usd"] for trace in swe.values() if trace.cost["usd"]}
    assert known == {7384: pytest.approx(0.01952), 53187: 0.53839, 123981: 1.26719}
    unknown = [trace for trace in swe.values() if trace.cost["usd"] is None]
    assert len(unknown) == 9
    assert {trace.usage["total_tokens"] for trace in unknown} == {None}
    assert {tuple(warning["code"] for warning in trace.warnings) for trace in unknown} == {
        ("missing_evidence", "zero_cost")
    }


def test_a_demonstration_in_a_prompt_is_not_an_action(swe):
    name = path_starting("swe-agent", "tests__test_data__trajectories__gpt4__swe-bench-dev").name
    assert [message["role"] for message in swe[name].messages[:4]] == [
        "system",
        "system",
        "user",
        "assistant",
    ]
    assert swe[name].messages[2]["content"].startswith("We're currently solving the following issue")


def test_mini_swe_agent_is_read():
    (trace,) = read("mini-swe-agent/*.json").values()
    messages = raw("mini-swe-agent/github_issue.traj.json")
    contents = [message["content"] for message in messages]
    assert [message["content"] for message in trace.messages] == contents
    assert trace.source.format == "mini-swe-agent"
    assert [call["name"] for call in trace.tool_calls] == ["bash"] * 10
    commands = [each.split("```mswea_bash_command\n")[1].split("\n```")[0] for each in contents[2::2]]
    assert [call["arguments"]["command"] for call in trace.tool_calls] == commands
    assert [call["exit_code"] for call in trace.tool_calls] == [1, 0, 0, 0, 0, 0, 0, 1, 0, None]
    assert trace.response["content"] == contents[-1]
    assert (trace.turn_count, trace.cost["usd"], trace.latency["total_ms"]) == (1, None, None)


@pytest.mark.parametrize(
    ("name", "calls", "tokens", "milliseconds", "answer"),
    [
        ("basic.json", ["str_replace_editor", "finish"], (8132, 1312), 21504.831, "I've created a simple"),
        (
            "wrong_initial_state.json",
            ["str_replace_editor", "execute_bash", "str_replace_editor", "finish"],
            (14828, 358),
            11942.405,
            "The file has been successfully renamed",
        ),
    ],
)
def test_openhands_events_are_read(name, calls, tokens, milliseconds, answer):
    (trace,) = read(f"openhands/{name}").values()
    events = raw(f"openhands/{name}")
    responses = {
        event["tool_call_metadata"]["model_response"]["id"]: event["tool_call_metadata"]["model_response"]
        for event in events
        if "tool_call_metadata" in event
    }
    usages = [response["usage"] for response in responses.values()]
    assert (
        sum(each["prompt_tokens"] for each in usages),
        sum(each["completion_tokens"] for each in usages),
    ) == (
        trace.usage["input_tokens"],
        trace.usage["output_tokens"],
    )
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == tokens
    assert [call["name"] for call in trace.tool_calls] == calls
    written = [
        orjson.loads(call["function"]["arguments"])
        for response in responses.values()
        for call in response["choices"][0]["message"]["tool_calls"]
    ]
    assert [call["arguments"] for call in trace.tool_calls] == written
    assert trace.latency == {"total_ms": pytest.approx(milliseconds), "source": "timestamps"}
    assert trace.response["content"].startswith(answer)
    assert trace.model == "claude-3-5-sonnet-20241022"
    assert trace.cost["usd"] is None
    assert (trace.status, trace.warnings) == ("ok", [])


def test_lines_of_openhands_are_read():
    one, other = records("openhands/output.jsonl")
    lines = [orjson.loads(line) for line in (SHARED / "openhands/output.jsonl").read_bytes().splitlines()]
    assert [trace.scenario_id for trace in (one, other)] == ["neubig/pr-viewer#5", "neubig/pr-viewer#1"]
    for trace, line in zip((one, other), lines, strict=True):
        acts = [event["action"] for event in line["history"] if "action" in event]
        assert [call["name"] for call in trace.tool_calls] == acts[1:]
        assert {call["status"] for call in trace.tool_calls} <= {"ok", "unknown"}
        assert trace.cost["usd"] == line["metrics"]["accumulated_cost"]
        assert trace.response["content"] == line["history"][-1]["thought"]
        assert trace.scores == {"success": 1.0}
        assert (trace.usage["total_tokens"], trace.latency["total_ms"]) == (None, None)
    assert [warning["where"] for warning in one.warnings + other.warnings] == [
        "errors"
    ] * 2  # run_ipython has no exit code
    assert (len(one.tool_calls), len(other.tool_calls)) == (4, 22)
    assert one.tool_calls[0]["exit_code"] == 0


@pytest.mark.parametrize(
    ("name", "calls", "tokens", "answer"),
    [
        (
            "10_ChatGPT_DFS_woFilter_w2.json",
            ["transitaires_for_transitaires", "transitaire_for_transitaires", "Finish"],
            2916,
            "The contact details of the 'Gondrand'",
        ),
        (
            "11_ChatGPT_DFS_woFilter_w2.json",
            [
                "transitaires_for_transitaires",
                "transitaire_for_transitaires",
                "transitaires_for_transitaires",
                "Finish",
            ],
            4492,
            "Here is a comprehensive list",
        ),
    ],
)
def test_toolbench_answers_are_read(name, calls, tokens, answer):
    (trace,) = read(f"toolbench/{name}").values()
    generated = raw(f"toolbench/{name}")["answer_generation"]
    assert len(trace.messages) == len(generated["train_messages"][-1])
    assert [call["name"] for call in trace.tool_calls] == calls
    assert {call["status"] for call in trace.tool_calls} == {"ok"}
    assert trace.usage["total_tokens"] == generated["total_tokens"] == tokens
    assert trace.response["content"] == orjson.loads(generated["final_answer"])["final_answer"]
    assert trace.response["content"].startswith(answer)
    assert trace.scores == {"win": 1.0}
    assert (trace.cost["usd"], trace.latency["total_ms"], trace.finish_reason) == (None, None, "stop")


def test_outcomes_of_exgentic_sessions_say_where_the_steps_are():
    found = records("exgentic/*.json")
    assert [record.scenario_id for record in found] == ["django__django-16116", "47"]
    assert all("include its trajectory.jsonl in the glob" in record.reason for record in found)


def test_a_tau2_folder_without_text_or_calls_is_refused_by_its_simulation():
    (record,) = records("tau2-bench-dirformat/**/*.json")
    assert record.reason.startswith("none of 973 ticks has text or a tool call")
    assert record.source.path.endswith("simulations/49b22f0c-4a56-41c5-922f-bc2a56e53a23.json")
    assert (record.scenario_id, record.trial) == ("40", 0)
    simulation = raw("tau2-bench-dirformat/simulations/49b22f0c-4a56-41c5-922f-bc2a56e53a23.json")
    chunks = [tick[side] for tick in simulation["ticks"] for side in ("agent_chunk", "user_chunk")]
    assert not any("content" in chunk or "tool_calls" in chunk for chunk in chunks)


def test_a_tau2_folder_without_its_simulations_says_where_they_are():
    (record,) = records("tau2-bench-dirformat/results.json")
    assert "include its simulations, simulations/*.json, in the glob" in record.reason


def test_every_trajectory_written_in_the_native_format_is_read_back_the_same():
    for trace in records("swe-agent/*", "mini-swe-agent/*", "openhands/*", "toolbench/*"):
        again = native.build(orjson.loads(orjson.dumps(encode_trace(trace))))
        again.source = trace.source
        assert again == trace
