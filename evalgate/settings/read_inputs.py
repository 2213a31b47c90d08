"""Reads the inputs of the Action from the environment: those of kernel and features, by their declarations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.errors import Problem
from evalgate.settings.readers import nearest_choice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.settings.setting import Setting

UNSUPPORTED = {
    "allow-untrusted-head": "untrusted files are never read in a job whose token may write; docs/github.md, Forks, "
    "shows the two workflows that work without it"
}
"""Inputs that people expect but that don't exist on purpose, with the reason."""
RUNNER_INPUTS = {"ENTRYPOINT", "ARGS"}
"""Inputs of every container action."""


def read_values(
    settings: Sequence[Setting[Any]], environ: Mapping[str, str], problems: list[Problem]
) -> tuple[dict[str, Any], list[str]]:
    """The given values by name, and notes on unknown inputs. Invalid ones are added to `problems` and left out."""
    values: dict[str, Any] = {}
    for setting in settings:
        text = environ.get(setting.variable, "").strip()
        if not text:
            continue
        try:
            values[setting.name] = setting.read(text)
        except ValueError as error:
            problems.append(Problem(f"input `{setting.name}` {error}"))
    return values, _check_unknown_inputs(settings, environ, problems)


def _check_unknown_inputs(
    settings: Sequence[Setting[Any]], environ: Mapping[str, str], problems: list[Problem]
) -> list[str]:
    """Adds misspelt inputs to `problems`; returns notes on other unknown INPUT_ variables."""
    known = {setting.variable: setting.name for setting in settings}
    notes = []
    for key in sorted(environ):
        name = key.removeprefix("INPUT_")
        if not key.startswith("INPUT_") or key in known or name in RUNNER_INPUTS or not environ[key].strip():
            continue
        guess = nearest_choice(name.lower().replace("_", "-"), known.values())
        if name.lower() in UNSUPPORTED:
            problems.append(Problem(f"there is no input `{name.lower()}`", hint=UNSUPPORTED[name.lower()]))
        elif guess:
            problems.append(Problem(f"unknown input `{name.lower()}`", hint=f"did you mean `{guess}`?"))
        else:
            notes.append(f"unknown input `{name.lower()}` is ignored")
    return notes
