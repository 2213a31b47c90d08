"""promptfoo's tests in a table (CSV, JSON Lines): checks are texts in the columns `__expected`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.features.importing.application.promptfoo.checks import CHECKS, MODELS, REASONS

if TYPE_CHECKING:
    from evalgate.features.importing.application.places import OriginPart

EXPECTED = "__expected"
CODE = ("javascript:", "fn:", "eval:", "python:")
_CHECK = re.compile(r"(not-)?([a-z][a-z0-9:-]*?)(?:\(([\d.]+)\))?(?::([\s\S]*))?", re.DOTALL)
THRESHOLDS = frozenset(
    {"cost", "latency", "levenshtein", "perplexity", "perplexity-score", "rouge-n", "similar", "classifier"}
)
DEFAULT_THRESHOLD = 0.75


def read_table_test(part: OriginPart) -> OriginPart:
    """A row as the test that promptfoo makes of it; anything else is the test as it stands."""
    row = part.mapping()
    if "assert" in row or "vars" in row or not any(name.strip().startswith("__") for name in row):
        is_row = row and all(isinstance(each, str) for each in row.values()) and "description" not in row
        return part._replace(value={"vars": row}) if is_row else part
    columns = {name.strip(): value for name, value in row.items()}
    expected = [str(each).strip() for name, each in columns.items() if name.startswith(EXPECTED)]
    metric = {"metric": columns["__metric"]} if columns.get("__metric") else {}
    test: dict[str, Any] = {
        "vars": {name: value for name, value in columns.items() if not name.startswith("__")},
        "assert": [{**read_expected(text), **metric} for text in expected if text],
        "metadata": {
            name.removeprefix("__metadata:"): value for name, value in columns.items() if name.startswith("__metadata:")
        },
    }
    if columns.get("__description"):
        test["description"] = columns["__description"]
    threshold = _read_number(columns.get("__threshold"))
    return part._replace(value=test if threshold is None else {**test, "threshold": threshold})


def read_expected(text: str) -> dict[str, Any]:
    """The check that a text in such a column is.

    >>> read_expected("not-icontains: sorry"), read_expected("4")
    ({'type': 'not-icontains', 'value': 'sorry'}, {'type': 'equals', 'value': '4'})
    """
    if text.startswith(CODE) or (text.startswith("file://") and text.endswith((".js", ".py", ".ts", ".mjs", ".cjs"))):
        return {"type": "javascript", "value": text}
    if text.startswith(("grade:", "llm-rubric:")):
        return {"type": "llm-rubric", "value": text.partition(":")[2]}
    match = _CHECK.fullmatch(text)
    if match is None or match[2] not in {*CHECKS, *REASONS, *MODELS}:
        return {"type": "equals", "value": text}
    value = match[4].strip() if match[4] is not None else None
    check: dict[str, Any] = {"type": f"{match[1] or ''}{match[2]}", "value": value}
    threshold = _read_number(match[3])
    if match[2] in THRESHOLDS:
        check["threshold"] = DEFAULT_THRESHOLD if threshold is None else threshold
    return check


def _read_number(text: Any) -> float | None:
    try:
        return float(text)
    except (TypeError, ValueError):
        return None
