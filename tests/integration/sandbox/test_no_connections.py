"""A judge that tries to connect, to start a program or to reach into another process is refused by the kernel."""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from evalgate.adapters.sandbox.exchange_dir import ExchangeDir
from evalgate.adapters.sandbox.judge_process import JUDGE_GROUP, fork_ready_judge, wait_for_judge
from evalgate.adapters.sandbox.process_bounds import Bounds
from evalgate.application.messages.request_codec import encode_value
from evalgate.bootstrap.evaluation_pools import ConfiguredPools, ParallelOptions
from evalgate.bootstrap.judge_main import run_ready_judge
from evalgate.bootstrap.process import run_in_limited_process
from evalgate.bootstrap.sandboxed_judge import NOT_FILTERED
from evalgate.bootstrap.sources import build_trace_limits, build_workspace
from evalgate.errors import OverLimit
from evalgate.settings.limits import Limits

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "support-agent"
BOUNDS = Bounds(cpu=60, memory=16_000_000_000, wall=300)
IS_KNOWN = sys.platform == "linux" and platform.machine() in {"x86_64", "aarch64"}
pytestmark = pytest.mark.skipif(not IS_KNOWN, reason="only these architectures have a filter")

# Code that took over a judge: it is imported with the judge's own modules, and answers a request instead of it.
TAKEN_OVER = """
import ctypes, mmap, os, socket, subprocess, threading
from evalgate.bootstrap.judge_main import HANDLERS

libc = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"
X32 = 0x40000000
MACHINE_CODE = bytes.fromhex("53b867010000bb02000000b90100000031d2cd805bc3")  # 32-bit socket(2), by int 0x80


def attempt(work):
    try:
        found = work()
    except OSError as error:
        return "refused" if error.errno in (1, 38) else f"allowed: {error!r}"
    return "allowed" if found is None else f"allowed: {found!r}"


def system_call(on_x86, on_arm, *arguments):
    ctypes.set_errno(0)
    found = libc.syscall(on_x86 if X86 else on_arm, *arguments)
    if found == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return found


def call_as_32_bit():
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(MACHINE_CODE)
    found = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
    if found < 0:
        raise OSError(-found, "refused")
    return found


def probe(context, port, unix):
    attempts = {
        "connect": lambda: socket.create_connection(("127.0.0.1", port), 5),
        "connect a socket from before": lambda: socket_from_before.connect(("127.0.0.1", port)),
        "unix socket": lambda: socket.socket(socket.AF_UNIX).connect(unix),
        "datagram": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port)),
        "name": lambda: socket.getaddrinfo("localhost", port) and socket.socket(),
        "socketpair": lambda: socket.socketpair(),
        "packet": lambda: socket.socket(17, socket.SOCK_RAW),
        "kernel socket": lambda: socket.socket(38, socket.SOCK_SEQPACKET),
        "execve": lambda: os.execv("/bin/true", ["true"]),
        "execveat": lambda: system_call(322, 281, -100, b"/bin/true", 0, 0, 0),
        "fork and exec": lambda: subprocess.run(["/bin/true"], check=False),
        "fork": os.fork,
        "thread": lambda: start_thread(),
        "clone3": lambda: system_call(435, 435, 0, 0),
        "ptrace": lambda: system_call(101, 117, 16, os.getppid(), 0, 0),
        "process_vm_readv": lambda: system_call(310, 270, os.getpid(), 0, 0, 0, 0, 0),
        "process_vm_writev": lambda: system_call(311, 271, os.getpid(), 0, 0, 0, 0, 0),
        "io_uring_setup": lambda: system_call(425, 425, 1, ctypes.create_string_buffer(120)),
        "pidfd_getfd": lambda: system_call(438, 438, 0, 0, 0),
        "unshare": lambda: system_call(272, 97, 0),
        "bpf": lambda: system_call(321, 280, 0, 0, 0),
    }
    if X86:
        attempts["socket of x32"] = lambda: system_call(X32 | 41, 0, 2, 1, 0)
        attempts["vfork"] = lambda: system_call(58, 0)
        attempts["execve of x32"] = lambda: system_call(X32 | 520, 0, b"/bin/true", 0, 0)
    found = {name: attempt(work) for name, work in attempts.items()}
    go.set()
    done.wait(20)
    return {**found, **from_thread}


def start_thread():
    try:
        threading.Thread(target=print).start()
    except RuntimeError as error:
        raise OSError(1, str(error)) from None


def wait_and_connect():
    go.wait(20)
    from_thread["a thread from before"] = attempt(lambda: socket.socket())
    done.set()


socket_from_before = socket.socket()
go, done, from_thread = threading.Event(), threading.Event(), {}
threading.Thread(target=wait_and_connect, daemon=True).start()
HANDLERS["probe"] = probe
HANDLERS["machine code"] = lambda context: {"found": attempt(call_as_32_bit)}
"""


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Asks a judge whose code was taken over, by the ways of a real one."""
    (tmp_path / "taken_over_judge.py").write_text(TAKEN_OVER)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "downloads").mkdir()
    place = ExchangeDir(tmp_path / "downloads" / "judge", None, JUDGE_GROUP)

    def asked(verb, *arguments):
        ready = fork_ready_judge(run_ready_judge)
        ready.prepare(BOUNDS, ["taken_over_judge"])
        place.write_request(json.dumps(encode_value([verb, None, list(arguments)])).encode())
        wait_for_judge(ready.begin(place.path, None), place, BOUNDS)
        return json.loads(place.read_answer() or b"null")

    return asked


def test_a_judge_that_tries_connects_to_nothing_and_starts_nothing(ask, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(tmp_path / "socket"))
        local.listen()
        server.settimeout(0.2)
        answer = ask("probe", server.getsockname()[1], str(tmp_path / "socket"))
        assert answer is not None, "the judge became another program"
        assert answer.pop("is_filtered") is True
        assert len(answer) > 15
        assert {name: how for name, how in answer.items() if how != "refused"} == {}
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="machine code of x86")
def test_calls_of_another_architecture_are_refused(ask):
    try:
        answer = ask("machine code")
    except OverLimit as error:  # a kernel without 32-bit calls
        assert "signal 11" in str(error)
    else:
        assert answer["found"] == "refused"


# --- other processes that judge --------------------------------------------------------

REFUSED, ALLOWED = 40, 41


def connect_and_start() -> int:
    """What a limited process's work finds: it exits with the code."""
    for work in (socket.socket, lambda: os.posix_spawn("/bin/true", ["true"], {})):
        try:
            work()
        except PermissionError:
            continue
        return ALLOWED
    return REFUSED


@pytest.mark.parametrize(("may_connect", "code"), [(False, REFUSED), (True, ALLOWED)])
def test_a_shells_limited_process_connects_only_if_the_user_asked_for_it(may_connect, code):
    limits = Limits(cpu=60, memory=16_000_000_000)
    assert run_in_limited_process(limits, connect_and_start, lambda work: work(), may_connect=may_connect) == code


def find_in_worker(_):
    return str(connect_and_start()).encode()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (ParallelOptions(jobs=2), REFUSED),
        (ParallelOptions(jobs=2, plugins=["mine"]), ALLOWED),
        (ParallelOptions(jobs=2, traces=["s3://runs/*.json"]), ALLOWED),
    ],
)
def test_a_worker_connects_only_if_the_user_asked_for_it(tmp_path, options, code):
    pool = ConfiguredPools(build_workspace(str(tmp_path)), build_trace_limits(Limits()), options).open([])
    assert pool is not None
    _, engine, _ = pool
    engine.begin(find_in_worker)
    try:
        assert engine.submit(None)() == str(code).encode()
    finally:
        engine.close()


# --- where the kernel takes no filter ----------------------------------------------------

WITHOUT_FILTERS = """
import os, sys
sys.path.insert(0, {root!r})
from evalgate.adapters.sandbox.kernel import ARCHITECTURES, refuse_calls
architecture, seccomp, _ = ARCHITECTURES[os.uname().machine]
if {refused}:
    assert refuse_calls(architecture, seccomp, [seccomp])  # like a container that allows no filter
from pathlib import Path
from evalgate.application.messages.request import JudgeRequest, SourceChoice
from evalgate.bootstrap.judge_context import JudgeContext
from evalgate.bootstrap.sandboxed_judge import SandboxedJudge
root = {workspace!r}
log = []
Path(root, "downloads").mkdir()
judge = SandboxedJudge(JudgeContext(root, root, root + "/.evalgate"), Path(root, "downloads"), log.append)
judgement = judge.judge(JudgeRequest(SourceChoice(["evals/support.yaml"], ["traces/main/*.jsonl"])))
print(judgement.exit_code, *log, sep="\\n")
"""


@pytest.mark.parametrize("refused", [True, False])
def test_a_kernel_that_takes_no_filter_is_named_in_the_log_and_the_judge_judges(tmp_path, refused):
    workspace = shutil.copytree(EXAMPLE, tmp_path / "workspace")
    script = WITHOUT_FILTERS.format(root=str(ROOT), workspace=str(workspace), refused=refused)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""
    code, _, *log = done.stdout.splitlines()
    assert (code, log) == ("0", [NOT_FILTERED] if refused else [])
