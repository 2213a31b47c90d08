"""The recorder in an agent's process: what it writes is a native trace, whatever the agent does."""

import ast
import asyncio
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from in_process_command import evalgate

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.open import detect
from evalgate.models.trace.trace import Trace, TraceLocation
from evalgate.recording import recorder, scenario, traced_tool

FILE = Path(recorder.__file__)


def read(path):
    """The trace that the gate reads from a file, with the warnings of reading it."""
    known = detect.find_format("native")
    trace = read_record(known.reader, json.loads(path.read_text(encoding="utf-8")), TraceLocation("t", "native"), "t")
    assert isinstance(trace, Trace), trace
    return trace


def names_and_results(trace):
    return [(call["name"], call["arguments"], call["result_text"], call["status"]) for call in trace.tool_calls]


def test_a_run_is_a_native_trace_without_a_warning(tmp_path):
    with scenario("refund", trial=2, variant="small", out=tmp_path) as run:
        run.message("system", "Be kind.")
        run.message("user", "Refund order 42")
        with run.tool("refund", {"id": 42}) as call:
            call.result = {"refunded": 9.5}
        run.message("assistant", "Done.")
        run.usage(10, 4, model="m-1", cache_read_input_tokens=3)
        run.usage(20, 6, model="m-1")
        run.cost(0.25)
        run.cost(0.5)
        run.metadata["team"] = "shop"
    trace = read(tmp_path / "refund@small" / "2.jsonl")
    assert (trace.scenario_id, trace.trial, trace.status, trace.warnings) == ("refund", 2, "ok", [])
    assert [message["role"] for message in trace.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert trace.response["content"] == "Done."
    (call,) = trace.tool_calls
    assert (call["name"], call["arguments"], call["result"]) == ("refund", {"id": 42}, {"refunded": 9.5})
    assert call["duration_ms"] is not None
    assert [call["model"] for call in trace.llm_calls] == ["m-1", "m-1"]
    assert (trace.usage["input_tokens"], trace.usage["total_tokens"]) == (30, 40)
    assert trace.usage["cache_read_input_tokens"] is None  # unknown of the second call
    assert (trace.cost["usd"], trace.model, trace.tags) == (0.75, "m-1", ["small"])
    assert trace.metadata == {"variant": "small", "team": "shop"}
    assert trace.latency["total_ms"] is not None
    assert trace.started_at is not None


def test_the_gate_judges_it_without_a_warning(tmp_path):
    with scenario("refund", out=tmp_path / "traces") as run:
        run.message("user", "Refund order 42")
        with run.tool("refund", {"id": 42}) as call:
            call.result = "ok"
        run.message("assistant", "Done.")
        run.usage(10, 4)
        run.cost(0.01)
    suite = tmp_path / "refunds.yaml"
    suite.write_text(
        "suite: refunds\ntraces: [traces/**/*.jsonl]\nscenarios:\n"
        "  - {id: refund, assertions: [{type: tool_called, tool: refund, required: true}]}\n",
        encoding="utf-8",
    )
    result = evalgate("run", str(suite), "--output-dir", str(tmp_path / "out"), "--no-baseline-zip")
    assert result.exit_code == 0, result.out + result.err
    assert json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))["warnings"] == []


def run_and_end(out, trial, end):
    """A run in which a tool calls `end`."""
    with scenario("refund", trial=trial, out=out) as run:
        run.message("user", "Refund order 42")
        with run.tool("refund", {"id": 42}):
            end()


def test_an_exception_is_recorded_and_raised(tmp_path):
    with pytest.raises(ZeroDivisionError):
        run_and_end(tmp_path, 1, lambda: 1 / 0)
    trace = read(tmp_path / "refund" / "1.jsonl")
    assert (trace.status, trace.error) == ("error", {"type": "ZeroDivisionError", "message": "division by zero"})
    assert names_and_results(trace) == [("refund", {"id": 42}, "ZeroDivisionError: division by zero", "error")]


@pytest.mark.parametrize(("trial", "code", "status"), [(0, 0, "ok"), (1, None, "ok"), (2, 3, "error")])
def test_sys_exit_is_an_error_unless_its_code_is_0(tmp_path, trial, code, status):
    with pytest.raises(SystemExit):
        run_and_end(tmp_path, trial, lambda: sys.exit(code))
    assert read(tmp_path / "refund" / f"{trial}.jsonl").status == status


def test_nothing_recorded_is_no_evidence_that_nothing_happened(tmp_path):
    with scenario("idle", out=tmp_path):
        pass
    with pytest.raises(AssertionError, match="records nothing that the agent did"):
        read(tmp_path / "idle" / "0.jsonl")
    with scenario("metered", out=tmp_path) as run:
        run.usage(1, 2)
    assert set(read(tmp_path / "metered" / "0.jsonl").gaps) == {"messages", "calls"}


def test_no_file_is_visible_before_the_run_ends(tmp_path):
    with scenario("refund", out=tmp_path) as run:
        run.message("user", "Hi")
        assert list(tmp_path.rglob("*")) == []
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["0.jsonl"]


def test_the_same_run_twice_is_refused_also_by_case(tmp_path):
    with scenario("refund", out=tmp_path):
        pass
    with pytest.raises(ValueError, match="give each run its own `trial`"), scenario("Refund", out=tmp_path):
        pass
    with scenario("refund", trial=1, out=tmp_path):
        pass


@traced_tool
def look_up(order, *, strict=False):
    if order == "lost":
        raise KeyError(order)
    return [order, strict]


@traced_tool
async def look_up_later(order):
    await asyncio.sleep(0)
    return {"order": order}


def test_tools_are_traced_with_arguments_results_and_errors(tmp_path):
    with scenario("tools", out=tmp_path) as run:
        run.message("user", "Where is it?")
        assert look_up("a", strict=True) == ["a", True]
        with pytest.raises(KeyError):
            look_up("lost")
        with pytest.raises(TypeError):
            look_up(number=1)
        assert asyncio.run(look_up_later("b")) == {"order": "b"}
    assert look_up("outside") == ["outside", False]
    assert names_and_results(read(tmp_path / "tools" / "0.jsonl")) == [
        ("look_up", {"order": "a", "strict": True}, '["a", true]', "ok"),
        ("look_up", {"order": "lost"}, "KeyError: 'lost'", "error"),
        ("look_up", {"number": 1}, "TypeError: look_up() got an unexpected keyword argument 'number'", "error"),
        ("look_up_later", {"order": "b"}, '{"order":"b"}', "ok"),
    ]


def test_tasks_of_several_scenarios_keep_their_calls_apart(tmp_path):
    async def run_one(number):
        async with scenario(f"s{number}", out=tmp_path) as run:
            run.message("user", "Go")
            await asyncio.gather(look_up_later(number), look_up_later(number + 100))

    async def run_all():
        await asyncio.gather(*(run_one(number) for number in range(20)))

    asyncio.run(run_all())
    for number in range(20):
        trace = read(tmp_path / f"s{number}" / "0.jsonl")
        assert [call["arguments"]["order"] for call in trace.tool_calls] == [number, number + 100]
        assert [call["step"] for call in trace.tool_calls] == [1, 1]  # parallel: requested before a result
        assert [call["result"] for call in trace.tool_calls] == [{"order": number}, {"order": number + 100}]
        assert trace.gaps == {}


def test_threads_of_the_only_scenario_are_recorded(tmp_path):
    with scenario("threads", out=tmp_path) as run, ThreadPoolExecutor(8) as pool:
        run.message("user", "Go")
        list(pool.map(look_up, range(200)))
    trace = read(tmp_path / "threads" / "0.jsonl")
    assert sorted(call["arguments"]["order"] for call in trace.tool_calls) == list(range(200))
    assert {call["status"] for call in trace.tool_calls} == {"ok"}
    assert all(call["result_text"] == f"[{call['arguments']['order']}, false]" for call in trace.tool_calls)


def test_a_call_that_belongs_to_no_scenario_is_missed_by_each(tmp_path):
    with scenario("one", out=tmp_path) as one, scenario("two", out=tmp_path) as two:
        one.message("user", "Go")
        two.message("user", "Go")
        thread = threading.Thread(target=look_up, args=("x",))
        thread.start()
        thread.join()
    for name in ("one", "two"):
        assert "no scenario" in read(tmp_path / name / "0.jsonl").gaps["calls"]


def test_values_that_json_cannot_hold_become_text(tmp_path):
    loop = {}
    loop["self"] = loop
    values = {
        "nan": float("nan"),
        "big": 1 << 70,
        "bytes": b"x",
        "half": "\ud800",
        "pair": "\ud83e" + "\uddea",
        ("a", 1): {3},
        "loop": loop,
    }
    with scenario("odd", out=tmp_path) as run:
        run.message("user", "half \ud800")
        with run.tool("odd", values) as call:
            call.result = object
    (call,) = read(tmp_path / "odd" / "0.jsonl").tool_calls
    assert (call["arguments"]["nan"], call["arguments"]["big"]) == ("nan", str(1 << 70))
    assert (call["arguments"]["bytes"], call["arguments"]["half"]) == ("b'x'", "\ufffd")
    assert call["arguments"]["pair"] == "\N{TEST TUBE}"
    assert call["arguments"]["('a', 1)"] == [3]
    assert "..." in json.dumps(call["arguments"]["loop"])


@pytest.mark.parametrize(
    "use",
    [
        lambda run: run.message("tool", "x"),
        lambda run: run.usage(-1, 2),
        lambda run: run.usage(1, 2, tokens=3),
        lambda run: run.cost(float("inf")),
        lambda run: run.cost(-1),
    ],
)
def test_wrong_values_are_refused_at_once(tmp_path, use):
    with scenario("wrong", out=tmp_path) as run, pytest.raises(ValueError, match=r"from 0|is system"):
        use(run)
    recorder._paths.clear()


def test_a_run_needs_a_scenario_and_takes_the_rest_from_the_environment(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="needs the id"):
        scenario()
    for name, value in {"SUITE": "My suite", "SCENARIO": "a/b", "VARIANT": "v:1", "TRIAL": "3"}.items():
        monkeypatch.setenv(f"EVALGATE_{name}", value)
    monkeypatch.setenv("EVALGATE_COMMIT", "c" * 40)
    monkeypatch.setenv("EVALGATE_AGENT_HASH", "sha256:1")
    with scenario(out=tmp_path) as run:
        run.message("user", "Hi")
    trace = read(tmp_path / "My%20suite" / "a%2Fb@v%3A1" / "3.jsonl")
    assert (trace.scenario_id, trace.trial, trace.commit, trace.agent_hash) == ("a/b", 3, "c" * 40, "sha256:1")


def test_a_message_after_the_end_is_refused(tmp_path):
    with scenario("late", out=tmp_path) as run:
        pass
    with pytest.raises(RuntimeError, match="not open"):
        run.message("user", "Hi")


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("refund-1.0_a", "refund-1.0_a"),
        ("a/b c~é", "a%2Fb%20c%7E%C3%A9"),
        ("..", "%2E."),
        ("CON", "%43ON"),
        ("com1.txt", "%63om1.txt"),
        ("console", "console"),
        ("x" * 100, "x" * 100),
        ("x" * 101, "x" * 80 + "-" + "c675a2e604b0"),
    ],
)
def test_a_name_is_a_safe_part_of_a_path(name, path):
    assert recorder.encode_name(name) == path


def test_it_is_one_short_file_for_python_3_9():
    text = FILE.read_text(encoding="utf-8")
    assert text.count("\n") <= 250
    tree = ast.parse(text, feature_version=(3, 9))
    modules = {
        alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    modules |= {node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules - set(sys.stdlib_module_names) == set()
    assert "tomllib" not in modules  # the only package that came after 3.9


def test_a_copy_of_the_file_works_alone(tmp_path):
    (tmp_path / "own_recorder.py").write_text(FILE.read_text(encoding="utf-8"), encoding="utf-8")
    agent = "import sys; from own_recorder import scenario\nwith scenario('x') as run: run.message('user', 'Hi')\n"
    agent += "assert not [name for name in sys.modules if name.startswith('evalgate')]"
    subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, '.')\n{agent}"], cwd=tmp_path, check=True
    )
    assert read(tmp_path / "traces" / "x" / "0.jsonl").messages[0]["content"] == "Hi"
