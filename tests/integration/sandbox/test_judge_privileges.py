"""What a judge's process is given and may use, as the process itself reads it from the system."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalgate.adapters.sandbox.exchange_dir import ExchangeDir
from evalgate.adapters.sandbox.judge_process import JUDGE_GROUP, start_judge, wait_for_judge
from evalgate.adapters.sandbox.process_bounds import Bounds

ROOT = Path(__file__).resolve().parents[3]
LOOK = f"""
import json, os, resource, sys
sys.path.insert(0, {str(ROOT)!r})
from evalgate.adapters.sandbox.process_bounds import Bounds, drop_privileges, apply_bounds
folder, user = sys.argv[1:]
answer = open(folder + "/answer.json", "w")
seen = {{"environ": open("/proc/self/environ", "rb").read().decode()}}
seen["streams"] = [os.readlink(f"/proc/self/fd/{{number}}") for number in (0, 1, 2)]
apply_bounds(Bounds(cpu=7, memory=700_000_000, spare=5))
drop_privileges(int(user) or None, {JUDGE_GROUP})
limits = [name for name in dir(resource) if name.startswith("RLIMIT_")]
seen |= {{name: resource.getrlimit(getattr(resource, name)) for name in limits}}
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
seen["can gain rights"] = status["NoNewPrivs"].strip() == "0"
answer.write(json.dumps(seen))
answer.close()
"""


def look(folder: Path, user: int = 0) -> dict[str, Any]:
    folder.mkdir()
    place = ExchangeDir(folder / "judge", None, JUDGE_GROUP)
    wait_for_judge(start_judge([sys.executable, "-I", "-c", LOOK, place.path, str(user)]), place, Bounds(wall=60))
    answer = place.read_answer()
    assert answer is not None
    found: dict[str, Any] = json.loads(answer)
    return found


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    return look(tmp_path_factory.mktemp("asker") / "downloads")


def test_its_environment_is_empty_from_the_start(seen):
    assert seen["environ"] == ""


def test_its_output_goes_nowhere_and_it_has_no_input(seen):
    assert seen["streams"] == ["/dev/null"] * 3


def test_no_program_that_it_becomes_gives_it_rights(seen):
    assert not seen["can gain rights"]


@pytest.mark.parametrize(
    ("limit", "least", "most"),
    [
        ("RLIMIT_CORE", 0, 0),
        ("RLIMIT_CPU", 7, 12),
        ("RLIMIT_AS", 700_000_000, 700_000_000),
        ("RLIMIT_FSIZE", 600_000_000, 600_000_000),
        ("RLIMIT_NOFILE", 256, 256),
    ],
)
def test_it_has_resource_limits(seen, limit, least, most):
    assert seen[limit] == [least, most]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make the judge another user")
def test_as_a_separate_user_it_may_start_no_process(tmp_path):
    assert look(tmp_path / "downloads", JUDGE_GROUP)["RLIMIT_NPROC"] == [0, 0]


# --- one that is made ready by a process that is about to know secrets ----------------

SECRET = "s3cr3t-of-the-job-that-is-nowhere-else"
PR_GET_DUMPABLE = 3
ASKER = f"""
import json, os, re, sys
if sys.argv[-1].startswith("--environment="):
    sys.path[:] = sys.argv[-1].split(os.pathsep)[1:]
sys.path.insert(0, {str(ROOT)!r})
from evalgate.adapters.sandbox.judge_process import running_judges
from evalgate.bootstrap.clean_start import reexec_without_environment
opened = os.open("/etc/hostname", os.O_RDONLY)
os.set_inheritable(opened, True)
judge = reexec_without_environment()
assert os.environ["TOKEN"].encode() == b"-".join([b"s3cr3t", b"of-the-job-that-is-nowhere-else"])
[pid] = running_judges
here = f"/proc/{{pid}}/"
judge.prepare(__import__("evalgate.adapters.sandbox.process_bounds", fromlist=["Bounds"]).Bounds(cpu=9, memory=10**9))
found = 0
with open(here + "mem", "rb", 0) as memory:
    for line in open(here + "maps"):
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        if line.split()[1].startswith("r") and "[v" not in line:
            memory.seek(start)
            found += memory.read(end - start).count(os.environ["TOKEN"].encode())
import ctypes
dumpable = ctypes.CDLL(None).prctl({PR_GET_DUMPABLE}, 0, 0, 0, 0)
streams = {{name: os.readlink(here + "fd/" + name) for name in os.listdir(here + "fd")}}
print(json.dumps({{
    "environ": open(here + "environ").read(), "command": open(here + "cmdline").read(),
    "found": found, "files": streams, "dumpable": dumpable,
}}))
judge.dismiss()
"""


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """What can be seen of a judge while it waits, by root, who may see everything."""
    if os.geteuid() != 0:
        pytest.skip("only root may look into another process")
    script = tmp_path_factory.mktemp("asker") / "asker.py"
    script.write_text(ASKER)
    done = subprocess.run(
        [sys.executable, "-I", script],
        env={"TOKEN": SECRET, "PATH": os.environ["PATH"]},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    if "PermissionError" in done.stderr:
        pytest.skip("no process may be looked into here")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_preforked_judge_holds_no_secret_anywhere_in_its_memory(ready):
    assert (ready["found"], ready["environ"]) == (0, "")
    assert SECRET not in ready["command"]


def test_the_parent_can_not_be_inspected_by_its_own_user(ready):
    assert ready["dumpable"] == 0


def test_a_preforked_judge_has_null_streams_and_one_pipe(ready):
    assert {ready["files"][stream] for stream in "012"} == {"/dev/null"}
    assert set(ready["files"]) == {"0", "1", "2", "3"}
    assert ready["files"]["3"].startswith("pipe:")
