"""Whether a person writes in another language than English, in which dates, numbers and words are not read."""

from __future__ import annotations

import re

_ENGLISH_WORDS = (
    "the to is i of and my you please for it a on with can would want need like that this at from have be do"
)
_OTHER_WORDS = (
    "der die das und ich ist nicht bitte ein eine f\u00fcr mit auf zum von den dem m\u00f6chte mein meine",
    "el la los las que para por un una con mi quiero del necesito favor es en y",
    "le les je et est pour une des du avec mon ma vous au ce",
    "il che per di sono vorrei della mio gli",
    "o os uma n\u00e3o com meu minha quero em",
    "het een van ik mijn voor niet met graag op naar",
    "jag och att det en som p\u00e5 min vill ha",
    "nie si\u0119 prosz\u0119 na chc\u0119 bir ve i\u00e7in",
)
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_OTHERS = frozenset(" ".join(_OTHER_WORDS).split())
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[a-z\u00df-\u024f\u1e00-\u1eff]")
LEAST_WORDS = 2


def is_foreign(normal: str) -> bool:
    """Whether a text in normal form is in another language: by its letters, or by its small words.

    >>> is_foreign("quiero un vuelo para el 20 de mayo"), is_foreign("cancel order w123")
    (True, False)
    """
    letters = [each for each in normal if each.isalpha()]
    if 3 * sum(1 for each in letters if not _LATIN.match(each)) > len(letters) > 0:
        return True
    words = set(_WORD.findall(normal))
    others = len(words & _OTHERS - _ENGLISH)
    return others >= LEAST_WORDS and others > len(words & _ENGLISH)
