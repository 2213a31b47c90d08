"""Entry point of the judge's process: `python -I -m evalgate.judge`, started by the one that has the token.

It has no environment, no network and no token. It reads requests from a folder and writes responses there.
"""

from __future__ import annotations

import sys
from typing import NoReturn

from evalgate.adapters.sandbox.process_bounds import Bounds
from evalgate.bootstrap.judge_main import run_judge

NO_USER = "-"


def main() -> NoReturn:
    """Limits its own resources, then reads the request and writes the response."""
    folder, cpu, spare, memory, user = sys.argv[1:]
    run_judge(folder, Bounds(int(cpu), int(memory), spare=int(spare)), None if user == NO_USER else int(user))


if __name__ == "__main__":
    main()
