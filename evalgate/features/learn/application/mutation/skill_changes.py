"""Changes of which skill a run used: another one that the suite's traces use is loaded in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.evaluators.kinds.skills.uses import read_skills
from evalgate.features.learn.application.mutation.edits import replace_call
from evalgate.models.mutation import Mutation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from evalgate.evaluators.kinds.skills.uses import SkillUse
    from evalgate.models.trace.trace import Trace


def list_skills(trace: Trace) -> set[str]:
    """The names of the skills that a trace used."""
    return {each.skill for each in _list_uses(trace) if each.skill is not None}


def find_skill_at(trace: Trace, at: int) -> str | None:
    """The skill that the call at this index loads; None if it loads none."""
    call = trace.tool_calls[at]
    return next((each.skill for each in _list_uses(trace) if each.call is call), None)


def find_other_skills(trace: Trace, known: Collection[str]) -> Iterator[Mutation]:
    """Yields each use of a skill with another known one, the next in the alphabet that the trace does not use."""
    own = list_skills(trace)
    others = sorted(set(known) - own)
    for each in _list_uses(trace) if others else ():
        if each.skill is not None:
            other = next((name for name in others if name > each.skill), others[0])
            at = next(index for index, call in enumerate(trace.tool_calls) if call is each.call)
            yield Mutation("other_skill", at, each.call["name"], other)


def load_other_skill(trace: Trace, change: Mutation) -> Trace:
    """The trace in which that call loads the other skill, by its name or the path of its SKILL.md."""
    skill = find_skill_at(trace, change.at) or ""
    arguments = _rename(trace.tool_calls[change.at]["arguments"], skill, change.other)
    return replace_call(trace, change.at, {"arguments": arguments, "arguments_raw": None})


def _list_uses(trace: Trace) -> list[SkillUse]:
    return [each for each in read_skills(trace).uses if each.state == "used" and each.call["arguments"] is not None]


def _rename(value: Any, skill: str, other: str) -> Any:
    if isinstance(value, dict):
        return {name: _rename(each, skill, other) for name, each in value.items()}
    if isinstance(value, list):
        return [_rename(each, skill, other) for each in value]
    if not isinstance(value, str):
        return value
    return other if value.strip().lstrip("/$") == skill else value.replace(f"{skill}/SKILL.md", f"{other}/SKILL.md")
