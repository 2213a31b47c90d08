"""Reads tau2-bench runs stored as a folder: settings in `results.json`, one file per simulation."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import listing, mapping, text
from evalgate.adapters.formats.core.format import HeadingRule, Reader
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.tau import is_tau2_settings, tau2_reader
from evalgate.adapters.formats.tau.tau2_ticks import messages_from_ticks
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace

SIMULATIONS = "simulations"


def folder(path: str) -> str:
    """The folder of the run that a file belongs to.

    >>> folder("runs/a/results.json"), folder("runs/a/simulations/1.json")
    ('runs/a', 'runs/a')
    """
    parent = posixpath.dirname(path)
    return posixpath.dirname(parent) if posixpath.basename(parent) == SIMULATIONS else parent


def split(documents: list[Any]) -> Sequence[tau2_reader.Simulation]:
    """The simulations, each with the run's settings; raises TraceError if there are only settings."""
    settings: tuple[Any, Any, Any] = (None, None, None)
    simulations = []
    for document in documents:
        if is_tau2_settings(document):
            settings = _read_settings(document["info"])
        else:
            simulations.append(document)
    if not simulations:
        raise TraceError(
            f"these are the settings of a run only: its simulations lie beside it in {SIMULATIONS}/*.json, "
            "name them in the glob as well"
        )
    return [
        tau2_reader.Simulation(simulation, *settings, has_equal_durations=False) for simulation in simulations
    ]


def _read_settings(info: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Like `tau2_reader.read_settings`; a voice agent's model is in `audio_native_config`."""
    model, agent, domain = tau2_reader.read_settings(info)
    audio = info.get("audio_native_config")
    if isinstance(audio, dict) and isinstance(audio.get("model"), str):
        provider = audio.get("provider")
        model = f"{provider}/{audio['model']}" if isinstance(provider, str) else audio["model"]
    return model, agent, domain


def build(record: tau2_reader.Simulation) -> Trace:
    """Builds one simulation; refuses one without text or tool calls: its content was not kept."""
    require_shallow(record.data)
    run = mapping(record.data, "")
    if not listing(run.get("messages"), "messages"):
        ticks = listing(run.get("ticks"), "ticks")
        messages = messages_from_ticks(ticks)
        if not messages:
            raise TraceError(
                f"{len(ticks):,} ticks and not one with text or a tool call: the simulation was kept without "
                "its content"
            )
        record = record._replace(data={**run, "messages": messages})
    trace = tau2_reader.build(record)
    if record.model is None:
        message = "the results.json of the run was not read: the agent's model is unknown"
        trace.warnings.append({"code": "no_settings", "message": message, "where": None})
    mode = text(run.get("mode"), "mode")
    if mode is not None:
        trace.metadata["mode"] = mode
    return trace


READER = Reader(
    build=build,
    identify=tau2_reader.identify,
    split=split,
    heading_rule=HeadingRule(folder, is_tau2_settings),
)
