#!/usr/bin/env python3
"""Names the released image in another registry in action.yml, by the same digest: `make action REGISTRY=HOST/PATH`.

For a copy of the repository on a server without access to ghcr.io, in a checkout of a released tag.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ACTION = Path("action.yml")
PLACE = re.compile(r"[a-z0-9.-]+(:\d+)?(/[a-z0-9._-]+)+")
RELEASED = re.compile(r"^(  image: docker://)\S+?/evalgate(:[0-9.]+@sha256:[0-9a-f]{64})$", re.MULTILINE)


def move_image(action: str, registry: str) -> str:
    """action.yml with its image in the registry; raises ValueError for no registry, or no released image."""
    if not PLACE.fullmatch(registry):
        raise ValueError(f"REGISTRY is {registry!r}: name a host and a path, as in registry.acme.example/ci")
    moved, count = RELEASED.subn(rf"\g<1>{registry}/evalgate\g<2>", action)
    if count != 1:
        raise ValueError("action.yml names no image by digest: check out the tag of a release, such as v1")
    return moved


def main(registry: str) -> int:
    """Writes action.yml; returns the exit code."""
    try:
        moved = move_image(ACTION.read_text(encoding="utf-8"), registry.rstrip("/"))
    except ValueError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    ACTION.write_text(moved, encoding="utf-8")
    print(f"written: action.yml, with the image of {registry}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
