"""The fixture: it records agents through the proxy, replays cassettes, and checks traces by suites."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import pytest
from fakes.providers import FakeProviders
from pytest_projects import make_trace, run_pytest, start_pytest, write

pytest.importorskip("aiohttp")

SUITE = """suite: support
traces: [none/*.jsonl]
scenarios:
  - id: refund
    assertions:
      - {type: tool_called, tool: find_order, required: true}
      - {not: {type: tool_called, tool: send_money}}
      - {type: output_contains, value: is refunded, required: true}
"""
AGENT = """
import json, os, urllib.error, urllib.request
from evalgate.testing import assert_cost_below, assert_not_called, assert_tool_sequence

def post(messages):
    body = {"model": "gpt-fake", "messages": messages, "tools": TOOLS}
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ.get("OPENAI_API_KEY", "none")}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request) as response:
            return json.load(response)["choices"][0]["message"]
    except urllib.error.HTTPError as error:
        error.close()
        raise

TOOLS = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("find_order", "read_policy")]

def run_agent(question="Refund my order A-7"):
    messages = [{"role": "user", "content": question}]
    while (answer := post(messages)).get("tool_calls"):
        messages.append(answer)
        messages += [{"role": "tool", "tool_call_id": each["id"], "content": "ok"} for each in answer["tool_calls"]]
"""
TEST = (
    AGENT
    + """
def test_refund(evalgate):
    with evalgate.scenario("refund") as run:
        run_agent()
    assert_tool_sequence(run, ["find_order", "read_policy"])
    assert_not_called(run, "send_money")
    result = evalgate.check(run, suite="evals/support.yaml")
    assert result.passed
    assert "OPENAI_BASE_URL" not in os.environ or "/t/" not in os.environ["OPENAI_BASE_URL"]
"""
)


@pytest.fixture
def fake(monkeypatch):
    found = FakeProviders()
    monkeypatch.setenv("OPENAI_BASE_URL", f"{found.url}/v1")
    monkeypatch.delenv("CI", raising=False)
    yield found
    found.close()


def test_an_agent_is_recorded_and_checked(pytester, fake):
    write(pytester, {"evals/support.yaml": SUITE, "pytest.ini": "[pytest]\n", "test_agent.py": TEST})
    result = run_pytest(pytester)
    result.assert_outcomes(passed=1)
    assert len(fake.requests) == 2
    assert not (pytester.path / "traces").exists()


def test_a_check_names_its_reasons(pytester, fake):
    suite = SUITE.replace("is refunded", "is lost")
    write(pytester, {"evals/support.yaml": suite, "pytest.ini": "[pytest]\n", "test_agent.py": TEST})
    result = run_pytest(pytester)
    result.assert_outcomes(failed=1)
    lines = [line[1:].strip() for line in result.stdout.lines if line.startswith("E  ")]
    assert lines[0].startswith("AssertionError: refund: answer contains ")
    assert lines[1] == "HARD FAIL  refund"
    assert lines[-2:] == ["assert False", "+  where False = <HARD_FAIL refund>.passed"]
    assert len(lines) <= 40
    result.stdout.fnmatch_lines(["FAILED test_agent.py::test_refund - AssertionError: refund: answer contains *"])


CHECKS = f"""
import json
import warnings
BAD = json.loads({make_trace("refund", "No.")!r})

def test_a_result_is_true_if_it_passed(evalgate):
    assert evalgate.check(BAD, suite="evals/support.yaml")

def test_its_verdict(evalgate):
    assert evalgate.check(BAD, suite="evals/support.yaml").verdict == "PASS"

def test_all_of_several(evalgate):
    assert all(each.passed for each in [evalgate.check(BAD, suite="evals/support.yaml") for _ in "abc"])

def test_another_error(evalgate):
    evalgate.check(BAD, suite="evals/support.yaml")
    raise ValueError("unrelated")
"""


def test_assertions_about_results_name_their_reasons(pytester):
    write(pytester, {"evals/support.yaml": SUITE, "pytest.ini": "[pytest]\n"})
    pytester.makepyfile(CHECKS)
    result = run_pytest(pytester, "--tb=short")
    result.assert_outcomes(failed=4)
    assert [line[4:] for line in result.stdout.lines if line.startswith("E   ") and "Error" in line] == [
        *["AssertionError: refund: tool find_order called: find_order must be called, but no tool was"] * 3,
        "ValueError: unrelated",
    ]
    lines = result.stdout.lines
    start = next(number for number, line in enumerate(lines) if "test_all_of_several" in line and "___" in line)
    shown = [line for line in lines[start : start + 50] if line.startswith("E ")]
    assert shown[36].startswith("E   ... ")
    shows = next(line for line in shown if "evalgate show" in line)
    assert Path(shows.split()[-1]).exists()


def test_cassettes_are_written_and_replayed(pytester, fake):
    write(pytester, {"evals/support.yaml": SUITE, "pytest.ini": "[pytest]\n", "test_agent.py": TEST})
    run_pytest(pytester, "--evalgate-cache", "write").assert_outcomes(passed=1)
    assert (pytester.path / "evals/cassettes/refund/0.jsonl").exists()
    assert len(fake.requests) == 2
    run_pytest(pytester, "--evalgate-cache", "read").assert_outcomes(passed=1)
    assert len(fake.requests) == 2
    write(pytester, {"test_agent.py": TEST.replace("my order", "our order")})
    result = run_pytest(pytester, "--evalgate-cache", "read")
    result.assert_outcomes(failed=1)
    assert len(fake.requests) == 2


def test_what_a_test_records_itself_is_checked(pytester, fake):
    text = """
    def test_refund(evalgate):
        with evalgate.scenario("refund", trial=1) as run:
            run.message("user", "Refund A-7")
            with run.tool("find_order", {"order": "A-7"}) as call:
                call.result = "found"
            run.message("assistant", "It is refunded.")
        assert evalgate.check(run, suite="evals/support.yaml").verdict == "PASS"

    async def run_both(evalgate):
        with evalgate.scenario("refund") as run:
            run.message("assistant", "No.")
        return evalgate.check(run, suite="evals/support.yaml")

    def test_in_an_event_loop(evalgate):
        import asyncio
        assert asyncio.run(run_both(evalgate)).verdict == "HARD_FAIL"
    """
    write(pytester, {"evals/support.yaml": SUITE, "pytest.ini": "[pytest]\n"})
    pytester.makepyfile(text)
    run_pytest(pytester).assert_outcomes(passed=2)
    assert fake.requests == []


def test_a_suite_masks_its_cassettes_and_names_their_folder(pytester, fake):
    """What changes in each run is masked by `normalise`, so that the cassette is found again."""
    suite = SUITE + "normalise:\n  - {regex: 'ticket [0-9]+', with: ticket}\n"
    text = TEST.replace('scenario("refund")', 'scenario("refund", suite="evals/support.yaml")')
    write(pytester, {"evals/support.yaml": suite, "pytest.ini": "[pytest]\n"})
    write(pytester, {"test_agent.py": text.replace("my order", "ticket 1")})
    run_pytest(pytester, "--evalgate-cache", "write").assert_outcomes(passed=1)
    assert [path.name for path in (pytester.path / "evals/cassettes/support/refund").iterdir()] == ["0.jsonl"]
    write(pytester, {"test_agent.py": text.replace("my order", "ticket 22")})
    run_pytest(pytester, "--evalgate-cache", "read").assert_outcomes(passed=1)
    assert len(fake.requests) == 2


def test_blocks_may_be_asynchronous_and_are_recorded_one_at_a_time(pytester, fake):
    text = (
        AGENT
        + """
    import asyncio, threading

    async def ask(evalgate):
        async with evalgate.scenario("refund") as run:
            await asyncio.to_thread(run_agent)
            run.message("assistant", "It is refunded.")
        return run

    def test_async(evalgate):
        run = asyncio.run(ask(evalgate))
        assert_tool_sequence(run, ["find_order", "read_policy"])

    def test_threads(evalgate):
        errors = []

        def record():
            try:
                with evalgate.scenario("b"):
                    pass
            except Exception as error:
                errors.append(error)

        with evalgate.scenario("refund") as run:
            thread = threading.Thread(target=record)
            thread.start()
            thread.join()
            run_agent()
        assert "one ends before the next begins, also in other threads" in str(errors[0])
        assert_tool_sequence(run, ["find_order", "read_policy"])
    """.replace("\n    ", "\n")
    )
    write(pytester, {"pytest.ini": "[pytest]\n", "test_agent.py": text})
    run_pytest(pytester).assert_outcomes(passed=2)


def test_workers_record_at_the_same_time(pytester, fake):
    names = TEST.replace("def test_refund(evalgate):", "def test_refund(evalgate, number):").replace(
        'scenario("refund")', 'scenario("refund", trial=number)'
    )
    text = names.replace(
        "def test_refund", 'import pytest\n@pytest.mark.parametrize("number", range(8))\ndef test_refund'
    )
    write(pytester, {"evals/support.yaml": SUITE, "pytest.ini": "[pytest]\n", "test_agent.py": text})
    start_pytest(pytester, "-n", "4").assert_outcomes(passed=8)
    assert len(fake.requests) == 16


def test_under_evalgate_record_the_traces_are_its_own(pytester, fake):
    text = TEST.replace('result = evalgate.check(run, suite="evals/support.yaml")', "return")
    text = text.replace("    assert_tool_sequence(run", "    return\n    assert_tool_sequence(run")
    check = """
    def test_check(evalgate):
        with evalgate.scenario("other") as run:
            run.message("assistant", "Done.")
        evalgate.check(run, suite="evals/support.yaml")
    """.replace("\n    ", "\n")
    write(pytester, {"evals/support.yaml": SUITE, "pytest.ini": "[pytest]\n", "test_agent.py": text + check})
    words = [sys.executable, "-m", "pytest", "-p", "evalgate.pytest_plugin", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "evalgate", "record", *fake.flags, "--scenario", "session", "--", *words]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        result = pytester.run(*command, timeout=120)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*evalgate record writes this trace when pytest ends: check it with `evalgate run`*"])
    trace = json.loads((pytester.path / "traces/refund/0.jsonl").read_text())
    assert [each["name"] for message in trace["messages"] for each in message.get("tool_calls") or ()] == [
        "find_order",
        "read_policy",
    ]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    with evalgate.scenario('refund'): pass", "*nothing was recorded*"),
        (
            "    with evalgate.scenario('refund'):\n        with evalgate.scenario('b'): pass",
            "*one ends before the next*",
        ),
        ("    evalgate.check('trace.jsonl', suite='evals/other.yaml')", "*no suite file at 'evals/other.yaml'*"),
        ("    evalgate.check('trace.jsonl', suite='evals/support.yaml', scenario='x')", "*no scenario*"),
        (
            "    evalgate.check('trace.jsonl', suite='evals/support.yaml', variant='flat')",
            "E *variants that evalgate.yaml defines count with suite='evalgate.yaml'",
        ),
        ("    evalgate.check('none.jsonl', suite='evals/support.yaml')", "*0 traces*"),
    ],
)
def test_wrong_use_is_named(pytester, fake, body, message):
    write(
        pytester, {"evals/support.yaml": SUITE, "pytest.ini": "[pytest]\n", "trace.jsonl": make_trace("refund", "No")}
    )
    pytester.makepyfile(f"def test_wrong(evalgate):\n{body}")
    result = run_pytest(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([message])


CALLS = [{"id": "1", "name": "find_order", "arguments": {}}, {"id": "2", "name": "send_money", "arguments": {}}]
TRACE = json.loads(make_trace("refund", "Done", cost_usd=0.5))
TRACE["messages"].insert(1, {"role": "assistant", "content": None, "tool_calls": CALLS})
TRACE["messages"][2:2] = [{"role": "tool", "tool_call_id": each["id"], "content": "ok"} for each in CALLS]


def test_assertions_on_a_trace_give_reasons():
    from evalgate.testing import assert_cost_below, assert_not_called, assert_tool_sequence

    assert_tool_sequence(TRACE, ["find_order", "send_money"])
    assert_not_called(TRACE, "delete_order")
    assert_cost_below(TRACE, 0.6)
    with pytest.raises(AssertionError, match="expected send_money first, got find_order"):
        assert_tool_sequence(TRACE, ["send_money", "find_order"])
    with pytest.raises(AssertionError, match="send_money must not be called, but was"):
        assert_not_called(TRACE, "send_money")
    with pytest.raises(AssertionError, match=r"cost <= 0.4 USD: .*0.5"):
        assert_cost_below(TRACE, 0.4)
    with pytest.raises(AssertionError, match="not evaluable: cost unknown"):
        assert_cost_below({**TRACE, "cost_usd": None}, 1)
    with pytest.raises(ValueError, match="max_usd"):
        assert_cost_below(TRACE, -1)


def test_assertions_fail_on_a_run_that_ended_in_an_error():
    from evalgate.testing import assert_cost_below, assert_not_called, assert_tool_sequence

    failed = {**TRACE, "status": "error", "error": {"type": "exit code 1", "message": "disk full"}}
    both = ["find_order", "send_money"]
    for judge, expected in ((assert_not_called, "x"), (assert_tool_sequence, both), (assert_cost_below, 0.6)):
        with pytest.raises(AssertionError, match=r"the agent ended with exit code 1 after its final answer: disk"):
            judge(failed, expected)
        judge(failed, expected, run_status="any")


def test_a_tool_that_ends_like_one_that_must_not_be_called_is_a_warning():
    from evalgate.testing import assert_not_called

    called = json.loads(json.dumps(TRACE).replace("send_money", "mcp__bank__send_money"))
    with pytest.warns(UserWarning, match="mcp__bank__send_money was called and"):
        assert_not_called(called, "send_money")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_not_called(TRACE, "other")
