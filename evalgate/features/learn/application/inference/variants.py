"""Finds the tag by which the traces of a set are variants: each scenario was run once or more with every value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.redaction.redact import redact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.features.learn.application.inference.observations import TraceSet
    from evalgate.models.trace.trace import Trace

MAX_VARIANTS, MIN_SCENARIOS = 5, 2
REPETITIONS = frozenset(
    {"trial", "run", "seed", "attempt", "iteration", "repeat", "session", "user", "id", "date", "time"}
)
"""Keys of tags that differ between repetitions of one variant."""
_VALUE = re.compile(r"(?![0-9a-f]{8})[A-Za-z][\w.-]{0,39}")


class Variants(NamedTuple):
    """The key of a tag, and its values, sorted."""

    key: str
    values: Sequence[str]

    def describe(self) -> dict[str, dict[str, dict[str, list[str]]]]:
        """The variants as they are written in a suite."""
        return {value: {"match": {"tags": [f"{self.key}:{value}"]}} for value in self.values}


def find_variants(traces: TraceSet) -> Variants | None:
    """The first tag, in the alphabet, that splits the traces of every scenario into the same values."""
    if len(traces.scenarios) < MIN_SCENARIOS:
        return None
    tags = {id(trace): _read_tags(trace) for trace in traces.traces}
    keys = set.intersection(*map(set, tags.values()))
    for key in sorted(keys - REPETITIONS):
        values = [{tags[id(trace)][key] for trace in group} for group in traces.scenarios.values()]
        if all(each == values[0] for each in values) and _are_names(values[0]) and redact(key) == key:
            return Variants(key, sorted(values[0]))
    return None


def _are_names(values: set[str]) -> bool:
    return 1 < len(values) <= MAX_VARIANTS and all(_VALUE.fullmatch(each) and redact(each) == each for each in values)


def _read_tags(trace: Trace) -> Mapping[str, str]:
    """The tags of the form `key:value` whose key occurs once."""
    pairs = [tag.split(":", 1) for tag in trace.tags if ":" in tag]
    keys = [pair[0] for pair in pairs]
    return {key: value for key, value in pairs if keys.count(key) == 1}
