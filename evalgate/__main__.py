"""`python -m evalgate` and the command `evalgate`."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Runs the shell's front door with the process's own streams and environment."""
    from evalgate.cli import main as shell
    from evalgate.cli.shell import Shell

    return shell(sys.argv[1:], Shell(sys.stdout, sys.stderr, dict(os.environ), os.getcwd()))  # noqa: PTH109


if __name__ == "__main__":
    sys.exit(main())
