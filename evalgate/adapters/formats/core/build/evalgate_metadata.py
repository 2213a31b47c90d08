"""Reads scenario id and trial from the metadata keys that people may add to a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import identifier, whole_number
from evalgate.adapters.formats.core.format import Identity, build_identity

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

SCENARIO_KEYS = ("evalgate.scenario.id", "scenario_id")
TRIAL_KEYS = ("evalgate.trial",)
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
