"""Judges the records of one suite, each under every scenario that it may belong to, independently of the others."""

from __future__ import annotations

import hashlib
import re
from functools import cached_property, lru_cache
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from evalgate.application.evaluation.named_tools import NamedTools, list_passed_names
from evalgate.application.evaluation.scenario_matcher import ScenarioCandidate, ScenarioMatcher, UndecidedMatchError
from evalgate.application.evaluation.scenario_selection import may_be_selected
from evalgate.application.evaluation.trace_warnings import format_location
from evalgate.application.evaluation.trajectories import is_worse
from evalgate.evaluators.core.agents import iter_agents
from evalgate.evaluators.core.evaluator import describe_missing, find_missing
from evalgate.evaluators.core.queries import build_getter, query_evidence
from evalgate.measures.jmespath.query import QueryFailedError
from evalgate.measures.redaction.redact import redact
from evalgate.measures.values.compact import MOST_READ, digest_tools, hash_stable_text, hash_tools
from evalgate.measures.values.json_stream import encode_json
from evalgate.measures.values.json_values import mark_name, truncate
from evalgate.models.comparison.behaviour import Behaviour  # noqa: TC001  (the same)
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.comparison.trajectory import Trajectory  # noqa: TC001  (needed when a shard is decoded)
from evalgate.models.run.run import MAX_REQUEST, AssertionResult, TraceRef, TrialResult, TrialStatus
from evalgate.models.trace.trace import BASE_URLS, MAX_ID_LENGTH, MODEL_SETTINGS, DamagedTrace, Trace
from evalgate.scoring.outage import find_outage
from evalgate.scoring.scenario import score_trial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.application.evaluation.named_agents import NamedAgents
    from evalgate.application.evaluation.scores_without_range import ScoresWithoutRange
    from evalgate.application.evaluation.trajectories import BaselineScenarios, WorstTrialRecorder
    from evalgate.evaluators.kinds.calls.similar_tools import SpanNames
    from evalgate.evaluators.kinds.skills.named import NamedSkills
    from evalgate.measures.jmespath.query import Query
    from evalgate.models.trace.trace import TraceRecord
    from evalgate.suite.models import Scenario, Suite

    Scored = tuple[list[AssertionResult], TrialStatus, float | None]


RESPONSE_CACHE = "response-cache"
MOST_ROWS = 10_000
"""Assertion results that are kept because trials may share them."""


class JudgedCandidate(Struct, array_like=True):
    """One scenario that a record may belong to, and its trial under it.

    `trajectory` is set if it did worse than the baseline and may be the worst of its scenario, or if it may be shown of
    a new one, `behaviour` if it was measured and is in the baseline.
    """

    candidate: ScenarioCandidate
    trial: TrialResult | None = None
    trajectory: Trajectory | None = None
    behaviour: Behaviour | None = None


class JudgedRecord(Struct, array_like=True):
    """One record under each scenario that it may belong to; `damage` is its trial if it can't be judged.

    `crossed` is the same record by the baseline's rules, if they differ.
    """

    ref: TraceRef
    scenario_id: str | None
    candidates: list[JudgedCandidate]
    damage: TrialResult | None = None
    fallback_id: str = ""
    crossed: JudgedRecord | None = None
    defined: list[str] = []  # of the tools that the suite names
    arguments: list[str] = []  # of calls and definitions; empty if the suite names none
    acting: list[str] = []  # agents, and names of agents in the suite that they fit; empty if it names none
    skills: list[str] = []  # used or listed; empty if the suite forbids none
    tools: str = ""  # NAME=DIGEST of each tool that is defined; empty if an earlier record defines the same
    passed: dict[str, str] = {}  # denied names that stand in arguments, with the tool that was called with each
    spans: dict[str, bool] = {}  # named like a tool that a check denies, and whether a tool of that name is defined


class SuiteJudge:
    """Judges records by one suite; `worst_trials` selects the trials whose trajectory is reported.

    Of scenarios that are not among the `selected` no assertion is judged, and the trials say nothing.
    """

    def __init__(self, suite: Suite, baseline: BaselineScenarios, selected: Sequence[str] = ()) -> None:
        self._suite, self._baseline, self._selected = suite, baseline, selected
        self._matcher = ScenarioMatcher(suite)
        self._named_tools = NamedTools(suite)
        self._named_agents = find_named_agents(suite)
        self._named_skills = find_named_skills(suite)
        self._scores_without_range = _find_scores_without_range(suite)
        self._shared: dict[tuple[float, ...], Scored] = {}
        self._tools_seen: set[str] = set()
        self._rows = 0
        self.worst_trials: WorstTrialRecorder | None = None

    def judge(self, record: TraceRecord, ref: TraceRef | None = None) -> JudgedRecord:
        """Judges one record; `ref` is the reference to it if that is known already."""
        found = self._judge(record, ref or refer_to(record))
        if isinstance(record, Trace):
            record.kept_view = None  # breaks a reference cycle, so that the trace is freed at once
        return found

    def _judge(self, record: TraceRecord, ref: TraceRef) -> JudgedRecord:
        seen, scenario_id = resolve_scenario_id(self._suite, record)
        if record.source.format == RESPONSE_CACHE and self._suite.scenario_from is None:
            seen, scenario_id = self._resolve_file_name(seen, scenario_id)
        try:
            candidates = self._matcher.candidates(seen, scenario_id)
        except UndecidedMatchError as error:
            seen = _damage_trace(seen, str(error))
            candidates = self._matcher.candidates(seen, scenario_id)
        if isinstance(seen, DamagedTrace):
            found = [JudgedCandidate(each) for each in candidates]
            return JudgedRecord(ref, scenario_id, found, _damaged_trial(seen), seen.fallback_id)
        seen.take_kinds(self._suite.tool_kinds)
        if self._scores_without_range is not None:
            seen.warnings += self._scores_without_range.find_warnings(seen)
        is_sure = len(candidates) == 1
        found = [self._judge_candidate(seen, ref, each, scenario_id, is_sure=is_sure) for each in candidates]
        acting = self._named_agents.find_acting(seen) if self._named_agents is not None else []
        defined, arguments = self._named_tools.find_known(seen)
        skills = self._named_skills.find_known(seen) if self._named_skills is not None else []
        tools = self._digest_new_tools(ref, seen)
        return JudgedRecord(
            ref,
            scenario_id,
            found,
            defined=defined,
            arguments=arguments,
            acting=acting,
            skills=skills,
            tools=tools,
            passed=self._find_passed_names(seen),
            spans=self._span_names.find(seen) if seen.other_spans else {},
        )

    @cached_property
    def _span_names(self) -> SpanNames:
        from evalgate.evaluators.kinds.calls.similar_tools import SpanNames  # few traces need it

        return SpanNames(each.written for scenario in self._suite.scenarios for each in scenario.assertions)

    def _find_passed_names(self, trace: Trace) -> dict[str, str]:
        found = list_passed_names(trace) if self._named_tools.forbids else {}
        return self._span_names.choose_denied(found) if found else {}

    def _digest_new_tools(self, ref: TraceRef, trace: Trace) -> str:
        """The digests of the tools that a trace defines; empty if an earlier one defines the same."""
        if ref.tools_hash is None or ref.tools_hash in self._tools_seen:
            return ""
        self._tools_seen.add(ref.tools_hash)
        return digest_tools(trace.tool_definitions)

    def _resolve_file_name(self, record: TraceRecord, name: str | None) -> tuple[TraceRecord, str | None]:
        """The record of a cached response with the scenario that its file is named after; damaged if two are."""
        ids = self._ids_by_file_name.get(name or "", [name])
        if len(ids) == 1:
            return record, ids[0]
        named = " and ".join(mark_name(each) for each in ids[:2] if each)
        return _damage_trace(record, f"a cached response with this file name may be of {named}: rename one"), None

    @cached_property
    def _ids_by_file_name(self) -> dict[str, list[str | None]]:
        """The ids in the suite by the names of their files in a cache, in which `:` and `/` are `_`."""
        found: dict[str, dict[str, None]] = {}
        for scenario in self._suite.scenarios:
            name = scenario.match.scenario_id
            if name is not None and scenario.match.is_exact:
                found.setdefault(name.replace(":", "_").replace("/", "_"), {})[name] = None
        return {name: [*ids] for name, ids in found.items()}

    def _judge_candidate(
        self, trace: Trace, ref: TraceRef, candidate: ScenarioCandidate, scenario_id: str | None, *, is_sure: bool
    ) -> JudgedCandidate:
        if candidate.scenario is None:
            return JudgedCandidate(candidate)
        claim = self._matcher.make_claim(candidate.scenario, scenario_id)
        if claim.scenario.golden is None and not may_be_selected(self._selected, claim.id, claim.variant):
            return JudgedCandidate(candidate, TrialResult(0, ref, "passed", 1.0, []))
        key = ScenarioKey(self._suite.name, claim.id, claim.variant)
        if claim.scenario.rules.opaque:
            from evalgate.measures.opaque_agents import allow_opaque  # few suites list any

            trace = allow_opaque(trace, claim.scenario.rules.opaque)
        trace.baseline = self._baseline.find_scenario(key)
        trial = self._judge_trace(trace, ref, claim.scenario)
        worst = self.worst_trials
        if worst is None or trial.status == "not_measured":
            return JudgedCandidate(candidate, trial)
        if trace.baseline is None:
            trajectory = self._keep_new(key, trial, trace) if self._baseline.is_given and is_sure else None
            return JudgedCandidate(candidate, trial, trajectory)
        from evalgate.gate.trajectory.behaviour import behaviour_from_trace  # only with a baseline

        behaviour = behaviour_from_trace(trace)
        if not is_worse(trial, trace.baseline) or not worst.wants(key, trial):
            return JudgedCandidate(candidate, trial, behaviour=behaviour)
        from evalgate.gate.trajectory.trajectory_diff import trajectory_from_trace  # few runs need it

        trajectory = trajectory_from_trace(trace)
        if is_sure:
            worst.add(key, trial, trajectory)
        return JudgedCandidate(candidate, trial, trajectory, behaviour)

    def _keep_new(self, key: ScenarioKey, trial: TrialResult, trace: Trace) -> Trajectory | None:
        """The trajectory of a trial that is shown of a scenario that the baseline lacks."""
        if self.worst_trials is None or not self.worst_trials.wants_new(key, trial):
            return None
        from evalgate.gate.trajectory.trajectory_diff import trajectory_from_trace  # few runs need it

        trajectory = trajectory_from_trace(trace)
        self.worst_trials.add_new(key, trial, trajectory)
        return trajectory

    def _judge_trace(self, trace: Trace, ref: TraceRef, scenario: Scenario) -> TrialResult:
        """Judges one trace under one scenario; one that an outage ended is measured if it did what it must not."""
        outage, golden, rows = find_outage(trace), None, None
        if outage is not None:
            from evalgate.application.evaluation.outage_trials import judge_before_outage  # few runs need it

            judged = judge_before_outage(trace, scenario)
            (trace, rows), outage = ((trace, None), outage) if judged is None else (judged, None)
        assertions, status, score = self._score(trace, scenario, rows) if outage is None else ([], "not_measured", None)
        if scenario.golden is not None and outage is None:
            from evalgate.scoring.golden.results import build_golden_trial

            golden = build_golden_trial(scenario.golden, trace)
        latency_ms, usage = trace.latency["total_ms"], trace.usage
        return TrialResult(
            0,
            ref if status in NEEDS_NO_REQUEST else replace(ref, request=find_request(trace)),
            status,
            score,
            assertions,
            trace.cost["usd"],
            None if latency_ms is None else latency_ms / 1000,
            usage["total_tokens"],
            trace.called,
            outage,
            usage["input_tokens"],
            usage["output_tokens"],
            trace.pricing,
            golden,
        )

    def _score(self, trace: Trace, scenario: Scenario, rows: list[AssertionResult] | None = None) -> Scored:
        """The results of a scenario's assertions; those that many trials share are computed once, up to a limit."""
        rows = rows or [assertion.assess(trace) for assertion in scenario.assertions]
        if trace.status == "error" and scenario.rules.run_status == "ok":
            from evalgate.scoring.run_end import build_failed_check  # few runs need it

            rows.append(build_failed_check(trace, scenario.location, has_weight=scenario.golden is None))
            return rows, *score_trial(rows, scenario.threshold)
        key = (scenario.threshold, *map(id, rows))  # rows are kept, so their identities stay unique
        found = self._shared.get(key)
        if found is None:
            found = rows, *score_trial(rows, scenario.threshold)
            if self._rows < MOST_ROWS and all(row.is_shared for row in rows):
                self._shared[key] = found
                self._rows += len(rows)
        return found


def find_named_agents(suite: Suite) -> NamedAgents | None:
    """The agents that checks of the suite name; None if they name none."""
    if not any(any(iter_agents(each.written)) for scenario in suite.scenarios for each in scenario.assertions):
        return None
    from evalgate.application.evaluation.named_agents import NamedAgents

    return NamedAgents(suite)


def find_named_skills(suite: Suite) -> NamedSkills | None:
    """The skills that checks of the suite forbid; None if none is named."""
    assertions = [each for scenario in suite.scenarios for each in scenario.assertions]
    if all(each.versions.keys().isdisjoint({"no_skill", "skill_used"}) for each in assertions):
        return None
    from evalgate.evaluators.kinds.skills.named import NamedSkills

    return NamedSkills(assertions, suite.name, suite.path)


def _find_scores_without_range(suite: Suite) -> ScoresWithoutRange | None:
    """The recorded scores that the suite checks on an unknown scale; None without a check of one."""
    if not any("recorded_score" in each.versions for scenario in suite.scenarios for each in scenario.assertions):
        return None
    from evalgate.application.evaluation.scores_without_range import ScoresWithoutRange

    return ScoresWithoutRange(suite)


def refer_to(record: TraceRecord) -> TraceRef:
    """The reference to a record in reports."""
    if isinstance(record, Trace):
        return ref_of(record)
    source = record.source
    return TraceRef(None, source.path, source.format, source.sha256, source.line, source.record, number=record.trial)


def resolve_scenario_id(suite: Suite, record: TraceRecord) -> tuple[TraceRecord, str | None]:
    """The record with the scenario id that the suite assigns to it; damaged if that fails."""
    if suite.scenario_from is None:
        return record, record.scenario_id
    scenario_id, problem = _scenario_id(suite.scenario_from, record)
    if problem is not None:
        return _damage_trace(record, problem), scenario_id
    return record, scenario_id


def _scenario_id(expression: Query, record: TraceRecord) -> tuple[str | None, str | None]:
    """The record's scenario id according to `scenario_from`, and what is wrong with it."""
    if isinstance(record, DamagedTrace):
        return None, None  # an expression needs a readable trace
    if record.gaps and (missing := find_missing(record, query_evidence(expression))):
        return None, f"scenario_from: {describe_missing(record, missing)}"
    try:
        found = _look_for(expression)(record)
    except QueryFailedError as error:
        return None, f"scenario_from: {error}"
    if found is None:
        return record.scenario_id, None
    if isinstance(found, int) and not isinstance(found, bool):
        found = str(found)
    if not isinstance(found, str) or not 0 < len(found) <= MAX_ID_LENGTH:
        return None, f"scenario_from finds no text of 1 to {MAX_ID_LENGTH} characters in this trace"
    record.scenario_id = found
    return found, None


_look_for = lru_cache(maxsize=256)(build_getter)


def _damage_trace(record: TraceRecord, reason: str) -> DamagedTrace:
    """An unreadable record in place of one that can't be assigned to a scenario."""
    source = record.source
    fallback_id = source.path if source.line is None else f"{source.path}#L{source.line}"
    return DamagedTrace(reason, source, fallback_id)


def _damaged_trial(record: DamagedTrace) -> TrialResult:
    """The trial of a record that can't be read."""
    reason = f"{format_location(record.source)}: {record.reason}"
    return TrialResult(record.trial or 0, refer_to(record), "error", 0.0, [], reason=reason)


def find_request(trace: Trace) -> str | None:
    """What the user asked for first in the run, cut; None without a text."""
    request = trace.first_request
    return None if request is None else truncate(request, MAX_REQUEST)


NEEDS_NO_REQUEST = frozenset({"passed", "not_measured"})
"""Statuses of trials of which reports show no request."""
MAX_MODEL_NAME = 200
SKILLS, MAX_SKILLS = "evalgate.skills", 2_000
"""The metadata that names the skills of an agent, each as NAME=DIGEST, and the characters of it that are kept."""
DIGEST_BITS = 52
"""Few enough for JSON, and enough to distinguish the trials of one scenario."""
_SPOKEN = itemgetter("role", "content")
_CALLED = itemgetter("name", "arguments")
_ANSWERED = itemgetter("name", "arguments", "result_text")


def ref_of(trace: Trace) -> TraceRef:
    """The reference to a trace in reports."""
    source = trace.source
    return TraceRef(
        trace.trace_id,
        source.path,
        source.format,
        source.sha256,
        source.line,
        source.record,
        trace.commit,
        trace.agent_hash,
        trace.started_at or trace.ended_at,
        None,
        trace.model and truncate(trace.model, MAX_MODEL_NAME),
        hash_tools(trace.tool_definitions) if trace.tool_definitions else None,
        hash_stable_text(trace.system_instructions) if trace.system_instructions else None,
        *identify_trace(trace),
        trace.trial,
        trace.started_at,
        None if trace.status == "ok" else trace.status,
        trace.stopped_by,
        _digest_recording(trace),
        _read_recording_id(trace),
        skills=_read_skills(trace),
        asked=_read_asked(trace),
        prompt_dates=_list_prompt_dates(trace),
    )


def identify_trace(trace: Trace) -> tuple[int | None, int]:
    """Digests of what a trace is called, by its id or else its bytes, and of its conversation; computed once."""
    found: tuple[int | None, int] | None = trace.identity
    if found is None:
        found = trace.identity = (_digest_name(trace), _digest_conversation(trace))
    return found


def _digest_name(trace: Trace) -> int | None:
    """The digest of the recorded trace id; without one, of the record, whatever its blanks and line ends."""
    source = trace.source
    if trace.trace_id and not (source.sha256 and trace.trace_id.startswith(source.sha256[:32])):
        return _digest(["id", trace.trace_id])
    if trace.record is not None:
        return _digest(["record", trace.record])
    if source.record is None:
        return _digest(["bytes", source.sha256]) if source.sha256 else None
    figures = [trace.trial, trace.usage, trace.cost, trace.latency, trace.started_at, trace.ended_at, trace.status]
    return _digest([*figures, trace.model, trace.tags, trace.evaluations, trace.metadata, _digest_conversation(trace)])


REPLAYED, RECORDING_ID = "evalgate.replayed", "evalgate.recording_id"
OWN_METADATA = "evalgate."


def _digest_recording(trace: Trace) -> int | None:
    """The digest of what was recorded of a run, whatever it is called; None if it was replayed.

    Scenario, trial, ids, tags, scores, metadata and commit are left out, for they can be given to a recording later; a
    cost that was computed follows from the rest.
    """
    if trace.metadata.get(REPLAYED):
        return None
    cost = trace.cost["usd"] if trace.cost["source"] == "recorded" else None
    figures = [trace.usage, cost, trace.latency, trace.started_at, trace.ended_at]
    rest = [trace.status, trace.error, trace.model, trace.response, trace.tool_definitions, trace.system_instructions]
    is_timed = (trace.started_at or trace.ended_at) is not None
    left = [] if is_timed else _list_distinctions(trace)
    return _digest([identify_trace(trace)[1], *figures, *rest, trace.state, *left])


def _list_distinctions(trace: Trace) -> list[Any]:
    """What else may distinguish a run without a time from another one, such as a time that no field of a trace is for.

    Short answers to requests that are not recorded are often equal in several scenarios, but take not equally long.
    """
    times = [time for message in trace.messages if (time := message["timestamp"])]
    metadata = {name: value for name, value in trace.metadata.items() if not name.startswith(OWN_METADATA)}
    is_known = trace.first_request is not None or bool(trace.latency["total_ms"])
    return [times, metadata, None if is_known else trace.scenario_id]


def _read_recording_id(trace: Trace) -> str | None:
    found = trace.metadata.get(RECORDING_ID)
    return truncate(found, MAX_ID_LENGTH) if isinstance(found, str) and found else None


def _read_skills(trace: Trace) -> str | None:
    found = trace.metadata.get(SKILLS)
    return truncate(found, MAX_SKILLS) if isinstance(found, str) and found else None


_ADDRESS = re.compile(r"([a-z0-9_-]{1,40})(=https://[^\s?#@]{1,200})?")


def _read_asked(trace: Trace) -> str | None:
    """Where a recorded model was asked, and with which settings; where answers were replayed, it was not asked."""
    settings, named = trace.metadata.get(MODEL_SETTINGS), trace.metadata.get(BASE_URLS)
    parts = [settings] if isinstance(settings, str) else []
    if isinstance(named, str):
        parts.insert(0, f"address={','.join(sorted(map(_clean_address, named.split(','))))}")
    elif parts and not trace.metadata.get(REPLAYED):
        parts.insert(0, "address=default")
    return truncate(" ".join(parts), MAX_SKILLS) if parts else None


def _clean_address(named: str) -> str:
    """PROVIDER=URL, or PROVIDER alone if the URL is not plain or may hold a secret."""
    found = _ADDRESS.match(named)
    is_plain = found is not None and found[0] == named == redact(named)
    return named if is_plain else found[1] if found is not None else "other"


_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
MOST_DATES = 20


def _list_prompt_dates(trace: Trace) -> str | None:
    """The day of the run and the first dates in its system prompt; None without either."""
    day = _DATE.match(trace.started_at or "")
    found = _find_dates(trace.system_instructions) if day and trace.system_instructions else ""
    return f"{day[0]} {found}" if day and found else None


@lru_cache(maxsize=32)
def _find_dates(text: str) -> str:
    return " ".join(each[0] for each in islice(_DATE.finditer(text, 0, MOST_READ), MOST_DATES))


def _digest_conversation(trace: Trace) -> int:
    spoken = list(map(_SPOKEN, trace.messages))
    has_results = len(spoken) > len(trace.tool_calls)  # results are messages too
    return _digest([spoken, list(map(_CALLED if has_results else _ANSWERED, trace.tool_calls))])


def _digest(value: Any) -> int:
    try:
        data = encode_json(value)
    except TypeError:  # an integer of more than 64 bits, or half of a surrogate pair
        data = repr(value).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big") >> (64 - DIGEST_BITS)
