"""Names that are not equal and may mean the same tool: a misspelt one, and one that is written like a forbidden one.

A check that requires a tool compares names exactly; one that forbids it must not be evaded by a name that a person
or a runtime takes for the same.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from evalgate.measures.text.globs import matches_id
from evalgate.measures.text.plain_text import build_skeleton, remove_invisible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MIN_SIMILARITY = 0.85
MAX_COMPARED = 1_000
"""Names that one is compared with."""
MAX_LENGTH = 200
"""Characters of a name that are compared."""
_SIGNS = str.maketrans("", "", "_-. ")


def find_similar_name(name: str, known: Iterable[str]) -> str | None:
    """Returns the name that is most similar to a misspelt one; None if there is no similar one.

    >>> find_similar_name("ModifyCart", ["modify_cart", "get_cart"]), find_similar_name("refund", ["get_cart"])
    ('modify_cart', None)
    >>> find_similar_name("amuont", ["amount", "account"])
    'amount'
    """
    return _find_similar_name(name, tuple(known)[:MAX_COMPARED])


def find_similar_part(glob: str, known: Iterable[str]) -> str | None:
    """Returns a glob that fits a known name and has the same `*` as one that fits none; None without a similar one.

    >>> find_similar_part("delet_*", ["delete_user"]), find_similar_part("*_usr", ["delete_user", "get"])
    ('delete*', '*_user')
    >>> find_similar_part("*dlete*", ["delete_user"]), find_similar_part("pay*", ["delete_user"])
    ('*delete*', None)
    """
    part = glob.strip("*")
    starts, ends = not glob.startswith("*"), not glob.endswith("*")
    pieces = {
        name[at : at + size]
        for name in sorted(known)
        for size in range(len(part), min(len(part) + 1, len(name)) + 1)
        for at in ((0,) if starts else (len(name) - size,) if ends else range(len(name) - size + 1))
    }
    found = find_similar_name(part, sorted(pieces))
    return None if found is None else glob.replace(part, found)


@lru_cache(maxsize=1_000)
def _find_similar_name(name: str, known: tuple[str, ...]) -> str | None:
    from difflib import get_close_matches

    by_form: dict[str, str] = {}
    for each in sorted(known):
        by_form.setdefault(_normalize(each), each)
    form = _normalize(name)
    found = get_close_matches(form, by_form, 1, MIN_SIMILARITY) or [each for each in by_form if _is_swapped(form, each)]
    return by_form[found[0]] if found else None


def _is_swapped(one: str, other: str) -> bool:
    """Whether two names differ in the order of two neighbours."""
    differing = [at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]
    is_pair = len(one) == len(other) and len(differing) == 2 and differing[1] == differing[0] + 1  # noqa: PLR2004
    return is_pair and one[differing[0]] == other[differing[1]] and one[differing[1]] == other[differing[0]]


def _normalize(name: str) -> str:
    return name.lower().translate(_SIGNS)[:MAX_LENGTH]


WRAPPERS = ("functions.", "default_api.", "tools.")
WITHOUT_DOT = tuple(each[:-1] + mark for each in WRAPPERS for mark in "_-")
"""The same where a name may have no dot; a tool may also be called like that."""
"""Namespaces that models and providers put before the name of a tool."""
SEPARATORS = ("__", ".", "/", ":")
"""What servers and frameworks put between their own name and that of a tool."""
SERVERS = ("mcp_", "mcp-")
"""How the name of a server's tool begins where its parts are not told apart."""
_WORDS = re.compile(r"[^_-][_-][^_-]")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.:/-]*")
"""What the name of a tool is made of; another one may be a call or a sentence that a model wrote as a name."""
_NUMBER = re.compile(r"(?<=.):\d{1,9}\Z")


def unwrap_name(name: str) -> str:
    """Removes the namespaces of providers before a name, and what models write after it.

    >>> unwrap_name("functions.get_weather"), unwrap_name("tools.")
    ('get_weather', 'tools.')
    >>> unwrap_name("functions.get_weather:0"), unwrap_name("get_weather<|channel|>commentary")
    ('get_weather', 'get_weather')
    """
    while wrapper := next((each for each in WRAPPERS if name.startswith(each) and len(name) > len(each)), ""):
        name = _NUMBER.sub("", name.removeprefix(wrapper))
    return name.partition("<|")[0] or name


@lru_cache(maxsize=8_192)
def is_denied(pattern: str, name: str) -> bool:
    """Returns whether a called name counts as the forbidden `pattern`, in which `*` matches any characters.

    Compared are names without wrapper, blanks at the ends and invisible characters, after NFKC and case folding;
    where one has characters that are not ASCII, also what the names look like (skeleton of UTS 39).

    >>> is_denied("delete_*", " functions.Delete_User"), is_denied("delete_user", "delete_users")
    (True, False)
    """
    if matches_id(pattern, name):
        return True
    pairs = _pair_forms(pattern, name)
    return any(matches_id(_unwrap_pattern(wanted), unwrap_name(called)) for wanted, called in pairs)


def is_written_alike(one: str, other: str) -> bool:
    """Whether two names are equal but for what does not matter in a forbidden one.

    >>> is_written_alike("delete", " DELETE"), is_written_alike("d*", "delete")
    (True, False)
    """
    return any(a == b for a, b in _pair_forms(one, other))


def _pair_forms(one: str, other: str) -> Iterator[tuple[str, str]]:
    looks = not (one.isascii() and other.isascii())
    return zip(_list_forms(one, looks=looks), _list_forms(other, looks=looks), strict=True)


def find_denied(patterns: Sequence[str], name: str) -> str | None:
    """Returns the first forbidden pattern that a called name counts as, None without one."""
    return next((pattern for pattern in patterns if is_denied(pattern, name)), None)


def find_pattern_for(pattern: str, name: str) -> str | None:
    """Returns a pattern that would forbid a name whose last part only is forbidden; None for other names.

    >>> find_pattern_for("delete_*", "mcp__db__delete_user"), find_pattern_for("delete_user", "delete_user")
    ('*__delete_*', None)
    >>> find_pattern_for("delete_user", "functions_delete_user"), find_pattern_for("delete_*", "mcp_db_delete_user")
    ('functions_delete_user', '*_delete_*')
    >>> find_pattern_for("delete_user", "db-delete_user"), find_pattern_for("search", "web_search")
    ('*-delete_user', None)
    """
    if is_denied(pattern, name):
        return None
    name = _NUMBER.sub("", unwrap_name(name))
    if is_denied(pattern, name):
        return f"{pattern}:*"
    for separator in SEPARATORS:
        head, found, last = name.rpartition(separator)
        if head and found and last and is_denied(pattern, last):
            return f"*{separator}{pattern}"
    wrapper = next((each for each in WITHOUT_DOT if name.startswith(each)), "")
    if wrapper and is_denied(pattern, name.removeprefix(wrapper)):
        return f"{wrapper}{pattern}"
    # a coding agent puts the name of a server before that of its tool; one word alone is the end of many other names
    may_follow = name.startswith(SERVERS) or ("*" not in pattern and bool(_WORDS.search(pattern)))
    cut = next((at for at in _find_cuts(name) if is_denied(pattern, name[at + 1 :])), None) if may_follow else None
    return None if cut is None else f"*{name[cut]}{pattern}"


def find_pattern_within(pattern: str, name: str) -> str | None:
    """Returns a pattern that would forbid a name that is no plain one and has a forbidden one as a word.

    >>> find_pattern_within("refund", 'refund{"id":1}'), find_pattern_within("refund", "get refunds")
    ('*refund*', None)
    >>> find_pattern_within("delete_user", "d\u00e9lete_user"), find_pattern_within("delete", "delete-draft")
    ('d\u00e9lete_user', None)
    """
    if "*" in pattern or _PLAIN_NAME.fullmatch(name):
        return None
    bare = "".join(each for each in unicodedata.normalize("NFD", name) if unicodedata.category(each) != "Mn")
    if is_denied(pattern, bare):
        return name
    is_word = re.search(rf"(?<![\w-]){re.escape(_fold(pattern))}(?![\w-])", _fold(bare[:MAX_LENGTH]))
    return f"*{pattern}*" if is_word else None


def _find_cuts(name: str) -> Iterator[int]:
    return (at for at, sign in enumerate(name[:MAX_LENGTH]) if at and sign in "_-")


def spell_out(name: str) -> str:
    """Writes what can't be seen in a name, or is not ASCII, as codes: blanks at its ends, look-alikes.

    >>> spell_out(f" d{chr(0x435)}lete_user")
    '<U+0020>d<U+0435>lete_user'
    """
    start, end = len(name) - len(name.lstrip()), len(name.rstrip())
    return "".join(
        each if start <= at < end and each.isascii() and each.isprintable() else f"<U+{ord(each):04X}>"
        for at, each in enumerate(name)
    )


def _unwrap_pattern(pattern: str) -> str:
    """A pattern without wrapper; `tools.*` forbids a namespace, and not every tool."""
    return pattern if "*" in pattern else unwrap_name(pattern)


def _list_forms(name: str, *, looks: bool) -> Iterator[str]:
    """The forms of a name that are compared; the last two are what it looks like, in any case."""
    yield (folded := _fold(name))
    if looks:
        yield build_skeleton(folded)
        yield _clean(build_skeleton(_clean(name))).casefold()


def _fold(name: str) -> str:
    return _clean(_clean(name).casefold())


def _clean(name: str) -> str:
    if name.isascii() and name.isprintable():
        return name.strip()
    shown = remove_invisible(unicodedata.normalize("NFKC", name))
    return "".join(each for each in shown if unicodedata.category(each) != "Cc").strip()
