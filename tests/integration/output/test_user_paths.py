"""Every verb with `-o` leaves what the path names as it is: a device, a FIFO, a link, the mode of a file."""

from __future__ import annotations

import json
import os
import re
import resource
import stat
import subprocess
import sys
import threading
import zipfile
from io import BytesIO, StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from documents import ROOT
from store_builders import make_evaluation, make_golden

from evalgate.cli import main
from evalgate.cli.shell import Shell
from evalgate.features.store.bootstrap.store import open_store

TRACE = {"trace_id": "t1", "scenario_id": "a", "messages": [{"role": "user", "content": "hi " * 40}]}
SUITE = """\
suite: small
traces: ["traces/*.json"]
scenarios:
  - id: a
    assertions: [{type: turn_limit, max_turns: 3}]
"""
WRITERS = {
    "convert": ["convert", "traces/a.json"],
    "export-jsonl": ["export", "jsonl"],
    "export-csv": ["export", "csv"],
    "export-json": ["export", "json"],
    "goldens-export": ["goldens", "export"],
    "baseline-save": ["baseline", "save"],
    "baseline-create": ["baseline", "create", ".evalgate"],
    "baseline-create-of-results": ["baseline", "create", "results"],
}
WITHOUT_STORE = [name for name in WRITERS if "export" not in name]
EVERY_WRITER = pytest.mark.parametrize("words", WRITERS.values(), ids=WRITERS)
SOME = ("convert", "export-csv", "baseline-create-of-results")
SOME_WRITERS = pytest.mark.parametrize("words", [WRITERS[name] for name in SOME], ids=SOME)
DEVICES = {"null": (1, 3), "full": (1, 7)}


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    """A folder with a trace, a finished run, and a store with an evaluation."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "traces").mkdir()
    (folder / "traces/a.json").write_text(json.dumps(TRACE))
    (folder / "suite.yaml").write_text(SUITE)
    done = evalgate(folder, "run", "suite.yaml", "-q")
    assert done.returncode == 0, done.stderr
    (folder / "results").mkdir()
    (folder / "results/results.json").write_bytes((folder / ".evalgate/results.json").read_bytes())
    with open_store(str(folder / ".evalgate/evalgate.db"), "/") as store:
        store.goldens.create(make_golden())
        store.evaluations.create(make_evaluation())
    (folder / "out").mkdir()
    return folder


@pytest.fixture
def out(project, tmp_path):
    """An empty folder for what is written."""
    return tmp_path


class CommandResult(NamedTuple):
    """A command's exit code and what it printed."""

    returncode: int
    stderr: str


def evalgate(folder, *words):
    """Runs a verb in this process."""
    out, err = StringIO(), StringIO()
    code = main([str(word) for word in words], Shell(out, err, {"SOURCE_DATE_EPOCH": "1767220849"}, str(folder)))
    return CommandResult(code, err.getvalue())


def start_evalgate(folder, *words, **options):
    """Runs a verb in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "evalgate", *map(str, words)],
        cwd=folder,
        env={"SOURCE_DATE_EPOCH": "1767220849", "PATH": "", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        timeout=60,
        check=False,
        **options,
    )


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def check_content(words, content):
    """Requires what the verb writes, whole."""
    if words[0] == "baseline":
        assert "results.json" in zipfile.ZipFile(BytesIO(content)).namelist()
    elif "csv" in words:
        assert (content[:14], content[-2:]) == (b"evaluation_id,", b"\r\n")
    else:
        assert [json.loads(content)] if "json" in words else [json.loads(line) for line in content.splitlines()]


def make_device(path, name):
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(*DEVICES[name]))
        with path.open("rb"):
            return path
    except OSError:
        pytest.skip("devices can't be made here")


@EVERY_WRITER
def test_a_fifo_is_written_to(project, out, words):
    fifo, read = out / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()), daemon=True)
    reader.start()

    done = evalgate(project, *words, "-o", fifo)
    reader.join(10)

    assert (done.returncode, names(out)) == (0, ["fifo"]), done.stderr
    assert stat.S_ISFIFO(fifo.lstat().st_mode)
    check_content(words, read[0])


@EVERY_WRITER
def test_a_device_is_written_to(project, out, words):
    device = make_device(out / "null", "null")

    done = evalgate(project, *words, "-o", device)

    assert (done.returncode, names(out)) == (0, ["null"]), done.stderr
    assert stat.S_ISCHR(device.lstat().st_mode)


@EVERY_WRITER
def test_a_full_device_is_one_clear_line(project, out, words):
    device = make_device(out / "full", "full")

    done = evalgate(project, *words, "-o", device)

    assert done.returncode == 2
    assert done.stderr == f"error: can't write {device}: No space left on device\n"
    assert stat.S_ISCHR(device.lstat().st_mode)
    assert names(out) == ["full"]


@EVERY_WRITER
@pytest.mark.parametrize("exists", [True, False])
def test_the_target_of_a_link_is_written(project, out, words, exists):
    (out / "elsewhere").mkdir()
    target, link = out / "elsewhere/target", out / "link"
    link.symlink_to("elsewhere/target")
    if exists:
        target.write_text("old")
        target.chmod(0o640)

    done = evalgate(project, *words, "-o", link)

    assert done.returncode == 0, done.stderr
    assert str(link.readlink()) == "elsewhere/target"
    assert (names(out), names(out / "elsewhere")) == (["elsewhere", "link"], ["target"])
    assert not exists or stat.S_IMODE(target.stat().st_mode) == 0o640
    check_content(words, target.read_bytes())


@EVERY_WRITER
def test_a_file_keeps_mode_and_owner_and_no_longer_content_is_left(project, out, words):
    path = out / "file"
    path.write_text("old" * 100_000)
    path.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(path, 1001, 1002)
    before = path.stat()

    done = evalgate(project, *words, "-o", path)

    assert (done.returncode, names(out)) == (0, ["file"]), done.stderr
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    check_content(words, path.read_bytes())


@SOME_WRITERS
def test_a_new_file_has_the_mode_of_any_new_file(project, out, words):
    done = start_evalgate(project, *words, "-o", out / "new", preexec_fn=lambda: os.umask(0o027))

    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE((out / "new").stat().st_mode) == 0o640


@EVERY_WRITER
def test_a_name_of_255_bytes_is_written(project, out, words):
    done = evalgate(project, *words, "-o", out / ("n" * 255))

    assert (done.returncode, names(out)) == (0, ["n" * 255]), done.stderr


@pytest.mark.parametrize("words", [WRITERS[name] for name in WITHOUT_STORE], ids=WITHOUT_STORE)
@pytest.mark.parametrize("exists", [True, False])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(project, out, words, exists):
    path = out / "file"
    if exists:
        path.write_text("old")

    def keep_files_small():  # also bytecode, which Python would write in part
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = start_evalgate(project, *words, "-o", path, preexec_fn=keep_files_small)

    assert done.returncode == 2
    assert done.stderr.decode() == f"error: can't write {path}: File too large\n"
    assert names(out) == (["file"] if exists else [])
    assert not exists or path.read_text() == "old"


@EVERY_WRITER
@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("folder", "Is a directory"),
        ("file/", "Is a directory"),
        ("gone/file", "No such file or directory"),
        ("circle", "Too many levels of symbolic links"),
        ("n" * 256, "File name too long"),
        ("", "the path is empty"),
    ],
)
def test_a_path_that_can_not_be_written_is_one_clear_line(project, out, words, path, reason):
    (out / "folder/inner").mkdir(parents=True)
    (out / "circle").symlink_to("circle")
    if words[0] == "export" and path in {"folder", "file/"}:
        return  # a folder is where an export may be written
    given = f"{out}/{path}" if path else path

    done = evalgate(project, *words, "-o", given)

    assert done.returncode == 2
    assert done.stderr == f"error: can't write {given or repr(given)}: {reason}\n"
    assert names(out) == ["circle", "folder"]


@EVERY_WRITER
def test_a_path_longer_than_any_is_one_line_of_bounded_length(project, words):
    done = evalgate(project, *words, "-o", "n/" * 3_000 + "n")

    assert done.returncode == 2
    assert done.stderr.startswith("error: can't write n/n/")
    assert (done.stderr.count("\n"), len(done.stderr) < 1_000) == (1, True)


@pytest.mark.parametrize(
    ("words", "path"),
    [*((words, "-") for words in WRITERS.values()), *((WRITERS[name], "/dev/stdout") for name in SOME)],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_stdout_gets_the_content_and_nothing_else(project, words, path):
    before = names(project), Path("/dev/stdout").lstat().st_ino

    done = start_evalgate(project, *words, "-o", path)

    assert done.returncode == 0, done.stderr
    check_content(words, done.stdout.replace(b"\n", b"\r\n") if "csv" in words else done.stdout)
    assert (names(project), Path("/dev/stdout").lstat().st_ino) == before


@SOME_WRITERS
def test_the_file_that_stdout_is_gets_the_content(project, out, words):
    with (out / "file").open("wb") as stream:
        done = subprocess.run(
            [sys.executable, "-m", "evalgate", *words, "-o", "/dev/stdout"],
            cwd=project,
            stdout=stream,
            timeout=60,
            check=False,
        )

    assert (done.returncode, names(out)) == (0, ["file"])
    content = (out / "file").read_bytes()
    check_content(words, content.replace(b"\n", b"\r\n") if "csv" in words else content)


WRITING = re.compile(r"""\.write_(?:bytes|text)\(|\bopen\([^)]*["'][wax]""")
NOT_NAMED_BY_A_USER = {
    "adapters/file_writer.py": "the function itself",
    "adapters/files/output_folder.py": "the .gitignore of a new output folder",
    "features/store/adapters/database.py": "the .gitignore of a new .evalgate folder",
    "adapters/github/reports.py": "a private folder",
    "adapters/github/workflow_step.py": "the runner's files, which are only appended to",
    "adapters/sandbox/exchange_dir.py": "a private folder",
    "bootstrap/judge_main.py": "a private folder",
    "bootstrap/process.py": "stderr",
    "features/testing/assertions.py": "a private folder",
    "features/testing/calls.py": "a private folder",
    "features/testing/judging.py": "a file of this test run among its workers, by rename",
    "recording/recorder.py": "runs in the agent's process, without the gate: below a folder, by rename",
    "recording/response_cache.py": "as recorder.py",
    "__main__.py": "the null device",
}


def test_one_function_writes_to_what_a_user_names():
    package = ROOT / "evalgate"
    writers = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if WRITING.search(path.read_text(encoding="utf-8"))
    }
    assert writers == set(NOT_NAMED_BY_A_USER)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_file_that_may_not_be_written_is_not_replaced(project, out):
    path = out / "file"
    path.write_text("old")
    path.chmod(0o444)
    out.chmod(0o777)
    program = (
        "import os, sys; os.setuid(65534)\n"
        "from evalgate.adapters.file_writer import open_to_write\n"
        "with open_to_write(sys.argv[1]) as stream: stream.write(b'new')"
    )

    done = subprocess.run(
        [sys.executable, "-c", f"import evalgate.adapters.file_writer\n{program}", path],
        capture_output=True,
        check=False,
    )

    assert b"PermissionError" in done.stderr or b"Permission denied" in done.stderr
    assert path.read_text() == "old"
