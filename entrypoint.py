"""Entry point of the image: the command line if there are arguments, else the Action in a job on GitHub."""

import _signal  # type: ignore[import-not-found]  # `signal` wraps it and is slow to import
import os
import sys

SECOND_START = "--environment="
COMMAND = "evalgate"


def find_command_line(arguments: list[str], *, is_on_github: bool) -> list[str] | None:
    """The words of the command line, without a leading `evalgate`; None for the Action."""
    if not arguments:
        return None if is_on_github else []
    return arguments[arguments[0] == COMMAND :]


def run_action(*, is_second_start: bool) -> int:
    """Runs evalgate.action in a process without environment. Handles a cancelled job before that is imported."""
    open_standard_streams()
    _signal.signal(_signal.SIGTERM, cancelled)
    _signal.signal(_signal.SIGINT, cancelled)
    if is_second_start:
        sys.path[:] = sys.argv[-1].split(os.pathsep)[1:]
    from evalgate.bootstrap.clean_start import reexec_without_environment

    judge = reexec_without_environment()
    from evalgate.action import main

    return main(judge)


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
    is_second = sys.flags.no_site == 1 and sys.argv[-1].startswith(SECOND_START)
    words = find_command_line(sys.argv[1:], is_on_github=os.environ.get("GITHUB_ACTIONS") == "true")
    if words is None or is_second:
        os._exit(run_action(is_second_start=is_second))  # a signal at exit has no effect
    sys.argv[:] = [COMMAND, *words]
    from evalgate.__main__ import main

    main()
