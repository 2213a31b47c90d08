"""Reads LangSmith runs: exported, nested or flat, and the batches its SDK sends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.builder.evalgate_metadata import (
    drop_recorder_keys,
    identify_by_metadata,
    set_scenario_and_trial,
)
from evalgate.adapters.formats.core.fields import listing, mapping, number, prefix_errors, required_text, text
from evalgate.adapters.formats.core.format import Identity, Reader
from evalgate.adapters.formats.core.strict_json import make_printable, require_shallow
from evalgate.adapters.formats.core.usage.usage_fields import build_score
from evalgate.adapters.formats.langsmith.runs import read_facts, span_from_run
from evalgate.adapters.formats.spans import assemble

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.trace.trace import Trace, TraceScore

EXAMPLE_KEY = "reference_example_id"
THREAD_KEYS = ("thread_id", "conversation_id", "session_id")


class RunTree(NamedTuple):
    """The runs of one trace."""

    runs: list[dict[str, Any]]

    @property
    def root(self) -> dict[str, Any]:
        """The run without a parent among them; the earliest if there are several."""
        known = {run.get("id") for run in self.runs if isinstance(run.get("id"), str)}
        tops = [run for run in self.runs if not _is_one_of(run.get("parent_run_id"), known)]
        return min(tops or self.runs, key=lambda run: str(run.get("dotted_order") or run.get("start_time")))


def split(documents: list[Any]) -> Sequence[RunTree]:
    """Groups runs by trace; later updates of a run overwrite earlier values."""
    runs: dict[str, dict[str, Any]] = {}
    for run in _iter_runs(documents):
        run_id = _run_id(run)
        merged = runs.setdefault(run_id, {"id": run_id})
        merged.update({key: value for key, value in run.items() if value is not None and key != "id"})
    traces: dict[str, list[dict[str, Any]]] = {}
    for run in runs.values():
        traces.setdefault(_trace_id(run, runs), []).append(run)
    return [RunTree(found) for found in traces.values()]


def build(record: RunTree) -> Trace:
    """Builds one trace."""
    for run in record.runs:
        require_shallow({key: value for key, value in run.items() if key != "child_runs"})
    spans = []
    for item, run in enumerate(record.runs):
        with prefix_errors(f"runs[{item}]"):
            spans.append(span_from_run(run))
    root = record.root
    trace = assemble.build(spans, read_facts)
    metadata = _metadata(root)
    trace.trace_id = text(root.get("trace_id"), "trace_id") or required_text(root.get("id"), "id")
    trace.name = text(root.get("name"), "name")
    trace.tags = [tag for tag in listing(root.get("tags"), "tags") if isinstance(tag, str)]
    set_scenario_and_trial(trace, {**metadata, EXAMPLE_KEY: root.get(EXAMPLE_KEY)}, EXAMPLE_KEY)
    trace.metadata = drop_recorder_keys(metadata)
    thread = next((metadata[key] for key in THREAD_KEYS if isinstance(metadata.get(key), str)), None)
    trace.conversation_id = trace.conversation_id or thread
    trace.evaluations += _feedback(root)
    if root.get("end_time") is None and trace.status == "ok":
        trace.status = "incomplete"
    return trace


def identify(record: RunTree) -> Identity:
    """Scenario and trial from the root's metadata, else the id of the data set's example."""
    root = record.root
    extra = root.get("extra")
    metadata = extra.get("metadata") if isinstance(extra, dict) else None
    known = metadata if isinstance(metadata, dict) else {}
    return identify_by_metadata({**known, EXAMPLE_KEY: root.get(EXAMPLE_KEY)}, EXAMPLE_KEY)


def _iter_runs(documents: list[Any]) -> Iterator[dict[str, Any]]:
    """Yields every run within lists, batches and other runs."""
    waiting = list(reversed(documents))
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += reversed(value)
        elif isinstance(value, dict) and ("id" in value or "dotted_order" in value):
            yield value
            children = value.get("child_runs")
            waiting += reversed(children) if isinstance(children, list) else []
        elif isinstance(value, dict):
            waiting += [value.get(key) for key in ("runs", "patch", "post") if value.get(key) is not None]


def _run_id(run: dict[str, Any]) -> str:
    """The id of a run; a patch may have it only in the last part of `dotted_order`."""
    run_id = run.get("id")
    if isinstance(run_id, str) and run_id:
        return run_id
    return str(run.get("dotted_order")).rpartition(".")[2].partition("Z")[2]


def _trace_id(run: dict[str, Any], runs: dict[str, dict[str, Any]]) -> str:
    """The run's trace id, or that of its nearest ancestor with one, else the id of the topmost run."""
    seen: set[str] = set()
    while not isinstance(run.get("trace_id"), str):
        parent = run.get("parent_run_id")
        if not isinstance(parent, str) or parent not in runs or parent in seen:
            return str(run["id"])
        seen.add(parent)
        run = runs[parent]
    return str(run["trace_id"])


def _is_one_of(value: Any, known: set[str | None]) -> bool:
    return isinstance(value, str) and value in known


def _metadata(root: dict[str, Any]) -> dict[str, Any]:
    return mapping(mapping(root.get("extra"), "extra").get("metadata"), "extra.metadata")


def _feedback(root: dict[str, Any]) -> list[TraceScore]:
    """Scores of the run from users and evaluators: one by one, or averages by name."""
    found: list[TraceScore] = []
    for item, entry in enumerate(listing(root.get("feedback"), "feedback")):
        path = f"feedback[{item}]"
        one = mapping(entry, path)
        score = one.get("score")
        grade = build_score(one.get("key", ""), float(score) if isinstance(score, bool) else score, path)
        value = one.get("value")
        grade["score_label"] = value if isinstance(value, str) else None
        grade["explanation"] = text(one.get("comment"), f"{path}.comment")
        found.append(grade)
    stats = {} if found else mapping(root.get("feedback_stats"), "feedback_stats")
    for name, entry in stats.items():
        path = f"feedback_stats.{make_printable(name)}"
        average = number(mapping(entry, path).get("avg"), f"{path}.avg")
        if average is not None:
            found.append(build_score(name, average, path))
    return found


READER = Reader(build=build, identify=identify, split=split, without_calls=frozenset({"events"}))
