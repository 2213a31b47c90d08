"""The tools whose suites are carried over, and which of them a file is of."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

from evalgate.errors import Location, Problem, SettingError
from evalgate.features.importing.application.openai_evals import claims_openai, read_openai
from evalgate.features.importing.application.places import OriginPart
from evalgate.features.importing.application.promptfoo.configuration import PromptfooReader, claims_promptfoo
from evalgate.features.importing.application.skill_evals import claims_skill_evals, read_skill_evals
from evalgate.features.importing.application.vally.specification import claims_vally, read_vally

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.features.importing.models import ImportedSuite
    from evalgate.features.importing.ports import OriginDocument, OriginFiles

AUTO = "auto"
CLAIMS: dict[str, Callable[[Any], bool]] = {
    "vally": claims_vally,
    "agentskills": claims_skill_evals,
    "openai": claims_openai,
    "promptfoo": claims_promptfoo,
}
COMMON_NAMES = frozenset({"promptfooconfig", "eval", "evals", "config"})


def read_origin(
    document: OriginDocument, files: OriginFiles, tool: str, data: Sequence[OriginDocument] = ()
) -> ImportedSuite:
    """The suite of a file, named after it; raises SettingError if no tool has such files.

    `data` are the rows that OpenAI's evals are run on.
    """
    path = document.locate(()).file
    if tool == AUTO:
        claiming = [name for name, claims in CLAIMS.items() if claims(document.value)]
        if not claiming:
            hint = f"--from names one of them: {', '.join(CLAIMS)}"
            raise SettingError(Problem("this is no suite of a tool that is known here", Location(path), hint))
        tool = claiming[0]
    root, name = OriginPart(document.value, document), name_suite(path)
    if tool == "vally":
        return read_vally(root, name, path)
    if tool == "agentskills":
        return read_skill_evals(root, name, path)
    if tool == "openai":
        return read_openai(root, name, path, data)
    return PromptfooReader(document, files).read(name, path)


def name_suite(path: str) -> str:
    """The name of the file, or of its folder where all files have the same name."""
    stem = posixpath.basename(path).partition(".")[0]
    folder = posixpath.basename(posixpath.dirname(path))
    chosen = folder if stem in COMMON_NAMES and folder not in ("", ".", "..") else stem
    return re.sub(r"[^A-Za-z0-9_-]+", "-", chosen).strip("-")[:60] or "imported"
