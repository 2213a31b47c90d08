"""The settings of requests that change what a model answers, beside its name, the prompt and the tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from evalgate.measures.values.json_values import shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAMES = (
    *("temperature", "top_p", "top_k", "min_p", "frequency_penalty", "presence_penalty", "logit_bias", "stop"),
    *("stop_sequences", "max_tokens", "max_completion_tokens", "max_output_tokens", "n"),
    *("reasoning_effort", "reasoning", "thinking", "verbosity"),
)
"""A seed is none of them: it may be another one in each run."""
UNSET = "unset"
MOST_VALUES, LONGEST = 5, 80
MORE = "\u2026"


def read_settings(body: Mapping[str, Any]) -> dict[str, str]:
    """The settings of one request, each as a word."""
    return {name: _show(body[name]) for name in NAMES if body.get(name) is not None}


def _show(value: Any) -> str:
    if type(value) is float and value.is_integer():
        value = int(value)
    text = value if type(value) is str else orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    return "_".join(shorten(text.replace("|", "/"), LONGEST).split())


def join_settings(calls: Sequence[Mapping[str, str]]) -> str:
    """NAME=VALUE of each setting, with all values if calls have several; `unset` where none has any.

    >>> join_settings([{"temperature": "0"}, {}])
    'temperature=0|unset'
    """
    found = []
    for name in sorted({name for call in calls for name in call}):
        values = sorted({call.get(name, UNSET) for call in calls})
        found.append(f"{name}={'|'.join([*values[:MOST_VALUES], *([MORE] if len(values) > MOST_VALUES else [])])}")
    return " ".join(found) or UNSET
