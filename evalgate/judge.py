"""The judge's own process: `python -I -m evalgate.judge`, started by the one that holds the token.

It knows no environment, no network and no token. What it is asked lies in a folder, and there it answers.
"""

from __future__ import annotations

import sys
from typing import NoReturn

from evalgate.adapters.sandbox.process_bounds import Bounds
from evalgate.bootstrap.judge_main import live_asked

NOBODY = "-"


def main() -> NoReturn:
    """Bounds itself, then reads the question and answers it."""
    folder, cpu, spare, memory, user = sys.argv[1:]
    live_asked(folder, Bounds(int(cpu), int(memory), spare=int(spare)), None if user == NOBODY else int(user))


if __name__ == "__main__":
    main()
