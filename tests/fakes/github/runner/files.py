"""The file in which a step leaves its outputs: `NAME=VALUE`, or `NAME<<END`, the lines of the value, and `END`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def parse_outputs(text: str) -> dict[str, str]:
    """Raises ValueError where the runner would fail the step."""
    if text and not text.endswith("\n"):
        raise ValueError("the last line has no end")
    found, lines = {}, iter(text.split("\n")[:-1])
    for line in lines:
        if not line:
            continue
        name, equals, value = line.partition("=")
        if equals and "<<" not in name:
            found[name] = value
            continue
        name, sign, end = line.partition("<<")
        if not (name and sign and end):
            raise ValueError(f"neither NAME=VALUE nor NAME<<END: {line!r}")
        found[name] = "\n".join(_until(end, lines))
    return found


def _until(end: str, lines: Iterator[str]) -> list[str]:
    taken = []
    for line in lines:
        if line == end:
            return taken
        taken.append(line)
    raise ValueError(f"no line {end!r} after the value")
