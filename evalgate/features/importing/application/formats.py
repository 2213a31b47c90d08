"""The tools whose suites are carried over, and which of them a file is of."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

from evalgate.errors import Location, Problem, SettingError
from evalgate.features.importing.application.promptfoo.configuration import PromptfooReader, claims_promptfoo

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.features.importing.models import ImportedSuite
    from evalgate.features.importing.ports import OriginDocument, OriginFiles

AUTO = "auto"
CLAIMS: dict[str, Callable[[Any], bool]] = {"promptfoo": claims_promptfoo}
READERS: dict[str, Callable[[OriginDocument, OriginFiles], Any]] = {"promptfoo": PromptfooReader}
COMMON_NAMES = frozenset({"promptfooconfig", "eval", "evals", "config"})


def read_origin(document: OriginDocument, files: OriginFiles, tool: str, path: str) -> ImportedSuite:
    """The suite of a file, named after it; raises SettingError if no tool has such files."""
    if tool == AUTO:
        claiming = [name for name, claims in CLAIMS.items() if claims(document.value)]
        if not claiming:
            hint = f"--from names one of them: {', '.join(CLAIMS)}"
            raise SettingError(Problem("this is no suite of a tool that is known here", Location(path), hint))
        tool = claiming[0]
    found: ImportedSuite = READERS[tool](document, files).read(name_suite(path), path)
    return found


def name_suite(path: str) -> str:
    """The name of the file, or of its folder where all files have the same name."""
    stem = posixpath.basename(path).partition(".")[0]
    folder = posixpath.basename(posixpath.dirname(path))
    chosen = folder if stem in COMMON_NAMES and folder not in ("", ".", "..") else stem
    return re.sub(r"[^A-Za-z0-9_-]+", "-", chosen).strip("-")[:60] or "imported"
