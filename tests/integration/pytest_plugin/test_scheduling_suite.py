"""A repository that tests how an assistant schedules tasks: two files, two variants, cached and real calls."""

from __future__ import annotations

import json
import shlex
from xml.etree import ElementTree as ET

import pytest
from command import evalgate
from fakes.providers import FakeProviders
from pytest_projects import run_pytest, write

INI = "[pytest]\nevalgate_suites = tests/eval/*.yaml\n"
PROJECT = """version: 1
suites: [tests/eval/*.yaml]
defaults:
  traces: [tests/eval/cache/*/*.json]
  tool: [schedule_task, find_order]
  variants:
    flat: {match: {tags: [flat]}}
    grouped: {match: {tags: [grouped]}, tool: tasks, action: create}
  assertions: [{type: token_limit, max_total: 100000, required: true}]
policy: {fail_on: [hard_fail, below_threshold]}
"""
POSITIVE = ["tea", "call", "water", "bill", "backup", "standup", "report"]
NEGATIVE = ["weekend", "joke", "weather", "thanks", "sum"]


def write_scenarios(tool, names):
    """A file of scenarios, as JSON, which is YAML."""
    shared = {
        "category": "basic",
        "expected_tool": tool,
        "min_calls": 2 if tool else 0,
        "assertions": [{"type": "no_run_code", "params": {}}],
    }
    return json.dumps({"scenarios": [{"id": name, "prompt": f"About {name}.", **shared} for name in names]})


def make_answer(tools, tokens=(20, 5, 25)):
    """A cache file."""
    usage = dict(zip(("input_tokens", "output_tokens", "total_tokens"), tokens, strict=True)) if tokens else None
    calls = [{"name": name, "args": args, "id": None} for name, args in tools]
    return json.dumps({"tool_calls": calls, "content": "Done.", "usage_metadata": usage})


FLAT, CREATE = ("schedule_task", {"at": "09:00"}), ("tasks", {"action": "create"})
ANSWERS = {
    "flat": {**dict.fromkeys(POSITIVE, make_answer([FLAT, FLAT])), **dict.fromkeys(NEGATIVE, make_answer([]))},
    "grouped": {**dict.fromkeys(POSITIVE, make_answer([CREATE, CREATE])), **dict.fromkeys(NEGATIVE, make_answer([]))},
}
CALLS = """
import json, os, urllib.error, urllib.request
import pytest

def pytest_evalgate_call(case):
    messages = [{"role": "system", "content": case.variant}, {"role": "user", "content": case.prompt}]
    tools = [{"type": "function", "function": {"name": "find_order", "parameters": {}}}]
    body = {"model": "gpt-fake", "messages": messages, "tools": tools}
    url = os.environ["FAKE_URL"] + "/v1/chat/completions"
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as response:
            found = json.load(response)
    except urllib.error.HTTPError as error:
        error.close()
        raise
    message, usage = found["choices"][0]["message"], found["usage"]
    calls = message.get("tool_calls") or []
    named = [
        {"name": each["function"]["name"], "args": json.loads(each["function"]["arguments"]), "id": each["id"]}
        for each in calls
    ]
    counts = {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]}
    counts["total_tokens"] = sum(counts.values())
    return {"tool_calls": named, "content": message.get("content") or "", "usage_metadata": counts}
"""


@pytest.fixture
def project(pytester, monkeypatch):
    for name in ("LANGSMITH_TEST_CACHE", "EVALGATE_CACHE", "EVALGATE_RECORD_URL"):
        monkeypatch.delenv(name, raising=False)
    files = {
        "pytest.ini": INI,
        "evalgate.yaml": PROJECT,
        "tests/eval/positive.yaml": write_scenarios("schedule_task", POSITIVE),
        "tests/eval/negative.yaml": write_scenarios(None, NEGATIVE),
    }
    cache = {
        f"tests/eval/cache/{variant}/{name}.json": answer
        for variant, answers in ANSWERS.items()
        for name, answer in answers.items()
    }
    write(pytester, files | cache)
    return pytester


@pytest.fixture
def fake(monkeypatch):
    found = FakeProviders()
    monkeypatch.setenv("FAKE_URL", found.url)
    yield found
    found.close()


def properties(pytester):
    """The properties of each case in JUnit's file."""
    cases = ET.parse(pytester.path / "junit.xml").iter("testcase")  # noqa: S314  (our own)
    return {
        case.attrib["name"]: {each.attrib["name"]: each.attrib["value"] for each in case.iter("property")}
        for case in cases
    }


def test_every_variant_and_scenario_is_a_test(project):
    lines = run_pytest(project, "-m", "eval", "--collect-only", "-q", "--strict-markers").stdout.lines
    names = {line.partition("::")[2] for line in lines if "::" in line}
    assert names == {
        f"test_{kind}[{variant}-{name}]"
        for variant in ("flat", "grouped")
        for kind, ids in (("positive", POSITIVE), ("negative", NEGATIVE))
        for name in ids
    }
    run_pytest(project, "-m", "langsmith and asyncio", "-k", "flat-tea or grouped-joke").assert_outcomes(
        passed=2, deselected=22
    )


def test_feedback_is_as_computed_by_hand(project):
    write(
        project,
        {
            "tests/eval/cache/flat/tea.json": make_answer([FLAT], (30, 7, 37)),
            "tests/eval/cache/grouped/tea.json": make_answer([("tasks", {"action": "list"}), FLAT]),
            "tests/eval/cache/flat/joke.json": make_answer([FLAT]),
            "tests/eval/cache/grouped/joke.json": make_answer([("tasks", {"action": "list"})]),
            "tests/eval/cache/flat/bill.json": make_answer([FLAT, FLAT], None),
        },
    )
    result = run_pytest(project, "-m", "eval", "--junitxml=junit.xml", "-o", "junit_family=xunit2")
    result.assert_outcomes(passed=20, failed=4)
    found = properties(project)
    inputs = {"evalgate.suite", "evalgate.verdict", "evalgate.score", "evalgate.tokens"}

    def feedback(name):
        return {key: value for key, value in found[name].items() if key not in inputs}

    case = {"variant": "flat", "category": "basic"}
    tokens = {"input_tokens": "20", "output_tokens": "5", "total_tokens": "25"}
    tea = {"prompt": "About tea.", "expected_tool": "schedule_task", "min_calls": "2"}
    assert feedback("test_positive[flat-call]") == {
        **case, **tea, **tokens, "prompt": "About call.", "tool_call_names": "schedule_task,schedule_task",
        "call_count": "2", "correct_tool": "1.0", "correct_count": "1.0",
    }  # fmt: skip
    assert feedback("test_positive[flat-tea]") == {
        **case, **tea, "input_tokens": "30", "output_tokens": "7", "total_tokens": "37",
        "tool_call_names": "schedule_task", "call_count": "1", "correct_tool": "1.0", "correct_count": "0.0",
    }  # fmt: skip
    assert feedback("test_positive[grouped-tea]") == {
        **case, **tea, **tokens, "variant": "grouped", "tool_call_names": "tasks,schedule_task", "call_count": "2",
        "correct_tool": "0.0", "correct_count": "0.0",
    }  # fmt: skip
    joke = {"prompt": "About joke.", "expected_tool_calls": "0", "category": "basic", "call_count": "1", **tokens}
    assert feedback("test_negative[flat-joke]") == {
        **joke, "variant": "flat", "tool_call_names": "schedule_task", "no_false_trigger": "0.0",
    }  # fmt: skip
    assert feedback("test_negative[grouped-joke]") == {
        **joke, "variant": "grouped", "tool_call_names": "tasks", "no_false_trigger": "1.0",
    }  # fmt: skip
    assert "total_tokens" not in found["test_positive[flat-bill]"]
    failed = sorted(
        line.split(" ")[1].rpartition("::")[2] for line in result.stdout.lines if line.startswith("FAILED ")
    )
    assert failed == [
        "test_negative[flat-joke]",
        "test_positive[flat-bill]",
        "test_positive[flat-tea]",
        "test_positive[grouped-tea]",
    ]
    result.stdout.fnmatch_lines(["FAILED *test_negative[[]flat-joke] - no call of schedu*"])


@pytest.mark.parametrize(
    ("mode", "has_file", "after"),
    [
        (None, True, "unchanged"),
        (None, False, "absent"),
        ("", False, "absent"),
        ("read", True, "unchanged"),
        ("read", False, "written"),
        ("write", True, "written"),
    ],
)
def test_the_cache_decides_about_calls(project, fake, monkeypatch, mode, has_file, after):
    """The fake provider calls find_order once and read_policy: the wrong tools; the file has the right ones."""
    write(project, {"conftest.py": CALLS})
    path = project.path / "tests/eval/cache/flat/tea.json"
    before = path.read_text()
    if not has_file:
        path.unlink()
    if mode is not None:
        monkeypatch.setenv("LANGSMITH_TEST_CACHE", mode)
    monkeypatch.setenv("CI", "true")
    result = run_pytest(project, "-m", "eval", "-k", "flat-tea", "--junitxml=junit.xml", "-o", "junit_family=xunit2")
    is_cached = mode == "read" and has_file
    result.assert_outcomes(**{"passed" if is_cached else "failed": 1}, deselected=23)
    assert len(fake.requests) == (0 if is_cached else 1)
    found = path.read_text() if path.exists() else None
    assert found == before if after == "unchanged" else (found is None) is (after == "absent")
    names = properties(project)["test_positive[flat-tea]"]["tool_call_names"]
    assert names == ("schedule_task,schedule_task" if is_cached else "find_order,read_policy")


@pytest.mark.parametrize("plugins", [[], ["-p", "no:cacheprovider"]])
def test_the_commands_of_a_failing_case_name_a_file_that_stays(project, fake, plugins):
    """Nothing is cached, and the fake provider calls the wrong tools: the answer is read after the session."""
    write(project, {"conftest.py": CALLS})
    lines = run_pytest(project, "-m", "eval", "-k", "flat-tea", *plugins).stdout.lines
    repeat = shlex.split(lines[lines.index("To reproduce the run") + 1])
    found = evalgate(project.path, repeat[2:])
    assert (repeat[:2], found.code) == (["evalgate", "run"], 1)
    [trial] = found.results["suites"][0]["scenarios"][0]["trials"]
    assert trial["tool_calls"] == ["find_order", "read_policy"]
    assert not (project.path / "tests/eval/cache/flat/tea.json").read_text().count("find_order")


@pytest.mark.parametrize("mode", ["", "read", "write"])
def test_ids_that_are_no_file_names_are_matched(project, fake, monkeypatch, mode):
    """The file of `daily:tea/1` is daily_tea_1.json; the fake provider calls find_order, which is expected here."""
    write(project, {"conftest.py": CALLS, "tests/eval/positive.yaml": write_scenarios("find_order", ["daily:tea/1"])})
    write(project, {"tests/eval/cache/flat/daily_tea_1.json": make_answer([("find_order", {})] * 2)})
    monkeypatch.setenv("LANGSMITH_TEST_CACHE", mode)
    result = run_pytest(project, "-k", "positive and flat", "--junitxml=junit.xml", "-o", "junit_family=xunit2")
    result.assert_outcomes(**{"passed" if mode == "read" else "failed": 1}, deselected=11)
    found = properties(project)["test_positive[flat-daily:tea/1]"]
    assert (found["call_count"], found["correct_tool"]) == ("2", "1.0")
    assert len(fake.requests) == (0 if mode == "read" else 1)
    (project.path / "conftest.py").unlink()
    run_pytest(project, "-k", "positive and flat").assert_outcomes(
        **{"failed" if mode == "write" else "passed": 1}, deselected=11
    )
    # What `evalgate run` finds in the same files.
    assert evalgate(project.path, ["-k", "daily:tea/1[flat]"]).code == (1 if mode == "write" else 0)


def test_ids_of_one_file_are_an_error(project):
    write(project, {"tests/eval/positive.yaml": write_scenarios("schedule_task", ["tea/1", "tea_1"])})
    write(project, {"tests/eval/cache/flat/tea_1.json": make_answer([FLAT, FLAT])})
    result = run_pytest(project, "-k", "flat and positive")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*a cached response with this file name may be of tea/1 and tea_1: rename one*"])


def test_a_missing_answer_is_named_where_no_call_may_be_made(project, fake, monkeypatch):
    write(project, {"conftest.py": CALLS})
    (project.path / "tests/eval/cache/flat/tea.json").unlink()
    monkeypatch.setenv("EVALGATE_CACHE", "read")
    result = run_pytest(project, "-m", "eval", "-k", "flat-tea")
    result.assert_outcomes(failed=1, deselected=23)
    result.stdout.fnmatch_lines(["*tests/eval/cache/flat/tea.json does not exist*"])
    assert fake.requests == []


def test_calls_may_be_asynchronous(project, fake):
    calls = CALLS.replace("def pytest_evalgate_call", "async def pytest_evalgate_call")
    write(project, {"conftest.py": calls})
    run_pytest(project, "-m", "eval", "-k", "negative and flat-joke").assert_outcomes(failed=1, deselected=23)
    assert len(fake.requests) == 1


def test_the_gate_judges_the_files_and_makes_no_call(project, fake):
    write(project, {"conftest.py": CALLS})
    assert run_pytest(project, "-m", "eval", "--evalgate-gate").ret == 0
    assert fake.requests == []


LANGSMITH = """
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    if item.get_closest_marker("langsmith"):
        item.obj = item.obj  # LangSmith's plugin (0.15) wraps the function of a marked test
    yield
"""


def test_langsmiths_plugin_leaves_items_alone(project):
    write(project, {"conftest.py": LANGSMITH})
    run_pytest(project, "-m", "langsmith", "-k", "flat-tea").assert_outcomes(passed=1, deselected=23)


OWN_TESTS = """
import pytest
from evalgate.recording import cached

pytestmark = [pytest.mark.eval, pytest.mark.langsmith]
FLAT, CREATE = {"name": "schedule_task", "args": {}}, {"name": "tasks", "args": {"action": "create"}}
COUNT = {"input_tokens": 20, "output_tokens": 5, "total_tokens": 25}
ANSWERS = {
    ("flat", "tea"): {"tool_calls": [FLAT], "content": "", "usage_metadata": COUNT},
    ("grouped", "tea"): {"tool_calls": [CREATE, CREATE], "content": "", "usage_metadata": COUNT},
    ("flat", "call"): {"tool_calls": [FLAT, FLAT], "content": "", "usage_metadata": None},
}

@pytest.mark.parametrize(("variant", "scenario"), ANSWERS)
def test_positive(evalgate, variant, scenario):
    answer = cached(scenario, variant, lambda: ANSWERS[variant, scenario])
    assert evalgate.check(answer, suite="evalgate.yaml", scenario=scenario, variant=variant)
"""


def test_own_test_functions_check_answers_and_report_the_same_feedback(project):
    write(project, {"pytest.ini": "[pytest]\nmarkers = langsmith\n", "test_own.py": OWN_TESTS})
    result = run_pytest(project, "-m", "eval", "--junitxml=junit.xml", "-o", "junit_family=xunit2")
    result.assert_outcomes(passed=1, failed=2)
    lines = [line for line in result.stdout.lines if line.startswith("E  ") and "AssertionError" in line]
    assert "schedule_task" in lines[0]
    assert "total tokens unknown" in lines[1]
    found = properties(project)
    keys = ("evalgate.verdict", "correct_tool", "correct_count", "call_count", "total_tokens", "prompt", "variant")
    rows = {name: [each.get(key) for key in keys] for name, each in found.items()}
    assert rows == {
        "test_positive[flat-tea]": ["FAIL", "1.0", "0.0", "1", "25", "About tea.", "flat"],
        "test_positive[grouped-tea]": ["PASS", "1.0", "1.0", "2", "25", "About tea.", "grouped"],
        "test_positive[flat-call]": ["HARD_FAIL", "1.0", "1.0", "2", None, "About call.", "flat"],
    }
