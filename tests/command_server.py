"""A program in place of `evalgate` or `python -m evalgate`, which runs the command in the process of the test: starting one takes longer."""

from __future__ import annotations

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path
from socketserver import StreamRequestHandler, UnixStreamServer
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from evalgate.cli import main
from evalgate.cli.shell import Shell

if TYPE_CHECKING:
    from collections.abc import Mapping

CLIENT = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect({address!r})
    words = sys.argv[3:] if sys.argv[1:3] == ["-m", "evalgate"] else sys.argv[1:]
    given = {{"words": words, "environ": dict(os.environ), "cwd": os.getcwd()}}
    line.sendall(json.dumps(given).encode() + b"\\n")
    found = json.loads(line.makefile("rb").readline())
sys.stdout.write(found["out"])
sys.stderr.write(found["err"])
sys.exit(found["code"])
"""


class _Handler(StreamRequestHandler):
    def handle(self) -> None:
        given: dict[str, Any] = json.loads(self.rfile.readline())
        shell = Shell(out=StringIO(), err=StringIO(), environ=given["environ"], cwd=given["cwd"])
        code = main(given["words"], shell)
        found = {"code": code, "out": shell.out.getvalue(), "err": shell.err.getvalue()}  # type: ignore[attr-defined]
        self.wfile.write(json.dumps(found).encode() + b"\n")


def run_script(command: list[str], program: Path, environ: Mapping[str, str], cwd: Path) -> tuple[int, str]:
    """Runs a command in which `program WORDS` or `program -m evalgate WORDS` runs the words here; its exit code and output.

    In the main thread, as commands that start agents handle signals.
    """
    program.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as short:  # a socket's path has 108 bytes at most
        address = str(Path(short, "s"))
        program.write_text(CLIENT.format(python=sys.executable, address=address))
        program.chmod(0o755)
        with UnixStreamServer(address, _Handler) as server:
            server.timeout = 0.02
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            running = subprocess.Popen(command, env=environ, cwd=cwd, text=True, **pipes)
            while running.poll() is None:
                server.handle_request()
    return running.returncode, running.communicate()[0]
