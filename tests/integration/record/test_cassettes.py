"""Cassettes: written, replayed without a provider, missed, refused."""

from __future__ import annotations

import json
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest
from fakes.providers import ECHO_KEY, FakeProviders
from recording_runs import KEY, command, environ, evalgate, record, trace_of, written

if TYPE_CHECKING:
    from pathlib import Path

CASSETTE = "evals/cassettes/refund/0.jsonl"
NO_KEY = {name: value for name, value in environ().items() if not name.endswith("_API_KEY")}
CLOSED = ["--provider", "openai=http://127.0.0.1:9/v1", "--provider", "anthropic=http://127.0.0.1:9"]


def write(folder: Path, fake: FakeProviders, *agent: str, **more: str) -> Any:
    done = record(folder, *fake.flags, "--scenario", "refund", "--cache", "write", "--", *agent, **more)
    assert done.code == 0, done
    return done


def read(folder: Path, *agent: str, flags: tuple[str, ...] = (), **more: Any) -> Any:
    return record(
        folder, *CLOSED, "--scenario", "refund", "--cache", "read", *flags, "--", *agent, **{"env": NO_KEY, **more}
    )


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / CASSETTE).read_text().splitlines()]


def test_a_cassette_has_no_ids_of_this_run_and_equal_runs_change_no_byte(fake, tmp_path):
    write(tmp_path, fake)
    before = (tmp_path / CASSETTE).read_bytes()
    write(tmp_path, FakeProviders())
    assert (tmp_path / CASSETTE).read_bytes() == before
    header, *exchanges = lines_of(tmp_path)
    assert (header["schema"], header["scenario"], header["trial"]) == ("evalgate.exchange/1", "refund", 0)
    assert [exchange["n"] for exchange in exchanges] == [1, 1]
    assert exchanges[1]["request"]["messages"][2]["tool_calls"][0]["id"] == "id_1"
    assert exchanges[0]["response"]["headers"] == {"content-type": "application/json"}


def test_a_changed_prompt_is_exit_3_and_names_the_message(fake, tmp_path):
    write(tmp_path, fake)
    done = read(tmp_path, env={**NO_KEY, "SYSTEM_PROMPT": "You are a support agent. Be kind."})
    assert done.code == 3
    assert "messages[0] (system).content" in done.err
    assert "old: You are a support agent. Be brief." in done.err
    assert "new: You are a support agent. Be kind." in done.err
    assert "evalgate_cassette_miss" in done.out
    assert done.out.strip().endswith("false")  # x-should-retry
    assert not (tmp_path / "traces/refund/0.jsonl").exists()


def test_a_request_made_more_often_than_recorded_is_a_miss_unless_the_last_is_reused(fake, tmp_path):
    write(tmp_path, fake, "twice")
    assert read(tmp_path, "twice").code == 0
    done = read(tmp_path, "thrice")
    assert done.code == 3
    assert "recorded 2 times, and is made once more" in done.err
    assert read(tmp_path, "thrice", flags=("--reuse-last",)).code == 0


def test_fifty_parallel_calls_are_recorded_and_replayed(fake, tmp_path):
    for done in (write(tmp_path, fake, "parallel"), read(tmp_path, "parallel")):
        trace = trace_of(tmp_path)
        assert (done.code, done.last_line) == (0, "50 model calls (openai), 0 spans, 1 trace")
        assert (len(trace["llm_calls"]), trace["usage"]["total_tokens"]) == (50, 50 * 37)


def test_auto_replays_and_records_what_is_missing(fake, tmp_path):
    write(tmp_path, fake)
    asked = len(fake.requests)
    more = environ(SYSTEM_PROMPT="Be kind.")
    done = record(tmp_path, *fake.flags, "--scenario", "refund", "--cache", "auto", env=more)
    assert (done.code, len(fake.requests) - asked) == (0, 2)
    assert len(lines_of(tmp_path)) == 5
    assert read(tmp_path).code == read(tmp_path, env={**NO_KEY, "SYSTEM_PROMPT": "Be kind."}).code == 0


@pytest.mark.parametrize(
    ("flags", "env", "reason"),
    [
        (["--cache", "auto"], {"CI": "true"}, "in CI"),
        (["--cache", "read"], {"GITHUB_EVENT_NAME": "pull_request_target"}, "not replayed on pull_request_target"),
        (["--cache", "auto"], {"GITHUB_EVENT_NAME": "workflow_run"}, "not replayed on workflow_run"),
        ([], {"EVALGATE_CACHE": "reed"}, "'reed'"),
        (["--trial", "1", "--trials", "2"], {}, "use one of them"),
        (["--provider", "openai=http://example.org/v1"], {}, "not https"),
        (["--provider", "openai=https://user:pass@example.org/v1"], {}, "more than a host"),
        (["--cache", "write", "--cassettes", "../elsewhere"], {}, "inside the workspace"),
        (["--timeout", "-1"], {}, "--timeout"),
    ],
)
def test_settings_that_are_not_safe_are_exit_2(fake, tmp_path, flags, env, reason):
    done = record(tmp_path, *fake.flags, "--scenario", "refund", *flags, env=environ(**env))
    assert (done.code, done.err.count("\n")) == (2, 1), done
    assert reason in done.err
    assert fake.requests == []


def test_a_failed_agent_does_not_replace_its_cassette(fake, tmp_path):
    write(tmp_path, fake)
    before = (tmp_path / CASSETTE).read_bytes()
    changed = environ(SYSTEM_PROMPT="Be kind.")
    done = record(tmp_path, *fake.flags, "--scenario", "refund", "--cache", "write", "--", "crash", env=changed)
    assert done.code == 1
    assert (tmp_path / CASSETTE).read_bytes() == before


@pytest.mark.parametrize("flags", [(), ("--record-errors",)])
def test_errors_are_recorded_only_if_asked_for(tmp_path, flags):
    fake = FakeProviders((429,))
    done = record(tmp_path, *fake.flags, "--scenario", "refund", "--cache", "write", *flags, "--", "retry")
    assert done.code == 0
    assert [line["response"]["status"] for line in lines_of(tmp_path)[1:]] == ([429] if flags else []) + [200, 200]


SECRETS = {
    "GITHUB_TOKEN": "ghp_" + "a1B2" * 9,
    "AWS": "AKIA" + "ABCD1234EFGH5678",
    "SLACK": "xoxb-" + "1234567890-abcdef",
    "STRIPE": "sk_live_" + "a1b2c3d4e5f6g7h8",
    "NPM": "npm_" + "a1B2" * 9,
    "HF": "hf_" + "aBcD" * 9,
    "GOOGLE": "AIza" + "a1B2c" * 7,
    "GITLAB": "glpat-" + "a1B2c3D4e5F6g7H8i9J0",
    "MY_PASSWORD": "correct horse battery 42",
    "DATABASE_URL": "postgres://user:hunter2hunter2@db/x",
}


@pytest.mark.parametrize("word", ["secrets", "secrets-stream"])
def test_a_key_and_ten_other_secrets_are_in_no_byte_written(tmp_path, word):
    planted = {**SECRETS, "OPENAI_API_KEY": KEY}
    fake = FakeProviders((ECHO_KEY,), text="you sent " + " and ".join(planted.values()))
    env = environ(**planted)
    done = record(tmp_path, *fake.flags, "--scenario", "refund", "--cache", "write", "--", word, env=env)
    assert done.code == 0, done
    assert "warning: refund (trial 0): a response holds a secret" in done.err
    assert (tmp_path / CASSETTE).exists()
    found = written(tmp_path)
    hidden = [value.rpartition(":")[2].partition("@")[0] if "://" in value else value for value in planted.values()]
    assert [value for value in hidden if value.encode() in found or value in done.err] == []
    assert all(value in json.dumps([body for _, _, body in fake.requests]) for value in hidden[:-1])
    joined = "".join(
        json.loads(event[5:])["choices"][0]["delta"].get("content") or ""
        for line in lines_of(tmp_path)[1:]
        for _, event in line["response"].get("events", ())
        if '"content"' in event
    )
    assert [value for value in hidden if value in joined] == []


def test_a_forged_cassette_is_exit_2(fake, tmp_path):
    write(tmp_path, fake)
    path = tmp_path / CASSETTE
    path.write_text(path.read_text().replace("gpt-fake", "gpt-else", 1))
    done = read(tmp_path)
    assert (done.code, done.err.count("\n"), done.out) == (2, 1, ""), done
    assert "0.jsonl:2: this cassette is refused: the key is not that of the request" in done.err


def test_a_linked_cassette_is_exit_2(fake, tmp_path):
    write(tmp_path, fake)
    path = tmp_path / CASSETTE
    path.rename(tmp_path / "elsewhere.jsonl")
    path.symlink_to(tmp_path / "elsewhere.jsonl")
    assert read(tmp_path).code == 2
    path.unlink()
    path.parent.rmdir()
    path.parent.symlink_to(tmp_path)
    assert read(tmp_path).code == 2
    done = record(tmp_path, *fake.flags, "--scenario", "refund", "--cache", "write")
    assert (done.code, "link" in done.err) == (2, True)


def test_a_cassette_is_no_trace(fake, tmp_path):
    write(tmp_path, fake)
    (tmp_path / "suite.yaml").write_text(
        "suite: s\ntraces: [evals/cassettes]\nscenarios: [{id: refund, assertions: [{type: output_contains, value: x}]}]"
    )
    done = evalgate(tmp_path, "run", "suite.yaml", "--no-baseline-zip")
    assert done.code != 0
    assert "this is a cassette" in done.out + done.err


def test_a_trace_is_not_written_or_deleted_through_a_link(fake, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "0.jsonl").write_text("keep")
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces/refund").symlink_to(elsewhere)
    done = record(tmp_path, *fake.flags, "--scenario", "refund")
    assert (done.code, done.err.count("\n"), fake.requests) == (2, 1, []), done
    assert (elsewhere / "0.jsonl").read_text() == "keep"
    (tmp_path / "traces/refund").unlink()
    (tmp_path / "traces").rename(elsewhere / "named")
    (tmp_path / "traces").symlink_to(elsewhere / "named")  # a folder that the user names may be a link
    assert record(tmp_path, *fake.flags, "--scenario", "refund").code == 0
    assert (elsewhere / "named/refund/0.jsonl").exists()


def test_a_replay_waits_for_recorded_pauses_only_if_asked(fake, tmp_path):
    write(tmp_path, fake, "stream")
    times = [0, 300, *[600] * 100]
    for flags, factor, longest in ((("--realtime",), 1, 60), ((), 100_000, 30)):
        header, one = lines_of(tmp_path)
        one["response"]["events"] = [
            [at * factor, text] for at, (_, text) in zip(times, one["response"]["events"], strict=False)
        ]
        (tmp_path / CASSETTE).write_text(f"{json.dumps(header)}\n{json.dumps(one)}\n")
        started = time.monotonic()
        assert read(tmp_path, "stream", flags=flags).code == 0
        assert (0.6 if flags else 0) <= time.monotonic() - started < longest


def test_two_recordings_into_one_folder_leave_whole_files(fake, tmp_path):
    words = command(*fake.flags, "--scenario", "refund", "--cache", "auto")
    both = [subprocess.Popen(words, cwd=tmp_path, env=environ(), stderr=subprocess.PIPE) for _ in range(2)]
    assert [(each.communicate(timeout=60)[1][-1:], each.returncode) for each in both] == [(b"\n", 0)] * 2
    assert len(trace_of(tmp_path)["llm_calls"]) == 2
    assert len(lines_of(tmp_path)) == 3
    assert [path.name for path in tmp_path.rglob("*") if path.name.endswith(".part")] == []
    assert read(tmp_path).code == 0


def test_without_a_cassette_one_line_says_how_to_record_it(fake, tmp_path):
    done = read(tmp_path)
    assert done.code == 3
    line = f"refund (trial 0): there is no cassette {CASSETTE}: `--cache write` records one, with the provider's key"
    assert line in done.err.splitlines()


def test_a_run_without_a_scenario_is_written_with_a_warning(fake, tmp_path):
    done = record(tmp_path, *fake.flags)
    assert (done.code, (tmp_path / "traces/unattributed/0.jsonl").exists()) == (0, True)
    assert "warning: nothing names the scenario of this run" in done.err
    assert done.err.startswith("note: without --scenario ID or --suite FILE a trace has a scenario only if")
