from __future__ import annotations

import json

import pytest
from fakes.files import MemoryFiles

from evalgate.adapters.formats.core.format import TraceLimits
from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.adapters.formats.tau import tau2_folder_reader
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace


def tick(number, user=None, agent=None, **fields):
    return {
        "tick_id": number,
        "timestamp": f"2026-06-30T11:40:{number:02d}.5",
        "user_chunk": {"role": "user", "content": user, "contains_speech": user is not None},
        "agent_chunk": {"role": "assistant", "content": agent, "contains_speech": agent is not None},
        **fields,
    }


def simulation(name="sim-1", **fields):
    call = {"id": "c1", "name": "cancel", "arguments": {"order": 5}, "requestor": "assistant"}
    answer = {"id": "c1", "role": "tool", "content": "cancelled", "requestor": "assistant", "error": False}
    ticks = [
        tick(0),
        tick(1, user="Hi, I want "),
        tick(2, user="to cancel."),
        tick(3, agent="Which "),
        tick(4, user="mhm", agent="order"),
        tick(5, agent=" is it?"),
        tick(6, user="Five."),
        tick(7, agent_tool_calls=[call], agent_tool_results=[answer]),
        tick(8, agent="Done."),
    ]
    return {
        "id": name,
        "task_id": "40",
        "trial": 1,
        "start_time": "2026-06-30T11:40:00",
        "end_time": "2026-06-30T11:40:09",
        "duration": 9.5,
        "termination_reason": "user_stop",
        "mode": "full_duplex",
        "ticks": ticks,
        **fields,
    }


def heading(**fields):
    return {
        "timestamp": "2026-06-30T11:17:32",
        "info": {
            "agent_info": {
                "implementation": "audio_agent",
                "llm": "openai:x",
                "llm_args": {"api_key": "sk-x"},
            },
            "environment_info": {"domain_name": "retail"},
            **fields,
        },
        "tasks": [],
    }


AUDIO = {"audio_native_config": {"provider": "openai", "model": "gpt-realtime-2"}}


def build(*documents):
    (found,) = tau2_folder_reader.split(list(documents))
    return tau2_folder_reader.build(found)


def read(files, patterns=("r",), **limits):
    content = {name: json.dumps(value).encode() for name, value in files.items()}
    return list(TraceFiles(MemoryFiles(content), TraceLimits(**limits)).read(list(patterns), ""))


def test_a_simulation_that_was_written_as_messages_is_read_as_such():
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    assert build(simulation(messages=messages, ticks=None)).response["content"] == "Hello"


@pytest.mark.parametrize(("role", "owner"), [("assistant", "assistant"), ("user", "user")])
def test_a_call_in_a_message_of_the_agent_is_its_own_whoever_is_named(role, owner):
    call = {"id": "c", "name": "cancel", "arguments": {}, "requestor": "user"}
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": role, "content": None, "tool_calls": [call]},
        {"role": "tool", "id": "c", "content": "done", "requestor": "user"},
        {"role": "assistant", "content": "Hello"},
    ]
    [made] = build(simulation(messages=messages, ticks=None)).tool_calls
    assert made["requestor"] == owner


@pytest.mark.parametrize("chunk", [{}, {"content": "UklGRg==", "is_audio": True}])
def test_a_simulation_without_recorded_messages_is_refused(chunk):
    silent = [{**tick(number), "agent_chunk": chunk} for number in range(1200)]
    with pytest.raises(TraceError, match="none of 1,200 ticks has text or a tool call"):
        build(simulation(ticks=silent))


def test_settings_alone_say_where_the_simulations_are():
    with pytest.raises(TraceError, match=r"include its simulations, simulations/\*\.json"):
        tau2_folder_reader.split([heading()])


def test_each_file_of_a_folder_is_read_with_the_settings_of_its_own_run():
    records = read(
        {
            "r/a/results.json": heading(**AUDIO),
            "r/a/simulations/1.json": simulation("one"),
            "r/a/simulations/2.json": simulation("two"),
            "r/b/results.json": heading(agent_info={"llm": "x/other"}),
            "r/b/simulations/3.json": simulation("three"),
        }
    )
    assert [(trace.trace_id, trace.model, trace.source.path) for trace in records] == [
        ("one", "gpt-realtime-2", "r/a/simulations/1.json"),
        ("two", "gpt-realtime-2", "r/a/simulations/2.json"),
        ("three", "other", "r/b/simulations/3.json"),
    ]
    assert [trace.source.format for trace in records] == ["tau2-folder"] * 3


def test_files_that_do_not_fit_in_memory_together_are_read_again():
    files = {"r/results.json": heading(**AUDIO), "r/simulations/1.json": simulation("one")}
    assert [trace.model for trace in read(files, kept_bytes=10)] == ["gpt-realtime-2"]


def test_a_damaged_simulation_is_reported_with_its_own_file():
    files = {
        "r/results.json": heading(),
        "r/simulations/1.json": simulation(messages=[{"role": "robot"}]),
        "r/simulations/2.json": simulation("two"),
    }
    broken, whole = read(files)
    assert isinstance(broken, DamagedTrace)
    assert (broken.source.path, broken.scenario_id) == ("r/simulations/1.json", "40")
    assert whole.trace_id == "two"


def test_settings_without_simulations_in_the_glob_are_reported():
    (record,) = read({"r/results.json": heading()})
    assert "include its simulations, simulations/*.json, in the glob" in record.reason
    assert record.source.path == "r/results.json"


def test_content_identifies_the_format():
    assert detect.detect_format([heading()]).name == detect.detect_format([simulation()]).name == "tau2-folder"
    assert detect.detect_format([{**heading(), "simulations": [{}]}]).name == "tau2"
