"""Text as a person sees it: controls made visible, invisible characters removed, names that look alike found."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

MAX_MARKS = 4
MARK = "`"
MARKED = r"(?P<fence>`+)(?P<part>.*?)(?:(?<!`)(?P=fence)(?!`)|\Z)"
"""A part with its marks, as a pattern; a sentence that was cut may end within one."""

# Format characters (Cf) and others that are not shown: fillers, variation selectors, tags.
INVISIBLE = (
    "[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
_BREAKS = "\r\n|[\r\v\f\x85\u2028\u2029]"
_CONTROLS = "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
_COLOURS = "(?:\x1b\\[|\x9b)[0-?]{0,64}[ -/]{0,16}[@-~]"
# Combining marks are neither word characters nor blanks; symbols match too, but `_limit_marks` keeps them.
_MARKS = "[^\\w\\s\x00-\u02ff]{5,}"

_ASCII = bytes(range(128))
_MAX_CACHED = 60
"""Bytes of non-ASCII characters up to which a result is cached."""

# Compiled on first use: most texts are plain ASCII, so most runs need none of these.
_compile = cache(re.compile)


def remove_invisible(text: str) -> str:
    """Removes invisible characters."""
    return text if text.isascii() or is_all_visible(text) else _compile(INVISIBLE).sub("", text)


def compose(text: str) -> str:
    """The text in Unicode's composed form (NFC), in which texts are compared."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def remove_unseen(text: str) -> str:
    """The composed text without invisible characters, such as soft hyphens and zero-width blanks."""
    return text if text.isascii() else compose(remove_invisible(text))


_PLAIN = {
    **dict.fromkeys("\u00a0\u1680\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
    **dict.fromkeys("\u2010\u2011", "-"),
    "\u2019": "'",
}
"""Characters by which typographers and models write what a key writes: the blanks of Unicode (Zs) in their composed
form, hyphens and the apostrophe. Dashes, minus signs and quotation marks mean something else."""
_TYPOGRAPHIC = "".join(_PLAIN)


def simplify(text: str) -> str:
    """The composed text with plain blanks, hyphens and apostrophes.

    >>> simplify(f"can{chr(0x2019)}t e{chr(0x2011)}mail{chr(0xA0)}it")
    "can't e-mail it"
    """
    if text.isascii():
        return text
    text = compose(text)
    for typographic, plain in _PLAIN.items():
        if typographic in text:  # faster than `translate`, which looks at each character
            text = text.replace(typographic, plain)
    return text


def simplify_seen(text: str) -> str:
    """The same without invisible characters, and with plain letters for those that only look like them."""
    return text if text.isascii() else simplify(_fold_looks(remove_invisible(text)))


def _see(text: str) -> str:
    return text if text.isascii() else compose(_fold_looks(remove_invisible(text)))


_ALPHABETS = ("CYRILLIC", "GREEK", "ARMENIAN", "COPTIC", "CHEROKEE")
"""Alphabets with letters that look like Latin ones."""
_FULL_WIDTH = range(0xFF01, 0xFF5F)


def _fold_looks(text: str) -> str:
    """The text with plain letters and digits in place of styled ones, and of other alphabets within a Latin word.

    A word of another alphabet alone is one of that language.

    >>> _fold_looks("p\u0430y \uff50\uff41\uff59 \u0441\u043e\u0440 x\u00b2")
    'pay pay \u0441\u043e\u0440 x\u00b2'
    """
    others = {each for each in text if not each.isascii()}
    styled = {ord(each): folded for each in others if (folded := _fold_style(each)) != each}
    text = text.translate(styled) if styled else text
    letters = "".join(each for each in others if unicodedata.name(each, "").startswith(_ALPHABETS))
    if not letters or not _compile("[A-Za-z]").search(text):
        return text
    table = _load_table()
    looks = {at: _choose_case(chr(at), table[at]) for at in map(ord, letters) if at in table and table[at].isascii()}
    read: str = _compile(r"\w*[A-Za-z]\w*").sub(lambda found: found[0].translate(looks), text)
    return read


def _fold_style(character: str) -> str:
    """A letter or digit without its style, such as bold or full width; what is raised or in a circle is no such."""
    is_styled = unicodedata.category(character) in ("Ll", "Lu", "Nd") or ord(character) in _FULL_WIDTH
    return unicodedata.normalize("NFKC", character) if is_styled else character


def _choose_case(character: str, looks: str) -> str:
    """The table has a small L for whatever looks like a line."""
    return "I" if looks == "l" and character.isupper() else looks


class Forms(NamedTuple):
    """How texts are prepared to be compared: as they are written, and as they are seen."""

    written: Callable[[str], str]
    seen: Callable[[str], str]


EXACT, PLAIN = Forms(compose, _see), Forms(simplify, simplify_seen)
SEEN = EXACT.seen, PLAIN.seen
"""Forms in which a pattern is searched for that must not match, besides that of the written text."""


def choose_forms(wanted: Iterable[str]) -> Forms:
    """The forms in which texts are compared with the wanted ones: plain unless one of them is only such a sign."""
    return EXACT if any(each and not each.strip(_TYPOGRAPHIC) for each in wanted) else PLAIN


_EMPHASIS = "[*~]+|(?<!\\w)[_`]+|[_`]+(?!\\w)"


def remove_emphasis(text: str) -> str:
    """The text without Markdown's marks around words.

    >>> remove_emphasis("I **can't** `help` with snake_case")
    "I can't help with snake_case"
    """
    plain: str = _compile(_EMPHASIS).sub("", text)
    return plain


def is_visible(text: str) -> bool:
    """Returns whether a text has a character that can be seen, and that is no mark for what could not be shown."""
    return any(
        not each.isspace() and each not in _BLANKS and unicodedata.category(each) not in _SHOWS_NOTHING
        for each in make_visible(text)
    )


_BLANKS = "\u2800\ufffc\ufffd"
"""A blank of Braille, and what stands for an object or a character that could not be shown."""
_SHOWS_NOTHING = frozenset({"Co", "Mc", "Me", "Mn"})
"""Private use, and marks, which without a character below them are no text."""


def is_all_visible(text: str) -> bool:
    """Returns whether every character is visible."""
    # The pattern is slow per character; a text has few non-ASCII characters, and mostly the same ones.
    rare = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    return _are_all_visible(rare) if len(rare) <= _MAX_CACHED else _are_all_visible.__wrapped__(rare)


@lru_cache(maxsize=1_024)
def _are_all_visible(characters: bytes) -> bool:
    return _compile(INVISIBLE).search(characters.decode("utf-8", "surrogatepass")) is None


def mark_unseen(name: str) -> str:
    """Marks what can't be seen in a name: blanks at its edges, and invisible characters.

    >>> mark_unseen(" refund"), mark_unseen(f"re{chr(0x200B)}fund")
    ('<U+0020>refund', 're<U+200B>fund')
    """
    inner = name.strip()
    if inner == name and (name.isascii() or is_all_visible(name)):
        return name
    start = name.find(inner) if inner else len(name)
    edges = name[:start], name[start + len(inner) :]
    left, right = ("".join(map(_format_code, edge)) for edge in edges)
    return f"{left}{_compile(INVISIBLE).sub(lambda found: _format_code(found[0]), inner)}{right}"


def _format_code(character: str) -> str:
    return f"<U+{ord(character):04X}>"


def make_visible(text: str) -> str:
    """Makes text safe to show: line breaks become line feeds, and of other controls only tabs are kept.

    Controls, unpaired surrogates and non-characters become U+FFFD; terminal colours and invisible characters
    are removed; of more than four combining marks in a row, four are kept.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _compile(_COLOURS).sub("", text)
    text = _compile(_CONTROLS).sub("\ufffd", _compile(_BREAKS).sub("\n", text))
    if text.isascii():
        return text
    return _compile(_MARKS).sub(_limit_marks, remove_invisible(text))


_SELECTORS = "[\ufe0e\ufe0f]"  # an emoji in colour or not: nothing that a reader misses


def reveal_hidden(text: str) -> str:
    r"""Writes invisible characters and controls as escapes; line breaks become line feeds, tabs are kept.

    >>> reveal_hidden(f"a{chr(0x202E)}b")
    'a\\u{202e}b'
    """
    if text.isascii() and text.isprintable():
        return text
    text = _compile(_BREAKS).sub("\n", _compile(_SELECTORS).sub("", text))
    text = _compile(f"{_CONTROLS}|{INVISIBLE}").sub(lambda found: f"\\u{{{ord(found[0]):x}}}", text)
    return text if text.isascii() else _compile(_MARKS).sub(_limit_marks, text)


def _limit_marks(run: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for character in run.group():
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if marks <= MAX_MARKS:
            kept.append(character)
    return "".join(kept)


class LookAlike(NamedTuple):
    """A name, the position of it and of an earlier one that looks the same, and the character that differs."""

    position: int
    earlier: int
    character: str


def mark_cut(left: int, noun: str = "character") -> str:
    """What ends a text of which so much is left out.

    >>> mark_cut(1), mark_cut(1_200, "line")
    ('… (1 more character)', '… (1,200 more lines)')
    """
    return f"\u2026 ({left:,} more {noun}{'s'[: left != 1]})"


LEAST_CUT = len(mark_cut(99)) + 1
"""Characters from which a cut makes a text shorter: the mark takes the place of what is left out."""


def mark_part(text: str) -> str:
    """Marks a name, a value or untrusted text as a part of a sentence; each output shows it in its own way.

    A code span of Markdown (CommonMark 0.31, section 6.1): a part that holds backticks has more of them around it,
    and blanks between, so that `split_parts` returns every part as it was given.

    >>> mark_part("issue_refund"), mark_part("a `b`")
    ('`issue_refund`', '`` a `b` ``')
    """
    if MARK not in text and text:
        return f"{MARK}{text}{MARK}"
    fence = MARK * (1 + max(map(len, re.findall(f"{MARK}+", text)), default=1))
    return f"{fence} {text} {fence}"


def split_parts(sentence: str) -> list[str]:
    """The words of a sentence and its parts, in turns, beginning with words.

    >>> split_parts("got `a`, not `` ` ``")
    ['got ', 'a', ', not ', '`', '']
    """
    found, end = [], 0
    for marked in re.finditer(MARKED, sentence, re.DOTALL):
        part = marked["part"]
        if marked["fence"] != MARK:
            part = part.removeprefix(" ").removesuffix(" ")
        found += [sentence[end : marked.start()], part]
        end = marked.end()
    return [*found, sentence[end:]]


def find_look_alikes(names: Iterable[str]) -> Iterator[LookAlike]:
    """Yields names that look like an earlier one, if one of the two has a character that is not ASCII.

    Names of ASCII only, such as `test-1` and `test-l`, look different in code. Equal names are not yielded.
    """
    listed = [unicodedata.normalize("NFC", name) for name in names]
    if all(map(str.isascii, listed)):
        return
    seen: dict[str, int] = {}
    for position, name in enumerate(listed):
        earlier = seen.setdefault(build_skeleton(name), position)
        other = listed[earlier]
        if name != other and not (name.isascii() and other.isascii()):
            yield LookAlike(position, earlier, _find_strange(name, other))


def build_skeleton(name: str) -> str:
    """What a name looks like: equal for names that look alike (skeleton of UTS 39).

    >>> build_skeleton("\u0440\u0430\u0443") == build_skeleton("pay")
    True
    """
    plain = unicodedata.normalize("NFD", remove_invisible(name))
    return unicodedata.normalize("NFD", plain.translate(_load_table()))


def describe_look_alike(names: Sequence[str], found: LookAlike) -> str:
    """Both names, and the number and name of a character that differs."""
    character = f"U+{ord(found.character):04X} {unicodedata.name(found.character, '')}".rstrip()
    name, earlier = mark_unseen(names[found.position]), mark_unseen(names[found.earlier])
    return f"`{name}` looks like `{earlier}`: one of them has {character}"


def _find_strange(name: str, other: str) -> str:
    """The first character of one name that is not ASCII and not in the other."""
    for text, against in ((name, other), (other, name)):
        for character in text:
            if not character.isascii() and character not in against:
                return character
    return next(character for character in name + other if not character.isascii())


@cache
def _load_table() -> dict[int, str]:
    """What characters look like, from confusables.txt, which tests/look_alike_table.py makes."""
    from importlib.resources import files  # only names with other characters than ASCII need it

    table, character = dict[int, str](), 0
    lines = files(__package__).joinpath("confusables.txt").read_text("ascii").splitlines()
    for entry in " ".join(line for line in lines if not line.startswith("#")).split():
        step, _, looks = entry.partition(":")
        character += int(step or "1", 16)
        table[character] = "".join(chr(int(code, 16)) for code in looks.split("."))
    return table
