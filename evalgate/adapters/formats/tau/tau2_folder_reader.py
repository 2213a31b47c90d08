"""Reads tau2-bench runs stored as a folder: settings in `results.json`, one file per simulation."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.evidence_gaps import find_unknown, note_unknown
from evalgate.adapters.formats.core.builder.run import add_warning
from evalgate.adapters.formats.core.fields import do_each, listing, mapping, objects, text
from evalgate.adapters.formats.core.format import EACH, HeadingRule, Reader, Shape, words
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.tau import is_tau2_settings, reader
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


def split(documents: list[Any]) -> Sequence[reader.Simulation]:
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
            f"these are only the settings of a run: include its simulations, {SIMULATIONS}/*.json, in the glob"
        )
    return [reader.Simulation(simulation, *settings, has_equal_durations=False) for simulation in simulations]


def _read_settings(info: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Like `reader.read_settings`; a voice agent's model is in `audio_native_config`."""
    model, agent, domain = reader.read_settings(info)
    audio = info.get("audio_native_config")
    if isinstance(audio, dict) and isinstance(audio.get("model"), str):
        provider = audio.get("provider")
        model = f"{provider}/{audio['model']}" if isinstance(provider, str) else audio["model"]
    return model, agent, domain


def build(record: reader.Simulation) -> Trace:
    """Builds one simulation; refuses one without text or tool calls: its content was not kept."""
    require_shallow(record.data)
    run = mapping(record.data, "")
    if not listing(run.get("messages"), "messages"):
        ticks = listing(run.get("ticks"), "ticks")
        messages = messages_from_ticks(ticks)
        if not messages:
            raise TraceError(
                f"none of {len(ticks):,} ticks has text or a tool call: the simulation was saved without its content"
            )
        record = record._replace(data={**run, "messages": messages})
    trace = reader.build(record)
    note_unknown(trace, find_unknown(run, SHAPES))
    if record.model is None:
        add_warning(trace, "no_settings", "the results.json of the run was not read: the agent's model is unknown")
    mode = text(run.get("mode"), "mode")
    if mode is not None:
        trace.metadata["mode"] = mode
    return trace


TICK_FIELDS = words("""
    agent_chunk user_chunk agent_tool_calls agent_tool_results user_tool_calls user_tool_results usage metadata
""")
SHAPES = (Shape(("ticks", EACH), TICK_FIELDS),)
READER = Reader(
    build=build,
    identify=reader.identify,
    shapes=(),
    split=split,
    heading_rule=HeadingRule(folder, is_tau2_settings),
    without_calls=reader.EXPECTATIONS,
)


CALL_LISTS = ("calls", "results")
SIDES = {"user": "user", "assistant": "agent"}
"""The role of a message, and the prefix of its fields in a tick."""


def messages_from_ticks(ticks: list[Any]) -> list[dict[str, Any]]:
    """Merges ticks into messages, in the order in which they begin; raises FieldError.

    A message ends when only the other side speaks, or when a tool is called.
    """
    merger = _TickMerger()
    do_each(ticks, "ticks", merger.add_tick)
    merger.end()
    return merger.messages


def _read_text(tick: dict[str, Any], side: str) -> str | None:
    """The text of a side in a tick; audio chunks have none."""
    chunk = mapping(tick.get(f"{side}_chunk"), f"{side}_chunk")
    content = None if chunk.get("is_audio") else text(chunk.get("content"), f"{side}_chunk.content")
    return content or (text(tick.get("user_transcript"), "user_transcript") if side == "user" else None)


class _TickMerger:
    """Merges ticks into messages; keeps one open message per side."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self._open_texts: dict[str, list[str]] = {}

    def add_tick(self, tick: dict[str, Any]) -> None:
        """Adds texts, calls and results of both sides."""
        when = text(tick.get("timestamp"), "timestamp")
        texts = {role: _read_text(tick, side) for role, side in SIDES.items()}
        for role, content in texts.items():
            if content:
                self._add_text(role, content, when, is_only_speaker=sum(map(bool, texts.values())) == 1)
        for role, side in SIDES.items():
            calls, results = (objects(tick.get(f"{side}_tool_{kind}"), f"{side}_tool_{kind}") for kind in CALL_LISTS)
            if calls or results:
                self.end()
            if calls:
                made = [{**call, "requestor": role} for call in calls]
                self.messages.append({"role": role, "content": None, "tool_calls": made, "timestamp": when})
            self.messages += [{**result, "role": "tool"} for result in results]

    def _add_text(self, role: str, content: str, when: str | None, *, is_only_speaker: bool) -> None:
        """Adds text; if only this side speaks in the tick, the other side's message ends."""
        if is_only_speaker:
            self._end_messages([open_role for open_role in self._open_texts if open_role != role])
        if role not in self._open_texts:
            self._open_texts[role] = []
            self.messages.append({"role": role, "content": self._open_texts[role], "timestamp": when})
        self._open_texts[role].append(content)

    def end(self) -> None:
        """Ends all open messages."""
        self._end_messages(list(self._open_texts))

    def _end_messages(self, roles: list[str]) -> None:
        for role in roles:
            texts = self._open_texts.pop(role)
            for message in reversed(self.messages):
                if message["content"] is texts:
                    message["content"] = "".join(texts)
                    break
