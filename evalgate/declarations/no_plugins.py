"""Keeps plugins of strangers out of pydantic, and what it would load to look for them out of the start."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

LOADER = "pydantic.plugin._loader"


class _NoPlugins(ModuleType):
    """Stands where pydantic looks for plugins: its own loader loads the e-mail package to find none.

    Asked for anything else, it makes way for that loader.
    """

    def get_plugins(self) -> tuple[()]:
        """There are none."""
        return ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        sys.modules.pop(LOADER, None)
        return getattr(import_module(LOADER), name)


def use_no_plugins() -> None:
    """From now on, in this process; to be called before pydantic builds anything."""
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    sys.modules.setdefault(LOADER, _NoPlugins(LOADER))
