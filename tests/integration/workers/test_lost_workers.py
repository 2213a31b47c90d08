"""Workers that die or are sent home: no hang, no orphan, and the record that did it is named."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress

import pytest
from leavings import left_in, ran, started

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
    """Thirty lines of a file of which the tenth says `words`, beside two whole files."""
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
    return ran(folder, "run", "suite.yaml", "--plugin", "deadly", "--no-baseline-zip", *words)


def test_the_record_that_kills_its_worker_is_an_error_and_all_others_are_judged(tmp_path):
    folder = world(tmp_path, "die")
    code, said = judged(folder, "--jobs", "2")
    assert code == 1, said
    suite = json.loads((folder / ".evalgate" / "results.json").read_bytes())["suites"][0]
    found = {each["id"]: each for each in suite["scenarios"]}
    assert len(found) == 32
    assert "line-9" not in found  # nobody lived to read its id
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
    code, said = judged(folder, "--jobs", "1", "--output-dir", "undisturbed")
    assert code == 0, said
    (folder / "died").unlink()
    code, said = judged(folder, *engine)
    assert code == 0, said
    assert (folder / "died").exists()
    assert left_in(folder / ".evalgate") == left_in(folder / "undisturbed")


def test_an_interrupted_run_ends_at_once_and_leaves_no_worker(tmp_path):
    folder = world(tmp_path, "wait")
    process = started(folder, "run", "suite.yaml", "--plugin", "deadly", "--jobs", "2")
    try:
        while not (folder / "waiting").exists() and process.poll() is None:
            os.sched_yield()
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
        _, said = process.communicate(timeout=60)
        assert process.returncode == 130, said
        assert "Traceback" not in said
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def test_an_interrupt_that_python_lost_ends_the_wait_all_the_same():
    """What a finaliser raises is dropped, an interrupt that comes while it runs too."""

    class Finalised:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)
            for _ in range(3):
                os.getpid()

    crew = ProcessPool(1)
    crew.begin(endless)
    try:
        ticket = crew.submit(None)
        told, sys.unraisablehook = sys.unraisablehook, lambda _: None
        Finalised()
        sys.unraisablehook = told
        with pytest.raises(KeyboardInterrupt):
            ticket.result()
    finally:
        crew.close()


def endless(_):
    while True:
        signal.pause()
