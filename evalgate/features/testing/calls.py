"""Makes the model call of a case of a scheduling suite, or reads its cached answer, and judges the answer."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.errors import SettingError
from evalgate.features.testing.judging import Selection, SessionJudge
from evalgate.recording import CachedAnswer, CacheMiss, cached
from evalgate.recording.response_cache import FOLDER, find_file, find_mode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from evalgate.suite.models import Scenario

NO_VARIANT = "default"


class Case(NamedTuple):
    """What a model is asked: the scenario's id, prompt and category, and the variant, None without one."""

    id: str
    prompt: str
    category: str | None
    variant: str | None


def build_case(scenario: Scenario, entry: Mapping[str, Any]) -> Case:
    """The case of a scenario, from its entry in the suite."""
    variant = None if scenario.variant is None else scenario.variant.name
    return Case(scenario.id, entry.get("prompt") or "", entry.get("category"), variant)


def judge_answer(judge: SessionJudge, case: Case, call: Callable[[], Any], place: Callable[[], Path]) -> SessionJudge:
    """A judge of the answer to one case, which `call` makes unless the cache has it. Raises SettingError.

    An answer that the cache does not keep is written below the folder `place()`, for the commands of a failing item.
    """
    variant = case.variant or NO_VARIANT
    try:
        answer = cached(case.id, variant, call, judge.root / FOLDER)
        if not isinstance(answer, CachedAnswer):
            answer = asyncio.run(_wait_for(answer))
    except (CacheMiss, ValueError) as error:
        raise SettingError(str(error)) from None
    name = case.id if case.variant is None else f"{case.id}[{case.variant}]"
    path = judge.root / FOLDER / find_file(case.id, variant)
    if find_mode() == "off":
        path = write_answer(answer, place(), case.id, variant)
    return judge.select(Selection([os.path.relpath(path, judge.root)], [name]))


def write_answer(answer: CachedAnswer, folder: Path, scenario: str, variant: str | None) -> Path:
    """Writes an answer below a folder as the cache does, and gives its path."""
    path = folder / find_file(scenario, variant or NO_VARIANT)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(answer._asdict()), encoding="utf-8")
    return path


async def _wait_for(answer: Any) -> Any:
    return await answer if inspect.isawaitable(answer) else answer
