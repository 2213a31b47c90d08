"""The trials of a suite that a command is run for, and the command's arguments for each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.errors import Location, Problem, SettingError
from evalgate.features.record.measures.paths import build_trial_path
from evalgate.features.record.models.exchange import MAX_TRIAL, TrialId
from evalgate.models.trace.trace import MAX_ID_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.suite.models import Suite

MAX_TRIALS = 1_000
_PLACE = re.compile(r"\{\{|\{(scenario|variant|trial|prompt)\}")
_PROMPT = "prompt"


class PlannedTrial(Struct, frozen=True):
    """A trial that the command is run for."""

    trial: TrialId
    prompt: str | None = None
    agent_hash: str | None = None


def plan_trials(suite: Suite, scenario: str | None, trials: Sequence[int] | None) -> Iterator[PlannedTrial]:
    """A trial for each scenario and variant, in the order of the file; as many as the scenario demands.

    `scenario` selects one of them, `trials` are other numbers. Raises SettingError for an id with `*`.
    """
    prompts = {entry["id"]: entry.get(_PROMPT) for entry in _entries(suite.content)}
    for each in suite.scenarios:
        if scenario not in (None, each.id):
            continue
        if each.is_glob:
            raise SettingError(Problem(f"the scenario {each.id!r} has no single id to record", each.location))
        prompt = prompts.get(each.id)
        for number in range(max(1, each.rules.min)) if trials is None else trials:
            variant = None if each.variant is None else each.variant.name
            yield PlannedTrial(
                TrialId(suite.name, each.id, variant, number), prompt if isinstance(prompt, str) else None
            )


def _entries(content: dict[str, Any]) -> list[dict[str, Any]]:
    listed = content.get("scenarios")
    return [each for each in listed if isinstance(each, dict) and "id" in each] if isinstance(listed, list) else []


def require_valid(trial: TrialId) -> None:
    """Raises SettingError for a scenario or variant that a trace can't hold, and for a number that is out of range."""
    for name in (trial.scenario, trial.variant):
        if name is not None and (len(name) > MAX_ID_LENGTH or (not name.isascii() and _has_surrogates(name))):
            what = f"has more than {MAX_ID_LENGTH} characters" if len(name) > MAX_ID_LENGTH else "is no text"
            raise SettingError(Problem(f"the id {name[:40]!r} {what}", None, "use a shorter one, in UTF-8"))
    if not 0 <= trial.trial <= MAX_TRIAL:
        raise SettingError(f"the number of a trial is from 0 to {MAX_TRIAL:,}")


def _has_surrogates(text: str) -> bool:
    return text.encode("utf-8", "ignore").decode() != text


def require_distinct(planned: Iterable[PlannedTrial]) -> None:
    """Raises SettingError if two trials have one path, also on a file system that ignores case."""
    seen: dict[str, TrialId] = {}
    for each in planned:
        path = build_trial_path(each.trial).casefold()
        other = seen.setdefault(path, each.trial)
        if other != each.trial:
            message = f"the scenarios {str(other)!r} and {str(each.trial)!r} have the same file name"
            raise SettingError(Problem(message, Location(path), "rename one of them"))


def require_prompts(command: Sequence[str], planned: Iterable[PlannedTrial]) -> None:
    """Raises SettingError if the command takes the prompt, and a scenario has none."""
    if not any(found[1] == _PROMPT for word in command for found in _PLACE.finditer(word)):
        return
    for each in planned:
        if each.prompt is None:
            hint = "give it a `prompt` in its suite, or take {prompt} out of the command"
            raise SettingError(Problem(f"the scenario {each.trial.scenario!r} has no prompt", None, hint))


def fill_command(command: Sequence[str], planned: PlannedTrial) -> list[str]:
    """The command with {scenario}, {variant}, {trial} and {prompt} filled in; other braces stay, `{{` is `{`."""
    trial = planned.trial
    values = {
        "scenario": trial.scenario or "",
        "variant": trial.variant or "",
        "trial": str(trial.trial),
        _PROMPT: planned.prompt or "",
    }
    return [_PLACE.sub(lambda found: values[found[1]] if found[1] else "{", word) for word in command]
