"""Builds what leaves for trackers from a finished run: its results, and the suites and traces next to them."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

import orjson
from msgspec import Struct, field

from evalgate.application.documents.run_documents import run_of
from evalgate.application.evaluation.trajectories import source_of
from evalgate.application.history.run_record import run_identity
from evalgate.application.judge.compare_finished import OWN_TRACES
from evalgate.errors import InvalidInput
from evalgate.measures.redaction.redact import redact_value
from evalgate.models.results.published_run import PublishedRow, PublishedRun, PublishedScore, PublishedSuite
from evalgate.models.run.run import HARD_FAILS
from evalgate.reporting.results.clean_values import clean_text
from evalgate.scoring.run_statistics import EXPECTED_TOOL, judge_calls
from evalgate.suite.baseline_suites import parse_baseline_suites
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.models.results.published_run import ContentLevel, TrackingContext
    from evalgate.models.results.results import ResultsDoc, SuiteDoc
    from evalgate.models.run.run import ScenarioResult, Trial
    from evalgate.models.trace.trace import Trace
    from evalgate.ports import BaselineFiles, TraceArchive
    from evalgate.suite.models import Scenario, Suite

NAMESPACE = UUID("6f0d5c1e-7a52-5d0e-9a0f-2d3c8b1e4a77")
MAX_TEXT, MAX_MESSAGES, MAX_KEY, MAX_NAME = 20_000, 200, 100, 120
NAME_END = 8
RUN_DIGITS = 12
REGRESSIONS, IMPROVEMENTS = frozenset({"regressed", "broken"}), frozenset({"improved", "fixed"})
VERDICTS = {"passed": 1.0, "failed": 0.0, "hard_fail": 0.0}
"""The trials that were judged; of others the verdict is unknown, never 0."""
JUDGED = frozenset({"passed", "failed"})


class TrackedRun(Struct):
    """A run as its folder holds it; without its baseline.zip there are no suites and no traces."""

    results: ResultsDoc
    manifest: Mapping[str, Any] = field(default_factory=dict)
    suites: dict[str, Suite] = field(default_factory=dict)
    traces: dict[tuple[str, int | None, int | None], Trace] = field(default_factory=dict)


def load_finished(files: BaselineFiles, archive: TraceArchive, source: str) -> TrackedRun:
    """Reads the run at `source`, a results.json or a baseline.zip; raises InvalidInput."""
    loaded = files.load(source)
    path = source if loaded.manifest is not None else posixpath.join(posixpath.dirname(source), OWN_TRACES)
    try:
        kept = loaded if loaded.manifest is not None else files.load(path)
        if any(kept.results[name] != loaded.results[name] for name in ("created_at", "commit")):
            return TrackedRun(loaded.results)
        content = files.read_suites(path)
        lines = list(files.read_traces(path))
    except InvalidInput:
        return TrackedRun(loaded.results)
    found = None if content is None else parse_baseline_suites(orjson.loads(content))
    suites = {} if found is None else {suite.name: suite for suite in found.configuration.suites}
    traces = {
        place: trace
        for line in lines
        if (place := source_of(line)) is not None and (trace := archive.restore_trace(line)) is not None
    }
    return TrackedRun(loaded.results, kept.manifest or {}, suites, traces)


def build_published_run(finished: TrackedRun, context: TrackingContext, content: ContentLevel) -> PublishedRun:
    """The run as it may leave. From a fork only ids and numbers leave, to a dataset of its own."""
    level: ContentLevel = "none" if context.is_fork else content
    builder = _RunBuilder(finished, context, level)
    run = run_of(finished.results)
    documents = zip(finished.results["suites"], run.suites, strict=True)
    suites = [builder.build_suite(document, suite.scenarios) for document, suite in documents]
    is_complete = level == "none" or bool(finished.traces) or not any(suite.rows for suite in suites)
    base = context.base_branch if context.base_branch != context.branch else None
    return PublishedRun(suites, base, is_complete)


class _RunBuilder:
    def __init__(self, finished: TrackedRun, context: TrackingContext, level: ContentLevel) -> None:
        self._finished, self._context, self._level = finished, context, level
        results, manifest = finished.results, finished.manifest
        recorded = manifest.get("run")
        run_id = recorded if isinstance(recorded, str) and recorded else context.run_id
        self._attempt = context.attempt if run_id == context.run_id else "1"
        self._run_id = run_id or run_identity(results, None)[:RUN_DIGITS]
        branch = manifest.get("branch")
        self._branch = context.branch or (branch if isinstance(branch, str) else None)
        self._started = datetime.fromisoformat(results["created_at"])

    def build_suite(self, document: SuiteDoc, scenarios: Sequence[ScenarioResult]) -> PublishedSuite:
        name, context = document["suite"], self._context
        suite = self._finished.suites.get(name)
        group = "forks" if context.is_fork else name
        dataset = f"evalgate/{context.repository}/{clean_text(group, MAX_KEY)}"
        namespace = uuid5(NAMESPACE, _join(context.server, context.repository, group))
        names: dict[str, str] = {}
        rows = [
            self._build_row(namespace, name, scenario, trial, _ScenarioFacts(suite, scenario, names))
            for scenario in scenarios
            for trial in scenario.trials
        ]
        metadata = {**self._build_metadata(document, suite), **(names if self._level != "none" else {})}
        return PublishedSuite(
            name, dataset, self._name_experiment(name), rows, self._score_suite(document), _clean(metadata)
        )

    def _name_experiment(self, suite: str) -> str:
        """A name that only this run of the suite has; its end keeps it so where the rest is cut."""
        context, commit = self._context, self._finished.results["commit"]
        identity = _join(context.server, context.repository, self._run_id, self._attempt, suite)
        parts = (context.prefix, suite, self._branch, (commit or "")[:7], f"{self._run_id}.{self._attempt}")
        start = "-".join(filter(None, parts))
        end = sha256(identity.encode()).hexdigest()[:NAME_END]
        return f"{re.sub(r'[^A-Za-z0-9._/-]+', '-', start)[: MAX_NAME - NAME_END - 1]}-{end}"

    def _build_metadata(self, document: SuiteDoc, suite: Suite | None) -> dict[str, str | None]:
        results, context, baseline = self._finished.results, self._context, self._finished.results["baseline"]
        traces = [trial["trace"] for scenario in document["scenarios"] for trial in scenario["trials"]]
        text = None if suite is None else orjson.dumps(suite.content, option=orjson.OPT_SORT_KEYS)
        return {
            "evalgate.version": __version__,
            "commit": results["commit"],
            "branch": self._branch,
            "base_commit": baseline["sha"] if baseline else None,
            "baseline_status": baseline["status"] if baseline else None,
            "pull_request": context.pull_request,
            "repository": context.repository,
            "repository_id": context.repository_id,
            "event": context.event,
            "run_url": context.run_url,
            "run_id": self._run_id,
            "attempt": self._attempt,
            "suite": document["suite"],
            "suite_sha256": None if text is None else sha256(text).hexdigest(),
            "verdict": results["verdict"],
            "agent_hash": _only(trace.get("agent_hash") for trace in traces),
            "model": _only(trace.get("model") for trace in traces),
            "fork": str(context.is_fork).lower(),
            "replayed": "true" if any(_is_replayed(trace) for trace in self._finished.traces.values()) else None,
        }

    def _score_suite(self, document: SuiteDoc) -> list[PublishedScore]:
        scenarios = document["scenarios"]
        kinds = Counter(each["change"]["kind"] for each in scenarios if each["change"] is not None)
        verdict = document["verdict"]
        figures = document.get("figures")
        return [
            PublishedScore("pass_rate", figures["pass_rate"] if figures else None),
            PublishedScore("hard_fails", sum(each["verdict"] in HARD_FAILS for each in scenarios)),
            PublishedScore("regressions", sum(kinds[kind] for kind in REGRESSIONS)),
            PublishedScore("improvements", sum(kinds[kind] for kind in IMPROVEMENTS)),
            PublishedScore("gate", {"pass": 1.0, "fail": 0.0}.get(verdict), verdict),
        ]

    def _build_row(
        self, namespace: UUID, suite: str, scenario: ScenarioResult, trial: Trial, facts: _ScenarioFacts
    ) -> PublishedRow:
        place = trial.trace
        trace = self._finished.traces.get((place.path, place.line, place.record))
        variant, level = scenario.variant, self._level
        ids = {"scenario": scenario.id, **({} if variant is None else {"variant": variant})}
        outputs: dict[str, Any] = {"call_count": len(trial.tool_calls)}
        if level != "none":
            outputs["tool_call_names"] = list(trial.tool_calls)
            if trace is not None:
                outputs["answer"] = trace.response["content"]
        if level == "full" and trace is not None:
            outputs["messages"] = [_build_message(each) for each in trace.messages[:MAX_MESSAGES]]
        metadata = {"trial": str(trial.trial), "status": trial.status, "suite": suite, "model": place.model}
        started = _parse_time(trace.started_at if trace is not None else None)
        return PublishedRow(
            str(uuid5(namespace, _join(suite, scenario.id, variant or "", str(trial.trial)))),
            clean_text(scenario.id),
            variant,
            trial.trial,
            _clean_value({**ids, **(facts.inputs if level != "none" else {})}),
            _clean_value(facts.expected if level != "none" else {}),
            _clean_value(outputs),
            _score_trial(trial, facts, with_reasons=level == "full"),
            _clean(metadata),
            started or self._started,
            trial.latency_seconds,
            _describe_error(trial, level),
        )


class _ScenarioFacts:
    """What the suite has of a scenario: prompt, category, what is expected, and the keys of its assertions."""

    def __init__(self, suite: Suite | None, scenario: ScenarioResult, names: dict[str, str]) -> None:
        found = None if suite is None else _find_scenario(suite.scenarios, scenario)
        entry = {} if suite is None else _find_entry(suite.content, scenario.id)
        self._assertions: Sequence[Assertion] = () if found is None else found.assertions
        self._names = names
        self.inputs = {name: entry[name] for name in ("prompt", "category") if isinstance(entry.get(name), str)}
        demand = next((each.written for each in self._assertions if each.type == EXPECTED_TOOL), None)
        self.expected: dict[str, Any] = {}
        self.is_negative: bool | None = None
        if isinstance(demand, dict):
            tool = demand.get(EXPECTED_TOOL) or demand.get("tool")
            self.is_negative = EXPECTED_TOOL in demand and demand[EXPECTED_TOOL] is None
            positive = {EXPECTED_TOOL: tool, "min_calls": demand.get("min_calls") or 1}
            self.expected = {"expected_tool_calls": 0} if self.is_negative else positive

    def list_keys(self, trial: Trial) -> list[str]:
        """The key of each assertion of a trial: its name in the suite, else its type, numbered if that repeats."""
        counts, keys = Counter[str](), list[str]()
        for index, found in enumerate(trial.assertions):
            given = self._find_name(index, found.type)
            slug = _slug(given or found.type)
            counts[slug] += 1
            key = f"assertion.{slug}" if counts[slug] == 1 else f"assertion.{slug}-{counts[slug]}"
            if given is not None and given != slug:
                self._names.setdefault(key, given)
            keys.append(key)
        return keys

    def _find_name(self, index: int, type_name: str) -> str | None:
        if index >= len(self._assertions) or self._assertions[index].type != type_name:
            return None
        written = self._assertions[index].written
        name = written.get("name") if isinstance(written, dict) else None
        return name if isinstance(name, str) and name.strip() else None


def _score_trial(trial: Trial, facts: _ScenarioFacts, *, with_reasons: bool) -> list[PublishedScore]:
    scores = [
        PublishedScore("evalgate.verdict", VERDICTS.get(trial.status)),
        PublishedScore("evalgate.score", trial.score),
    ]
    for key, found in zip(facts.list_keys(trial), trial.assertions, strict=True):
        comment = clean_text(found.reason) if with_reasons else None
        scores.append(PublishedScore(key, found.score if found.outcome in JUDGED else None, None, comment))
    scores += _score_calls(trial, facts)
    for name in ("cost_usd", "latency_seconds", "input_tokens", "output_tokens", "total_tokens"):
        amount = getattr(trial, name)
        if amount is not None:  # an amount that is not recorded is no score
            scores.append(PublishedScore(name, amount, amount))
    return scores


def _score_calls(trial: Trial, facts: _ScenarioFacts) -> list[PublishedScore]:
    """The keys of scheduling suites, for scenarios that expect a tool or none."""
    if facts.is_negative is None:
        return []
    judged = judge_calls(trial)
    if facts.is_negative:
        return [PublishedScore("no_false_trigger", None if judged is None else float(judged[1]))]
    return [
        PublishedScore("correct_tool", None if judged is None else float(judged[0])),
        PublishedScore("correct_count", None if judged is None else float(judged[1])),
    ]


def _describe_error(trial: Trial, level: ContentLevel) -> str | None:
    if trial.status not in {"error", "not_measured"}:
        return None
    return trial.status if level == "none" or not trial.reason else clean_text(f"{trial.status}: {trial.reason}")


def _find_scenario(scenarios: Iterable[Scenario], wanted: ScenarioResult) -> Scenario | None:
    """The scenario of the suite, by its id, else by the pattern that made it."""
    own = [each for each in scenarios if (each.variant.name if each.variant else None) == wanted.variant]
    exact = next((each for each in own if each.id == wanted.id), None)
    return exact or next((each for each in own if each.is_glob and fnmatchcase(wanted.id, each.id)), None)


def _find_entry(content: Mapping[str, Any], scenario: str) -> dict[str, Any]:
    entries = [each for each in content.get("scenarios") or () if isinstance(each, dict)]
    return next((each for each in entries if each.get("id") == scenario), {})


def _build_message(message: Any) -> dict[str, Any]:
    calls = [{"name": each["name"], "arguments": each["arguments"]} for each in message["tool_calls"]]
    return {"role": message["role"], "content": message["content"], **({"tool_calls": calls} if calls else {})}


def _clean_value(value: Any) -> Any:
    """The value redacted, with its texts cut."""
    return _cut(redact_value(value))


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value, MAX_TEXT)
    if isinstance(value, dict):
        return {str(name): _cut(each) for name, each in value.items()}
    return [_cut(each) for each in value] if isinstance(value, list) else value


def _clean(metadata: Mapping[str, str | None]) -> dict[str, str]:
    return {name: clean_text(value, MAX_TEXT) for name, value in metadata.items() if value}


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9_.-]+", "-", text.lower()).strip("-")[: MAX_KEY - len("assertion.-99")] or "assertion"


def _join(*parts: str) -> str:
    return orjson.dumps(parts).decode()


def _only(values: Iterable[str | None]) -> str | None:
    """The one value that all have, None if they differ."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _is_replayed(trace: Trace) -> bool:
    return trace.metadata.get("evalgate.replayed") is True


def _parse_time(text: str | None) -> datetime | None:
    try:
        time = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time
