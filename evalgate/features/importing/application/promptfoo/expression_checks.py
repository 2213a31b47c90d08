"""The plainest expressions of JavaScript checks as assertions: read as text, never executed."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from evalgate.features.importing.application.lines import CODE, join_all
from evalgate.features.importing.models import CannotCarry, CarriedCheck

if TYPE_CHECKING:
    from evalgate.features.importing.application.promptfoo.text_checks import OriginCheck

_LITERAL = r"""(?P<literal> '[^'\\\n]*' | "[^"\\\n]*" | -?\d{1,15}(?:\.\d{1,15})? | true | false )"""
_FORMS = re.compile(
    rf"""
      output\.length \s* (?P<operator> <=? | >=? ) \s* (?P<count> \d{{1,9}} )
    | JSON\.parse\(output\) (?P<path> (?: \.[A-Za-z_]\w* )+ ) \s* ===? \s* {_LITERAL}
    | (?P<not> ! )? output (?P<lower> \.toLowerCase\(\) )? \.(?P<method> includes | startsWith | endsWith )
      \( \s* (?P<text> '[^'\\\n]+' | "[^"\\\n]+" ) \s* \)
    """,
    re.VERBOSE,
)
_SCORE = re.compile(r"(.*?)\s*\?\s*1\s*:\s*0", re.DOTALL)
METHODS = {"includes": "contains", "startsWith": "starts_with", "endsWith": "ends_with"}
CHARACTERS = "characters are counted; JavaScript counts one such as an emoji twice"


def carry_expression(check: OriginCheck) -> CarriedCheck:
    """The assertion for an expression of these forms, joined by `&&` or by `||`; raises CannotCarry.

    A negated one is left: an expression that ends in an error fails there, negated or not.
    """
    source = check.value.rstrip() if isinstance(check.value, str) else ""
    scored = _SCORE.fullmatch(source)
    parts = re.split(r"\s*(&&|\|\|)\s*", (scored[1] if scored else source).strip())
    joins = set(parts[1::2])
    has_lines = "\n" in source  # then it is the body of a function
    if check.threshold is not None or check.is_negated or len(joins) > 1 or has_lines:
        raise CannotCarry(f"{CODE}; write it as a check with a `path`")
    found = [_carry_form(part) for part in parts[::2]]
    entries = [each.entry for each in found]
    if "||" in joins and any("path" in entry for entry in entries):
        raise CannotCarry("an answer that is no JSON ends it in an error, whatever else holds")
    entry = {"any_of": entries} if joins == {"||"} else join_all(entries)
    return CarriedCheck(entry, next((each.difference for each in found if each.difference), ""))


def _carry_form(source: str) -> CarriedCheck:
    match = _FORMS.fullmatch(source)
    if match is None:
        raise CannotCarry(f"{CODE}; write it as a check with a `path`")
    if match["count"]:
        return CarriedCheck(_limit_length(match["operator"], int(match["count"])), CHARACTERS)
    if match["path"]:
        literal = match["literal"]
        value = literal[1:-1] if literal[0] in "'\"" else json.loads(literal)
        return CarriedCheck({"path": f"response.json{match['path']}", "eq": value})
    entry = _compare_text(METHODS[match["method"]], match["text"][1:-1], is_lower=bool(match["lower"]))
    return CarriedCheck({"not": entry} if match["not"] else entry)


def _limit_length(operator: str, count: int) -> dict[str, Any]:
    if operator.startswith("<"):
        if operator == "<" and count == 0:
            raise CannotCarry("no text is shorter than that")
        return {"type": "max_length", "max": count - (operator == "<")}
    return {"type": "min_length", "min": count + (operator == ">")}


def _compare_text(kind: str, text: str, *, is_lower: bool) -> dict[str, Any]:
    if not is_lower:
        return {"type": kind, "value": text}
    if kind != "contains" or text != text.lower():
        raise CannotCarry("it compares the answer in lower case with a text that is not, or its beginning or end")
    return {"type": "icontains", "value": text}
