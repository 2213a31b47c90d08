"""Builds what leaves for trackers from a finished run: its results, and the suites and traces next to them."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec
import orjson
from msgspec import Struct, field

from evalgate.application.comparison.baseline import NAME
from evalgate.application.documents.run_documents import run_of
from evalgate.application.documents.run_identity import run_identity
from evalgate.application.evaluation.trajectories import source_of
from evalgate.errors import InvalidInput
from evalgate.features.track.application.published_names import MAX_KEY, MAX_TEXT, PublishedNames
from evalgate.features.track.models import PublishedRow, PublishedRun, PublishedScore, PublishedSuite
from evalgate.measures.redaction.redact import redact_value
from evalgate.models.run.run import HARD_FAILS
from evalgate.ports.outputs import Rendered
from evalgate.reporting.results.clean_values import clean_text
from evalgate.scoring.run_statistics import EXPECTED_TOOL, judge_calls
from evalgate.suite.baseline_suites import parse_baseline_suites

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.features.track.feature import ContentLevel
    from evalgate.features.track.models import TrackingContext, TrackingOptions
    from evalgate.models.results.baseline_run import TracePosition
    from evalgate.models.results.results import ResultsDoc, SuiteDoc
    from evalgate.models.run.run import AnyAssertion, ScenarioResult, Trial
    from evalgate.models.trace.trace import Trace
    from evalgate.ports import BaselineFiles, TraceArchive
    from evalgate.ports.outputs import OutputSource
    from evalgate.suite.models import Scenario, Suite

MAX_MESSAGES = 200
MOST_TEXT = 50_000_000
"""Bytes of answers and conversations that are held for one run."""
YEARS = range(1971, 3000)
EARLIEST = datetime(YEARS[0], 1, 1, tzinfo=UTC)
LONGEST = 1e8
"""Seconds of a trial; whatever is longer was not measured."""
RUN_DIGITS = 12
REGRESSIONS, IMPROVEMENTS = frozenset({"regressed", "broken"}), frozenset({"improved", "fixed"})
CHANGED = REGRESSIONS | IMPROVEMENTS | {"new"}
VERDICTS = {"passed": 1.0, "failed": 0.0, "hard_fail": 0.0}
"""The trials that were judged; of others the verdict is unknown, never 0."""
JUDGED = frozenset({"passed", "failed"})


class TraceTexts(Struct):
    """What leaves of a trace besides its results."""

    started_at: str | None
    is_replayed: bool
    answer: Any = None
    messages: list[dict[str, Any]] = field(default_factory=list)


class TrackedRun(Struct):
    """A run as its folder holds it; without its baseline.zip there are no suites and no traces.

    `has_texts` is whether the traces hold the texts that the content level lets leave.
    """

    results: ResultsDoc
    manifest: Mapping[str, Any] = field(default_factory=dict)
    suites: dict[str, Suite] = field(default_factory=dict)
    traces: dict[TracePosition, TraceTexts] = field(default_factory=dict)
    has_texts: bool = False


def load_finished(files: BaselineFiles, archive: TraceArchive, source: str, content: ContentLevel) -> TrackedRun:
    """Reads the run at `source`, a results.json or a baseline.zip; raises InvalidInput."""
    loaded = files.load(source)
    path = source if loaded.manifest is not None else posixpath.join(posixpath.dirname(source), NAME)
    try:
        kept = loaded if loaded.manifest is not None else files.load(path)
        if any(kept.results[name] != loaded.results[name] for name in ("created_at", "commit")):
            return TrackedRun(loaded.results)
        suites_json = files.read_suites(path)
        traces, has_texts = read_texts(files.read_traces(path), archive.restore_trace, content)
    except InvalidInput:
        return TrackedRun(loaded.results)
    found = None if suites_json is None else parse_baseline_suites(orjson.loads(suites_json))
    suites = {} if found is None else {suite.name: suite for suite in found.configuration.suites}
    return TrackedRun(loaded.results, kept.manifest or {}, suites, traces, has_texts)


def read_texts(
    lines: Iterable[bytes], restore: Callable[[bytes], Trace | None], content: ContentLevel
) -> tuple[dict[TracePosition, TraceTexts], bool]:
    """What leaves of the stored traces, by their positions, and whether there are traces and all of their texts.

    If these are larger than 50 MB together, none leaves.
    """
    found: dict[TracePosition, TraceTexts] = {}
    size = 0
    for line in lines:
        place = source_of(line)
        trace = None if place is None else restore(line)
        if place is None or trace is None:
            continue
        texts = TraceTexts(trace.started_at, trace.metadata.get("evalgate.replayed") is True)
        if content != "none" and size <= MOST_TEXT:
            texts.answer = _clean_value(trace.response["content"])
            if content == "full":
                texts.messages = [_clean_value(_build_message(each)) for each in trace.messages[:MAX_MESSAGES]]
            size += len(orjson.dumps([texts.answer, texts.messages]))
        found[place] = texts
    if size > MOST_TEXT:
        for texts in found.values():
            texts.answer, texts.messages = None, []
    return found, bool(found) and size <= MOST_TEXT


def build_published_run(finished: TrackedRun, context: TrackingContext, content: ContentLevel) -> PublishedRun:
    """The run as it may leave. From a fork only ids and numbers leave, to a dataset of its own."""
    level: ContentLevel = "none" if context.is_fork else content
    builder = _RunBuilder(finished, context, level)
    run = run_of(finished.results)
    documents = zip(finished.results["suites"], run.suites, strict=True)
    suites = [builder.build_suite(document, suite.scenarios) for document, suite in documents]
    is_complete = level == "none" or finished.has_texts or not any(suite.rows for suite in suites)
    return PublishedRun(suites, builder.names.base_branch, is_complete)


def render_published_run(source: OutputSource, options: TrackingOptions) -> Rendered:
    """The document of a run as it may leave, or of a report, of which only ids and numbers are known."""
    trials = sum(len(each["trials"]) for suite in source.results["suites"] for each in suite["scenarios"])
    if options.most_trials is not None and trials > options.most_trials:
        return Rendered(None, [f"not tracked: the run has {trials:,} trials, and {options.most_trials:,} are the most"])
    level: ContentLevel = "none" if options.context.is_fork else options.content
    traces = source.traces
    finished = TrackedRun(
        source.results,
        {"run": source.subject.run_id, "branch": source.subject.branch},
        {suite.name: suite for suite in source.suites},
        *({}, False) if traces is None else read_texts(traces.lines(), traces.restore, level),
    )
    return Rendered(msgspec.json.encode(build_published_run(finished, options.context, level)))


def make_names(
    context: TrackingContext, run_id: str | None, branch: str | None, commit: str | None, default: str = ""
) -> PublishedNames:
    """The names of a run of this id, branch and commit; `default` is its id if neither it nor the context has one."""
    known = run_id or context.run_id
    attempt = context.attempt if known == context.run_id else "1"
    return PublishedNames(context, known or default, attempt, context.branch or branch, commit)


class _RunBuilder:
    def __init__(self, finished: TrackedRun, context: TrackingContext, level: ContentLevel) -> None:
        self._finished, self._level = finished, level
        run_id, branch = (_as_text(finished.manifest.get(name)) for name in ("run", "branch"))
        results = finished.results
        default = run_identity(results, None)[:RUN_DIGITS]
        self.names = make_names(context, run_id, branch, results["commit"], default)
        self._started = _parse_time(results["created_at"]) or EARLIEST

    def build_suite(self, document: SuiteDoc, scenarios: Sequence[ScenarioResult]) -> PublishedSuite:
        name = document["suite"]
        suite = self._finished.suites.get(name)
        shown: dict[str, str] = {}
        changes = [each["change"] for each in document["scenarios"]]
        rows = [
            self._build_row(name, scenario, trial, facts, is_changed=change is not None and change["kind"] in CHANGED)
            for scenario, change in zip(scenarios, changes, strict=True)
            for facts in (_ScenarioFacts(suite, scenario, shown),)
            for trial in scenario.trials
        ]
        metadata = {**self._build_metadata(document, suite), **(shown if self._level != "none" else {})}
        return PublishedSuite(
            name,
            self.names.name_dataset(name),
            self.names.name_experiment(name),
            rows,
            _score_suite(document),
            {**_clean(metadata), **self.names.describe(name)},
        )

    def _build_metadata(self, document: SuiteDoc, suite: Suite | None) -> dict[str, str | None]:
        results, baseline = self._finished.results, self._finished.results["baseline"]
        traces = [trial.trace for scenario in document["scenarios"] for trial in scenario["trials"]]
        text = None if suite is None else orjson.dumps(redact_value(suite.content), option=orjson.OPT_SORT_KEYS)
        return {
            "base_commit": baseline["sha"] if baseline else None,
            "baseline_status": baseline["status"] if baseline else None,
            "suite_sha256": None if text is None else sha256(text).hexdigest(),
            "verdict": results["verdict"],
            "agent_hash": _only(trace.agent_hash for trace in traces),
            "model": _only(trace.model for trace in traces),
            "replayed": "true" if any(texts.is_replayed for texts in self._finished.traces.values()) else None,
        }

    def _build_row(
        self, suite: str, scenario: ScenarioResult, trial: Trial, facts: _ScenarioFacts, *, is_changed: bool
    ) -> PublishedRow:
        place = trial.trace
        texts = self._finished.traces.get((place.path, place.line, place.record))
        variant, level = scenario.variant, self._level
        ids = {"scenario": scenario.id, **({} if variant is None else {"variant": variant})}
        outputs: dict[str, Any] = {"call_count": len(trial.tool_calls)}
        if level != "none":
            outputs["tool_call_names"] = _clean_value(list(trial.tool_calls))
            if texts is not None:
                outputs["answer"] = texts.answer
        if level == "full" and texts is not None:
            outputs["messages"] = texts.messages
        metadata = {"trial": str(trial.trial), "status": trial.status, "suite": suite, "model": place.model}
        started = _parse_time(None if texts is None else texts.started_at)
        latency = trial.latency_seconds
        return PublishedRow(
            self.names.make_row_id(suite, scenario.id, variant, trial.trial),
            clean_text(scenario.id),
            variant,
            trial.trial,
            _clean_value({**ids, **(facts.inputs if level != "none" else {})}),
            _clean_value(facts.expected if level != "none" else {}),
            outputs,
            _score_trial(trial, facts, with_reasons=level == "full"),
            _clean(metadata),
            started or self._started,
            latency if latency is not None and 0 <= latency <= LONGEST else None,
            _describe_error(trial, level),
            is_changed,
        )


def _score_suite(document: SuiteDoc) -> list[PublishedScore]:
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
        assertions: Sequence[AnyAssertion] = trial.assertions
        for index, found in enumerate(assertions):
            given = self._find_name(index, found.type)
            slug = _slug(clean_text(given or found.type))
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
    assertions: Sequence[AnyAssertion] = trial.assertions
    for key, found in zip(facts.list_keys(trial), assertions, strict=True):
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


def _only(values: Iterable[str | None]) -> str | None:
    """The one value that all have, None if they differ."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _as_text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _parse_time(text: str | None) -> datetime | None:
    try:
        time = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    if time.year not in YEARS:  # beyond what can be added to and compared everywhere
        return None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time
