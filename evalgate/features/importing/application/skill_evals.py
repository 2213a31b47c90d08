"""Carries the `evals.json` of Agent Skills over: each evaluation is a scenario; a model judges most of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.errors import OverLimit
from evalgate.features.importing.application.javascript_pattern import translate_flags
from evalgate.features.importing.application.lines import CODE, MODEL, build_grade, build_line, require_text
from evalgate.features.importing.models import (
    MAX_SCENARIOS,
    CannotCarry,
    CarriedCheck,
    ImportedLine,
    ImportedScenario,
    ImportedSuite,
)

if TYPE_CHECKING:
    from evalgate.features.importing.application.places import OriginPart

TOOL = "agentskills"
LISTS = ("evals", "cases")
STATEMENTS = ("assertions", "expectations", "expected_behavior", "expect", "deterministic_assertions", "rubric")
TEXTS = {
    "contains": "contains",
    "output_contains": "contains",
    "icontains": "icontains",
    "equals": "equals",
    "starts_with": "starts_with",
    "ends_with": "ends_with",
}
PATTERNS = frozenset({"regex", "matches", "output_matches"})
PROGRAMS = frozenset({"command", "script", "code", "python", "javascript", "bash", "shell"})
TRIGGER = "should_trigger"


def claims_skill_evals(value: Any) -> bool:
    """Whether a file is such a list of evaluations."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(each, dict) and "prompt" in each for each in value)
    return isinstance(value, dict) and any(isinstance(value.get(key), list) for key in LISTS)


def read_skill_evals(root: OriginPart, name: str, path: str) -> ImportedSuite:
    """The suite of a file; raises OverLimit."""
    lists = [root, *(root.get(key) for key in LISTS)]
    evals = [each for part in lists if isinstance(part.value, list) for each in part.items()]
    if len(evals) > MAX_SCENARIOS:
        raise OverLimit(f"{path} has more than {MAX_SCENARIOS:,} evaluations; divide it")
    skill = root.get("skill_name").value
    scenarios = [_build_scenario(part, skill, number) for number, part in enumerate(evals)]
    return ImportedSuite(TOOL, name, path, scenarios)


def _build_scenario(part: OriginPart, skill: Any, number: int) -> ImportedScenario:
    statements = [each for key in STATEMENTS for each in part.get(key).items()]
    lines = [_carry_statement(each) for each in statements]
    if isinstance(part.get(TRIGGER).value, bool):
        trigger = part.get(TRIGGER)
        lines.append(
            build_line(trigger, TRIGGER, lambda: _carry_trigger(skill, is_used=trigger.value), is_required=True)
        )
    if part.get("expected_output").value and not statements:
        lines.append(_carry_statement(part.get("expected_output"), "expected_output"))
    if not lines:
        lines = [ImportedLine(part.place, "eval", None, "it has no assertions")]
    named = part.get("name").value or part.get("id").value
    id_ = str(named) if isinstance(named, str) and named else f"eval-{number if named is None else named}"
    return ImportedScenario(id_, part.place, lines, spare_id=f"eval-at-{number}", spare_match={"scenario_id": id_})


def _carry_statement(part: OriginPart, kind: str = "assertion") -> ImportedLine:
    value = part.value
    text = value.get("name") or value.get("text") or value.get("type") if isinstance(value, dict) else value
    named = f"{kind} {text}" if isinstance(text, str) else kind
    return build_line(part, named, lambda: _carry_value(value), is_required=True)


def _carry_value(value: Any) -> CarriedCheck:
    """A check of a text, if the statement is one; a sentence is for a model."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        text = value.get("text") or value.get("name") if isinstance(value, dict) else value
        raise CannotCarry(MODEL, build_grade(text))
    kind = value["type"].replace("-", "_")
    base = kind.removeprefix("not_")
    if base in PROGRAMS:
        raise CannotCarry(CODE)
    if base in TEXTS:
        entry: dict[str, Any] = {"type": TEXTS[base], "value": require_text(value, "value")}
    elif base in PATTERNS:
        pattern = value.get("pattern") or value.get("value")
        entry = {"type": "regex", "pattern": translate_flags(require_text({"pattern": pattern}, "pattern"))}
    else:
        raise CannotCarry(MODEL, build_grade(value.get("name") or value.get("text")))
    return CarriedCheck(entry if base == kind else {"not": entry})


def _carry_trigger(skill: Any, *, is_used: bool) -> CarriedCheck:
    if not isinstance(skill, str) or not skill:
        raise CannotCarry("the file does not name its skill (`skill_name`)")
    return CarriedCheck({"type": "skill_used" if is_used else "no_skill", "skill": skill})
