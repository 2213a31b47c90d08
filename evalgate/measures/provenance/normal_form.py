"""The normal form of text: NFKC, case folded, digits of any script as 0 to 9, split into whole tokens.

A token is a run of letters and digits, with `@`, `+` and `.` inside it; an address or a name of a host, which may hold
`-`, is one token. Scripts without blanks between words have a token for each character, so that a word of them is found
as a run of tokens.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import TYPE_CHECKING

from evalgate.measures.text.plain_text import remove_invisible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LATIN = "0-9a-z\u00df-\u00f6\u00f8-\u024f\u1e00-\u1eff"
_NO_BLANKS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003134f"
)
_SPELLING_SIGNS = "\u2801-\u28ff\ue000-\uf8ff"  # braille, private use
_ADDRESS = f"(?=[{_LATIN}._+-]{{1,64}}@)[{_LATIN}]+(?:[-_.+][{_LATIN}]+)*@[{_LATIN}]+(?:[-.@+][{_LATIN}]+)*"
_LABEL = f"[{_LATIN}-]{{1,63}}"
_HOST = f"(?={_LABEL}\\.)(?:[{_LATIN}]+-)+[{_LATIN}]+(?:\\.{_LABEL}){{0,8}}\\.[a-z]{{2,24}}(?![{_LATIN}])"
_TOKEN = re.compile(
    f"{_ADDRESS}|{_HOST}|[{_LATIN}]+(?:[@+.][{_LATIN}]+)*|[{_NO_BLANKS}]|[^\\W\\d_{_LATIN}{_NO_BLANKS}]+|[{_SPELLING_SIGNS}]+"
)
_SENTENCE_END = re.compile(r"(?<=[a-z0-9])\.(?=[A-Z][a-z])")
_SIGNS_BETWEEN = re.compile(r"[\W_]+")
_OTHER_DIGIT = re.compile(r"[^\D0-9]")
_DECIMAL = re.compile(r"\d+\.\d+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")

# Numbers that are spelled in English.
_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_SMALL = {word: value for value, word in enumerate(f"{_ONES} seventeen eighteen nineteen".split())}
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL |= {word: 10 * value for value, word in enumerate(_TENS.split(), 2)}
_LARGE = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_MOST_DIGITS = 15

# Numbers as people write them, beyond one token: 1,000.50; 1.000,50 and 480,00; 1 000; 1,00,000; 0480; 1.5k.
_WRITTEN = re.compile(r"(?<![\w.,])[$\u20ac\u00a3]?(\d{1,3}(?:[, '\u2019]\d{3})+(?:\.\d+)?)(?![\w,])")
_WRITTEN_WITH_COMMA = re.compile(r"(?<![\w.,])(\d{1,3}(?:[. ]\d{3})+(?:,\d+)?|\d+,\d{1,2})(?![\w,])")
_WRITTEN_IN_PAIRS = re.compile(r"(?<![\w.,])[$\u20ac\u00a3\u20b9]?(\d{1,2}(?:,\d\d)+,\d{3}(?:\.\d+)?)(?![\w,])")
_SEPARATED = ((_WRITTEN, "."), (_WRITTEN_WITH_COMMA, ","), (_WRITTEN_IN_PAIRS, "."))
_SCALED = re.compile(r"(?<![\w.,])[$\u20ac\u00a3]?(\d{1,9}(?:\.\d{1,6})?)[ -]?(k|thousand|million|billion)\b")
_SCALES = {"k": 1e3, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_UUID = re.compile(r"(?<![\w-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-])")
_ACCENTED, _ACCENT = re.compile("[\u00df-\u024f\u1e00-\u1eff]"), re.compile("[\u0300-\u036f]")
_SHORTEST_LOCAL_NUMBER = 10
_LONG_NUMBER = re.compile(r"(?<![^\W_])\+?\d(?:[ ().-]{0,2}\d){6,18}(?![^\W_])")
_SIGNS = {"$": ("usd",), "\u20ac": ("eur",), "\u00a3": ("gbp",), "\u00a5": ("jpy", "cny"), "\u20b9": ("inr",)}
_CURRENCY_WORDS = {"dollars": "usd", "dollar": "usd", "euros": "eur", "euro": "eur", "pounds": "gbp", "rupees": "inr"}


def normalize(text: str) -> str:
    """The text in normal form, before it is split.

    >>> normalize(f"ORDER {chr(0xFF14)}{chr(0x0662)}")
    'order 42'
    """
    text = _SENTENCE_END.sub(". ", text)
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", remove_invisible(text)).casefold()
    return _OTHER_DIGIT.sub(lambda found: str(unicodedata.decimal(found[0])), folded)


def squash(text: str) -> str:
    """The letters and digits of a text, by which an id is known however it is punctuated.

    >>> squash("W999-1111") == squash("w 9991111")
    True
    """
    return _SIGNS_BETWEEN.sub("", normalize(text))


def split_tokens(normal: str) -> list[str]:
    """The tokens of a text in normal form: decimals without zeros at their end, words without accents.

    >>> split_tokens("credit_card_7334, #w123. $480.00")
    ['credit', 'card', '7334', 'w123', '480']
    """
    tokens = [shorten_decimal(each) if "." in each else each for each in _TOKEN.findall(normal)]
    return [*map(remove_accents, tokens)] if _ACCENTED.search(normal) else tokens


def shorten_decimal(token: str) -> str:
    """A decimal number without zeros at its end; any other token as it is."""
    return token.rstrip("0").rstrip(".") if _DECIMAL.fullmatch(token) else token


def write_number(value: float) -> str:
    """A number as its token, without sign and leading zeros.

    >>> write_number(480.0), write_number(-1000.5), write_number(1e21)
    ('480', '1000.5', '1000000000000000000000')
    """
    if isinstance(value, int) or value.is_integer():
        return str(abs(int(value)))
    return shorten_decimal(f"{abs(value):.12f}" if abs(value) < 1 else repr(abs(value)))


def list_aliases(normal: str, tokens: Sequence[str]) -> Iterator[str]:
    """Yields what else a text holds as one token.

    Numbers with separators, leading zeros or a scale (`1.5k`) by value, digits of a telephone or card number and of a
    UUID without signs, a word and the number behind it (`hat 023` holds `hat023`), and the code of a currency sign.
    """
    yield from _list_joined_numbers(normal)
    for token in tokens:
        if token[0] == "0" and _NUMBER.fullmatch(token):
            yield token.lstrip("0") or "0"
        elif token in _CURRENCY_WORDS:
            yield _CURRENCY_WORDS[token]
    yield from find_spelled_numbers(tokens)
    for first, second in pairwise(tokens):
        if second.isdigit() and len(second) > 1 and first.isalpha():
            yield first + second
    for sign, codes in _SIGNS.items():
        if sign in normal:
            yield from codes


def _list_joined_numbers(normal: str) -> Iterator[str]:
    """Yields the numbers and UUIDs of a text that are more than one token."""
    for pattern, decimal in _SEPARATED:
        yield from (_join_number(found, decimal) for found in pattern.findall(normal))
    yield from (write_number(float(number) * _SCALES[scale]) for number, scale in _SCALED.findall(normal))
    if "-" in normal:
        yield from (found.replace("-", "") for found in _UUID.findall(normal))
    for found in _LONG_NUMBER.findall(normal):
        digits = re.sub(r"\D", "", found)
        yield from (digits[code:] for code in (range(4) if found[0] == "+" else (0,)))  # with and without country code


def remove_accents(token: str) -> str:
    """A word without accents.

    >>> remove_accents("n\u00fa\u00f1ez")
    'nunez'
    """
    return _ACCENT.sub("", unicodedata.normalize("NFD", token)) if _ACCENTED.search(token) else token


def join_uuid(normal: str) -> str | None:
    """The digits of a text that is a UUID, None for any other."""
    return normal.replace("-", "") if _UUID.fullmatch(normal) else None


def list_local_numbers(normal: str) -> list[str]:
    """The digits of a telephone number that begins with a country code, as people of that country write them.

    >>> list_local_numbers("+1 (555) 013-4991"), list_local_numbers("5550134991")
    (['05550134991', '5550134991'], [])
    """
    digits = (join_digits(normal) or "") if normal.startswith("+") else ""
    codes = (1,) if digits[:1] in ("1", "7") else (2, 3)
    found = [each for code in codes if digits[code:] for each in (f"0{digits[code:]}", digits[code:])]
    return [each for each in found if len(each) >= _SHORTEST_LOCAL_NUMBER]


def join_digits(normal: str) -> str | None:
    """The digits of a text that is a telephone or card number, None for any other.

    >>> join_digits("+1 (555) 123-4567"), join_digits("w123")
    ('15551234567', None)
    """
    bare = normal.strip(" (")
    return re.sub(r"\D", "", bare) if _LONG_NUMBER.fullmatch(bare) else None


def read_written_number(normal: str) -> str | None:
    """The token of a whole value that is a number with separators, None for any other value.

    >>> read_written_number("$1,000.50"), read_written_number("1 000,50"), read_written_number("w123")
    ('1000.5', '1000.5', None)
    """
    bare = normal.strip(" $\u20ac\u00a3\u00a5\u20b9")
    for pattern, decimal in _SEPARATED:
        if pattern.fullmatch(bare):
            return _join_number(bare, decimal)
    return None


def _join_number(written: str, decimal: str) -> str:
    whole, _, rest = written.partition(decimal)
    digits = re.sub(r"\D", "", whole)
    return shorten_decimal(f"{digits}.{rest}") if rest else digits


def find_spelled_numbers(words: Sequence[str]) -> Iterator[str]:
    """Yields the numbers that are spelled in a text, as digits.

    >>> list(find_spelled_numbers("two thousand five hundred and twenty five or fifty".split()))
    ['2525', '50']
    """
    total = part = 0
    is_number = False
    for word in (*words, ""):
        if word in _SMALL:
            part += _SMALL[word]
            is_number = True
        elif word == "hundred" and (part or not is_number):
            part, is_number = max(part, 1) * 100, True
        elif word in _LARGE and is_number:
            total, part = total + part * _LARGE[word], 0
        elif is_number and word != "and":
            if 0 < total + part < 10**_MOST_DIGITS:
                yield str(total + part)
            total, part, is_number = 0, 0, False
