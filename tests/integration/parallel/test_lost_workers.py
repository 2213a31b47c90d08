"""Workers that die or are stopped: no hang, no orphan, and the record that caused it is named."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress

import pytest
from run_outputs import read_outputs, run_command, start_command

from evalgate.adapters.engines.process_pool import ProcessPool

PLUGIN = '''
import os, pathlib, signal
from typing import Literal
from evalgate.evaluators.base import Evaluator, Finding

class Deadly(Evaluator):
    """Kills the process that judges a trace which says so: always, or the first time only."""
    type: Literal["deadly"]
    def label(self):
        return "stays alive"
    def compile(self):
        return check

def check(trace):
    words = trace.messages[0]["content"]
    if words == "die" or (words == "die once" and is_first()):
        os.kill(os.getpid(), signal.SIGKILL)
    if words == "wait":
        pathlib.Path("waiting").touch()
        signal.pause()
    return Finding("passed", "still alive")

def is_first():
    try:
        pathlib.Path("died").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
'''
SUITE = """
suite: s
traces: [traces/*]
scenarios:
  - id: "*"
    assertions: [{type: deadly}]
"""


def world(folder, words):
    """A file of thirty lines of which the tenth holds `words`, and two whole files."""
    (folder / "traces").mkdir()
    (folder / "suite.yaml").write_text(SUITE)
    (folder / "deadly.py").write_text(PLUGIN)
    lines = [_trace(words if number == 9 else "live", f"line-{number}") for number in range(30)]
    (folder / "traces" / "lines.jsonl").write_text("\n".join(lines))
    for name in "ab":
        (folder / "traces" / f"{name}.json").write_text(_trace("live", name))
    return folder


def _trace(words, scenario):
    messages = [{"role": "user", "content": words}]
    return json.dumps({"schema": "evalgate.trace/1", "scenario_id": scenario, "messages": messages})


def judged(folder, *words):
    return run_command(folder, "run", "suite.yaml", "--plugin", "deadly", "--no-baseline-zip", *words)


def test_the_record_that_kills_its_worker_is_an_error_and_all_others_are_judged(tmp_path):
    folder = world(tmp_path, "die")
    code, output = judged(folder, "--jobs", "2")
    assert code == 1, output
    suite = json.loads((folder / ".evalgate" / "results.json").read_bytes())["suites"][0]
    found = {each["id"]: each for each in suite["scenarios"]}
    assert len(found) == 32
    assert "line-9" not in found  # no worker lived to read its id
    lost = found.pop("lines.jsonl#L10")
    assert lost["verdict"] == "ERROR"
    assert "traces/lines.jsonl:10: no worker could judge it" in lost["reason"]
    assert "signal 9" in lost["reason"]
    assert {each["verdict"] for each in found.values()} == {"PASS"}


@pytest.mark.parametrize("engine", [["--jobs", "2"], ["--engine", "dask", "--jobs", "3"]])
def test_a_worker_lost_for_no_fault_of_the_record_changes_nothing(tmp_path, engine):
    if "dask" in engine:
        pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    folder = world(tmp_path, "die once")
    (folder / "died").touch()
    code, output = judged(folder, "--jobs", "1", "--output-dir", "undisturbed")
    assert code == 0, output
    (folder / "died").unlink()
    code, output = judged(folder, *engine)
    assert code == 0, output
    assert (folder / "died").exists()
    assert read_outputs(folder / ".evalgate") == read_outputs(folder / "undisturbed")


def test_an_interrupted_run_ends_at_once_and_leaves_no_worker(tmp_path):
    folder = world(tmp_path, "wait")
    process = start_command(folder, "run", "suite.yaml", "--plugin", "deadly", "--jobs", "2")
    try:
        while not (folder / "waiting").exists() and process.poll() is None:
            os.sched_yield()
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
        _, output = process.communicate(timeout=60)
        assert process.returncode == 130, output
        assert "Traceback" not in output
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def test_an_interrupt_that_python_lost_still_ends_the_wait():
    """What a finaliser raises is dropped, and so is an interrupt that arrives while it runs."""

    class Finalised:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)
            for _ in range(3):
                os.getpid()

    pool = ProcessPool(1)
    pool.begin(endless)
    try:
        ticket = pool.submit(None)
        hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
        Finalised()
        sys.unraisablehook = hook
        with pytest.raises(KeyboardInterrupt):
            ticket.result()
    finally:
        pool.close()


def endless(_):
    while True:
        signal.pause()
