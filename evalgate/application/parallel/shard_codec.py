"""Encodes batch results as JSON lines of a shard, redacted; decodes them as untrusted data."""

from __future__ import annotations

from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, Literal

import orjson
from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from evalgate.errors import SettingError
from evalgate.measures.redaction.redact import redact, redact_value
from evalgate.reporting.results.clean_values import clamp_count

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_TEXT = 1_000_000
LARGEST = 1e30
"""Larger than any sum of recorded values, and small enough to calculate with."""
ROUNDING = 1e-9
Count = Annotated[int, Field(ge=0, le=2**53)]
Text = Annotated[str, Field(max_length=MOST_TEXT)]
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Number = Whole | Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
Score = Annotated[int, Field(ge=0, le=1)] | Annotated[float, Field(ge=0, le=1 + ROUNDING)]
MaybeText = Text | None
MaybeNumber = Number | None
MaybeScore = Score | None
Outcome = Literal["passed", "failed", "not_evaluable", "skipped", "error"]
Status = Literal["passed", "failed", "hard_fail", "error", "not_evaluable", "not_measured"]
Place = tuple[Text, Count | None, Count | None]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]

Required = Literal[False, True, "always"]
Check = tuple[Text, Text, Outcome, Score, Number, Required, Text, Place | None, dict[str, Any] | None, bool, bool]
Ref = tuple[
    MaybeText, Text, Text, Sha256 | None, Count | None, Count | None,
    MaybeText, MaybeText, MaybeText, MaybeText, MaybeText, MaybeText, MaybeText, Count | None, Count | None,
]  # fmt: skip
Issue = tuple[
    Literal["identity", "memory", "tools", "tone", "refusal", "accuracy", "completeness"],
    Literal["info", "warning", "error", "critical"],
    Text, MaybeText, Count | None,
]  # fmt: skip
Scores = dict[str, MaybeScore]
Turn = tuple[
    MaybeText, MaybeText, MaybeText, Scores, MaybeNumber, Count | None, MaybeNumber,
    list[Any], list[Text], list[Any], list[Issue], list[Text],
]  # fmt: skip
Golden = tuple[Scores, list[Turn], list[Issue], list[Count | None], list[Count], MaybeText]


class UsageRow(TypedDict):
    """Token counts of one kind of request."""

    model: Text
    provider: MaybeText
    request_tokens: Count
    input_tokens: Count
    output_tokens: Count
    cache_read_input_tokens: Count
    cache_write_input_tokens: Count


class PricingRow(TypedDict):
    """How a cost was computed."""

    table: MaybeText
    usd: MaybeNumber
    known_usd: Number
    recorded_usd: Number
    missing_models: list[Text]
    usage: list[UsageRow] | None


class WarningRow(TypedDict):
    """A warning about traces."""

    code: Text
    message: Text
    where: MaybeText


Trial = tuple[
    list[Count], Count, Golden | None, Status, MaybeScore, MaybeNumber, MaybeNumber, Whole | None,
    MaybeText, list[WarningRow], Whole | None, Whole | None, PricingRow | None,
]  # fmt: skip
Call = tuple[Count, Text, Any, Text, Text]
TrajectoryRow = tuple[list[Call], list[tuple[Count, Text, Text]], MaybeText, Text, MaybeText, Count]
Candidate = tuple[Count, Count | None, Count | None]
Option = tuple[Candidate, Trial | None, TrajectoryRow | None]
Judged = tuple[MaybeText, tuple[Text, Whole | None, Trial] | None, list[Option]]
Record = tuple[tuple[Ref, Whole | None, MaybeText], Judged, Judged | None]


class FoundDoc(TypedDict):
    """The results of one batch of one suite."""

    suite: Count
    batch: Count
    records: list[Record]
    checks: list[Check]
    calls: list[list[Text]]
    warnings: list[tuple[WarningRow, Count]]
    unpriced: dict[str, Count]
    kept: Count | None
    size: Count


_FOUND = TypeAdapter(FoundDoc)


def encode_batch(suite: int, batch: int, found: Mapping[str, Any]) -> bytes:
    """Encodes a batch as a line of JSON, with all text of traces redacted."""
    lines = found["lines"]
    document = {
        "suite": suite,
        "batch": batch,
        "kept": None if lines is None else len(lines),
        "size": found["size"],
        **{name: make_plain(found[name]) for name in ("records", "checks", "calls", "warnings", "unpriced")},
    }
    return orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)


def decode_batch(line: bytes) -> FoundDoc:
    """Decodes a batch; raises SettingError if invalid."""
    try:
        return _FOUND.validate_json(line, strict=True)
    except ValidationError as error:
        place = ".".join(map(str, error.errors(include_url=False, include_input=False)[0]["loc"]))
        raise SettingError(f"a batch in it is invalid at {place[:100] or 'its start'}") from None


def make_plain(value: Any, *, is_clean: bool = False) -> Any:
    """A value as JSON, redacted; `is_clean` if secret fields are emptied already."""
    if isinstance(value, dict):
        clean = value if is_clean else redact_value(value)
        return {_without_secrets(str(key)): make_plain(item, is_clean=True) for key, item in clean.items()}
    if isinstance(value, list | tuple):
        return [make_plain(item, is_clean=is_clean) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _finite(value)
    return _without_secrets(str(value))


def _finite(number: float) -> float | None:
    if isinstance(number, int):
        return clamp_count(number)
    return number if isfinite(number) else None


@lru_cache(maxsize=16_384)
def _without_secrets(text: str) -> str:
    return redact(text if text.isascii() else text.encode("utf-8", "replace").decode())
