"""Fuzzes one target with atheris: `run.py markdown -max_total_time=600 CORPUS`. See README.md."""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
with atheris.instrument_imports(include=["evalgate", "yaml", "jmespath"]):
    from targets import TARGETS


def main() -> None:
    """The target's name comes first, the rest is libFuzzer's."""
    name, *options = sys.argv[1:]
    atheris.Setup([sys.argv[0], *options], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
