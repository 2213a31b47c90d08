"""Programs that a test needs and a machine may lack."""

from __future__ import annotations

import shutil

import pytest


def require(program: str, path: str | None = None) -> str:
    """Where a program is; skips the test if it is not installed. `path` is searched instead of PATH."""
    found = shutil.which(program, path=path)
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found
