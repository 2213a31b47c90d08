"""Vally's matches of tool calls, whose names and arguments are patterns, as steps of a sequence."""

from __future__ import annotations

import re
from typing import Any

from evalgate.features.importing.application.javascript_pattern import translate_flags
from evalgate.features.importing.models import CannotCarry

_NAME = re.compile(r"(\^)?((?:[\w:/ -]|\\[-./:]|\.\*)+)(\$)?")
_GROUP = re.compile(r"\^\(([^()]*)\)\$")
SHORTCUTS = ("command", "path")
MOST_CALLS = 100
POSITIONS = ("result", "final", "at_step", "before_step")


def list_tool_names(pattern: str) -> list[str]:
    """The names of tools, with `*`, that a pattern matches somewhere; raises CannotCarry.

    >>> list_tool_names("^(bash|pwsh)$"), list_tool_names("create")
    (['bash', 'pwsh'], ['*create*'])
    """
    group = _GROUP.fullmatch(pattern)
    parts = [f"^{each}$" for each in group[1].split("|")] if group else pattern.split("|")
    return [_write_glob(part, pattern) for part in parts]


def _write_glob(part: str, pattern: str) -> str:
    match = _NAME.fullmatch(part)
    if match is None:
        raise CannotCarry(f"`{pattern}` is a pattern of names that `*` can't write")
    name = match[2].replace(".*", "*").replace("\\", "")
    return re.sub(r"\*+", "*", f"{'' if match[1] else '*'}{name}{'' if match[3] else '*'}")


def build_steps(match: Any) -> list[dict[str, Any]]:
    """A step for each name that a match allows, with its arguments; raises CannotCarry."""
    fields = {"name": match} if isinstance(match, str) else match
    if not isinstance(fields, dict) or not isinstance(fields.get("name"), str) or not fields["name"]:
        raise CannotCarry("it names no tool")
    placed = [name for name in POSITIONS if name in fields]
    if placed:
        raise CannotCarry(f"`{placed[0]}` of a call has no equal here")
    wanted = fields.get("args") or {}
    patterns = {**{name: fields[name] for name in SHORTCUTS if name in fields}, **wanted}
    if not all(isinstance(each, str) for each in patterns.values()):
        raise CannotCarry("its arguments are no patterns")
    matchers = {name: {"$regex": translate_flags(each)} for name, each in patterns.items()}
    return [{"tool": name, **({"args": matchers} if matchers else {})} for name in list_tool_names(fields["name"])]


def demand_call(match: Any) -> dict[str, Any]:
    """An assertion that such a call is made, `min_count` times."""
    steps = build_steps(match)
    count = match.get("min_count", 1) if isinstance(match, dict) else 1
    if isinstance(count, bool) or not isinstance(count, int) or not 0 < count <= MOST_CALLS:
        raise CannotCarry(f"`min_count` is no number from 1 to {MOST_CALLS}")
    if count == 1 and len(steps) == 1 and "args" not in steps[0]:
        return {"type": "tool_called", "tool": steps[0]["tool"]}
    return {"type": "tool_sequence", "sequence": [join_steps(steps)] * count}


def forbid_call(match: Any) -> dict[str, Any]:
    """An assertion that no such call is made."""
    steps = build_steps(match)
    if any("args" in step for step in steps):
        return {"not": {"type": "tool_sequence", "sequence": [join_steps(steps)]}}
    return {"type": "forbidden_tools", "tools": [step["tool"] for step in steps]}


def join_steps(steps: list[dict[str, Any]]) -> dict[str, Any] | str:
    """One step that any of these fulfils."""
    plain: list[dict[str, Any] | str] = [step if "args" in step else step["tool"] for step in steps]
    return plain[0] if len(plain) == 1 else {"one_of": plain}
