"""Reads exported JSON lines back, and groups their turns into conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.errors import Location, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic import ValidationError

    from evalgate.models.goldens.exported_evaluation import Exported
    from evalgate.reporting.dataset.evaluation_entry import EvaluationEntry


class ReadEvaluations(NamedTuple):
    """The evaluations of a file, and the problems of its invalid parts."""

    found: Sequence[Exported]
    problems: Sequence[Problem]


def read_evaluation_lines(lines: Iterable[bytes], path: str) -> ReadEvaluations:
    """Reads evaluations in the order they begin; an invalid line or incomplete evaluation is a problem."""
    from pydantic import ValidationError

    from evalgate.reporting.dataset.evaluation_entry import EvaluationEntry

    gathered: dict[str, list[EvaluationEntry]] = {}
    problems: list[Problem] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = EvaluationEntry.model_validate_json(line)
        except ValidationError as error:
            problems.append(Problem(_why(error), Location(path, number)))
            continue
        gathered.setdefault(entry.evaluation_id, []).append(entry)
    found: list[Exported] = []
    for evaluation_id, entries in gathered.items():
        whole = _joined(entries)
        if whole is None:
            told = f"evaluation `{evaluation_id}` has not each of its turns once"
            problems.append(Problem(told, Location(path), "it is left out; export it again"))
        else:
            found.append(whole)
    return ReadEvaluations(found, problems)


def _joined(entries: Sequence[EvaluationEntry]) -> Exported | None:
    first = entries[0]
    if first.turn is None:
        return first.exported(()) if len(entries) == 1 and first.turns == 0 else None
    ordered = sorted(entries, key=lambda entry: entry.turn or 0)
    if [entry.turn for entry in ordered] != list(range(1, len(ordered) + 1)) or len(ordered) != first.turns:
        return None
    return first.exported(tuple(entry.result() for entry in ordered))


def _why(error: ValidationError) -> str:
    """Describes the first mistake of a line, without quoting the library."""
    from evalgate.evaluators.core.field_problems import flaws_of
    from evalgate.reporting.dataset.evaluation_entry import EvaluationEntry

    kind = error.errors(include_url=False)[0]["type"]
    if kind in {"json_invalid", "model_type"}:
        return "this line is no JSON" if kind == "json_invalid" else "this line is no JSON object"
    return flaws_of(error, EvaluationEntry)[0].message
