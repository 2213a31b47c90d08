"""The judge's own process: `python -I -m evalgate.judge`, started by the one that holds the token.

It knows no environment, no network and no token. What it is asked lies in a folder, and there it answers.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from evalgate.adapters.judging.apart import GROUP
from evalgate.adapters.judging.bounds import OUT_OF_MEMORY, Bounds, become, bound, is_out_of_memory

FAILED = 1


def main() -> NoReturn:
    """Bounds itself, then reads the question and answers it."""
    folder, cpu, spare, memory, user = sys.argv[1:]
    bound(Bounds(int(cpu), int(memory), spare=int(spare)))
    become(None if user == "-" else int(user), GROUP)
    os.environ["TMPDIR"] = folder
    try:
        code = _answer(folder)
    except BaseException as error:  # noqa: BLE001  (nobody reads what would be printed)
        code = OUT_OF_MEMORY if is_out_of_memory(error) else FAILED
    os._exit(code)


def _answer(folder: str) -> int:
    from evalgate.bootstrap import process

    process.settle_python()
    from evalgate.bootstrap.answering import answer

    return answer(folder)


if __name__ == "__main__":
    main()
