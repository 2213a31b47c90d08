"""Quality of an answer compared with a golden one, and whether it is prose at all.

Quality is the Jaccard similarity of the words of both texts times a length penalty. The penalty is 1 while
neither text has more than twice the words of the other, and beyond that twice the ratio of shorter to longer:
an answer of 10 words for a golden one of 40 keeps half of its similarity. Texts that differ only in blanks
and case have quality 1.
"""

from __future__ import annotations

import json
import re

from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.text.plain_text import remove_invisible
from evalgate.measures.text.text_similarity import jaccard, words

FREE_RATIO = 2.0
"""How many times longer one text may be without a penalty."""
_PYTHON_OBJECT = re.compile(r"<[A-Za-z_][\w.]* object at 0x[0-9A-Fa-f]+>")
_CALL_LIKE = re.compile(r"^[A-Z]\w*\((?:\w+=.*)?\)$", re.DOTALL)
_PYTHON_MAPPING = re.compile(r"^[\[({]\s*'[^']*'\s*[:,]")
_SCRIPT_OBJECT = re.compile(r"\[object [A-Z]\w*\]")


def normalize_text(text: str) -> str:
    r"""Folds case, joins blanks and removes invisible characters.

    >>> normalize_text("  Hello,\n WORLD ")
    'hello, world'
    """
    return " ".join(remove_invisible(text).casefold().split())


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
