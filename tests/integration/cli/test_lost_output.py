"""Output that is lost: a full disk for stdout is wrong input in one line, for stderr it changes nothing."""

from __future__ import annotations

import errno
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest
from store_builders import make_evaluation, make_feedback, make_golden

from evalgate.cli import main
from evalgate.cli.shell import Shell
from evalgate.features.store.bootstrap.store import open_store

TRACE = {
    "schema": "evalgate.trace/1",
    "trace_id": "t1",
    "scenario_id": "a",
    "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}],
}
SUITE = """\
suite: small
traces: ["traces/*.json"]
scenarios:
  - id: "*"
    assertions: [{type: turn_limit, max_turns: 3}]
"""
PRINTING = [
    "run suite.yaml",
    "run suite.yaml --json",
    "run suite.yaml -q",
    "validate suite.yaml",
    "explain a",
    "compare .evalgate/baseline.zip .evalgate/results.json",
    "baseline show .evalgate/baseline.zip",
    "baseline create .evalgate -o made.zip",
    "baseline save -o made.zip",
    "query trace_id traces/a.json",
    "query traces/a.json",
    "convert traces/a.json",
    "backtest suite.yaml .evalgate/baseline.zip",
    "fingerprint suite.yaml",
    "history",
    "history --json",
    "history prune --keep 1d --dry-run",
    "goldens list",
    "goldens show refund",
    "goldens export",
    "feedback add c --rating 3",
    "feedback list",
    "export jsonl -o -",
    "export csv -o -",
    "export json",
    "schema suite",
]
FULL = Path("/dev/full")
FIXED = {**os.environ, "SOURCE_DATE_EPOCH": "1767220849"}
pytestmark = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    """A project with a finished run and a store that has something of everything."""
    folder = tmp_path_factory.mktemp("template")
    (folder / "traces").mkdir()
    (folder / "traces/a.json").write_text(json.dumps(TRACE))
    (folder / "suite.yaml").write_text(SUITE)
    store = str(folder / ".evalgate/evalgate.db")
    assert evalgate(folder, "run suite.yaml", StringIO(), StringIO()) == 0
    with open_store(store, "/") as opened:
        opened.goldens.create(make_golden())
        opened.evaluations.create(make_evaluation())
        opened.feedback.create(make_feedback())
    assert evalgate(folder, f"run suite.yaml --store-url {store}", StringIO(), StringIO()) == 0
    return folder


@pytest.fixture
def project(template, tmp_path):
    return shutil.copytree(template, tmp_path / "project")


def evalgate(folder, command, out, err):
    return main(command.split(), Shell(out, err, {"SOURCE_DATE_EPOCH": "1767220849"}, str(folder)))


class FullDisk(StringIO):
    """A stream on a full disk: writing fails at once, or when its buffer is written."""

    def __init__(self, *, has_buffer: bool) -> None:
        super().__init__()
        self._has_buffer = has_buffer

    def write(self, text: str) -> int:
        if self._has_buffer:
            return super().write(text)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def flush(self) -> None:
        if self.getvalue():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("command", "has_buffer"), [*((each, True) for each in PRINTING), *((each, False) for each in PRINTING[::5])]
)
def test_stdout_on_a_full_disk_is_exit_2_with_one_line(project, command, has_buffer):
    err = StringIO()
    code = evalgate(project, command, FullDisk(has_buffer=has_buffer), err)

    assert (code, err.getvalue().splitlines()[-1]) == (2, "error: can't write to stdout: No space left on device")
    assert "bug" not in err.getvalue()


@pytest.mark.parametrize("command", PRINTING)
def test_stderr_on_a_full_disk_changes_nothing(project, command):
    assert evalgate(project, command, StringIO(), FullDisk(has_buffer=False)) == 0


def start(folder, *words, **options):
    """Starts a verb in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "evalgate", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    )


@pytest.mark.parametrize(
    ("redirect", "code", "shown"),
    [
        ("> /dev/full", 2, "error: can't write to stdout: No space left on device\n"),
        ("2> /dev/full", 0, ""),
        ("--limit cpu=20 > /dev/full", 2, "error: can't write to stdout: No space left on device\n"),
        ("--limit cpu=20 2> /dev/full", 0, ""),
        (">&-", 0, None),
        ("2>&-", 0, ""),
    ],
)
def test_a_process_ends_so_too(project, redirect, code, shown):
    command = f"exec {shlex.quote(sys.executable)} -m evalgate run suite.yaml -q {redirect}"
    done = subprocess.run(["/bin/sh", "-c", command], cwd=project, capture_output=True, text=True, check=False)

    assert done.returncode == code
    assert shown is None or done.stderr == shown


SIGNALLING_MODULE = """\
import os, pathlib, signal
os.kill(os.getpid(), signal.%s)
for each in range(100_000):
    pass
pathlib.Path("loaded").touch()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_while_a_module_is_loading_ends_the_process_at_once(project, name, code):
    """An exception there could crash a compiled library."""
    (project / "signalling.py").write_text(SIGNALLING_MODULE % name)

    done = start(project, "run", "suite.yaml", "--plugin", "signalling")
    out, err = done.communicate(timeout=60)

    assert (done.returncode, out, err) == (code, "", "")
    assert not (project / "loaded").exists()


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize("limits", [(), ("--limit", "cpu=50")])
def test_a_verb_that_is_ended_leaves_no_part_of_a_file(project, name, code, limits):
    lines = "".join(f"{json.dumps({**TRACE, 'trace_id': str(number)})}\n" for number in range(10_000))
    (project / "traces/many.jsonl").write_text(lines)
    (project / "out").mkdir()

    process = start(project, "convert", "traces/many.jsonl", "-o", "out/file", *limits)
    while not list((project / "out").iterdir()) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=60)

    assert (process.returncode, out, err) == (code, "", "")
    assert list((project / "out").iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_process_that_is_started_to_ignore_a_signal_ignores_it(project, number):
    (project / "signalling.py").write_text(SIGNALLING_MODULE % number.name)
    process = start(
        *(project, "run", "suite.yaml", "--plugin", "signalling"),
        preexec_fn=lambda: signal.signal(number, signal.SIG_IGN),
    )
    process.communicate(timeout=60)

    assert process.returncode == 2  # the module has no evaluators
    assert (project / "loaded").exists()


REPORTS = ("results.json", "comment.md", "summary.md", "junit.xml")
RUN = ("run", "suite.yaml", "-q")


def read_reports(project):
    assert not list((project / ".evalgate").glob(".*.part"))
    return {name: (project / ".evalgate" / name).read_bytes() for name in REPORTS}


@pytest.fixture(scope="session")
def changed_template(template, tmp_path_factory):
    """A project whose traces have changed since its run: its reports, and those of another run."""
    folder = shutil.copytree(template, tmp_path_factory.mktemp("changed") / "project")
    for number in range(1_000):
        (folder / "traces" / f"{number}.json").write_text(json.dumps({**TRACE, "scenario_id": str(number)}))
    before, copy = read_reports(folder), shutil.copytree(folder, folder.with_name("copy"))
    subprocess.run([sys.executable, "-m", "evalgate", *RUN], cwd=copy, env=FIXED, check=True, timeout=60)
    after = read_reports(copy)
    assert all(before[name] != after[name] for name in REPORTS)
    return folder, before, after


@pytest.fixture
def changed(changed_template, tmp_path):
    folder, before, after = changed_template
    return shutil.copytree(folder, tmp_path / "project"), before, after


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_run_that_is_interrupted_ends_with_130_and_leaves_no_part(changed, jobs):
    project, before, after = changed
    for delay in (0.3, 0.6):
        process = start(project, *RUN, "--jobs", jobs, env=FIXED)
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        out, err = process.communicate(timeout=60)
        assert process.returncode in {130, 0}, err
        assert "Traceback" not in out + err
        assert read_reports(project) in ([before, after] if process.returncode else [after])


INTERRUPTED = """\
import os, signal, sys
number, when, name = sys.argv[1:4]
del sys.argv[1:4]
def interrupt(event, arguments):
    if event == when and str(arguments[0]).endswith(f".{name}.part"):
        os.kill(os.getpid(), getattr(signal, number))
sys.addaudithook(interrupt)
from evalgate.__main__ import main
main()
"""


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize(("event", "is_replaced"), [("open", False), ("os.rename", True)])
def test_an_interrupted_run_replaces_all_of_its_reports_or_none(changed, name, event, is_replaced):
    project, before, after = changed
    done = run_with_signal(project, "SIGINT", event, name)

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
    assert read_reports(project) == (after if is_replaced else before)


@pytest.mark.parametrize("name", REPORTS)
def test_a_run_that_exceeds_its_limit_while_it_writes_replaces_no_report_and_leaves_no_part(changed, name):
    project, before, _ = changed
    done = run_with_signal(project, "SIGXCPU", "open", name, "--limit", "cpu=50")

    assert (done.returncode, "exceeded its CPU time limit (50 seconds)" in done.stderr) == (2, True)
    assert read_reports(project) == before


def run_with_signal(project, number, event, name, *flags):
    command = [sys.executable, "-c", INTERRUPTED, number, event, name, *RUN, *flags]
    return subprocess.run(command, cwd=project, env=FIXED, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("name", REPORTS)
def test_a_run_whose_report_can_not_be_written_replaces_none(changed, name):
    project, before, _ = changed
    (project / ".evalgate" / name).unlink()
    (project / ".evalgate" / name).mkdir()

    process = start(project, *RUN, env=FIXED)
    out, err = process.communicate(timeout=60)

    assert (process.returncode, out) == (2, "")
    assert err.startswith(f"error: can't write .evalgate/{name}: Is a directory")
    (project / ".evalgate" / name).rmdir()
    (project / ".evalgate" / name).write_bytes(before[name])
    assert read_reports(project) == before


def test_a_run_that_can_not_delete_a_report_of_an_earlier_one_replaces_none(changed):
    project, before, _ = changed
    folder = project / ".evalgate"
    (folder / "results.sarif").write_text("of an earlier run")
    (folder / "tracking.json").mkdir()

    process = start(project, *RUN, env=FIXED)
    out, err = process.communicate(timeout=60)

    assert (process.returncode, out) == (2, "")
    assert err.startswith("error: can't write .evalgate/tracking.json: Is a directory")
    assert (read_reports(project), (folder / "results.sarif").exists()) == (before, True)


@pytest.mark.parametrize("closed", [">&-", "<&- >&-"])
def test_a_file_for_a_closed_stdout_does_not_go_to_stderr(project, closed):
    command = f"exec {shlex.quote(sys.executable)} -m evalgate baseline save -o - {closed}"
    done = subprocess.run(["/bin/sh", "-c", command], cwd=project, capture_output=True, check=False)
    assert b"PK" not in done.stderr
