"""Carries a specification of Vally over: each of its stimuli is a scenario."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from evalgate.errors import OverLimit
from evalgate.features.importing.application.lines import MODEL, build_line, join_all
from evalgate.features.importing.application.vally.graders import LOADED_SKILLS, carry_grader
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

TOOL = "vally"
LIMITS_RUN = "Vally limits the run by it; here it is a check of the run"
THRESHOLD = (
    "the threshold is one of the mean of all grades: those that are not here are missing in it, and a limit that is"
    " exceeded scores 0, not a part"
)


def claims_vally(value: Any) -> bool:
    """Whether a file is such a specification."""
    return isinstance(value, dict) and isinstance(value.get("stimuli"), list)


def read_vally(root: OriginPart, name: str, path: str) -> ImportedSuite:
    """The suite of a specification; raises OverLimit."""
    stimuli = list(root.get("stimuli").items())
    if len(stimuli) > MAX_SCENARIOS:
        raise OverLimit(f"{path} has more than {MAX_SCENARIOS:,} stimuli; divide it")
    scenarios = [_build_scenario(part, root, number) for number, part in enumerate(stimuli)]
    suite = ImportedSuite(TOOL, name, path, scenarios)
    if any("threshold" in scenario.fields for scenario in scenarios):
        suite.notes.append(THRESHOLD)
    suite.share_first_checks()
    return suite


def _build_scenario(part: OriginPart, root: OriginPart, number: int) -> ImportedScenario:
    threshold = root.get("scoring").get("threshold").value
    has_threshold = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    weights = root.get("scoring").get("weights").mapping() if has_threshold else {}
    lines = [_carry_grader(each, weights, is_required=not has_threshold) for each in part.get("graders").items()]
    lines += _carry_constraints(part.get("constraints"), is_required=not has_threshold)
    lines += [
        ImportedLine(each.place, "rubric", None, MODEL) for each in part.get("rubric").items() if not _has_prompt(part)
    ]
    if not lines:
        lines = [ImportedLine(part.place, "stimulus", None, "it has no graders, so Vally passes it always")]
    named = part.get("name").value
    scenario = ImportedScenario(named if isinstance(named, str) and named else f"stimulus-{number}", part.place, lines)
    scenario.spare_id = f"stimulus-{number}"
    scenario.spare_match = {"scenario_id": scenario.id}
    if "*" in scenario.id:  # which an id takes for any characters, each a scenario
        scenario.use_spare_id()
    if has_threshold:
        scenario.fields["threshold"] = threshold
    runs = root.get("config").get("runs").value or root.get("defaults").get("runs").value
    if isinstance(runs, int) and not isinstance(runs, bool) and 1 < runs <= MAX_SCENARIOS:
        scenario.fields["trials"] = {"min": runs}
    return scenario


def _has_prompt(part: OriginPart) -> bool:
    """Whether a grader judges the rubric, and is named for it."""
    return any(each.get("type").value in ("prompt", "panel") for each in part.get("graders").items())


def _carry_grader(part: OriginPart, weights: dict[str, Any], *, is_required: bool) -> ImportedLine:
    grader = part.mapping()
    kind = str(grader.get("type", "grader"))
    line = build_line(part, kind, lambda: carry_grader(grader), is_required=is_required)
    weight = weights.get(kind, 1)
    if line.entry is not None and weight != 1 and isinstance(weight, int | float) and weight >= 0:
        line.entry["weight"] = weight
    return line


def _carry_constraints(constraints: OriginPart, *, is_required: bool) -> list[ImportedLine]:
    """The limits of a stimulus, a line each."""
    if constraints.value is not None and not isinstance(constraints.value, dict):
        return [ImportedLine(constraints.place, "constraints", None, "they are no mapping")]
    parts = {name: constraints.get(name) for name in constraints.mapping()}
    return [
        build_line(part, name, partial(_carry_constraint, name, part.value), is_required=is_required)
        for name, part in parts.items()
    ]


def _carry_constraint(name: str, value: Any) -> CarriedCheck:
    names = [each for each in value if isinstance(each, str) and each] if isinstance(value, list) else []
    is_count = isinstance(value, int) and not isinstance(value, bool)
    if name == "max_tokens" and is_count:
        return CarriedCheck({"type": "token_limit", "max_total": value}, LIMITS_RUN)
    if name == "expect_tools" and names:
        return CarriedCheck(join_all([{"type": "tool_called", "tool": each} for each in names]))
    if name == "reject_tools" and names:
        return CarriedCheck({"type": "forbidden_tools", "tools": names})
    if name == "expect_skills" and names:
        return CarriedCheck(join_all([{"type": "skill_used", "skill": each} for each in names]), LOADED_SKILLS)
    if name == "reject_skills":
        raise CannotCarry("Vally takes these skills from the run, so it is no check")
    if name == "max_duration":
        return carry_grader({"type": "wall-time", "config": {"max": value}})
    if name == "max_turns":
        raise CannotCarry("Vally limits the run by it, and it counts answers of the model")
    raise CannotCarry("a constraint that is not known here")
