"""`record --suite` runs every scenario, variant and trial; `cassettes` says which are stale, and removes the unused."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from typing import TYPE_CHECKING

import pytest
from recording_runs import AGENTS, ROOT, SDKS, Run, environ, evalgate, needs_sdks, record, record_command, trace_of

if TYPE_CHECKING:
    from pathlib import Path

SUITE = """
suite: support
traces: [traces]
policy: {freshness: {watch: agent.txt, max_age: 7d}}
variants: {fast: {match: {tags: [fast]}}, slow: {match: {tags: [slow]}}}
scenarios:
  - {id: refund, prompt: "Refund {it}", trials: {min: 2}, assertions: [{type: output_contains, value: refunded}]}
  - {id: "a/b", prompt: Cancel, variants: {}, assertions: [{type: output_contains, value: refunded}]}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "agent.txt").write_text("version 1")
    return tmp_path


def record_suite(folder: Path, fake, *words: str, **more) -> Run:
    return record(folder, *fake.flags, "--suite", "suite.yaml", *words, "--", "", "{scenario}", "{{x}", **more)


def test_every_scenario_variant_and_trial_is_recorded_replayed_and_judged(fake, project):
    done = record_suite(project, fake, "--cache", "write")
    assert (done.code, done.last_line) == (0, "10 model calls (openai), 0 spans, 5 traces"), done
    names = ["a%2Fb/0", "refund@fast/0", "refund@fast/1", "refund@slow/0", "refund@slow/1"]
    assert (
        sorted(str(p.relative_to(project / "traces/support"))[:-6] for p in project.rglob("traces/**/*.jsonl")) == names
    )
    trace = trace_of(project, "support/refund@slow/1")
    assert (trace["scenario_id"], trace["trial"], trace["tags"]) == ("refund", 1, ["slow"])
    assert trace["messages"][1]["content"] == "Refund {it}"
    of_agent = [sys.executable, str(AGENTS / "plain.py"), "", "{scenario}", "{{x}"]
    assert shlex.split(trace["metadata"]["evalgate.command"]) == of_agent
    asked = len(fake.requests)
    assert record_suite(project, fake, "--cache", "read").code == 0
    assert len(fake.requests) == asked
    assert evalgate(project, "run", "suite.yaml", "--no-baseline-zip").code == 0

    assert states(project) == {name: ["fresh"] for name in names}
    (project / "agent.txt").write_text("version 2")
    record_suite(project, fake, "--cache", "read")
    judged = evalgate(project, "run", "suite.yaml", "--no-baseline-zip", env=environ(SOURCE_DATE_EPOCH="4102444800"))
    assert "at most 7d is allowed" in judged.out + judged.err

    changed = record_suite(project, fake, "--cache", "read", "--scenario", "a/b", env=environ(SYSTEM_PROMPT="Be kind."))
    assert changed.code == 3
    assert states(project)["a%2Fb/0"] == ["prompt changed", "agent changed"]
    (project / "suite.yaml").write_text(SUITE.replace("min: 2", "min: 1"))
    pruned = evalgate(project, "cassettes", "prune", "--suite", "suite.yaml")
    assert sorted(line.split("/support/")[1] for line in pruned.out.splitlines()) == [
        "refund@fast/1.jsonl: removed",
        "refund@slow/1.jsonl: removed",
    ]
    shown = evalgate(project, "cassettes", "show", "refund")
    assert "Your order A-7 is refunded." in shown.out


def status(folder: Path, *flags: str, **more) -> Run:
    return evalgate(folder, "cassettes", "status", "--suite", "suite.yaml", *flags, **more)


def states(folder: Path) -> dict[str, list[str]]:
    listed = json.loads(status(folder, "--json").out)["cassettes"]
    return {each["path"].removeprefix("evals/cassettes/support/")[:-6]: each["states"] for each in listed}


def test_a_scenario_whose_request_is_missing_fails_the_replay_and_is_judged_with_the_others(fake, project):
    record_suite(project, fake, "--cache", "write")
    moved = project / "evals/cassettes/support/a%2Fb/0.jsonl"
    header, *exchanges = [json.loads(line) for line in moved.read_text().splitlines()]
    moved.write_text(json.dumps(header) + "\n")
    asked = len(fake.requests)
    done = record_suite(project, fake, "--cache", "read", "--keep-going")
    assert (done.code, done.last_line) == (
        3,
        "8 model calls (openai), 0 spans, 4 traces, 1 request missing in a cassette",
    )
    assert (len(exchanges), len(fake.requests)) == (2, asked)
    judged = evalgate(project, "run", "suite.yaml", "--no-baseline-zip")
    assert judged.code == 1
    assert re.search("MISSING +a/b", judged.out)
    assert re.search("PASS +refund", judged.out)


def test_refresh_records_one_scenario_again(fake, project):
    record_suite(project, fake, "--cache", "write")
    folder = project / "evals/cassettes/support"
    before = {path: path.read_bytes() for path in folder.rglob("*.jsonl")}
    (project / "agent.txt").write_text("version 2")
    kind = environ(SYSTEM_PROMPT="Be kind.")
    of_agent = ["--", sys.executable, str(AGENTS / "plain.py")]

    def refresh(scenario: str, *more: str) -> Run:
        words = ["cassettes", "refresh", scenario, *fake.flags, "--suite", "suite.yaml", *of_agent, *more]
        return evalgate(project, *words, env=kind)

    failed = refresh("refund", "crash")
    assert (failed.code, failed.err.count("so its cassette stays as it is")) == (1, 4)
    assert {path: path.read_bytes() for path in before} == before
    done = refresh("refund")
    assert (done.code, done.last_line) == (0, "8 model calls (openai), 0 spans, 4 traces"), done
    assert {path.parent.name for path in before if path.read_bytes() != before[path]} == {"refund@fast", "refund@slow"}
    found = states(project)
    assert found.pop("a%2Fb/0") == ["agent changed"]
    assert set(map(tuple, found.values())) == {("fresh",)}
    asked = len(fake.requests)
    assert record_suite(project, fake, "--cache", "read", "--scenario", "refund", env=kind).code == 0
    assert (refresh("nowhere").code, len(fake.requests)) == (2, asked)


@pytest.mark.parametrize(
    ("change", "words", "reason"),
    [
        (("id: refund,", 'id: "*",'), [], "no single id"),
        (("prompt: Cancel, ", ""), ["{prompt}"], "has no prompt"),
        (('id: "a/b"', "id: Refund"), [], "same file name"),
        (("", ""), ["--scenario=none"], "no scenario 'none'"),
    ],
)
def test_a_suite_that_can_not_be_recorded_is_exit_2(fake, project, change, words, reason):
    (project / "suite.yaml").write_text(SUITE.replace(*change).replace("variants: {fast", "#"))
    flags = [word for word in words if word.startswith("--")]
    done = record(project, *fake.flags, "--suite", "suite.yaml", *flags, "--", "", *words)
    assert (done.code, reason in done.err, fake.requests) == (2, True, []), done


def test_a_scenario_without_a_model_call_is_exit_3(fake, project):
    done = record(project, *fake.flags, "--suite", "suite.yaml", "--keep-going", "--", "none")
    assert done.code == 3


def test_a_mask_of_the_suite_makes_requests_equal(fake, project):
    rule = "normalise: [{regex: 'ticket \\d+', with: '[ticket]'}]\n"
    (project / "suite.yaml").write_text(SUITE + rule)
    for mode, ticket, code in (("write", 1, 0), ("read", 2, 0)):
        env = environ(SYSTEM_PROMPT=f"It is 2026-01-0{ticket}T10:00:00Z, ticket {ticket}.")
        assert record_suite(project, fake, "--cache", mode, "--scenario", "a/b", env=env).code == code


@needs_sdks
def test_the_example_is_replayed_and_judged_without_a_key(tmp_path):
    folder = shutil.copytree(ROOT / "examples/replayed-agent", tmp_path / "agent")
    env = {name: value for name, value in environ().items() if not name.endswith("_API_KEY")}
    words = ["record", "--suite", "evals/support.yaml", "--cache", "read", "--", str(SDKS), "agent.py", "{prompt}"]
    done = evalgate(folder, *words, env=env)
    assert (done.code, done.last_line) == (0, "2 model calls (openai), 0 spans, 1 trace"), done
    assert evalgate(folder, "run", "evals/support.yaml", "--no-baseline-zip", env=env).code == 0
    assert "fresh" in evalgate(folder, "cassettes", "status", "--suite", "evals/support.yaml", "--strict", env=env).out
    text = (folder / "agent.py").read_text()
    (folder / "agent.py").write_text(text.replace("Be brief.", "Be kind."))
    changed = evalgate(folder, *words, env=env)
    assert changed.code == 3
    assert "messages[0] (system).content" in changed.err


def test_a_recording_owns_the_folder_of_its_scenario(fake, tmp_path):
    folder = tmp_path / "traces/refund"
    assert record(tmp_path, *fake.flags, "--scenario", "refund", "--trials", "3").code == 0
    (folder / "notes.txt").write_text("kept")
    first = {path.name for path in folder.iterdir()}
    assert record(tmp_path, *fake.flags, "--scenario", "refund", "--trial", "1").code == 0
    assert {path.name for path in folder.iterdir()} == first
    done = record(tmp_path, *fake.flags, "--scenario", "refund", "--trials", "2")
    assert sorted(path.name for path in folder.iterdir()) == ["0.jsonl", "1.jsonl", "notes.txt"]
    assert "warning: traces/refund/notes.txt stays" in done.err


ONE_SUITE = "version: 1\nsuite: {}\ntraces: ['{}']\nscenarios: [{{id: refund, assertions: [{{type: not_empty}}]}}]\n"


def write_suite(folder: Path, path: str, traces: str = "../traces/**/*.jsonl") -> list[str]:
    file = folder / path
    file.parent.mkdir(exist_ok=True)
    file.write_text(ONE_SUITE.format(file.stem, traces))
    return ["--suite", path]


def list_traces(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder / "traces")) for path in folder.glob("traces/**/*.jsonl"))


ALONE = ["--scenario", "refund"]


@pytest.mark.parametrize("traces", ["../traces/**/*.jsonl", "../traces"])
def test_a_recording_replaces_that_of_the_same_scenario_in_the_other_place(fake, tmp_path, traces):
    suite = write_suite(tmp_path, "evals/s.yaml", traces)
    assert record(tmp_path, *fake.flags, *ALONE, "--trials", "2").code == 0
    (tmp_path / "traces/refund/7.jsonl").write_text('{"messages": []}')
    done = record(tmp_path, *fake.flags, *suite)
    said = "`record --scenario` wrote traces/refund: this recording replaces it, as s reads both as trials of refund"
    assert (done.code, said in done.err, list_traces(tmp_path)) == (0, True, ["refund/7.jsonl", "s/refund/0.jsonl"])
    (tmp_path / "traces/refund/7.jsonl").unlink()
    again = record(tmp_path, *fake.flags, *ALONE)
    said = "`record --suite` wrote traces/s/refund: this recording replaces it, as s reads both as trials of refund"
    assert (again.code, said in again.err, list_traces(tmp_path)) == (0, True, ["refund/0.jsonl"])
    assert "1 trial" in evalgate(tmp_path, "run", "--verbose").out


def test_a_dead_agent_leaves_nothing_in_the_other_place(fake, tmp_path):
    suite = write_suite(tmp_path, "evals/s.yaml")
    record(tmp_path, *fake.flags, *ALONE)
    assert (record(tmp_path, *fake.flags, *suite, "--", "none").code, list_traces(tmp_path)) == (3, [])


def test_a_scenario_that_two_suites_have_is_replaced_by_nobody(fake, tmp_path):
    one, two = (write_suite(tmp_path, f"evals/{name}.yaml") for name in "ab")
    for words in (one, two, ALONE, one):
        assert record(tmp_path, *fake.flags, *words).code == 0
    assert list_traces(tmp_path) == ["a/refund/0.jsonl", "b/refund/0.jsonl", "refund/0.jsonl"]
    done = record(tmp_path, *fake.flags, *ALONE)
    assert done.err.count("counts both recordings as trials; delete one") == 2, done.err


def test_a_recording_that_no_suite_counts_twice_stays_without_a_word(fake, tmp_path):
    suite = write_suite(tmp_path, "evals/s.yaml", "../traces/s/**/*.jsonl")
    for words in (suite, ALONE, suite):
        done = record(tmp_path, *fake.flags, *words)
        assert (done.code, "wrote traces" in done.err) == (0, False), done.err
    assert list_traces(tmp_path) == ["refund/0.jsonl", "s/refund/0.jsonl"]


def test_what_the_same_recording_wrote_in_the_other_place_stays(fake, tmp_path):
    suite, env = write_suite(tmp_path, "evals/s.yaml"), environ(EVALGATE_RECORDING_ID="run-7")
    for words in (suite, ALONE, suite):
        assert record(tmp_path, *fake.flags, *words, env=env).code == 0
    assert list_traces(tmp_path) == ["refund/0.jsonl", "s/refund/0.jsonl"]


def test_a_trace_names_the_provider_that_was_not_asked_at_its_default(fake, tmp_path):
    assert record(tmp_path, *fake.flags, *ALONE, "--cache", "write").code == 0
    assert trace_of(tmp_path)["metadata"]["evalgate.base_urls"] == "openai"
    assert record(tmp_path, *fake.flags, *ALONE, "--cache", "read").code == 0
    assert "evalgate.base_urls" not in trace_of(tmp_path)["metadata"]


def test_a_trace_names_the_settings_of_the_requests(fake, tmp_path):
    assert record(tmp_path, *fake.flags, *ALONE).code == 0
    assert trace_of(tmp_path)["metadata"]["evalgate.model_settings"] == "unset"


def test_a_recording_whose_suites_are_not_known_names_the_other_one(fake, tmp_path):
    suite = write_suite(tmp_path, "s.yaml", "traces/**/*.jsonl")
    alone = record(tmp_path, *fake.flags, *ALONE)
    again = record(tmp_path, *fake.flags, *suite)
    named = "warning: `record --scenario` wrote traces/refund: "
    assert (alone.code, again.code, named in alone.err, again.err.count(named)) == (0, 0, False, 1), again.err


def test_a_dead_agent_leaves_nothing_of_earlier_recordings(fake, tmp_path):
    assert record(tmp_path, *fake.flags, "--scenario", "refund", "--trials", "3").code == 0
    dead = record(tmp_path, *fake.flags, "--scenario", "refund", "--", "none")
    assert (dead.code, "\n3 earlier recordings removed from traces/refund\n" in f"\n{dead.err}") == (3, True)
    assert not (tmp_path / "traces/refund").exists()
    assert dead.err.splitlines()[-2] == (
        "nothing stands in the place of what traces/refund had, so the gate says MISSING and passes by no older run;"
        " record again once the agent runs"
    )


def test_a_run_that_fails_before_its_first_call_is_a_failed_trial_beside_others(fake, tmp_path):
    """Else the others would be judged as if it had not been."""
    plain = str(AGENTS / "plain.py")
    script = (
        'import os, runpy, sys\nif os.environ["EVALGATE_TRIAL"] == "1": {}\n'
        'plain = sys.argv.pop(1)\nsys.path.insert(0, os.path.dirname(plain))\nrunpy.run_path(plain, run_name="__main__")'
    )
    words = [*fake.flags, "--scenario", "refund", "--trials", "3", "--keep-going"]
    fails = (sys.executable, "-c", script.format('raise KeyError("order")'), plain)
    done = record_command(tmp_path, words, fails, environ())
    assert (done.code, done.last_line.endswith(", 3 traces")) == (0, True), done.err
    trace = trace_of(tmp_path, "refund/1")
    assert (trace["status"], trace["error"]["type"], trace["messages"]) == ("error", "exit code 1", [])
    assert trace["error"]["message"].rstrip().endswith("KeyError: 'order'")
    suite = {"suite": "s", "traces": ["traces/**/*.jsonl"], "scenarios": [{"id": "refund", "assertions": [{"type": "forbidden_tools", "tools": ["delete_user"], "required": True}]}]}  # fmt: skip
    (tmp_path / "s.yaml").write_text(json.dumps(suite))
    judged = evalgate(tmp_path, "run", "s.yaml")
    assert (judged.code, "exit code 1" in judged.out) == (1, True), judged.out
    silent = record_command(tmp_path, words, (sys.executable, "-c", script.format("sys.exit()"), plain), environ())
    assert (silent.code, silent.last_line.endswith(", 2 traces")) == (3, True), silent.err


def test_a_run_that_hangs_before_its_first_call_is_an_incomplete_trial_beside_others(fake, tmp_path):
    plain = str(AGENTS / "plain.py")
    script = (
        'import os, runpy, sys, time\nif os.environ["EVALGATE_TRIAL"] == "1": time.sleep(60)\n'
        'plain = sys.argv.pop(1)\nsys.path.insert(0, os.path.dirname(plain))\nrunpy.run_path(plain, run_name="__main__")'
    )
    words = [*fake.flags, "--scenario", "refund", "--trials", "2", "--timeout", "5"]
    done = record_command(tmp_path, words, (sys.executable, "-c", script, plain), environ())
    assert done.code != 0
    trace = trace_of(tmp_path, "refund/1")
    assert (trace["status"], trace["messages"]) == ("incomplete", [])
    suite = {"suite": "s", "traces": ["traces/**/*.jsonl"], "scenarios": [{"id": "refund", "assertions": [{"type": "forbidden_tools", "tools": ["delete_user"], "required": True}]}]}  # fmt: skip
    (tmp_path / "s.yaml").write_text(json.dumps(suite))
    judged = evalgate(tmp_path, "run", "s.yaml")
    assert judged.code in (1, 3), judged.out
    assert "before anything of this run was recorded" in judged.out


def test_a_failed_agent_says_how_to_bring_the_earlier_recording_back(fake, tmp_path):
    env = environ(GITHUB_SHA="a" * 40)
    first = record(tmp_path, *fake.flags, *ALONE, "--", "crash", env=env)
    failed = record(tmp_path, *fake.flags, *ALONE, "--keep-going", "--", "crash", env=env)
    assert "bring" not in first.err
    assert failed.err.splitlines()[-2] == (
        "a failed run stands in the place of what traces/refund had; to bring it back, if git has it: "
        "git checkout -- traces/refund"
    )
    assert "git checkout" not in record(tmp_path, *fake.flags, *ALONE, env=env).err


def test_jobs_of_one_matrix_are_one_recording(fake, tmp_path):
    env = environ(EVALGATE_RECORDING_ID="run-7")
    for trial in ("0", "1"):
        assert record(tmp_path, *fake.flags, "--scenario", "refund", "--trial", trial, env=env).code == 0
    assert record(tmp_path, *fake.flags, "--scenario", "refund", env=env).code == 0
    assert sorted(path.name for path in (tmp_path / "traces/refund").iterdir()) == ["0.jsonl", "1.jsonl"]
