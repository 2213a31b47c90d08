"""`run --watch`: it judges again when suites or traces change, and a mistake in a suite ends nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from io import StringIO

import pytest

from evalgate.cli import main
from evalgate.cli.shell import Shell
from evalgate.cli.watch import describe_run

SUITE = """suite: support
traces: [../traces/*.jsonl]
scenarios:
  - {id: refund, assertions: [{type: output_contains, value: refunded, required: true}]}
  - {id: greet, assertions: [{type: output_contains, value: Hello, required: true}]}
"""


def make_trace(scenario, answer):
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": answer}]
    return json.dumps({"schema": "evalgate.trace/1", "scenario_id": scenario, "messages": messages}) + "\n"


class Watch:
    """The command in a thread, with keys to press."""

    def __init__(self, folder, *words):
        self.out, self.err, self.codes = StringIO(), StringIO(), []
        reading, self._keys = os.pipe()
        self._stdin = open(reading, encoding="utf-8")  # noqa: SIM115, PTH123  (closed in `quit`)
        shell = Shell(self.out, self.err, {}, str(folder), self._stdin)
        self._thread = threading.Thread(target=lambda: self.codes.append(main(["run", "--watch", *words], shell)))
        self._thread.start()

    def press(self, key):
        os.write(self._keys, f"{key}\n".encode())

    def quit(self):
        self.press("q")
        self._thread.join(30)
        os.close(self._keys)
        self._stdin.close()
        return self.codes

    def expect(self, lines, stream="out"):
        """Waits until this many lines are printed; returns the last one."""
        end = time.monotonic() + 30
        while len(found := getattr(self, stream).getvalue().splitlines()) < lines:
            assert time.monotonic() < end, (self.out.getvalue(), self.err.getvalue())
            time.sleep(0.02)
        return found[-1]


@pytest.fixture
def project(tmp_path):
    (tmp_path / "evals").mkdir()
    (tmp_path / "traces").mkdir()
    (tmp_path / "evals/support.yaml").write_text(SUITE)
    (tmp_path / "traces/refund.jsonl").write_text(make_trace("refund", "It is refunded."))
    (tmp_path / "traces/greet.jsonl").write_text(make_trace("greet", "Hello"))
    return tmp_path


def test_a_change_starts_a_run_and_a_mistake_ends_nothing(project):
    watch = Watch(project, "--failed")
    assert watch.expect(1) == "2 pass, 0 fail"
    (project / "traces/refund.jsonl").write_text(make_trace("refund", "No, it is not."))
    assert watch.expect(2) == "1 pass, 1 fail: refund (was pass)"
    (project / "evals/support.yaml").write_text("scenarios: 3\n")
    watch.expect(4, "err")
    assert "error: evals/support.yaml:1" in watch.err.getvalue()
    (project / "evals/support.yaml").write_text(SUITE)
    assert watch.expect(3) == "1 pass, 1 fail: refund"
    results = json.loads((project / ".evalgate/results.json").read_text())
    assert [each["id"] for suite in results["suites"] for each in suite["scenarios"]] == ["refund"]
    watch.press("")
    assert watch.expect(4) == "1 pass, 1 fail: refund"
    assert len(json.loads((project / ".evalgate/results.json").read_text())["suites"][0]["scenarios"]) == 2
    assert "\x1b" not in watch.out.getvalue()
    assert watch.quit() == [0]


def test_a_new_trace_starts_a_run(project):
    (project / "traces/greet.jsonl").unlink()
    watch = Watch(project)
    assert watch.expect(1) == "1 pass, 1 fail: greet"
    (project / "traces/new.jsonl").write_text(make_trace("greet", "Hello"))
    assert watch.expect(2) == "2 pass, 0 fail"
    assert watch.quit() == [0]


def test_its_runs_become_no_baseline(project):
    shell = Shell(StringIO(), StringIO(), {}, str(project))
    assert main(["run"], shell) == 0
    (project / "traces/greet.jsonl").write_text(make_trace("greet", "Hello again"))
    watch = Watch(project)
    watch.expect(1)
    assert watch.quit() == [0]
    assert main(["baseline", "save"], shell) == 2
    assert "run again without --no-baseline-zip or --watch" in shell.err.getvalue()


@pytest.mark.parametrize(
    ("words", "environ", "message"),
    [
        (["--watch"], {"CI": "true"}, "error: --watch does not run in CI (leave it out)"),
        (["--watch", "--json"], {}, "error: --watch prints a line a run: it takes neither --json nor --shard"),
        (["--failed"], {}, "error: --failed belongs to --watch (evalgate run --watch --failed)"),
    ],
)
def test_it_is_refused(project, words, environ, message):
    err = StringIO()
    assert main(["run", *words], Shell(StringIO(), err, environ, str(project))) == 2
    assert err.getvalue() == f"{message}\n"


def test_an_interrupt_ends_it(project):
    environ = {name: value for name, value in os.environ.items() if name != "CI"}
    with subprocess.Popen(
        [sys.executable, "-m", "evalgate", "run", "--watch"],
        cwd=project,
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "2 pass, 0 fail\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130


def test_at_most_five_are_named():
    verdicts = {("s", f"s{number}", "flat"): "FAIL" for number in range(7)}
    assert (
        describe_run(verdicts, {})
        == "0 pass, 7 fail: s0 [flat], s1 [flat], s2 [flat], s3 [flat], s4 [flat], and 2 more"
    )
