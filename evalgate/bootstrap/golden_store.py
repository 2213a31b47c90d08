"""The store with goldens that suites may name, opened when a suite names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalgate.ports.store import GoldenStore


def shell_store_opener(flag: str | None, environ: Mapping[str, str], cwd: str) -> Callable[[], GoldenStore]:
    """A function that opens the store of flag, environment or project, else the shell's default one."""

    def open_it() -> GoldenStore:
        from evalgate.bootstrap.features import load_port

        store: GoldenStore = load_port("golden_store")(flag, environ, cwd)
        return store

    return open_it
