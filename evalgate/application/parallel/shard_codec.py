"""Encodes judged batches as JSON lines of a shard, redacted; decodes them as untrusted data."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from math import isfinite
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from evalgate.application.evaluation.suite_judge import JudgedRecord  # noqa: TC001  (needed for decoding)
from evalgate.application.parallel.batch_judge import JudgedBatch
from evalgate.errors import SettingError
from evalgate.measures.redaction.redact import redact, redact_value
from evalgate.models.run.golden import Index  # noqa: TC001  (needed for decoding)
from evalgate.models.run.run import AssertionResult, TrialResult  # noqa: TC001  (needed for decoding)
from evalgate.models.trace.trace import Warning_  # noqa: TC001  (needed for decoding)
from evalgate.reporting.results.clean_values import clamp_count

if TYPE_CHECKING:
    from collections.abc import Iterator


class ShardBatch(Struct, forbid_unknown_fields=True):
    """One batch of one suite. `assertions` are the lists that trials share; `places` has that of each trial.

    `kept` is the number of its traces that the shard holds for a baseline.
    """

    suite: Index
    batch: Index
    kept: Index | None
    size: Index
    records: list[JudgedRecord]
    assertions: list[list[AssertionResult]]
    places: list[Index]
    warnings: list[tuple[Warning_, Index]]
    unpriced: dict[str, Index]

    def unpack(self) -> JudgedBatch:
        """The batch as it was judged, without its traces; raises IndexError if parts do not fit."""
        trials = [trial for record in self.records for trial in _list_trials(record)]
        for trial, place in zip(trials, self.places, strict=True):
            trial.assertions = self.assertions[place]
        return JudgedBatch(
            is_judged=True, records=self.records, warnings=self.warnings, unpriced=self.unpriced, size=self.size
        )


_DECODER = msgspec.json.Decoder(ShardBatch)


def encode_batch(suite: int, batch: int, found: JudgedBatch) -> bytes:
    """Encodes a batch, which is used up, as a line of JSON with all text of traces redacted."""
    lists: dict[int, tuple[int, list[AssertionResult]]] = {}  # by identity
    places = []
    for trial in chain.from_iterable(map(_list_trials, found.records)):
        place, _ = lists.setdefault(id(trial.assertions), (len(lists), trial.assertions))
        places.append(place)
        trial.assertions = []
    texts = {
        "records": found.records,
        "assertions": [assertions for _, assertions in lists.values()],
        "warnings": found.warnings,
        "unpriced": found.unpriced,
    }
    document = {
        "suite": suite,
        "batch": batch,
        "kept": None if found.lines is None else len(found.lines),
        "size": found.size,
        "places": places,
        **{name: make_plain(msgspec.to_builtins(value)) for name, value in texts.items()},
    }
    return msgspec.json.encode(document) + b"\n"


def decode_batch(line: bytes) -> ShardBatch:
    """Decodes a batch; raises SettingError if invalid."""
    try:
        return _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingError(f"a batch in it is invalid: {str(error)[:100]}") from None


def _list_trials(record: JudgedRecord) -> Iterator[TrialResult]:
    """All trials of a record, in order."""
    if record.damage is not None:
        yield record.damage
    for candidate in record.candidates:
        if candidate.trial is not None:
            yield candidate.trial
    if record.crossed is not None:
        yield from _list_trials(record.crossed)


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
        if isinstance(value, int):
            return clamp_count(value)
        return value if isfinite(value) else None
    return _without_secrets(str(value))


@lru_cache(maxsize=16_384)
def _without_secrets(text: str) -> str:
    return redact(text if text.isascii() else text.encode("utf-8", "replace").decode())
