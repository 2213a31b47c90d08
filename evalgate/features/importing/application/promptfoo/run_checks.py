"""promptfoo's checks of calls, cost, latency and how the run ended, as the assertions that judge the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.features.importing.models import CannotCarry, CarriedCheck

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalgate.features.importing.application.promptfoo.text_checks import OriginCheck

TOOL = "tool"
LOADED_SKILLS = "a skill counts by the call that loads it; promptfoo reads the provider's `metadata.skillCalls`"
COMMANDS = frozenset({"exec_command", "local_shell", "shell"})
"""Tools whose calls promptfoo counts as commands, not as tools."""


def _cost(check: OriginCheck) -> CarriedCheck:
    return CarriedCheck({"type": "cost_limit", "max_usd": check.require_number("US dollars")})


def _latency(check: OriginCheck) -> CarriedCheck:
    return CarriedCheck({"type": "latency_limit", "max_seconds": check.require_number("milliseconds") / 1_000})


def _finish_reason(check: OriginCheck) -> CarriedCheck:
    return CarriedCheck({"type": "finish_reason", "in": [check.require_text().lower()]})


def _tool_used(check: OriginCheck) -> CarriedCheck:
    value = check.value
    if isinstance(value, dict):
        least, most = _read_bound(value, "min"), _read_bound(value, "max")
        if most is None and least in (None, 1):
            return CarriedCheck({"type": "tool_called", "tool": _find_name(value)})
        bounds = {"min": 1 if least is None else least, **({} if most is None else {"max": most})}
        return CarriedCheck({"type": "tool_calls", "tool": _find_name(value), **bounds})
    names = [_find_name(each) for each in (value if isinstance(value, list) else [value])]
    if not names:
        raise CannotCarry("it names no tool")
    if check.is_negated:  # none of them, not: not all of them
        entry: dict[str, Any] = {"any_of": [{"type": "tool_called", "tool": name} for name in names]}
        return CarriedCheck(entry["any_of"][0] if len(names) == 1 else entry)
    if len(names) == 1:
        return CarriedCheck({"type": "tool_called", "tool": names[0]})
    return CarriedCheck({"all_of": [{"type": "tool_called", "tool": name} for name in names]})


def _tool_sequence(check: OriginCheck) -> CarriedCheck:
    value = check.value
    mode = value.get("mode", "in_order") if isinstance(value, dict) else "in_order"
    steps = value.get("steps") if isinstance(value, dict) else value
    if not isinstance(steps, list) or not steps or mode not in ("in_order", "exact"):
        raise CannotCarry("it needs steps, and the mode in_order or exact")
    exact = {"mode": mode} if mode == "exact" else {}
    entry = {"type": "tool_sequence", **exact, "sequence": [_find_name(step) for step in steps]}
    return CarriedCheck(entry)


def _tool_arguments(check: OriginCheck) -> CarriedCheck:
    """A call of the tool has these arguments."""
    value = check.value
    if not isinstance(value, dict):
        raise CannotCarry("it needs the name of a tool and its arguments")
    arguments, mode = value.get("args", value.get("arguments")), value.get("mode", "partial")
    ignored = value.get("ignore", [])
    ignored = [ignored] if isinstance(ignored, str) else ignored
    if not isinstance(ignored, list) or not all(isinstance(name, str) for name in ignored):
        raise CannotCarry("`ignore` is no list of names")
    if not isinstance(arguments, dict) or mode not in ("partial", "exact"):
        raise CannotCarry("it needs arguments as a mapping, and the mode partial or exact")
    if value.get("defaults") or any("*" in name or "?" in name for name in ignored) or (ignored and mode == "exact"):
        raise CannotCarry(
            "`defaults` and patterns in `ignore` have no equal here, nor has `ignore` with the mode exact"
        )
    wanted = {name: _write_plain(each) for name, each in arguments.items() if name not in ignored}
    step: dict[str, Any] = {TOOL: _find_name(value), "args": wanted}
    if mode == "exact":
        step["args_match"] = "exact"
    elif any(isinstance(inner, dict | list) for each in wanted.values() for inner in _contained(each)):
        raise CannotCarry("it compares parts of objects inside arguments; check them with a `path`")
    return CarriedCheck({"type": "tool_sequence", "sequence": [step]})


def _contained(value: Any) -> list[Any]:
    """The value if it is an object, or a list with one: of these promptfoo compares only the keys that it names."""
    if isinstance(value, list):
        return [found for each in value for found in _contained(each)]
    return [value] if isinstance(value, dict) and not set(value) <= {"$in"} else []


def _write_plain(value: Any) -> Any:
    """A value in which no key is taken for a matcher."""
    return {"$in": [value]} if isinstance(value, dict | list) and _has_matcher(value) else value


def _has_matcher(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_has_matcher, value))
    return isinstance(value, dict) and any(key.startswith("$") or _has_matcher(each) for key, each in value.items())


def _step_count(check: OriginCheck) -> CarriedCheck:
    value = check.value if isinstance(check.value, dict) else {}
    if value.get("type") not in (TOOL, [TOOL]):
        raise CannotCarry("it counts spans of promptfoo's tracing; only steps with `type: tool` are calls here")
    least, most = _read_bound(value, "min"), _read_bound(value, "max")
    if least is None and most is None:
        raise CannotCarry("it needs `min` or `max`")
    named = {TOOL: _find_name(value)} if value.get("pattern") or value.get("name") else {}
    bounds = {name: each for name, each in (("min", least), ("max", most)) if each is not None}
    return CarriedCheck({"type": "tool_calls", **named, **bounds})


def _tool_call_f1(check: OriginCheck) -> CarriedCheck:
    value, threshold = check.value, 1 if check.threshold is None else check.threshold
    names = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    tools = sorted({name.strip() for name in map(str, names)} - {""})
    if not tools or any("*" in tool for tool in tools):
        raise CannotCarry("it needs names of tools")
    if threshold != 1:
        raise CannotCarry("F1 of the sets of names; `trajectory_score` has an F1 that counts each call")
    called = [{"type": "tool_called", "tool": tool} for tool in tools]
    return CarriedCheck({"all_of": [{"type": "allowed_tools", "tools": tools}, *called]})


def _valid_calls(check: OriginCheck) -> CarriedCheck:
    if check.is_negated:
        raise CannotCarry("that a call is not valid has no equal here")
    calls: list[dict[str, Any]] = [{"type": "tool_called", "tool": "*"}, {"type": "tool_arguments", "tool": "*"}]
    return CarriedCheck({"all_of": calls}, "the schemas are those that the trace records with its tools")


def _find_name(step: Any) -> str:
    """The name or pattern of a tool."""
    value = step.get("pattern") or step.get("name") if isinstance(step, dict) else step
    if isinstance(step, dict) and step.get("type", TOOL) not in (TOOL, [TOOL]):
        raise CannotCarry("it has a step that is no tool")
    if not isinstance(value, str) or not value:
        raise CannotCarry("it needs the name of a tool")
    if "?" in value:
        raise CannotCarry("`?` for one character has no equal in names of tools; `*` has")
    if value.lower() in COMMANDS:
        raise CannotCarry(f"promptfoo counts `{value}` as a command, not as a tool, so it is never found")
    return value


def _read_bound(value: Mapping[str, Any], name: str) -> int | None:
    found = value.get(name)
    if found is None or (isinstance(found, int) and not isinstance(found, bool) and found >= 0):
        return found
    raise CannotCarry(f"`{name}` is no whole number")


def _skill_used(check: OriginCheck) -> CarriedCheck:
    value = check.value
    if isinstance(value, dict):
        return CarriedCheck(_count_skill(value, is_negated=check.is_negated), LOADED_SKILLS)
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise CannotCarry("it needs names of skills")
    skills: list[dict[str, Any]] = [{"type": "skill_used", "skill": name.strip()} for name in names]
    if len(skills) == 1:
        return CarriedCheck(skills[0], LOADED_SKILLS)
    return CarriedCheck({"any_of" if check.is_negated else "all_of": skills}, LOADED_SKILLS)


def _count_skill(value: Mapping[str, Any], *, is_negated: bool) -> dict[str, Any]:
    """At least one use of a skill, or none; promptfoo refuses other bounds of a negated check, too."""
    names = [found.strip() for key in ("name", "pattern") if isinstance(found := value.get(key), str) and found.strip()]
    if len(names) != 1 or "?" in names[0]:
        raise CannotCarry("it needs a `name` or a `pattern`, without `?`")
    least, most = _read_bound(value, "min"), _read_bound(value, "max")
    used = {"type": "skill_used", "skill": names[0]}
    if least is None and most == 0:
        return used if is_negated else {"not": used}
    if most is None and (least is None or (least == 1 and not is_negated)):
        return used
    raise CannotCarry("it counts uses of a skill, of which a check here demands one or none")


RUN_CHECKS: dict[str, Callable[[OriginCheck], CarriedCheck]] = {
    "cost": _cost,
    "latency": _latency,
    "finish-reason": _finish_reason,
    "trajectory:tool-used": _tool_used,
    "trajectory:tool-sequence": _tool_sequence,
    "trajectory:tool-args-match": _tool_arguments,
    "trajectory:step-count": _step_count,
    "tool-call-f1": _tool_call_f1,
    "skill-used": _skill_used,
    "is-valid-openai-tools-call": _valid_calls,
    "is-valid-function-call": _valid_calls,
    "is-valid-openai-function-call": _valid_calls,
}
