"""The base class of the models of files: suites, project files, approvals, goldens, settings of evaluators."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import Any, Self, cast

LOADER = "pydantic.plugin._loader"


class _NoPlugins(ModuleType):
    """Replaces pydantic's plugin loader, which imports the e-mail package even if there are no plugins.

    On access to anything else it restores that loader.
    """

    def get_plugins(self) -> tuple[()]:
        """No plugins."""
        return ()

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        sys.modules.pop(LOADER, None)
        return getattr(import_module(LOADER), name)


os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
sys.modules.setdefault(LOADER, _NoPlugins(LOADER))

from pydantic import BaseModel, ConfigDict, Field  # noqa: E402  (not before it knows that it has no plugins)


def described(text: str, example: Any) -> Any:
    """What a field means, with an example: what `evalgate evaluators`, the schemas and editors show."""
    return Field(description=text, examples=[example])


class StrictModel(BaseModel):
    """Unknown keys, wrong types and non-finite numbers are errors. Validators are built when they are first used."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True)

    @classmethod
    def from_defaults(cls) -> Self:
        """The model with all defaults, as for an empty file."""
        return cast("Self", cls.model_construct())  # mypy's plugin names the base class
