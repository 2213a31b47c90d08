"""Entry point of the image: runs evalgate.action. Handles a cancelled job before that is imported."""

import _signal  # type: ignore[import-not-found]  # `signal` wraps it and is slow to import
import os
import sys

SECOND_START = "--environment="


def cancelled(number: int, _: object) -> None:
    """Writes the two outputs of a cancelled run and exits."""
    code = 128 + number
    try:
        with open(os.environ.get("GITHUB_OUTPUT") or os.devnull, "a", encoding="utf-8") as outputs:  # noqa: PTH123
            outputs.write(f"verdict=cannot_judge\nexit-code={code}\n")
    finally:
        os._exit(code)  # also if outputs can't be written


def open_standard_streams() -> None:
    """Opens streams that were closed, so that no other file gets their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


if __name__ == "__main__":
    open_standard_streams()
    _signal.signal(_signal.SIGTERM, cancelled)
    _signal.signal(_signal.SIGINT, cancelled)
    if sys.argv[-1].startswith(SECOND_START):
        sys.path[:] = sys.argv[-1].split(os.pathsep)[1:]
    from evalgate.bootstrap.clean_start import reexec_without_environment

    judge = reexec_without_environment()
    from evalgate.action import main

    os._exit(main(judge))  # a signal at exit has no effect
