"""The cache of a scheduling suite: which mode makes calls, and what its files hold."""

import asyncio
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
from documents import ROOT
from in_process_command import evalgate

from evalgate.recording import CacheMiss, cached, response_cache

ANSWER = {
    "tool_calls": [{"name": "schedule_task", "args": {"at": "09:00"}, "id": None}],
    "content": "Done.",
    "usage_metadata": {"input_tokens": 12, "output_tokens": 3, "total_tokens": 15},
}
OTHER = {**ANSWER, "content": "Refreshed."}


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch):
    for name in ("EVALGATE_CACHE", "LANGSMITH_TEST_CACHE", "EVALGATE_RECORD_URL", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(response_cache, "_names", {})


class Model:
    """A model that counts its calls; its answers have more fields than a file keeps, as LangChain's do."""

    def __init__(self, answer=OTHER):
        self.calls = 0
        self._answer = answer

    def __call__(self):
        self.calls += 1
        calls = [{**call, "type": "tool_call"} for call in self._answer["tool_calls"]]
        usage = {**self._answer["usage_metadata"], "input_token_details": {"cache_read": 0}}
        return SimpleNamespace(tool_calls=calls, content=self._answer["content"], usage_metadata=usage, id="run-1")

    async def later(self):
        await asyncio.sleep(0)
        return self()


def ask_sync(model, folder):
    return cached("remind:tea/1", "grouped", model, folder)


def ask_async(model, folder):
    async def ask():
        return await cached("remind:tea/1", "grouped", model.later, folder)

    return asyncio.run(ask())


def ask_by_lambda(model, folder):
    async def ask():
        return await cached("remind:tea/1", "grouped", lambda: model.later(), folder)  # noqa: PLW0108

    return asyncio.run(ask())


WAYS = pytest.mark.parametrize("ask", [ask_sync, ask_async, ask_by_lambda])


def write_file(folder, answer=ANSWER):
    path = folder / "grouped" / "remind_tea_1.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(answer), encoding="utf-8")
    return path


def mode_of(variable, value, monkeypatch):
    if value is not None:
        monkeypatch.setenv(variable, value)


@WAYS
@pytest.mark.parametrize(
    ("setting", "answered", "kept"),
    [
        (("LANGSMITH_TEST_CACHE", None), "Refreshed.", "Done."),
        (("LANGSMITH_TEST_CACHE", ""), "Refreshed.", "Done."),
        (("LANGSMITH_TEST_CACHE", "read"), "Done.", "Done."),
        (("LANGSMITH_TEST_CACHE", "write"), "Refreshed.", "Refreshed."),
        (("LANGSMITH_TEST_CACHE", "tests/cassettes"), "Refreshed.", "Done."),
        (("EVALGATE_CACHE", "off"), "Refreshed.", "Done."),
        (("EVALGATE_CACHE", "read"), "Done.", "Done."),
        (("EVALGATE_CACHE", "auto"), "Done.", "Done."),
        (("EVALGATE_CACHE", "write"), "Refreshed.", "Refreshed."),
    ],
)
def test_with_a_file(tmp_path, monkeypatch, ask, setting, answered, kept):
    path, model = write_file(tmp_path), Model()
    mode_of(*setting, monkeypatch)
    answer = ask(model, tmp_path)
    assert (answer.content, model.calls) == (answered, int(answered == "Refreshed."))
    assert (answer.tool_calls, answer.usage_metadata) == (ANSWER["tool_calls"], ANSWER["usage_metadata"])
    assert json.loads(path.read_text(encoding="utf-8"))["content"] == kept


@WAYS
@pytest.mark.parametrize(
    ("setting", "saves"),
    [
        (("LANGSMITH_TEST_CACHE", None), False),
        (("LANGSMITH_TEST_CACHE", "read"), True),
        (("LANGSMITH_TEST_CACHE", "write"), True),
        (("EVALGATE_CACHE", "off"), False),
        (("EVALGATE_CACHE", "auto"), True),
        (("EVALGATE_CACHE", "write"), True),
    ],
)
def test_without_a_file(tmp_path, monkeypatch, ask, setting, saves):
    model = Model()
    mode_of(*setting, monkeypatch)
    assert (ask(model, tmp_path).content, model.calls) == ("Refreshed.", 1)
    files = {path.relative_to(tmp_path).as_posix(): json.loads(path.read_text()) for path in tmp_path.rglob("*.*")}
    assert files == ({"grouped/remind_tea_1.json": OTHER} if saves else {})


@WAYS
def test_read_alone_never_calls_the_model(tmp_path, monkeypatch, ask):
    model = Model()
    monkeypatch.setenv("EVALGATE_CACHE", "read")
    with pytest.raises(CacheMiss, match=r"remind_tea_1.json does not exist: run once with EVALGATE_CACHE=write"):
        ask(model, tmp_path)
    assert model.calls == 0


def test_auto_is_refused_in_ci_but_that_suites_read_is_not(tmp_path, monkeypatch):
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("LANGSMITH_TEST_CACHE", "read")
    assert ask_sync(Model(), tmp_path).content == "Refreshed."
    monkeypatch.setenv("EVALGATE_CACHE", "auto")
    with pytest.raises(ValueError, match="in CI"):
        ask_sync(Model(), tmp_path)


def test_evalgates_variable_wins_and_an_unknown_mode_is_refused(tmp_path, monkeypatch):
    write_file(tmp_path)
    monkeypatch.setenv("LANGSMITH_TEST_CACHE", "write")
    monkeypatch.setenv("EVALGATE_CACHE", "read")
    assert ask_sync(Model(), tmp_path).content == "Done."
    monkeypatch.setenv("EVALGATE_CACHE", "on")
    with pytest.raises(ValueError, match="'on' is not one of off, read, auto, write"):
        ask_sync(Model(), tmp_path)


def test_under_evalgate_record_the_call_is_made_because_the_proxy_has_the_cache(tmp_path, monkeypatch):
    write_file(tmp_path)
    monkeypatch.setenv("EVALGATE_CACHE", "read")
    monkeypatch.setenv("EVALGATE_RECORD_URL", "http://127.0.0.1:1/c/x")
    assert ask_sync(Model(), tmp_path).content == "Refreshed."


@pytest.mark.parametrize(("scenario", "variant"), [("..", "v"), ("s", ".."), ("", "v"), ("a\\b", "v"), ("a\0", "v")])
def test_a_name_that_is_no_file_name_is_refused(tmp_path, scenario, variant):
    with pytest.raises(ValueError, match="can't be the name of a cache file"):
        cached(scenario, variant, Model(), tmp_path)


def test_two_names_of_one_file_are_refused(tmp_path):
    cached("a:b", "v", Model(), tmp_path)
    cached("a:b", "v", Model(), tmp_path)
    with pytest.raises(ValueError, match="rename one"):
        cached("a/b", "v", Model(), tmp_path)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"tool_calls": 1, "content": "", "usage_metadata": null}', "[" * 90_000]
)
def test_a_damaged_file_is_named(tmp_path, monkeypatch, text):
    path = write_file(tmp_path)
    path.write_text(text, encoding="utf-8")
    monkeypatch.setenv("EVALGATE_CACHE", "read")
    with pytest.raises(ValueError, match=r"remind_tea_1.json is no cached response .*delete it"):
        ask_sync(Model(), tmp_path)


def test_a_failed_call_leaves_the_file(tmp_path, monkeypatch):
    path = write_file(tmp_path)
    monkeypatch.setenv("EVALGATE_CACHE", "write")
    with pytest.raises(ZeroDivisionError):
        cached("remind:tea/1", "grouped", lambda: 1 / 0, tmp_path)
    assert json.loads(path.read_text(encoding="utf-8")) == ANSWER


POSITIVE = ["tea", "pills", "run", "rent", "report", "water", "call"]
NEGATIVE = ["talk", "joke", "sum", "weather", "poem"]
TEST_FILE = """
import asyncio, os
import pytest
from evalgate.recording import cached

POSITIVE, NEGATIVE = {positive}, {negative}
VARIANTS = {{"flat": ("schedule_task", {{}}), "grouped": ("tasks", {{"action": "create"}})}}


def ask(variant, scenario):
    with open("calls.txt", "a") as log:
        log.write(f"{{variant}}/{{scenario}}\\n")
    tool, args = VARIANTS[variant]
    call = {{"name": tool, "args": {{**args, "at": "2026-09-22T09:00:00Z"}}, "id": "call_1"}}
    usage = {{"input_tokens": 20, "output_tokens": 5, "total_tokens": 25}}
    return {{"tool_calls": [call] if scenario in POSITIVE else [], "content": "Fine.", "usage_metadata": usage}}


def scheduling_calls(answer, variant):
    assert answer.usage_metadata["total_tokens"]
    tool, args = VARIANTS[variant]
    return [call for call in answer.tool_calls if call["name"] == tool and args.items() <= call["args"].items()]


@pytest.mark.eval
@pytest.mark.parametrize("scenario", POSITIVE)
@pytest.mark.parametrize("variant", VARIANTS)
def test_positive(variant, scenario):
    assert scheduling_calls(cached(scenario, variant, lambda: ask(variant, scenario)), variant)


@pytest.mark.eval
@pytest.mark.parametrize("scenario", NEGATIVE)
@pytest.mark.parametrize("variant", VARIANTS)
def test_negative(variant, scenario):
    async def call():
        return ask(variant, scenario)

    async def run():
        return await cached(scenario, variant, call)

    assert not scheduling_calls(asyncio.run(run()), variant)
"""


def write_repository(folder):
    """A repository in the form of a scheduling suite, with two variants."""
    evals = folder / "tests" / "eval"
    evals.mkdir(parents=True)
    text = TEST_FILE.format(positive=POSITIVE, negative=NEGATIVE)
    (evals / "test_scheduling.py").write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = eval\n", encoding="utf-8")
    for name, ids, tool in (("positive", POSITIVE, "schedule_task"), ("negative", NEGATIVE, "null")):
        lines = [f"  - {{id: {one}, prompt: {one}, category: {name}, expected_tool: {tool}}}" for one in ids]
        (folder / f"{name}.yaml").write_text("scenarios:\n" + "\n".join(lines) + "\n", encoding="utf-8")
    (folder / "evalgate.yaml").write_text(
        'version: 1\nsuites: ["positive.yaml", "negative.yaml"]\ndefaults:\n  traces: ["tests/eval/cache/*/*.json"]\n'
        "  tool: [schedule_task, tasks]\n  variants:\n    flat: {match: {tags: [flat]}}\n"
        "    grouped: {match: {tags: [grouped]}, tool: tasks, action: create}\n"
        "policy: {fail_on: [hard_fail, below_threshold]}\n",
        encoding="utf-8",
    )


def run_suite(folder, mode):
    """Runs the repository's tests; the number of model calls that were made."""
    log = folder / "calls.txt"
    log.write_text("", encoding="utf-8")
    variables = {
        "LANGSMITH_TEST_CACHE": mode,
        "CI": "true",
        "PYTHONPATH": str(ROOT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-m", "eval", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert "24 passed" in done.stdout, done.stdout + done.stderr
    return len(log.read_text(encoding="utf-8").splitlines())


def test_a_scheduling_repository_runs_from_its_cache_and_its_files_are_judged(tmp_path):
    write_repository(tmp_path)
    assert [run_suite(tmp_path, mode) for mode in ("read", "read")] == [24, 0]
    files = sorted((tmp_path / "tests" / "eval" / "cache").rglob("*.json"))
    assert len(files) == 24
    assert json.loads((files[0].parent / "tea.json").read_text(encoding="utf-8")).keys() == ANSWER.keys()
    result = evalgate("run", str(tmp_path / "evalgate.yaml"), "--output-dir", str(tmp_path / "out"))
    assert result.exit_code == 0, result.out + result.err
    document = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    judged = [one for suite in document["suites"] for one in suite["scenarios"]]
    assert {(one["id"], one["variant"], one["verdict"]) for one in judged} == {
        (scenario, variant, "PASS") for scenario in POSITIVE + NEGATIVE for variant in ("flat", "grouped")
    }
