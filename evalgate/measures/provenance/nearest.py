"""The recorded value that is most like one that stands nowhere, for the reason of a check."""

from __future__ import annotations

import difflib
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.measures.provenance.normal_form import normalize, split_tokens, write_number

if TYPE_CHECKING:
    from evalgate.measures.provenance.sources import ArgumentSource
    from evalgate.measures.provenance.trace_sources import ArgumentSources

MAX_COMPARED = 5_000
LEAST_SIMILARITY = 0.7


class NearestValue(NamedTuple):
    """A token of an earlier text, and where it stands."""

    token: str
    source: ArgumentSource


def find_nearest(sources: ArgumentSources, number: int, value: Any) -> NearestValue | None:
    """The most similar token before a call (from 1); None if none is similar, or the value is one of many words."""
    tokens = split_tokens(normalize(value)) if isinstance(value, str) else [write_number(value)]
    wanted = max(tokens, key=lambda each: (any(map(str.isdigit, each)), len(each)), default="")
    if len(tokens) > 4 or len(wanted) < 2:  # noqa: PLR2004  (words of a sentence; one character)
        return None
    shape = any(map(str.isdigit, wanted))
    alike = (
        each
        for each in sources.list_tokens()
        if abs(len(each) - len(wanted)) <= 2 and any(map(str.isdigit, each)) == shape and each != wanted  # noqa: PLR2004
    )
    for found in difflib.get_close_matches(wanted, islice(alike, MAX_COMPARED), 3, LEAST_SIMILARITY):
        source = next((each for each in sources.list_holding(number, found) if each.kind != "own"), None)
        if source is not None:
            return NearestValue(found, source)
    return None
