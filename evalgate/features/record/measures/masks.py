"""Masks: what changes from run to run in the messages of a request, such as times, and is the same for its key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.measures.text.patterns import Pattern

_UUID = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![0-9A-Za-z])")
_TIME = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?(?!\d)")
BUILT_IN = ((_UUID, "[uuid]"), (_TIME, "[time]"))


class Mask(NamedTuple):
    """One rule: texts that `pattern` matches become `text`; or the whole value at `path` does.

    A path is names and `*`, from the request's body: `messages.*.content`.
    """

    text: str
    pattern: Pattern | None = None
    path: tuple[str, ...] = ()


class Masks:
    """All rules of a recording; `has_built_in`: UUIDs and times with date and hour too."""

    def __init__(self, rules: Sequence[Mask] = (), *, has_built_in: bool = True) -> None:
        self._patterns = [(rule.pattern, rule.text) for rule in rules if rule.pattern is not None]
        self._paths = [(rule.path, rule.text) for rule in rules if rule.path]
        self._has_built_in = has_built_in

    def apply(self, value: Any, name: str) -> Any:
        """A value of the request's body under a name, masked."""
        return self._apply(value, [(path[1:], text) for path, text in self._paths if path[0] in ("*", name)])

    def _apply(self, value: Any, paths: list[tuple[tuple[str, ...], str]]) -> Any:
        for path, text in paths:
            if not path:
                return text
        if type(value) is str:
            return self._mask_text(value)
        if type(value) is list:
            inner = [(path[1:], text) for path, text in paths if path[0] == "*"]
            return [self._apply(item, inner) for item in value]
        if type(value) is dict:
            return {
                name: self._apply(item, [(path[1:], text) for path, text in paths if path[0] in ("*", name)])
                for name, item in value.items()
            }
        return value

    def _mask_text(self, text: str) -> str:
        if self._has_built_in:
            for pattern, mask in BUILT_IN:
                text = pattern.sub(mask, text)
        for own, mask in self._patterns:
            parts, at = [], 0
            for start, end in own.find_spans(text):
                if start >= at:
                    parts += [text[at:start], mask]
                at = max(at, end)
            text = "".join([*parts, text[at:]])
        return text
