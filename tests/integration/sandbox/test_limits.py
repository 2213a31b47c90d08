"""Limits on time and memory: exceeding one ends in exit code 2 and one line that names what was read."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from io import StringIO

import pytest

from evalgate.adapters.progress import SilentProgress
from evalgate.adapters.sandbox.current_file import CurrentFileNote, read_note
from evalgate.adapters.sandbox.process_bounds import (
    OUT_OF_MEMORY,
    Bounds,
    ExitStatus,
    is_out_of_memory,
    over_limit,
    wait_for_exit,
)
from evalgate.cli import main
from evalgate.cli.shell import Shell

SUITE = """\
version: 1
suite: refunds
traces: [traces/*.json]
scenarios:
  - id: refund
    assertions:
      - {type: output_contains, value: refunded}
"""
PATTERNS = "".join(f"      - {{regex: '(a|a)+(a|{one})+(a|a)+$'}}\n" for one in "abc")


def a_trace(content="refunded"):
    messages = [{"role": "user", "content": "refund me"}, {"role": "assistant", "content": content}]
    return {"schema": "evalgate.trace/1", "scenario_id": "refund", "messages": messages}


@pytest.fixture
def project(tmp_path):
    (tmp_path / "traces").mkdir()
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "traces" / "refund.json").write_text(json.dumps(a_trace()))
    return tmp_path


def evalgate(folder, *words):
    return subprocess.run(
        [sys.executable, "-m", "evalgate", *words],
        cwd=folder,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1767225600", "RUST_BACKTRACE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def run_here(folder, *words):
    """Runs a verb in this process; its exit code and what it writes to stderr."""
    err = StringIO()
    return main(words, Shell(StringIO(), err, {"SOURCE_DATE_EPOCH": "1767225600"}, str(folder))), err.getvalue()


def test_a_run_within_its_limits_gives_the_same_output_as_one_without(project):
    bounded = evalgate(project, "run", "suite.yaml", "--limit", "cpu=8", "--limit", "memory=280MB")
    results = (project / ".evalgate/results.json").read_bytes()
    free = evalgate(project, "run", "suite.yaml")

    assert (bounded.returncode, bounded.stdout, bounded.stderr) == (0, free.stdout, free.stderr)
    assert results == (project / ".evalgate/results.json").read_bytes()


def test_a_failing_run_within_its_limits_fails(project):
    (project / "traces/refund.json").write_text(json.dumps(a_trace("no")))
    assert evalgate(project, "run", "suite.yaml", "--fail-on", "below_threshold", "--limit", "cpu=8").returncode == 1


def test_a_run_that_uses_up_its_time_names_what_it_was_reading(project):
    evalgate(project, "run", "suite.yaml")
    (project / "suite.yaml").write_text(SUITE + PATTERNS)
    (project / "traces/refund.json").write_text(json.dumps(a_trace("a" * 40 + "b")))

    before = (project / ".evalgate/results.json").read_bytes()
    ended = evalgate(project, "run", "suite.yaml", "--limit", "cpu=1")

    assert ended.returncode == 2, ended.stderr
    [line] = ended.stderr.splitlines()
    assert line.startswith(
        "error: judging exceeded its CPU time limit (1 seconds) while it was reading traces/refund.json for suite.yaml"
    )
    assert (project / ".evalgate/results.json").read_bytes() == before


def test_a_run_that_uses_up_its_memory_names_what_it_was_reading(project):
    document = json.dumps([[[1]] * 400_000])
    (project / "traces/refund.json").write_text(document[:-1] + ", 2" * 900_000 + "]")

    ended = evalgate(project, "run", "suite.yaml", "--limit", "memory=64MB", "--json")

    assert ended.returncode == 2, ended.stderr
    [line] = ended.stderr.splitlines()
    assert "exceeded its memory limit (64 MB)" in line
    assert "traces/refund.json" in line
    results = json.loads(ended.stdout)
    assert (results["verdict"], results["reasons"][0]["code"], results["summary"]) == ("invalid", "over_limit", None)


@pytest.mark.parametrize("megabytes", [36, 44, 48, 50])
def test_running_out_of_memory_anywhere_is_not_a_bug_and_prints_no_traceback(project, megabytes):
    ended = evalgate(project, "run", "suite.yaml", "--limit", f"memory={megabytes}MB", "-q")
    assert ended.returncode in (0, 2), ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.splitlines()) <= 1


PRINTING_PLUGIN = '''
import os
from typing import Literal
from evalgate.evaluators.base import Evaluator, Finding

class Printing(Evaluator):
    """Prints as compiled code does, to the descriptor."""
    type: Literal["printing"]
    aborts: bool
    def label(self):
        return "prints"
    def compile(self):
        return self.check
    def check(self, trace):
        os.write(2, b"memory allocation of 8 bytes failed\\n")
        if self.aborts:
            os.abort()
        return Finding("passed", "printed")
'''


PRINTED = "memory allocation of 8 bytes failed"


@pytest.mark.parametrize(
    ("aborts", "limit", "code", "lines"),
    [
        (
            "true",
            "memory=280MB",
            2,
            ["error: judging crashed with signal 6, most likely over its memory limit (280 MB) w"],
        ),
        ("true", "cpu=20", 2, [PRINTED, "error: judging crashed with signal 6 while "]),
        ("false", "memory=280MB", 0, [PRINTED]),
        ("false", "cpu=20", 0, [PRINTED]),
    ],
)
def test_what_a_library_prints_is_left_out_only_where_it_gets_no_memory(project, aborts, limit, code, lines):
    (project / "printing.py").write_text(PRINTING_PLUGIN)
    (project / "suite.yaml").write_text(f"{SUITE}      - {{type: printing, aborts: {aborts}}}\n")
    ended = evalgate(project, "run", "suite.yaml", "-q", "--plugin", "printing", "--limit", limit)
    assert (ended.returncode, len(ended.stderr.splitlines())) == (code, len(lines))
    assert all(line.startswith(start) for line, start in zip(ended.stderr.splitlines(), lines, strict=True))


@pytest.mark.parametrize(
    "words",
    [
        ["validate", "suite.yaml"],
        ["query", "traces/refund.json"],
        ["convert", "traces/refund.json"],
        ["explain", "refund"],
        ["compare", ".evalgate/results.json", ".evalgate/results.json"],
        ["baseline", "show", ".evalgate/baseline.zip"],
        ["baseline", "create", ".evalgate", "-o", "b.zip"],
        ["backtest", "suite.yaml", ".evalgate/baseline.zip"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_every_verb_that_reads_untrusted_files_keeps_to_its_memory_limit(project, words):
    assert run_here(project, "run", "suite.yaml")[0] == 0
    assert evalgate(project, *words, "--limit", "memory=280MB", "--limit", "cpu=8").returncode == 0

    ended = evalgate(project, *words, "--limit", "memory=20MB")

    assert ended.returncode == 2
    [line] = ended.stderr.splitlines()
    assert line.startswith("error: judging ")
    assert ended.stdout == ""


@pytest.mark.parametrize("given", ["record=5MB", "speed=3"])
def test_a_verb_that_reads_no_traces_has_limits_of_its_process_only(project, given):
    code, err = run_here(project, "explain", "refund", "--limit", given)
    assert (code, "known: cpu, memory" in err) == (2, True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("cpu=0", "is not a whole number above 0"),
        ("cpu=1s", "is not a whole number above 0"),
        ("memory=-1", "is not a size"),
    ],
)
def test_an_invalid_limit_is_refused(project, given, message):
    code, err = run_here(project, "run", "suite.yaml", "--limit", given)
    assert (code, message in err) == (2, True)


# --- how a process ended --------------------------------------------------------


def started(*words):
    return os.posix_spawn(words[0], list(words), {})


def test_a_process_whose_time_is_up_is_ended():
    ending = wait_for_exit(started("/bin/sleep", "60"), 0.01)
    assert ending == ExitStatus(-signal.SIGKILL, is_late=True)


def test_child_processes_end_with_their_parent():
    read, write = os.pipe()
    os.set_inheritable(write, True)
    pid = os.posix_spawn("/bin/sh", ["/bin/sh", "-c", "sleep 60 & exit 3"], {"PATH": "/bin:/usr/bin"}, setpgroup=0)
    os.close(write)
    with os.fdopen(read, "rb") as alive:
        assert wait_for_exit(pid, 5, group=True) == ExitStatus(3)
        assert select.select([alive], [], [], 20)[0]  # end of file: no process holds the other end any more
        assert alive.read() == b""


BOUNDS = Bounds(cpu=7, memory=50_000_000, wall=9)


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (ExitStatus(-signal.SIGXCPU), "exceeded its CPU time limit (7 seconds)"),
        (ExitStatus(-signal.SIGKILL), "killed by the system"),
        (ExitStatus(-signal.SIGKILL, is_late=True), "longer than 9 seconds"),
        (ExitStatus(-signal.SIGABRT), "crashed with signal 6, most likely over its memory limit (50 MB)"),
        (ExitStatus(-signal.SIGSEGV), "crashed with signal 11"),
        (ExitStatus(OUT_OF_MEMORY), "exceeded its memory limit (50 MB)"),
    ],
)
def test_each_way_to_end_early_is_reported_with_what_was_read(ending, words):
    refusal = over_limit(ending, BOUNDS, "evals/a.yaml")
    assert words in str(refusal)
    assert "while it was reading evals/a.yaml" in str(refusal)
    assert refusal.exit_code == 2


@pytest.mark.parametrize("code", [0, 1, 2, 3, 70])
def test_a_process_that_exits_normally_has_exceeded_no_limit(code):
    assert over_limit(ExitStatus(code), BOUNDS, "") is None


def test_a_note_names_only_the_file_that_was_read_last():
    with tempfile.TemporaryFile() as place:
        note = CurrentFileNote()
        note("nowhere yet")
        note.write_to(place.fileno())
        note("traces/" + "long" * 1_000)
        note("evals/a.yaml\n::error::x\x1b[2J")
        assert read_note(place.fileno()) == "evals/a.yaml \u23ce ::error::x"


def test_a_note_names_the_suite_that_requested_a_file():
    with tempfile.TemporaryFile() as place:
        note = CurrentFileNote()
        assert note.wrap_progress(SilentProgress()).__class__ is SilentProgress
        note.write_to(place.fileno())
        progress = note.wrap_progress(SilentProgress())
        note("evals/a.yaml")
        progress.begin("evals/a.yaml")
        assert read_note(place.fileno()) == "evals/a.yaml"
        note("traces/x.json")
        progress.advance("traces")
        progress.finish()
        assert read_note(place.fileno()) == "traces/x.json for evals/a.yaml"


def test_nothing_noted_is_nothing_read():
    with tempfile.TemporaryFile() as place:
        assert read_note(place.fileno()) == ""


def caused(outer, cause):
    outer.__cause__ = cause
    return outer


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (OSError(12, "Cannot allocate memory"), True),
        (ImportError("x.so: Cannot allocate memory"), True),
        (ImportError("x.so: failed to map segment from shared object"), True),
        (caused(ValueError("x"), MemoryError()), True),
        (ImportError("no module named x"), False),
        (OSError(2, "no such file"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_lack_of_memory_is_recognised_in_all_its_forms(error, expected):
    assert is_out_of_memory(error) is expected


WITHOUT_EXCEPTION = """
from evalgate.adapters.sandbox.process_bounds import Bounds, apply_bounds, is_out_of_memory
error = SystemError("error return without exception set")
print(is_out_of_memory(error), end=" ")
apply_bounds(Bounds(memory=4_000_000_000))
print(is_out_of_memory(error))
"""


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS takes no limit of memory")
def test_compiled_code_that_fails_without_an_exception_lacked_memory_if_that_is_limited():
    output = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXCEPTION], capture_output=True, text=True, check=True
    ).stdout
    assert output == "False True\n"


ALLOWED = """
import resource, sys
from evalgate.adapters.sandbox.process_bounds import CpuAllowance, Bounds, apply_bounds
apply_bounds(Bounds(cpu=60, spare=2))
allowance = CpuAllowance(10)
for count in (9, 1, 5, 25, 10):
    allowance.advance("traces", count)
    print(*resource.getrlimit(resource.RLIMIT_CPU), end=" ")
print(resource.getrlimit(resource.RLIMIT_CORE))
"""


ON_MACOS = """
import sys
sys.platform = "darwin"
import resource
from evalgate.adapters.sandbox.process_bounds import Bounds, apply_bounds
apply_bounds(Bounds(cpu=60, memory=700_000_000))
print(resource.getrlimit(resource.RLIMIT_AS)[0] == 700_000_000, resource.getrlimit(resource.RLIMIT_CPU)[0])
"""


def test_macos_which_refuses_a_limit_of_memory_is_not_asked_for_one():
    output = subprocess.run([sys.executable, "-c", ON_MACOS], capture_output=True, text=True, check=True).stdout
    assert output == "False 60\n"


def test_more_traces_get_more_time_up_to_a_bound():
    output = subprocess.run([sys.executable, "-c", ALLOWED], capture_output=True, text=True, check=True).stdout
    assert output == "60 62 61 62 61 62 62 62 62 62 (0, 0)\n"
