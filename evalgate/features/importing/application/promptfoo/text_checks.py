"""promptfoo's checks of the answer as a text or as JSON, as the assertions that judge the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.features.importing.application.javascript_pattern import translate_pattern
from evalgate.features.importing.application.javascript_text import write_like_javascript
from evalgate.features.importing.models import CannotCarry, CarriedCheck

if TYPE_CHECKING:
    from collections.abc import Callable

_FIELD = re.compile(r"""\s*(?:"((?:\\["\\]|""|[^"])*)"\s*(?=,|\Z)|([^",\s][^,]*)|(?=,)|\Z)(?:,|\Z)""")
_BLANKS = r"\s\ufeff"
OTHER_PHRASES = "judged by this tool's list of phrases, not by promptfoo's"
MAX_WORDS = 1_000
"""The largest number of words that a pattern can count."""


class OriginCheck(Struct, frozen=True):
    """A check of promptfoo without its `not-`: its value with variables filled in, and its threshold."""

    kind: str
    value: Any = None
    threshold: Any = None
    is_negated: bool = False

    def require_text(self) -> str:
        """The value as a text that is not empty."""
        text = write_like_javascript(self.value)
        if not text:
            raise CannotCarry("it needs a value, a text; promptfoo refuses it too")
        return text

    def require_number(self, what: str) -> float:
        """The threshold as a number."""
        if isinstance(self.threshold, bool) or not isinstance(self.threshold, int | float):
            raise CannotCarry(f"it needs a threshold, a number of {what}")
        return self.threshold


def _list_texts(check: OriginCheck) -> list[str]:
    """The texts of a list, or of a text with commas."""
    if isinstance(check.value, str):
        texts: list[str | None] = [*_split_commas(check.value)]
    else:
        texts = [write_like_javascript(each) for each in check.value] if isinstance(check.value, list) else []
    if not texts or None in texts:
        raise CannotCarry("it needs a list of texts")
    return [each for each in texts if each is not None]


def _split_commas(text: str) -> list[str]:
    """The fields of a text with commas; one in quotes may hold commas, and quotes after a backslash or twice."""
    found: list[str] = []
    position = 0
    while position < len(text):
        match = _FIELD.match(text, position)
        if match is None or match.end() == position:
            raise CannotCarry("its text with commas has a quote that never ends")
        position = match.end()
        if match[1] is not None:
            found.append(re.sub(r'\\(["\\])|""', lambda each: each[1] or '"', match[1]))
        elif match[2]:
            found.append(match[2].strip())
    return found


def _contains(check: OriginCheck) -> CarriedCheck:
    return CarriedCheck({"type": check.kind, "value": check.require_text()})


def _contains_several(check: OriginCheck) -> CarriedCheck:
    ignores_case, _, way = check.kind.rpartition("contains-")
    texts = [text for text in _list_texts(check) if text or way == "any"]
    if "" in texts or not texts:
        raise CannotCarry("one of its texts is empty, so it holds for every answer")
    if not ignores_case:
        return CarriedCheck({"type": f"contains_{way}", "values": texts})
    if len(texts) == 1:
        return CarriedCheck({"type": "icontains", "value": texts[0]})
    return CarriedCheck({f"{way}_of": [{"type": "icontains", "value": text} for text in texts]})


def _equals(check: OriginCheck) -> CarriedCheck:
    if isinstance(check.value, dict | list):
        return CarriedCheck({"path": "response.json", "eq": check.value})
    text = "null" if check.value is None else write_like_javascript(check.value)
    if text is None:
        raise CannotCarry("its number can't be written as JavaScript does")
    return CarriedCheck({"type": "equals", "value": text})


def _affix(check: OriginCheck) -> CarriedCheck:
    return CarriedCheck({"type": check.kind.replace("-", "_"), "value": check.require_text()})


def _regex(check: OriginCheck) -> CarriedCheck:
    if not isinstance(check.value, str) or not check.value:
        raise CannotCarry("it needs a pattern; promptfoo refuses it too")
    return CarriedCheck({"type": "regex", "pattern": translate_pattern(check.value)})


def _is_json(check: OriginCheck) -> CarriedCheck:
    if check.value in (None, ""):
        return CarriedCheck({"type": "is_json"})
    if not isinstance(check.value, dict):
        raise CannotCarry("its schema is a text; write it as a mapping")
    if _holds_key(check.value, "format"):
        raise CannotCarry("its schema has a `format`, which is not judged here; write a `pattern`")
    if any(isinstance(each.get("items"), list) for each in _mappings(check.value)):
        raise CannotCarry("its schema has a list under `items`, which newer schemas write as `prefixItems`")
    return CarriedCheck({"type": "is_json", "schema": check.value})


def _mappings(value: Any) -> list[dict[str, Any]]:
    """The mappings in a value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    below = [found for each in inner for found in _mappings(each)]
    return [value, *below] if isinstance(value, dict) else below


def _holds_key(schema: dict[str, Any], key: str) -> bool:
    return any(isinstance(each.get(key), str) for each in _mappings(schema))


def _is_refusal(_: OriginCheck) -> CarriedCheck:
    return CarriedCheck({"type": "is_refusal"}, OTHER_PHRASES)


def _word_count(check: OriginCheck) -> CarriedCheck:
    """Words are what blanks separate; a pattern counts them."""
    least, most = _read_range(check.value)
    if max(least, most or 0) > MAX_WORDS:
        raise CannotCarry(f"more than {MAX_WORDS:,} words; `max_length` limits characters")
    if most == 0:
        return CarriedCheck({"type": "regex", "pattern": rf"\A[{_BLANKS}]*\Z"})
    rest = f"{{{max(least - 1, 0)},{'' if most is None else most - 1}}}"
    words = rf"[^{_BLANKS}]+(?:[{_BLANKS}]+[^{_BLANKS}]+){rest}"
    inner = f"(?:{words})?" if least == 0 else words
    return CarriedCheck({"type": "regex", "pattern": rf"\A[{_BLANKS}]*{inner}[{_BLANKS}]*\Z"})


def _read_range(value: Any) -> tuple[int, int | None]:
    """The least and the largest number of words."""
    if isinstance(value, dict):
        bounds = value.get("min"), value.get("max")
        if bounds == (None, None):
            raise CannotCarry("it needs `min` or `max`")
        least, most = bounds[0] or 0, bounds[1]
    else:
        text = str(value).strip()
        least = most = int(text) if text.isdecimal() else None
    if not _is_count(least) or not (most is None or _is_count(most)):
        raise CannotCarry("it needs whole numbers of words")
    return least, most


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


TEXT_CHECKS: dict[str, Callable[[OriginCheck], CarriedCheck]] = {
    "contains": _contains,
    "icontains": _contains,
    **{f"{start}contains-{way}": _contains_several for start in ("", "i") for way in ("all", "any")},
    "equals": _equals,
    "starts-with": _affix,
    "ends-with": _affix,
    "regex": _regex,
    "is-json": _is_json,
    "is-refusal": _is_refusal,
    "word-count": _word_count,
}
