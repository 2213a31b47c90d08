"""Runs the Action as its image does: sets the inputs as the runner does for a container, then starts the entry point.

GitHub's artifact service is not open to this process: the Action names what is to be uploaded, and later steps do it.
"""

import json
import os
import sys
from pathlib import Path

ENTRYPOINT = Path(__file__).resolve().parents[1] / "entrypoint.py"
BY_STEP = {"EVALGATE_UPLOADS_BY_STEP": "true"}


def as_variables(inputs: str) -> dict[str, str]:
    """The variables that the runner sets for a container, from the inputs as JSON."""
    return {f"INPUT_{name.upper()}": str(value) for name, value in json.loads(inputs).items()}


def main() -> None:
    """Replaces this process by the Action."""
    environ = {**os.environ, **BY_STEP}
    environ |= as_variables(environ.pop("INPUTS"))
    os.execve(sys.executable, [sys.executable, "-I", "-X", "utf8", str(ENTRYPOINT)], environ)  # noqa: S606  (this program)


if __name__ == "__main__":
    main()
