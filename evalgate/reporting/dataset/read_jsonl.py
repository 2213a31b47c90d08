"""Reads exported JSON lines back, and groups their turns into conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.errors import Location, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic import ValidationError

    from evalgate.models.goldens.exported_evaluation import ExportedEvaluation
    from evalgate.reporting.dataset.evaluation_entry import EvaluationEntry


class ReadEvaluations(NamedTuple):
    """The evaluations of a file, and the problems of its invalid parts."""

    found: Sequence[ExportedEvaluation]
    problems: Sequence[Problem]


def read_evaluation_lines(lines: Iterable[bytes], path: str) -> ReadEvaluations:
    """Reads evaluations in the order they begin; an invalid line or incomplete evaluation is a problem."""
    from pydantic import ValidationError

    from evalgate.reporting.dataset.evaluation_entry import EvaluationEntry

    entries_by_id: dict[str, list[EvaluationEntry]] = {}
    problems: list[Problem] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = EvaluationEntry.model_validate_json(line)
        except ValidationError as error:
            problems.append(Problem(_describe_error(error), Location(path, number)))
            continue
        entries_by_id.setdefault(entry.evaluation_id, []).append(entry)
    found: list[ExportedEvaluation] = []
    for evaluation_id, entries in entries_by_id.items():
        evaluation = _join_turns(entries)
        if evaluation is None:
            message = f"evaluation `{evaluation_id}` does not have each of its turns exactly once"
            problems.append(Problem(message, Location(path), "it was skipped; export it again"))
        else:
            found.append(evaluation)
    return ReadEvaluations(found, problems)


def _join_turns(entries: Sequence[EvaluationEntry]) -> ExportedEvaluation | None:
    first = entries[0]
    if first.turn is None:
        return first.to_evaluation(()) if len(entries) == 1 and first.turns == 0 else None
    ordered = sorted(entries, key=lambda entry: entry.turn or 0)
    if [entry.turn for entry in ordered] != list(range(1, len(ordered) + 1)) or len(ordered) != first.turns:
        return None
    return first.to_evaluation(tuple(entry.to_turn_result() for entry in ordered))


def _describe_error(error: ValidationError) -> str:
    """Describes the first error of a line, without quoting the library."""
    from evalgate.evaluators.core.field_problems import problems_from_error
    from evalgate.reporting.dataset.evaluation_entry import EvaluationEntry

    kind = error.errors(include_url=False)[0]["type"]
    if kind in {"json_invalid", "model_type"}:
        return "this line is not valid JSON" if kind == "json_invalid" else "this line is not a JSON object"
    return problems_from_error(error, EvaluationEntry)[0].message
