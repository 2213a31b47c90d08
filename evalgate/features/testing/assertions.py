"""Assertions on one trace for plain tests, by the evaluators that suites use."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evalgate.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.trace.trace import Trace
    from evalgate.recording import RecordedRun

    TraceSource = str | os.PathLike[str] | Mapping[str, Any] | RecordedRun
    """A trace: the path of its file, a native trace as a dict, or what the fixture recorded."""
    RunStatus = Literal["ok", "any"]
    """As in a suite: with `any` a run that ended in an error may pass."""


def assert_tool_sequence(
    trace: TraceSource, tools: Sequence[str], *, mode: str = "in_order", run_status: RunStatus = "ok"
) -> None:
    """Raises AssertionError with the reason unless the agent called these tools; `mode` is that of `tool_sequence`."""
    __tracebackhide__ = True
    _assert({"type": "tool_sequence", "sequence": list(tools), "mode": mode}, trace, run_status)


def assert_not_called(trace: TraceSource, tool: str, *, run_status: RunStatus = "ok") -> None:
    """Raises AssertionError with the reason if the agent called this tool, or if the trace can't show that.

    Warns of a tool whose name ends like it (`mcp__db__delete_user`).
    """
    __tracebackhide__ = True
    _assert({"not": {"type": "tool_called", "tool": tool}}, trace, run_status)


def assert_cost_below(trace: TraceSource, usd: float, *, run_status: RunStatus = "ok") -> None:
    """Raises AssertionError with the reason if the run cost more than `usd` US dollars, or an unknown amount."""
    __tracebackhide__ = True
    _assert({"type": "cost_limit", "max_usd": usd}, trace, run_status)


def _assert(raw: dict[str, Any], source: TraceSource, run_status: RunStatus) -> None:
    from evalgate.application.evaluation.named_tools import list_passed_names
    from evalgate.evaluators.core.parse import Parser
    from evalgate.evaluators.kinds.calls.similar_tools import SimilarTools, SpanNames
    from evalgate.reporting.text.sentences import unmark_parts
    from evalgate.scoring.run_end import build_failed_check

    __tracebackhide__ = True
    parser = Parser(lambda _: None)
    assertions = parser.parse_assertions([raw], ())
    if parser.problems:
        raise ValueError("; ".join(problem.message for problem in parser.problems))
    trace = load_trace(source)
    found = assertions[0].assess(trace)
    if found.outcome != "passed":
        outcome = "" if found.outcome == "failed" else f"{found.outcome.replace('_', ' ')}: "
        raise AssertionError(f"{found.name}: {outcome}{unmark_parts(found.reason)}")
    if trace.status == "error" and run_status != "any":
        failed = build_failed_check(trace, None, has_weight=False)
        raise AssertionError(f"{unmark_parts(failed.reason)} (run_status='any' allows it)")
    similar = SimilarTools()
    checks = [assertions[0].written]
    similar.add(0, "", checks, trace.called)
    names = SpanNames(checks)
    similar.add_spans(0, "", checks, names.find(trace))
    similar.add_passed(0, "", names.choose_denied(list_passed_names(trace)))
    for warning in similar.list_warnings():
        warnings.warn(unmark_parts(warning["message"]), stacklevel=3)


def load_trace(source: TraceSource) -> Trace:
    """The trace, with its cost computed where a price list is installed; raises SettingError unless it is one."""
    from evalgate.adapters.price_list import find_price_list
    from evalgate.application.evaluation.pricing import Pricer
    from evalgate.bootstrap.sources import build_trace_files
    from evalgate.models.trace.trace import Trace
    from evalgate.suite.models import SuitePrices

    with tempfile.TemporaryDirectory(prefix="evalgate-") as folder:
        path = find_path(source, Path(folder, "trace.jsonl"))
        records = list(build_trace_files(str(Path.cwd())).read([path], "."))
    traces = [each for each in records if isinstance(each, Trace)]
    if len(traces) != 1 or len(records) != 1:
        raise SettingError(f"{path} holds {len(records)} traces, {len(traces)} of them readable: one was expected")
    Pricer(SuitePrices(), find_price_list()).price(traces[0])
    return traces[0]


def find_path(source: TraceSource, place: Path) -> str:
    """The path of a trace's file; a dict is written to `place`."""
    if not isinstance(source, dict):
        return os.fspath(getattr(source, "path", source))  # type: ignore[arg-type]
    place.write_text(json.dumps(source) + "\n", encoding="utf-8")
    return str(place)
