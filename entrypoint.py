"""Entry point of the image: runs evalgate.action. Handles a cancelled job before that is imported."""

import _signal  # type: ignore[import-not-found]  # `signal` wraps it and is slow to import
import os
import sys

SECOND_START = "--environment="


def cancelled(number: int, _: object) -> None:
    """Writes the two outputs of a cancelled run and exits."""
    code = 128 + number
    with open(os.environ.get("GITHUB_OUTPUT") or os.devnull, "a", encoding="utf-8") as outputs:  # noqa: PTH123
        outputs.write(f"verdict=cannot_judge\nexit-code={code}\n")
    os._exit(code)


if __name__ == "__main__":
    _signal.signal(_signal.SIGTERM, cancelled)
    _signal.signal(_signal.SIGINT, cancelled)
    if sys.argv[-1].startswith(SECOND_START):
        sys.path[:] = sys.argv[-1].split(os.pathsep)[1:]
    from evalgate.bootstrap.clean_start import reexec_without_environment

    judge = reexec_without_environment()
    from evalgate.action import main

    os._exit(main(judge))  # a signal at exit has no effect
