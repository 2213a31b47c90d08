"""`python -m evalgate` and the command `evalgate`."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

COLLECT_EVERY = 50_000
"""Objects between looks for cycles. Results are many and hold none, so looking often only costs time."""


def main() -> NoReturn:
    """Runs the shell's front door with the process's own streams and environment, and ends the process.

    It ends without tearing the interpreter down, which would take longer than most runs.
    """
    gc.set_threshold(COLLECT_EVERY)
    from evalgate.cli import main as shell
    from evalgate.cli.shell import Shell

    code = shell(sys.argv[1:], Shell(sys.stdout, sys.stderr, dict(os.environ), os.getcwd()))  # noqa: PTH109
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = code or 128 + 13
    os._exit(code)


if __name__ == "__main__":
    main()
