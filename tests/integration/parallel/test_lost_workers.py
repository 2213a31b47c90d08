"""Workers that die or are stopped: no hang, no orphan, one clear line."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from run_outputs import read_outputs, run_command, start_command

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


@pytest.mark.parametrize(
    "engine", [["--jobs", "2"], pytest.param(["--engine", "dask", "--jobs", "2"], marks=pytest.mark.matrix)]
)
def test_a_run_whose_worker_dies_ends_in_one_clear_line(tmp_path, engine):
    if "dask" in engine:
        pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    folder = world(tmp_path, "die")
    code, output = judged(folder, *engine)
    assert code == 2
    assert re.fullmatch(r"error: a worker process (died|was lost).*--jobs 1.*", output.splitlines()[-1]), output
    assert not (folder / ".evalgate").exists()


def test_a_cluster_judges_again_what_a_lost_worker_had(tmp_path):
    pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    folder = world(tmp_path, "die once")
    (folder / "died").touch()
    code, output = judged(folder, "--jobs", "1", "--output-dir", "undisturbed")
    assert code == 0, output
    (folder / "died").unlink()
    code, output = judged(folder, "--engine", "dask", "--jobs", "2")
    assert code == 0, output
    assert (folder / "died").exists()
    assert read_outputs(folder / ".evalgate") == read_outputs(folder / "undisturbed")


def test_an_interrupted_run_ends_at_once_and_leaves_no_worker(tmp_path):
    folder = world(tmp_path, "wait")
    process = start_command(folder, "run", "suite.yaml", "--plugin", "deadly", "--jobs", "2")
    try:
        while not (folder / "waiting").exists() and process.poll() is None:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
        _, output = process.communicate(timeout=60)
        assert process.returncode == 130, output
        assert "Traceback" not in output
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


INTERRUPTED_AT_A_FORK = """
import os, signal
from evalgate.__main__ import _end_on_signal
from evalgate.adapters.engines.process_pool import ProcessPool

signal.signal(signal.SIGINT, _end_on_signal)
pool = ProcessPool(2)
pool.begin(abs)
os.register_at_fork(after_in_parent=lambda: signal.raise_signal(signal.SIGINT))
pool.submit(-1)
"""


def test_an_interrupt_while_workers_start_leaves_none(tmp_path):
    with (tmp_path / "output").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", INTERRUPTED_AT_A_FORK], stdout=output, stderr=output, start_new_session=True
        )
        try:
            assert process.wait(60) == 130
            with pytest.raises(ProcessLookupError):
                os.killpg(process.pid, 0)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert (tmp_path / "output").read_text() == ""
