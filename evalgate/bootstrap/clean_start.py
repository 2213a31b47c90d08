"""The Action's process, started over: what the runner put into its environment is nowhere to be read.

Who may look at a process in /proc sees the environment it was started with, for as long as it lives. So the
variables are handed, in memory, to a second start without any, which other processes can't look at. Before it
takes them back it forks the judge, whose memory has therefore never held one of them.
"""

from __future__ import annotations

# What `signal` wraps: that and `typing` take as long to load as an interpreter takes to start.
import _signal  # type: ignore[import-not-found]
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from evalgate.adapters.sandbox.preforked import ReadyJudge

HANDED_OVER = "--environment="
NOT_NOW = (_signal.SIGTERM, _signal.SIGINT)
LOADED_BY_BOTH = (
    "base64",
    "evalgate.adapters.clock",
    "evalgate.adapters.files.output_folder",
    "evalgate.adapters.sandbox.exchange_dir",
    "evalgate.adapters.files.workspace",
    "evalgate.application.messages.judge_response",
    "evalgate.application.approvals.approvals",
    "evalgate.application.messages.write_outputs",
    "evalgate.application.messages.request_codec",
    "evalgate.bootstrap.judge_context",
    "evalgate.bootstrap.sources",
    "evalgate.models.comparison.comparison",
    "evalgate.models.comparison.decision",
    "evalgate.models.comparison.weakening",
    "evalgate.models.github.template_file",
    "evalgate.reporting.text.escaping",
    "evalgate.version",
    "hashlib",
    "json",
    "threading",
)
"""What parent and judge load; before they part, once."""


def reexec_without_environment() -> ReadyJudge | None:
    """Comes back in the second start only, with the environment restored and a judge made ready.

    Where it can't be done it comes back at once, without a judge.
    """
    if sys.argv[-1].startswith(HANDED_OVER):
        memory = int(sys.argv.pop().removeprefix(HANDED_OVER).partition(os.pathsep)[0])
        judge = _judge()
        _restore(memory)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, NOT_NOW)
        return judge
    if hasattr(os, "memfd_create") and sys.executable:
        _hand_over()
    return None


def _hand_over() -> None:
    """Ends in another start of the same command. A job that is cancelled meanwhile is so afterwards."""
    content = b"\0".join(name + b"=" + value for name, value in os.environb.items())
    memory = os.memfd_create("environment", 0)  # open in the next start too
    os.write(memory, content)
    os.lseek(memory, 0, os.SEEK_SET)
    _signal.pthread_sigmask(_signal.SIG_BLOCK, NOT_NOW)
    handed = os.pathsep.join([str(memory), *sys.path])  # with -S the next start does not look for its path
    command = [sys.executable, "-S", *sys.orig_argv[1:], f"{HANDED_OVER}{handed}"]
    os.execve(sys.executable, command, {})  # noqa: S606  (this very program)


def _judge() -> ReadyJudge:
    """A judge that waits, forked while there is nothing here that it may not know."""
    from importlib import import_module

    from evalgate.adapters.sandbox.kernel import be_private
    from evalgate.adapters.sandbox.preforked import make_ready
    from evalgate.bootstrap.judge_main import live_ready
    from evalgate.bootstrap.process import settle_python

    be_private()
    settle_python()
    for name in LOADED_BY_BOTH:
        import_module(name)
    return make_ready(live_ready)


def _restore(memory: int) -> None:
    with os.fdopen(memory, "rb") as stream:
        content = stream.read()
    for each in filter(None, content.split(b"\0")):
        name, _, value = each.partition(b"=")
        os.environb[name] = value
