"""Reads a file of an unknown format, and tries the mapping that is proposed for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.errors import Problem, SettingError
from evalgate.features.learn.application.format_help.mapping import Proposal, propose, write_suite
from evalgate.models.trace.trace import DamagedTrace, Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.settings.limits import Limits

SUITE_PATH = "mine.yaml"
MOST_LINES = 2_000


class FormatHelp(Struct):
    """A suite with a mapping, and what came of it: what it reads, or why it reads nothing.

    `known` is the format that reads the file without a mapping, if any.
    """

    proposal: Proposal
    suite: list[str]
    known: str | None
    traces: list[Trace]
    refused: list[str]


def build_format_help(path: str, cwd: str, bounds: Limits) -> FormatHelp:
    """Proposes a mapping for a file; raises SettingError if it is no JSON."""
    from evalgate.bootstrap.sources import build_trace_files

    values, are_lines = _read_values(path, cwd, bounds)
    proposal = propose(values, are_lines=are_lines)
    suite = list(write_suite(proposal, path)) if proposal.lines else []
    known = next(iter(build_trace_files(cwd, None, bounds).read([path], ".")), None)
    result = FormatHelp(proposal, suite, known.source.format if isinstance(known, Trace) else None, [], [])
    if suite:
        _try_suite(result, path, cwd, bounds)
    return result


def _try_suite(result: FormatHelp, path: str, cwd: str, bounds: Limits) -> None:
    """Reads the file as the suite says."""
    from evalgate.bootstrap.sources import build_suite_files, build_trace_files

    suite = build_suite_files(cwd, None, bounds).parse_text("\n".join(result.suite), SUITE_PATH)
    for record in build_trace_files(cwd, None, bounds).read([path], ".", suite.custom or ""):
        if isinstance(record, DamagedTrace):
            result.refused.append(record.reason)
        else:
            result.traces.append(record)


def _read_values(path: str, cwd: str, bounds: Limits) -> tuple[Sequence[Any], bool]:
    """The document of a file, or the values of its first lines; whether they are lines."""
    from evalgate.adapters.formats.core.strict_json import decode_leniently
    from evalgate.bootstrap.sources import build_workspace

    data = build_workspace(cwd).read(path, bounds.record, what="the file")
    document = decode_leniently(data)
    if document is not None:
        return [document], False
    lines = [decode_leniently(line) for line in data.splitlines()[:MOST_LINES] if line.strip()]
    values = [value for value in lines if value is not None]
    if not values:
        raise SettingError(Problem(f"{path} holds no JSON", None, "record your agent: docs/recording.md"))
    return values, True
