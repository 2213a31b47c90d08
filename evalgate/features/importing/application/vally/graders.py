"""Vally's graders as the assertions that judge the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.features.importing.application.javascript_pattern import translate_flags
from evalgate.features.importing.application.lines import CODE, MODEL, build_grade, join_all, require_text
from evalgate.features.importing.application.vally.tool_matches import (
    build_steps,
    demand_call,
    forbid_call,
    join_steps,
)
from evalgate.features.importing.models import CannotCarry, CarriedCheck

if TYPE_CHECKING:
    from collections.abc import Callable

    Config = dict[str, Any]

RECORDED_FILES = "of the files that the recording names with `--state-files`"
LOADED_SKILLS = "a skill counts by the call that loads it, or that reads its SKILL.md"
ENDED_WELL = "that the run ended well is demanded of every trial (`run_status`); errors before its end are not judged"
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_GLOB = frozenset("*?[{")


def _contains(config: Config) -> CarriedCheck:
    kind = "contains" if config.get("case_sensitive") is True else "icontains"
    return CarriedCheck({"type": kind, "value": require_text(config, "substring")})


def _matches(config: Config) -> CarriedCheck:
    return CarriedCheck({"type": "regex", "pattern": translate_flags(require_text(config, "pattern"))})


def _completed(_: Config) -> CarriedCheck:
    return CarriedCheck({"type": "not_empty"}, ENDED_WELL)


def _has_output(_: Config) -> CarriedCheck:
    return CarriedCheck({"type": "not_empty"})


def _tool_calls(config: Config) -> CarriedCheck:
    required, disallowed, sequence = (config.get(key) or [] for key in ("required", "disallowed", "sequence"))
    if not all(isinstance(each, list) for each in (required, disallowed, sequence)):
        raise CannotCarry("`required`, `disallowed` and `sequence` are lists")
    entries = [*map(demand_call, required), *map(forbid_call, disallowed)]
    if sequence:
        entries.append({"type": "tool_sequence", "sequence": [join_steps(build_steps(each)) for each in sequence]})
    if not entries:
        raise CannotCarry("it names no call")
    return CarriedCheck(join_all(entries))


def _skills(config: Config) -> CarriedCheck:
    required, disallowed = config.get("required") or [], config.get("disallowed") or []
    if not (isinstance(required, list) and isinstance(disallowed, list)) or not (required or disallowed):
        raise CannotCarry("it names no skill")
    if not all(isinstance(each, str) and each for each in (*required, *disallowed)):
        raise CannotCarry("a skill is named by a text")
    entries: list[dict[str, Any]] = [{"type": "skill_used", "skill": each} for each in required]
    entries += [{"type": "no_skill", "skill": disallowed}] if disallowed else []
    return CarriedCheck(join_all(entries), LOADED_SKILLS)


def _read_max(config: Config) -> int:
    found = config.get("max")
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise CannotCarry("it has no `max`, a whole number")
    return found


def _tokens(config: Config) -> CarriedCheck:
    return CarriedCheck({"type": "token_limit", "max_total": _read_max(config)})


def _call_count(config: Config) -> CarriedCheck:
    return CarriedCheck({"type": "max_tool_calls", "max": _read_max(config)})


def _wall_time(config: Config) -> CarriedCheck:
    match = _DURATION.fullmatch(str(config.get("max")))
    if match is None:
        raise CannotCarry("it has no `max`, a duration such as 30s")
    return CarriedCheck({"type": "latency_limit", "max_seconds": float(match[1]) * _SECONDS[match[2]]})


def _turns(_: Config) -> CarriedCheck:
    raise CannotCarry("it counts answers of the model; `turn_limit` counts messages of the user with their answers")


def _errors(_: Config) -> CarriedCheck:
    raise CannotCarry("it counts errors of the session, of which a trace holds whether the run ended in one")


def _find_path(config: Config) -> str:
    """The path of a file as a key of an expression."""
    path = require_text(config, "path")
    if _GLOB.intersection(path) or '"' in path or "\\" in path:
        raise CannotCarry("it looks for files by a pattern; a check of `state` names one")
    return f'"{path.removeprefix("./")}"'


def _file_exists(config: Config) -> CarriedCheck:
    path = _find_path(config)
    there = f"{path} != `null` && {path}.change != 'removed'"
    return CarriedCheck({"type": "state", "part": "files", "path": there, "eq": True}, RECORDED_FILES)


def _file_contains(config: Config) -> CarriedCheck:
    found = {"contains": require_text(config, "value")}
    return CarriedCheck(
        {"type": "state", "part": "files", "path": f"{_find_path(config)}.text", **found}, RECORDED_FILES
    )


def _file_matches(config: Config) -> CarriedCheck:
    found = {"regex": translate_flags(require_text(config, "pattern"))}
    return CarriedCheck(
        {"type": "state", "part": "files", "path": f"{_find_path(config)}.text", **found}, RECORDED_FILES
    )


GRADERS: dict[str, Callable[[Config], CarriedCheck]] = {
    "output-contains": _contains,
    "output-matches": _matches,
    "completed": _completed,
    "exit-success": _has_output,
    "tool-calls": _tool_calls,
    "skill-invocation": _skills,
    "token-budget": _tokens,
    "tool-call-count": _call_count,
    "turn-count": _turns,
    "error-count": _errors,
    "wall-time": _wall_time,
    "file-exists": _file_exists,
    "file-contains": _file_contains,
    "file-matches": _file_matches,
}
JUDGED = frozenset({"prompt", "pairwise", "panel"})
PROGRAMS = frozenset({"program", "run-command"})


def carry_grader(grader: Config) -> CarriedCheck:
    """The assertion for a grader; raises CannotCarry."""
    kind, config = grader.get("type"), grader.get("config") or {}
    if not isinstance(kind, str) or not isinstance(config, dict):
        raise CannotCarry("it has no type, or its `config` is no mapping")
    if kind in JUDGED:
        raise CannotCarry(MODEL, build_grade(grader.get("name") or kind, config.get("threshold")))
    if kind in PROGRAMS:
        raise CannotCarry(CODE)
    base = kind.replace("-not-", "-", 1)
    if base not in GRADERS:
        raise CannotCarry("a grader of the project's own, or one that is not known here")
    is_negated = (base != kind) != (config.get("negate") is True)
    entry, difference = GRADERS[base](config)
    return CarriedCheck({"not": entry} if is_negated else entry, difference)
