"""Cleans values for a document: redacted, of bounded size, and valid JSON for any reader.

`clean_record` is the one walk over a record: every text in it is cleaned, as the types of its fields in
`models.run.bounds` say. A type that it does not know is an error, so that no field leaves a run without a decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache, partial
from itertools import islice
from math import isfinite
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from msgspec import UNSET, Meta, Struct, UnsetType

from evalgate.measures.redaction.redact import on_secrets_changed, redact, redact_field
from evalgate.models.run.bounds import LIMIT, MOST, RARE, WORD

if TYPE_CHECKING:
    from collections.abc import Callable

    Clean = Callable[[Any], Any]
    FindCleaner = Callable[[Any], Clean | None]

TEXT_LIMIT = 2_000
NAME_LIMIT = 600
_MARK = len("\u2026 (+9999999)")
"""Characters that the mark of a cut may have: so much more is not cut, and a text that was cut stays as it is."""
MAX_DEPTH = 8
MAX_ITEMS = 50
_EVIDENCE_TEXT = 500
MAX_CACHED_NAMES = 1_000
"""Most names of calls that are cached."""
MAX_CACHED_TEXT = 2_000
"""Longest text that is cached, in characters; shorter ones often occur in many trials."""
_LARGEST = 2**63 - 1


def clean_text(text: str, limit: int = TEXT_LIMIT) -> str:
    """Redacts text, replaces surrogates, and cuts it to `limit` characters and a count of the rest."""
    return _clean_text(text, limit) if text[MAX_CACHED_TEXT:] else _clean_text_cached(text, limit)


def _clean_text(text: str, limit: int) -> str:
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    clean = redact(text)
    return clean if len(clean) <= limit + _MARK else f"{clean[:limit]}\u2026 (+{len(clean) - limit})"


_clean_text_cached = lru_cache(maxsize=16_384)(_clean_text)
on_secrets_changed(_clean_text_cached.cache_clear)


def clean_name(text: str) -> str:
    """Cleans an id, a path or a name."""
    return _clean_text(text, NAME_LIMIT) if text[MAX_CACHED_TEXT:] else _clean_text_cached(text, NAME_LIMIT)


def clean_id(text: str) -> str:
    """Cleans an id that occurs rarely, so that it is not cached."""
    return _clean_text(text, NAME_LIMIT)


def clean_names(names: Sequence[str]) -> list[str]:
    """Cleans a list of names that occur in many trials."""
    return list(map(_NAME_CACHE.__getitem__, names))


class NameCache(dict[str, str]):
    """Cleaned names by raw name; the first ones are cached, unless they are long."""

    def __missing__(self, name: str) -> str:
        clean = _clean_text(name, NAME_LIMIT)
        if len(self) < MAX_CACHED_NAMES and len(name) <= NAME_LIMIT:
            self[name] = clean
        return clean


_NAME_CACHE = NameCache()
on_secrets_changed(_NAME_CACHE.clear)


def clean_optional_name(text: str | None) -> str | None:
    """Cleans a name, or returns None."""
    return None if text is None else clean_text(text, NAME_LIMIT)


def clean_optional_text(text: str | None) -> str | None:
    """Cleans a text, or returns None."""
    return None if text is None else clean_text(text)


def clean_evidence(evidence: dict[str, Any] | None) -> dict[str, Any] | None:
    """Cleans evidence: at most eight levels, fifty items per level and 500 characters per text."""
    return _clean_items(evidence, 1) if evidence else None


def clamp_count(number: int | None) -> int | None:
    """Clamps a count to the signed 64 bits that every JSON reader can hold."""
    if number is None or -_LARGEST <= number <= _LARGEST:
        return number
    return _LARGEST if number > 0 else -_LARGEST


def _clean_value(value: Any, depth: int) -> Any:
    if type(value) is str:
        return clean_text(value, _EVIDENCE_TEXT)
    if isinstance(value, dict | list | tuple):
        return _clean_items(value, depth + 1) if depth < MAX_DEPTH else "\u2026"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return clamp_count(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    return clean_text(str(value), _EVIDENCE_TEXT)


def _clean_items(value: dict[Any, Any] | list[Any] | tuple[Any, ...], depth: int) -> Any:
    if isinstance(value, dict):
        pairs = islice(value.items(), MAX_ITEMS)
        return {clean_name(str(key)): redact_field(str(key), _clean_value(item, depth)) for key, item in pairs}
    return [_clean_value(item, depth) for item in islice(value, MAX_ITEMS)]


def _keep(value: Any) -> Any:
    return value


CLEANERS: dict[Any, Clean] = {
    str: clean_text,
    int: clamp_count,
    float: _keep,
    bool: bool,
    dict[str, Any]: clean_evidence,
}
"""How to clean a plain value of a type."""

T = TypeVar("T", bound=Struct)


def clean_record(record: object, kind: type[T], find_own: FindCleaner = CLEANERS.get) -> T:
    """A cleaned copy of a record as a `kind`, which declares what of it a document shows.

    `find_own` gives the function for a type that the walk does not know, such as one that builds a document.
    """
    return cast("T", _cleaner(kind, find_own)(record))


@cache
def _cleaner(kind: type[Struct], find_own: FindCleaner) -> Clean:
    """Makes the function that cleans records of this type."""
    hints = get_type_hints(kind, include_extras=True)
    fields = [(name, _find_cleaner(hints[name], find_own)) for name in kind.__struct_fields__]

    def clean(record: object) -> Struct:
        return kind(**{name: each(getattr(record, name)) for name, each in fields})

    return clean


def _find_cleaner(kind: Any, find_own: FindCleaner) -> Clean:
    """The function that cleans values of this type; raises TypeError if it is none of those that records use."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _find_declared(arguments[0], [each for each in arguments[1:] if isinstance(each, Meta)], find_own)
    if origin in {Union, UnionType}:
        return _join(arguments, find_own)
    if origin in {list, tuple, Sequence}:
        return partial(_clean_list, clean=_find_cleaner(arguments[0], find_own))
    if isinstance(kind, type) and issubclass(kind, Struct):
        return _cleaner(kind, find_own)
    found = CLEANERS.get(kind) or find_own(kind)
    if found is None:
        raise TypeError(f"it is not known how to clean a {kind}")
    return found


def _find_declared(kind: Any, declared: Sequence[Meta], find_own: FindCleaner) -> Clean:
    for each in declared:
        extra = each.extra or {}
        if WORD in extra:
            return _keep
        if RARE in extra:
            return clean_id
        if LIMIT in extra:
            return partial(clean_text, limit=extra[LIMIT])
        if MOST in extra:
            return partial(_clean_names, most=extra[MOST])
        if each.ge is not None and each.le is not None:
            return partial(_clamp, least=each.ge, most=each.le)
    return _find_cleaner(kind, find_own)


def _join(kinds: Sequence[Any], find_own: FindCleaner) -> Clean:
    """Cleans a value that may be absent, which is of one type otherwise; None is absent if a document has no null."""
    known = [each for each in kinds if each not in {NoneType, UnsetType}]
    if len(known) != 1:
        raise TypeError(f"it is not known how to clean one of {kinds}")
    clean, absent = _find_cleaner(known[0], find_own), None if NoneType in kinds else UNSET
    return lambda value: absent if value is None or value is UNSET else clean(value)


def _clean_list(values: Sequence[Any], clean: Clean) -> list[Any]:
    return [clean(each) for each in values]


def _clean_names(names: Sequence[str], most: int) -> list[str]:
    return clean_names(names[:most])


def _clamp(number: float, least: float, most: float) -> float:
    """The number within the bounds that a reader of the document accepts."""
    return number if least <= number <= most else most if number > most else max(number, least)
