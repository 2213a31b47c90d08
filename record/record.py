"""Starts `evalgate record` with the action's inputs, in place of this process: its exit code is that of the step."""

import json
import os
import shlex
import sys
from collections.abc import Mapping

INVALID = 2
OF_THE_STEP = ("EVALGATE_PYTHON", "EVALGATE_ACTION", "EVALGATE_INPUTS")
WORDS = {"true": ["--keep-going"], "false": []}


def build_options(inputs: Mapping[str, str]) -> list[str]:
    """The options of `evalgate record` and, after them, the agent's command; raises ValueError for a wrong input."""
    named = [f"--{name}={inputs[name]}" for name in ("suite", "scenario", "cache") if inputs.get(name)]
    more = [line.strip() for line in inputs.get("options", "").splitlines() if line.strip()]
    if inputs["keep-going"] not in WORDS:
        raise ValueError("input `keep-going` must be true or false")
    try:
        command = shlex.split(inputs["run"])
    except ValueError as error:
        raise ValueError(f"input `run` is no command: {error}") from None
    return [*named, *WORDS[inputs["keep-going"]], *more, "--", *command]


def main() -> None:
    """Replaces this process, or ends it if the inputs can't be read."""
    environ = {name: text for name, text in os.environ.items() if name not in OF_THE_STEP}
    try:
        options = build_options(json.loads(os.environ["EVALGATE_INPUTS"]))
    except ValueError as error:
        print(f"::error title=EvalGate::{error}")
        sys.exit(INVALID)
    os.execve(sys.executable, [sys.executable, "-I", "-X", "utf8", "-m", "evalgate", "record", *options], environ)  # noqa: S606


if __name__ == "__main__":
    main()
