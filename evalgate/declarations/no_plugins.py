"""Disables pydantic's plugins: they are untrusted, and looking for them slows the start."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

LOADER = "pydantic.plugin._loader"


class _NoPlugins(ModuleType):
    """Replaces pydantic's plugin loader, which imports the e-mail package even if there are no plugins.

    On access to anything else it restores that loader.
    """

    def get_plugins(self) -> tuple[()]:
        """No plugins."""
        return ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        sys.modules.pop(LOADER, None)
        return getattr(import_module(LOADER), name)


def use_no_plugins() -> None:
    """Disables plugins in this process; call it before pydantic builds anything."""
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    sys.modules.setdefault(LOADER, _NoPlugins(LOADER))
