"""How a recording ends when something goes wrong: the exit code, the trace, and no half file."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from fakes.providers import BIG, CUT, HANG, FakeProviders
from recording_runs import KEY, command, environ, record, record_command, start_waiting, trace_of, written

if TYPE_CHECKING:
    from pathlib import Path


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_an_agent_that_calls_no_model_is_exit_3(fake, tmp_path):
    done = record(tmp_path, *fake.flags, "--scenario", "refund", "--", "none")
    assert (done.code, done.last_line, files(tmp_path)) == (3, "0 model calls, 0 spans, 0 traces", [])
    reasons = [line for line in done.err.splitlines() if line.startswith("  ")]
    assert [line[:5] for line in reasons] == ["  1. ", "  2. ", "  3. ", "  4. "]
    assert all(word in reasons[0] for word in ("base_url", "OPENAI_BASE_URL", "run.openai_base_url"))


def test_why_nothing_was_recorded_names_only_what_was_asked_for(fake, tmp_path):
    done = record(tmp_path, *fake.flags, "--scenario", "refund", "--without-otlp", "--", "none")
    assert "tracer" not in done.err
    assert "nothing was recorded" not in record(tmp_path, *fake.flags, "--scenario", "refund").err


def test_an_agent_that_fails_before_its_first_call_is_the_first_reason(fake, tmp_path):
    done = record_command(tmp_path, fake.flags, (sys.executable, "-c", "import a_package_that_is_missing"), environ())
    assert (done.code, "ModuleNotFoundError" in done.err) == (3, True)
    reasons = [line for line in done.err.splitlines() if line.startswith("  1. ")]
    assert reasons == ["  1. the agent failed before its first model call: what it printed stands above"]


def test_an_agent_that_crashes_is_exit_1_with_a_trace_of_what_it_did(fake, tmp_path):
    done = record(tmp_path, *fake.flags, "--scenario", "refund", "--", "crash")
    trace = trace_of(tmp_path)
    assert done.code == 1
    assert "exit code 7" in done.err
    assert (trace["status"], trace["error"]) == ("error", {"type": "exit code 7"})
    assert record(tmp_path, *fake.flags, "--scenario", "refund", "--keep-going", "--", "crash").code == 0


def test_the_end_of_what_a_failed_agent_wrote_is_kept_without_secrets(fake, tmp_path):
    done = record(tmp_path, *fake.flags, "--scenario", "refund", "--cache", "write", "--", "loud")
    trace = trace_of(tmp_path)
    message = trace["error"]["message"]
    assert trace["error"]["type"] == "exit code 1"
    assert message.splitlines()[-1] == "KeyError: 'total'"
    assert message.startswith("step\n")
    assert "[redacted" in message
    assert len(message) <= 4_096
    assert (done.err.count("step\n"), KEY in message) == (2_000, False)
    assert not [name for name in files(tmp_path) if "cassette" in name]


def test_nothing_of_stderr_is_kept_if_that_is_asked_for(fake, tmp_path):
    done = record(tmp_path, *fake.flags, "--scenario", "refund", "--no-stderr", "--", "loud")
    assert trace_of(tmp_path)["error"] == {"type": "exit code 1"}
    assert "KeyError: 'total'" in done.err


def test_a_command_that_does_not_exist_is_exit_2(fake, tmp_path):
    done = subprocess.run(
        [*command(*fake.flags, "--scenario", "refund")[:-3], "--", "./no-such-agent"],
        cwd=tmp_path, env=environ(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "no-such-agent" in done.stderr


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_recording_ends_the_agent(fake, tmp_path, sent, code):
    running, _ = start_sleeping(fake, tmp_path)
    running.send_signal(sent)
    _, err = running.communicate(timeout=30)
    assert running.returncode == code
    assert "the recording was interrupted" in err
    assert trace_of(tmp_path)["status"] == "incomplete"


def test_a_killed_recording_leaves_no_file(fake, tmp_path):
    running, agent = start_sleeping(fake, tmp_path)
    running.kill()
    running.wait()
    os.kill(agent, signal.SIGKILL)
    running.communicate(timeout=30)
    assert files(tmp_path) == []


def start_sleeping(fake: FakeProviders, folder: Path) -> tuple[subprocess.Popen[str], int]:
    words = command(*fake.flags, "--scenario", "refund", "--", "sleep")
    env = environ(PYTHONUNBUFFERED="1")
    running = subprocess.Popen(words, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    agent = next(int(line.split()[1]) for line in running.stdout if "asleep" in line)
    return running, agent


def test_a_provider_that_hangs_ends_at_the_timeout(tmp_path):
    fake = FakeProviders((HANG,))
    started = time.monotonic()
    done = record(tmp_path, *fake.flags, "--scenario", "refund", "--timeout", "1")
    assert done.code == 124
    assert time.monotonic() - started < 20
    assert trace_of(tmp_path)["status"] == "incomplete"


def test_a_provider_that_is_not_there_is_an_error_of_the_last_model_call(tmp_path):
    fake = FakeProviders()
    fake.close()
    done = record(tmp_path, *fake.flags, "--scenario", "refund")
    trace = trace_of(tmp_path)
    assert done.code == 1
    assert trace["llm_calls"][-1]["error"]["status_code"] == 502


@pytest.mark.parametrize("status", [429, 500])
def test_a_call_that_is_made_again_counts_once(tmp_path, status):
    fake = FakeProviders((status, status))
    done = record(tmp_path, *fake.flags, "--scenario", "refund", "--", "retry")
    trace = trace_of(tmp_path)
    assert done.code == 0
    assert len(trace["llm_calls"]) == 2
    assert [warning["message"] for warning in trace["warnings"]] == [
        "2 failed model calls were made again, and count once"
    ]
    assert (trace["status"], trace["usage"]["total_tokens"]) == ("ok", 74)


def test_an_outage_at_the_end_is_an_error_with_its_status(tmp_path):
    fake = FakeProviders((None, 429))
    done = record(tmp_path, *fake.flags, "--scenario", "refund")
    trace = trace_of(tmp_path)
    assert (done.code, trace["status"]) == (1, "error")
    assert trace["llm_calls"][-1]["error"] == {"type": "rate_limit_error", "message": "try later", "status_code": 429}


def test_an_answer_of_20_mb_reaches_the_agent_whole_and_the_trace_cut(tmp_path):
    fake = FakeProviders((None, BIG))
    done = record(tmp_path, *fake.flags, "--scenario", "refund")
    trace = trace_of(tmp_path)
    assert done.code == 0
    assert len(trace["response"]["content"]) < 1_000_100
    assert trace["response"]["content"].endswith("[cut: the text had 20,000,000 characters]")


def test_a_proxy_of_the_environment_does_not_lead_away_from_this_machine(fake, tmp_path):
    env = environ(HTTP_PROXY="http://127.0.0.1:9", HTTPS_PROXY="http://127.0.0.1:9", NO_PROXY="example.org,127.0.0.1")
    done = record(tmp_path, *fake.flags, "--scenario", "refund", env=env)
    assert done.code == 0, done


def test_requests_to_a_provider_use_the_proxy_of_the_environment(fake, tmp_path):
    done = record(
        tmp_path, "--provider", "openai=http://localhost:9/v1", "--scenario", "refund", env=environ(HTTP_PROXY=fake.url)
    )
    assert done.code == 0, done
    assert fake.requests[0][0] == "http://localhost:9/v1/chat/completions"


def test_a_planted_key_is_in_no_byte_written(fake, tmp_path):
    fake.text = f"your key is {KEY}, yes"
    done = record(tmp_path, *fake.flags, "--scenario", "refund", env=environ(SYSTEM_PROMPT=f"Use {KEY}"))
    assert done.code == 0
    assert KEY.encode() not in written(tmp_path)
    assert trace_of(tmp_path)["response"]["content"].startswith("your key is [redacted: ")
    assert fake.requests[0][1]["Authorization"] == f"Bearer {KEY}"


def test_requests_that_do_not_come_from_the_agent_are_refused(fake, tmp_path):
    running, env = start_waiting(tmp_path, [*fake.flags, "--scenario", "refund"], environ())
    host, _, path = env["OPENAI_BASE_URL"].removeprefix("http://").partition("/")
    control = env["EVALGATE_RECORD_URL"].removeprefix(f"http://{host}")

    def status(path: str, **headers: str) -> tuple[int, set[str]]:
        connection = http.client.HTTPConnection(host, timeout=5)
        body = b'{"model":"m","messages":[]}'
        with closing(connection):
            connection.request("POST", path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            answer.read()
        return answer.status, {name.lower() for name in answer.headers if name.lower().startswith("access-control")}

    chat = f"/{path}/chat/completions"
    assert host.startswith("127.0.0.1:")
    assert status(chat, Host="evil.example") == (403, set())
    assert status(chat, Origin="https://evil.example") == (403, set())
    assert status(chat, Sec_Fetch_Site="cross-site") == (403, set())
    assert status(chat.replace("/openai/", "/other/"))[0] == 404
    assert status("/t/0123456789abcdef/openai/chat/completions")[0] == 404
    assert status(chat.replace("/t/", "/c/"))[0] == 404
    assert status(control.replace("/c/", "/t/") + "/openai/chat/completions")[0] == 404
    assert status(chat, Upgrade="websocket", Connection="Upgrade")[0] == 501
    assert fake.requests == []
    assert status(chat, Host=host.replace("127.0.0.1", "localhost"))[0] == 200
    running.communicate("\n", timeout=30)
    assert running.returncode == 0
    token = path.split("/")[1]
    assert token.encode() not in written(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["traces"]


def test_an_answer_that_breaks_off_is_an_error(tmp_path):
    fake = FakeProviders((CUT,))
    done = record(tmp_path, *fake.flags, "--scenario", "refund", "--", "stream")
    trace = trace_of(tmp_path)
    assert done.code == 1
    assert trace["llm_calls"][-1]["error"]["type"] == "connection_error"


def explain(folder: Path, *words: str, env: dict[str, str] | None = None) -> list[str]:
    """What stands between how the agents ended and the line that counts."""
    lines = record(folder, *words, env=env).err.splitlines()
    return [line for line in lines[-4:-1] if "model call" in line or line.startswith("  ")]


def test_why_the_last_model_call_failed_is_said_at_the_end(tmp_path):
    found = explain(tmp_path, *FakeProviders((None, 429)).flags, "--scenario", "refund")
    assert [re.sub(r":\d+ ", ":N ", line) for line in found] == [
        "the last model call failed: openai at 127.0.0.1:N answered 429: `try later`"
    ]
    assert explain(tmp_path, *FakeProviders((429,)).flags, "--scenario", "refund", "--", "retry") == []


def test_a_provider_that_is_not_there_names_what_to_set(tmp_path):
    fake = FakeProviders()
    fake.close()
    first, second = explain(tmp_path, *fake.flags, "--scenario", "refund", "--trials", "2")
    assert first.startswith("2 of 2 trials: the last model call failed: openai at 127.0.0.1:")
    assert first.endswith(" gave no answer: `Connection refused`")
    assert second == "  check the address (OPENAI_BASE_URL or --provider openai=URL) and the network"
    calls = trace_of(tmp_path)["llm_calls"]
    assert calls[-1]["error"]["message"] == "evalgate record gets no answer of the model provider: Connection refused"
