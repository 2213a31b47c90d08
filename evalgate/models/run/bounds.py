"""Numbers and texts of a results document: what a reader refuses, and how a text is cleaned before it is written."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from evalgate.models.run.golden import DIMENSIONS

Score = Annotated[float, Meta(ge=0, le=1)]
SignedScore = Annotated[float, Meta(ge=-1, le=1)]
Interval = Annotated[list[SignedScore], Meta(min_length=2, max_length=2)]
Amount = Annotated[float, Meta(ge=0, le=1e15)]
"""Money, time or tokens of one trial; bounds are so that later sums and tests can't fail."""
Sum = Annotated[float, Meta(ge=0, le=1e24)]
SignedSum = Annotated[float, Meta(ge=-1e24, le=1e24)]
Count = Annotated[int, Meta(ge=0)]
Tokens = Annotated[int, Meta(ge=0, le=10**15)]
Dimension = Annotated[str, Meta(pattern=f"^({'|'.join(DIMENSIONS)})\\Z")]
ShownText = Annotated[str, Meta(max_length=4_000)]
Days = Annotated[int, Meta(ge=-4_000_000, le=4_000_000)]

LIMIT, WORD, RARE, MOST = "limit", "word", "rare", "most"
"""Keys of what the fields of records ask of `clean_record`; a text that asks nothing is cut after 2,000 characters."""
Name = Annotated[str, Meta(extra={LIMIT: 600})]
"""An id, a path or a name."""
Id = Annotated[str, Meta(extra={RARE: True})]
"""A name that occurs once, so that it is not cached."""
LongText = Annotated[str, Meta(extra={LIMIT: 20_000})]
Word = Annotated[str, Meta(extra={WORD: True})]
"""A word from a list in the code; a reader accepts others too, which later versions may write."""
CallNames = Annotated[list[Name], Meta(extra={MOST: 1_000})]
