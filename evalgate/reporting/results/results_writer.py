"""Writes `results.json` scenario by scenario, as all its trials may not fit into memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import orjson

from evalgate.models.results.trial_docs import TrialDocs
from evalgate.models.run.chunks import ChunkedText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from evalgate.models.results.results import ResultsDoc, ScenarioDoc

    Write = Callable[[Any], Iterator[bytes]]

AT_ONCE = 1_000
"""Most trials of a scenario that are encoded at once."""


def stream_results(document: ResultsDoc) -> ChunkedText:
    """Yields the document as UTF-8 JSON on one line; the same document always gives the same bytes."""
    return ChunkedText(partial(_document, document))


def _document(document: ResultsDoc) -> Iterator[bytes]:
    yield from _object(document, "suites", partial(_list, write=_suite))
    yield b"\n"


def _suite(suite: Mapping[str, Any]) -> Iterator[bytes]:
    return _object(suite, "scenarios", partial(_list, write=_scenario))


def _scenario(scenario: ScenarioDoc) -> Iterator[bytes]:
    trials = scenario["trials"]
    if len(trials) > AT_ONCE and isinstance(trials, TrialDocs):
        stored = trials.trials
        yield from _object(scenario, "trials", lambda _: _join_arrays((trial.document,) for trial in stored))
    else:
        yield orjson.dumps(scenario, default=_encode_trials)


def _object(fields: Mapping[str, Any], large: str, write: Write) -> Iterator[bytes]:
    """Yields an object; `write` encodes the field `large`."""
    opening = b"{"
    for name, value in fields.items():
        yield opening + orjson.dumps(name) + b":"
        if name == large:
            yield from write(value)
        else:
            yield orjson.dumps(value)
        opening = b","
    yield b"}"


def _list(values: Iterable[Any], write: Write) -> Iterator[bytes]:
    return _join_arrays(map(write, values))


def _join_arrays(values: Iterable[Iterable[bytes]]) -> Iterator[bytes]:
    opening = b"["
    for pieces in values:
        yield opening
        yield from pieces
        opening = b","
    yield b"[]" if opening == b"[" else b"]"


def _encode_trials(trials: object) -> orjson.Fragment:
    """Encodes trials that are stored as JSON documents."""
    if not isinstance(trials, TrialDocs):
        raise TypeError
    return orjson.Fragment(b"[" + b",".join([trial.document for trial in trials.trials]) + b"]")
