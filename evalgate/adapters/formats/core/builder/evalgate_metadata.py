"""Reads scenario id and trial from the metadata keys that people may add to a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import identifier, whole_number
from evalgate.adapters.formats.core.format import Identity, build_identity

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

SCENARIO_KEY = "evalgate.scenario.id"
TRIAL_KEY = "evalgate.trial"
SCENARIO_KEYS = (SCENARIO_KEY, "scenario_id")
TRIAL_KEYS = (TRIAL_KEY,)
RECORDER_PREFIXES = ("ls_", "__", "langgraph_", "LANGSMITH_", "LANGCHAIN_", "checkpoint_ns", "thread_ts")


def set_scenario_and_trial(trace: Trace, metadata: dict[str, Any], *data_set_keys: str) -> None:
    """Sets scenario id and trial from the metadata; raises FieldError if they are invalid.

    `data_set_keys` name the example of a data set; they are used if no scenario key is set.
    """
    for key in (*SCENARIO_KEYS, *data_set_keys):
        if metadata.get(key) is not None and trace.scenario_id is None:
            trace.scenario_id = identifier(metadata[key], f"metadata.{key}")
    for key in TRIAL_KEYS:
        if metadata.get(key) is not None and trace.trial is None:
            trace.trial = whole_number(_parse_digits(metadata[key]), f"metadata.{key}")


def identify_by_metadata(metadata: Any, *data_set_keys: str) -> Identity:
    """Scenario id and trial of a damaged record; never raises."""
    if not isinstance(metadata, dict):
        return None, None
    scenario_ids = [metadata[key] for key in (*SCENARIO_KEYS, *data_set_keys) if metadata.get(key) is not None]
    trials = [metadata[key] for key in TRIAL_KEYS if metadata.get(key) is not None]
    return build_identity(scenario_ids[0] if scenario_ids else None, _parse_digits(trials[0]) if trials else None)


def drop_recorder_keys(metadata: dict[str, Any]) -> dict[str, Any]:
    """The metadata without the keys that LangChain and LangSmith add by themselves."""
    return {key: value for key, value in metadata.items() if not key.startswith(RECORDER_PREFIXES)}


def _parse_digits(value: Any) -> Any:
    """A number written as digits (some platforms keep metadata as text only), else the value itself."""
    is_digits = type(value) is str and value.isascii() and value.isdigit() and len(value) < len("1000000000")
    return int(value) if is_digits else value


COMMIT, AGENT_HASH = "evalgate.commit", "evalgate.agent_hash"
ORIGIN_KEYS = (COMMIT, AGENT_HASH)
MAX_LENGTH = 512


def set_origin(trace: Trace) -> None:
    """Sets commit and agent hash from the metadata, unless the format's own fields have set them."""
    trace.commit = trace.commit or _text_or_none(trace.metadata.get(COMMIT))
    trace.agent_hash = trace.agent_hash or _text_or_none(trace.metadata.get(AGENT_HASH))


def _text_or_none(value: Any) -> str | None:
    return value if type(value) is str and 0 < len(value) <= MAX_LENGTH else None
