"""Repairs half characters: JSON may hold one half of a surrogate pair (RFC 8259, section 8.2), Unicode may not.

A text may be cut between the halves and sent in two parts: so parts are joined first, and repaired then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def repair_text(text: str) -> str:
    r"""The text with two halves that belong together as one character, and any other half as U+FFFD.

    >>> repair_text("\ud83e\uddea \ud83e!") == "\U0001f9ea \ufffd!"
    True
    """
    if text.isascii() or not has_halves(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def has_halves(text: str) -> bool:
    """Whether the text is none that Unicode allows."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def repair_value(value: Any, build_object: Callable[[list[tuple[str, Any]]], dict[str, Any]] = dict) -> Any:
    """A JSON value with all its texts repaired, names too; `build_object` decides about names that become equal."""
    if type(value) is str:
        return repair_text(value)
    if type(value) is list:
        return [repair_value(each, build_object) for each in value]
    if type(value) is dict:
        return build_object([(repair_text(name), repair_value(each, build_object)) for name, each in value.items()])
    return value
