"""What an argument may have come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from collections.abc import Callable

SourceKind = Literal["user", "system", "result", "schema", "calendar", "sum", "own"]
KINDS: tuple[SourceKind, ...] = get_args(SourceKind)
_OF_CALLS = {"result": "the result", "sum": "a sum in the result", "own": "an argument"}
_ALONE = {
    "user": "the user",
    "system": "the instructions",
    "schema": "the tool's definition",
    "calendar": "the calendar",
}


class ArgumentSource(NamedTuple):
    """A source of a value; of several of a kind and tool the first.

    `own` is an earlier argument of the agent, which is no source by itself: it inherits that one's sources. An echo is
    a result that holds what an earlier argument held.
    """

    kind: SourceKind
    call: int = 0
    tool: str = ""
    is_echo: bool = False

    def describe(self, mark: Callable[[str], str] = str) -> str:
        """The source in words, with the name of the tool marked.

        >>> ArgumentSource("result", 2, "lookup_order").describe(), ArgumentSource("user").describe()
        ('result of call 2 (lookup_order)', 'user')
        """
        if self.kind == "result":
            return f"result of call {self.call:,} ({mark(self.tool)})"
        if self.kind in ("own", "sum"):
            return (
                f"{'argument' if self.kind == 'own' else 'sum in the result'} of call {self.call:,} ({mark(self.tool)})"
            )
        return self.kind

    def describe_kind(self) -> str:
        """The source without the number of the call.

        >>> ArgumentSource("result", 2, "lookup_order").describe_kind(), ArgumentSource("user").describe_kind()
        ('the result of lookup_order', 'the user')
        """
        if self.kind in _OF_CALLS:
            return f"{_OF_CALLS[self.kind]} of {self.tool}"
        return _ALONE[self.kind]


class FoundSources(NamedTuple):
    """The sources of a value; `unknown` says which text is missing where it has no source."""

    sources: tuple[ArgumentSource, ...]
    unknown: str | None = None

    @property
    def is_nowhere(self) -> bool:
        """Whether no text has the value, and none is missing."""
        return self.unknown is None and not any(each.kind != "own" for each in self.sources)
