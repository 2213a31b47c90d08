"""Similarity of two texts, from 0 (nothing in common) to 1 (equal), by metrics of bounded work.

Words are runs of letters and digits with case folded; each Chinese or Japanese character is a separate word,
as these are written without blanks; punctuation is ignored. Equal texts score 1 in every metric.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from math import exp, fsum, log
from typing import TYPE_CHECKING, TypeVar

from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.text.plain_text import simplify_seen

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

MAX_TEXT = 1_000_000
"""Characters of the longest text that is compared."""
MAX_CELLS = 400_000_000
"""Product of the lengths that Levenshtein and ROUGE-L compare: 20,000 by 20,000, at most 50 MB of bits."""
MAX_ORDER = 4
"""Words of the longest runs that BLEU compares."""

Elements = TypeVar("Elements", str, list[str])

_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_compile = cache(re.compile)


class TooLongError(ValueError):
    """The texts are too long for this metric."""


def words(text: str) -> list[str]:
    """Returns the words of a text, case folded. Raises TooLongError.

    >>> words("It's 20°C, ok?")
    ['it', 's', '20', 'c', 'ok']
    """
    _check_length(text)
    return _compile(rf"[{_CJK}]|[^\W{_CJK}]+").findall(text.casefold())


def jaccard(text: str, reference: str) -> float:
    """Share of the distinct words that both texts have: |A and B| / |A or B| (Jaccard 1901)."""
    actual, expected = set(words(text)), set(words(reference))
    if text == reference:
        return 1.0
    return len(actual & expected) / len(actual | expected) if actual or expected else 0.0


def levenshtein(text: str, reference: str) -> float:
    """1 - distance / length of the longer text.

    The distance is the fewest characters to insert, delete or replace; case and punctuation count.
    It is computed one column of bits at a time (Myers 1999, as Hyyrö 2003).
    """
    _check_length(text)
    _check_length(reference)
    if text == reference:
        return 1.0
    return 1.0 - _edit_distance(text, reference) / max(len(text), len(reference))


def rouge_l(text: str, reference: str) -> float:
    """ROUGE-L F1 (Lin 2004): 2 * LCS / (words of one + words of the other).

    LCS is the number of words in the longest common subsequence.
    """
    actual, expected = words(text), words(reference)
    if text == reference:
        return 1.0
    return 2 * _lcs_length(actual, expected) / (len(actual) + len(expected)) if actual and expected else 0.0


def bleu(text: str, reference: str) -> float:
    """Sentence BLEU (Papineni 2002): brevity * geometric mean of the precisions of runs of 1 to 4 words.

    Orders longer than the text are left out; the k-th precision that is zero counts as 1 / (2^k * runs)
    (smoothing 3 of Chen and Cherry 2014). Without a common word it is 0.
    brevity = min(1, exp(1 - words of the reference / words of the text)).
    """
    actual, expected = words(text), words(reference)
    if text == reference:
        return 1.0
    logs: list[float] = []
    halving = 1.0
    for order in range(1, min(MAX_ORDER, len(actual)) + 1):
        runs = len(actual) - order + 1
        shared = _count_shared_runs(actual, expected, order)
        if order == 1 and not shared:
            return 0.0
        halving *= 1.0 if shared else 2.0
        logs.append(log((shared or 1.0 / halving) / runs))
    if not logs:
        return 0.0
    return min(1.0, exp(min(0.0, 1.0 - len(expected) / len(actual)) + fsum(logs) / len(logs)))


METRICS = {"jaccard": jaccard, "levenshtein": levenshtein, "rouge_l": rouge_l, "bleu": bleu}


def _check_length(text: str) -> None:
    if len(text) > MAX_TEXT:
        raise TooLongError(f"texts of more than {MAX_TEXT:,} characters are not compared")


def _count_shared_runs(actual: Sequence[str], expected: Sequence[str], order: int) -> int:
    """Counts runs of `order` words of the text that the reference has too, each of those only once."""
    left, shared = Counter(_runs(expected, order)), 0
    for run in _runs(actual, order):
        if left.get(run):
            left[run] -= 1
            shared += 1
    return shared


def _runs(tokens: Sequence[str], order: int) -> Iterator[tuple[str, ...]]:
    return zip(*(tokens[start:] for start in range(order)), strict=False)


def _edit_distance(a: str, b: str) -> int:
    """Returns the Levenshtein distance; bit i of `up` and `down` is the change of the table in row i."""
    a, b = _trim_common_ends(a, b)
    short, long = sorted((a, b), key=len)
    if not short:
        return len(long)
    found_at, every = _bit_positions(long, short), (1 << len(long)) - 1
    last = 1 << (len(long) - 1)
    up, down, distance = every, 0, len(long)
    for character in short:
        here = found_at.get(character, 0)
        same = ((((here & up) + up) ^ up) | here | down) & every
        right_up, right_down = down | (every ^ (same | up)), same & up
        distance += bool(right_up & last) - bool(right_down & last)
        right_up = (right_up << 1 | 1) & every
        up = (right_down << 1 | (every ^ (same | right_up))) & every
        down = right_up & same
    return distance


def _lcs_length(a: list[str], b: list[str]) -> int:
    """Returns the length of the longest common subsequence: its zero bits (Crochemore 2001)."""
    rest_a, rest_b = _trim_common_ends(a, b)
    outside = len(a) - len(rest_a)
    short, long = sorted((rest_a, rest_b), key=len)
    found_at, every = _bit_positions(long, short), (1 << len(long)) - 1
    row = every
    for token in short:
        met = row & found_at.get(token, 0)
        row = ((row + met) | (row - met)) & every
    return outside + len(long) - row.bit_count()


def _trim_common_ends(a: Elements, b: Elements) -> tuple[Elements, Elements]:
    """Returns both without their common start and end. Raises TooLongError if too much is left."""
    shorter = min(len(a), len(b))
    start = next((at for at in range(shorter) if a[at] != b[at]), shorter)
    left = shorter - start
    end = next((at for at in range(left) if a[-1 - at] != b[-1 - at]), left)
    a, b = a[start : len(a) - end], b[start : len(b) - end]
    if len(a) * len(b) > MAX_CELLS:
        raise TooLongError(f"too long to compare: {len(a):,} by {len(b):,} with at most {MAX_CELLS:,} pairs")
    return a, b


def _bit_positions(long: Sequence[Hashable], short: Sequence[Hashable]) -> dict[Hashable, int]:
    """Returns for each element of `short` the bits of its positions in `long`."""
    size = len(long) // 8 + 1
    bits = {element: bytearray() for element in short}
    for at, element in enumerate(long):
        row = bits.get(element)
        if row is not None:
            if not row:
                row.extend(bytes(size))
            row[at >> 3] |= 1 << (at & 7)
    return {element: int.from_bytes(row, "little") for element, row in bits.items() if row}


FREE_RATIO = 2.0
"""How many times longer one text may be without a penalty."""
_PYTHON_OBJECT = re.compile(r"<[A-Za-z_][\w.]* object at 0x[0-9A-Fa-f]+>")
_CALL_LIKE = re.compile(r"^[A-Z]\w*\((?:\w+=.*)?\)$", re.DOTALL)
_PYTHON_MAPPING = re.compile(r"^[\[({]\s*'[^']*'\s*[:,]")
_SCRIPT_OBJECT = re.compile(r"\[object [A-Z]\w*\]")


def normalize_text(text: str) -> str:
    r"""Folds case, joins blanks, makes typographic signs plain and removes invisible characters.

    >>> normalize_text("  Hello,\n WORLD ")
    'hello, world'
    """
    return " ".join(simplify_seen(text).casefold().split())


def measure_quality(text: str, golden: str, *, strict: bool = False) -> float:
    """Returns the quality in [0, 1]; with `strict`, 1 for equal normalised texts and 0 for all others.

    Raises TooLongError.
    """
    if normalize_text(text) == normalize_text(golden):
        return 1.0
    return 0.0 if strict else round(jaccard(text, golden) * length_penalty(text, golden), DIGITS)


def length_penalty(text: str, golden: str) -> float:
    """Returns 1 for texts of similar length, less the more they differ; 0 if one has no words."""
    shorter, longer = sorted((len(words(text)), len(words(golden))))
    return min(1.0, FREE_RATIO * shorter / longer) if longer else 1.0


def serialised_object(text: str) -> str | None:
    """Returns which serialised object a text shows instead of prose, or None.

    >>> serialised_object("Your order: [object Object]")
    'a script object, [object Object]'
    >>> serialised_object('{"status": "ok"}')
    'a bare JSON document'
    >>> serialised_object("It is on its way.") is None
    True
    """
    if found := _SCRIPT_OBJECT.search(text) or _PYTHON_OBJECT.search(text):
        return f"{'a script object' if found[0].startswith('[') else 'a Python object'}, {found[0][:60]}"
    bare = text.strip()
    if _is_json(bare):
        return "a bare JSON document"
    if _PYTHON_MAPPING.match(bare) and bare[-1:] in "])}":
        return "the text of a Python value"
    return "the text of a Python object" if _CALL_LIKE.match(bare) else None


def _is_json(text: str) -> bool:
    """Returns whether the whole text is a JSON object or list; `[1]` after a sentence is prose."""
    if text[:1] not in {"{", "["} or text[-1:] not in {"}", "]"}:
        return False
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False
