"""Restarts the Action's process with an empty environment, so that no process can read its secrets.

/proc shows the environment that a process was started with, as long as it lives. So the variables are passed
in memory to a second start without environment, which other processes can't inspect. Before it restores them
it forks the judge, whose memory therefore never held them.
"""

from __future__ import annotations

# `signal` and `typing` take as long to import as an interpreter takes to start.
import _signal  # type: ignore[import-not-found]
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from evalgate.adapters.sandbox.judge_process import ReadyJudge

ENVIRONMENT_FLAG = "--environment="
BLOCKED_SIGNALS = (_signal.SIGTERM, _signal.SIGINT)
LOADED_BY_BOTH = (
    "base64",
    "evalgate.adapters.clock",
    "evalgate.adapters.files.output_folder",
    "evalgate.adapters.files.project_files",
    "evalgate.adapters.sandbox.exchange_dir",
    "evalgate.adapters.files.workspace",
    "evalgate.application.messages.judge_response",
    "evalgate.application.approvals.approvals",
    "evalgate.application.documents.report_files",
    "evalgate.application.messages.request",
    "evalgate.application.messages.request_codec",
    "evalgate.bootstrap.judge_context",
    "evalgate.bootstrap.outputs",
    "evalgate.bootstrap.sources",
    "evalgate.models.comparison.comparison",
    "evalgate.models.comparison.decision",
    "evalgate.models.comparison.weakening",
    "evalgate.models.github",
    "evalgate.reporting.text.escaping",
    "evalgate.version",
    "hashlib",
    "json",
    "threading",
)
"""Modules that parent and judge need; imported once before the fork."""


def reexec_without_environment() -> ReadyJudge | None:
    """Returns in the second start, with the environment restored and a judge that waits; None if it can't restart."""
    if sys.argv[-1].startswith(ENVIRONMENT_FLAG):
        handle = int(sys.argv.pop().removeprefix(ENVIRONMENT_FLAG).partition(os.pathsep)[0])
        judge = _fork_judge()
        _restore_environment(handle)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, BLOCKED_SIGNALS)
        return judge
    if hasattr(os, "memfd_create") and sys.executable:
        _reexec()
    return None


def _reexec() -> None:
    """Executes the same command again. Signals to end the job are blocked and delivered afterwards."""
    content = b"\0".join(name + b"=" + value for name, value in os.environb.items())
    handle = os.memfd_create("environment", 0)  # stays open in the next start
    os.write(handle, content)
    os.lseek(handle, 0, os.SEEK_SET)
    _signal.pthread_sigmask(_signal.SIG_BLOCK, BLOCKED_SIGNALS)
    argument = os.pathsep.join([str(handle), *sys.path])  # with -S the next start does not search its path
    command = [sys.executable, "-S", *sys.orig_argv[1:], f"{ENVIRONMENT_FLAG}{argument}"]
    os.execve(sys.executable, command, {})  # noqa: S606  (this program)


def _fork_judge() -> ReadyJudge:
    """Forks a judge that waits, before this process has any secret."""
    from importlib import import_module

    from evalgate.adapters.sandbox.judge_process import fork_ready_judge
    from evalgate.adapters.sandbox.kernel import forbid_inspection
    from evalgate.bootstrap.judge_main import run_ready_judge
    from evalgate.bootstrap.process import configure_python

    forbid_inspection()
    configure_python()
    for name in LOADED_BY_BOTH:
        import_module(name)
    return fork_ready_judge(run_ready_judge)


def _restore_environment(handle: int) -> None:
    with os.fdopen(handle, "rb") as stream:
        content = stream.read()
    for each in filter(None, content.split(b"\0")):
        name, _, value = each.partition(b"=")
        os.environb[name] = value
