"""Carries OpenAI's evals over, as their API exports them: each row of their data is a scenario."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.errors import OverLimit
from evalgate.features.importing.application.javascript_text import write_like_javascript
from evalgate.features.importing.application.lines import CODE, MODEL, build_grade, build_line
from evalgate.features.importing.models import (
    MAX_SCENARIOS,
    CannotCarry,
    CarriedCheck,
    ImportedLine,
    ImportedScenario,
    ImportedSuite,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.features.importing.application.places import OriginPart
    from evalgate.features.importing.ports import OriginDocument

TOOL = "openai"
_VARIABLE = re.compile(r"\{\{\s*(item|sample)\.([\w.\[\]]+)\s*\}\}")
_CALL = re.compile(r"output_tools\[(\d+)\]\.function\.(name|arguments)((?:\.\w+)*)")
_JSON = re.compile(r"output_json((?:\.\w+)+)")
OPERATIONS = {"eq": "equals", "ne": "equals", "like": "contains", "ilike": "icontains"}
METRICS = {"rouge_l": "rouge_l", "bleu": "bleu"}
OTHER_MEASURE = "the same measure by another implementation, so that values near the threshold may differ"
PARTS = "there a formula weighs its graders; here each must pass"
AS_VALUES = "the arguments are compared as values, there as texts"
JUDGED = frozenset({"label_model", "score_model", "azure_ai_evaluator"})
SIDES = ("input", "reference")


class Answer(NamedTuple):
    """What of the answer a criterion compares: the text itself, or what an expression finds."""

    path: str = ""


def claims_openai(value: Any) -> bool:
    """Whether a file is an eval, or a list of evals."""
    if isinstance(value, dict) and value.get("object") == "list" and isinstance(value.get("data"), list):
        return any(claims_openai(each) for each in value["data"])
    return isinstance(value, dict) and isinstance(value.get("testing_criteria"), list)


def read_openai(root: OriginPart, name: str, path: str, data: Sequence[OriginDocument]) -> ImportedSuite:
    """The suite of an eval; raises OverLimit. Without rows one scenario is every trace."""
    evals = list(root.get("data").items()) if isinstance(root.get("data").value, list) else [root]
    rows = [row for document in data for row in _list_rows(document)] or _find_rows(root)
    if len(evals) * max(len(rows), 1) > MAX_SCENARIOS:
        raise OverLimit(f"{path} has more than {MAX_SCENARIOS:,} rows; divide them")
    scenarios: list[ImportedScenario] = []
    for each in evals:
        prefix = f"{each.get('name').value or each.get('id').value}-" if len(evals) > 1 else ""
        scenarios += [_build_scenario(each, row, f"{prefix}item-{number}") for number, row in enumerate(rows)]
        if not rows:
            scenarios.append(_build_scenario(each, None, f"{prefix}*"))
    return ImportedSuite(TOOL, name, path, scenarios)


def _list_rows(document: OriginDocument) -> list[dict[str, Any]]:
    return [row for row in document.value if isinstance(row, dict)] if isinstance(document.value, list) else []


def _find_rows(root: OriginPart) -> list[dict[str, Any]]:
    """The rows that the source of a run holds."""
    source = root.get("data_source").get("source").get("content")
    return [each.mapping() for each in source.items()]


def _build_scenario(root: OriginPart, row: dict[str, Any] | None, id_: str) -> ImportedScenario:
    item = None if row is None else row.get("item", row)
    lines = [line for part in root.get("testing_criteria").items() for line in _carry_part(part, item)]
    if not lines:
        lines = [ImportedLine(root.place, "eval", None, "it has no criteria")]
    return ImportedScenario(id_, root.place, lines)


def _carry_part(part: OriginPart, item: Any) -> list[ImportedLine]:
    criterion = part.mapping()
    kind = str(criterion.get("type", "criterion"))
    if kind != "multi":
        return [build_line(part, kind, lambda: carry_criterion(criterion, item), is_required=True)]
    graders = part.get("graders")
    inner = [graders.get(name) for name in graders.mapping()] or list(graders.items())
    lines = [line for each in inner for line in _carry_part(each, item)]
    for line in lines:
        line.reason = line.reason or PARTS
    return lines


def carry_criterion(criterion: dict[str, Any], item: Any) -> CarriedCheck:
    """The assertion for a criterion, with the values of a row; raises CannotCarry."""
    kind = criterion.get("type")
    if not isinstance(kind, str):
        raise CannotCarry("it has no type")
    if kind in JUDGED:
        raise CannotCarry(MODEL, build_grade(criterion.get("name"), criterion.get("pass_threshold")))
    if kind in ("python", "endpoint"):
        raise CannotCarry(CODE)
    if kind == "string_check":
        return _carry_text(criterion, item)
    if kind == "text_similarity":
        return _carry_similarity(criterion, item)
    raise CannotCarry("a criterion that is not known here")


def _find_sides(criterion: dict[str, Any], item: Any) -> tuple[Answer, str, bool]:
    """The side that is the answer, the text of the other, and whether they stand the other way round."""
    sides = [_read_side(criterion.get(name), item) for name in SIDES]
    if isinstance(sides[0], Answer) and isinstance(sides[1], str):
        return sides[0], sides[1], False
    if isinstance(sides[1], Answer) and isinstance(sides[0], str):
        return sides[1], sides[0], True
    raise CannotCarry("it does not compare the answer with a text")


def _read_side(value: Any, item: Any) -> Answer | str:
    if not isinstance(value, str):
        raise CannotCarry("it compares no text")
    whole = _VARIABLE.fullmatch(value.strip())
    if whole is not None and whole[1] == "sample":
        return _find_answer(whole[2])
    if "{{" in _VARIABLE.sub("", value) or any(match[1] == "sample" for match in _VARIABLE.finditer(value)):
        raise CannotCarry("it puts the answer, or something unknown, into a longer text")
    return _VARIABLE.sub(lambda match: _find_item(match[2], item), value)


def _find_answer(name: str) -> Answer:
    if name == "output_text":
        return Answer()
    call, field = _CALL.fullmatch(name), _JSON.fullmatch(name)
    if call is not None:
        return Answer(f"tool_calls[{call[1]}].{call[2]}{call[3]}")
    if field is not None:
        return Answer(f"response.json{field[1]}")
    raise CannotCarry(f"`sample.{name}` has no equal here")


def _find_item(name: str, item: Any) -> str:
    if item is None:
        raise CannotCarry(f"it needs the rows of the data for `item.{name}`: pass them with --data")
    found = item
    for step in name.split("."):
        found = found.get(step) if isinstance(found, dict) else None
    text = write_like_javascript(found)
    if text is None:
        raise CannotCarry(f"the row has no text for `item.{name}`")
    return text


def _carry_text(criterion: dict[str, Any], item: Any) -> CarriedCheck:
    operation = criterion.get("operation")
    if not isinstance(operation, str) or operation not in OPERATIONS:
        raise CannotCarry("its operation is none of eq, ne, like and ilike")
    answer, text, is_turned = _find_sides(criterion, item)
    if is_turned and operation in ("like", "ilike"):
        raise CannotCarry("it looks for the answer in a text, not for a text in the answer")
    if not text and operation in ("like", "ilike"):
        raise CannotCarry("its text is empty, so it holds for every answer")
    if not answer.path:
        entry: dict[str, Any] = {"type": OPERATIONS[operation], "value": text}
        return CarriedCheck({"not": entry} if operation == "ne" else entry)
    if answer.path.endswith(".arguments"):
        return _carry_arguments(answer.path, operation, text)
    if operation == "ilike":
        return CarriedCheck({"path": answer.path, "regex": f"(?i){re.escape(text)}"})
    return CarriedCheck({"path": answer.path, {"like": "contains"}.get(operation, operation): text})


def _carry_arguments(path: str, operation: str, text: str) -> CarriedCheck:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict) or operation not in ("eq", "ne"):
        raise CannotCarry("the arguments are compared as a text that is no object")
    return CarriedCheck({"path": path, operation: value}, AS_VALUES)


def _carry_similarity(criterion: dict[str, Any], item: Any) -> CarriedCheck:
    metric, least = criterion.get("evaluation_metric"), criterion.get("pass_threshold")
    if not isinstance(metric, str) or metric not in METRICS:
        raise CannotCarry("it is another measure than those of `similarity`")
    if isinstance(least, bool) or not isinstance(least, int | float) or not 0 <= least <= 1:
        raise CannotCarry("its `pass_threshold` is no number from 0 to 1")
    answer, text, _ = _find_sides(criterion, item)
    path = {"path": answer.path} if answer.path else {}
    entry = {"type": "similarity", "metric": METRICS[metric], "reference": text, "min_score": least, **path}
    return CarriedCheck(entry, OTHER_MEASURE)
