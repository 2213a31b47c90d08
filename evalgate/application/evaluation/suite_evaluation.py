"""Collects the judged records of one suite: matches each to a scenario; verdicts follow at the end."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from evalgate.application.evaluation.named_tools import NamedArguments, NamedTools
from evalgate.application.evaluation.scenario_matcher import ScenarioMatcher
from evalgate.application.evaluation.scenario_trials import count_trials
from evalgate.application.evaluation.suite_judge import SuiteJudge, find_named_agents, find_named_skills
from evalgate.measures.numeric.estimates import wilson_interval
from evalgate.measures.redaction.redact import redact
from evalgate.measures.text.ids import cut_middle
from evalgate.measures.text.similar_names import WITHOUT_DOT
from evalgate.measures.values.compact import MOST_SETS
from evalgate.measures.values.json_values import mark_value
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.run.run import ScenarioResult, SuiteResult, TrialResult, UnclaimedTrace
from evalgate.scoring.scenario import judge_scenario
from evalgate.suite.scenarios import DEFAULT_THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evalgate.application.evaluation.behaviours import BehaviourRecorder
    from evalgate.application.evaluation.scenario_matcher import Overlap, ScenarioClaim
    from evalgate.application.evaluation.scenario_trials import CountedTrials
    from evalgate.application.evaluation.suite_judge import JudgedRecord
    from evalgate.application.evaluation.trajectories import BaselineScenarios, WorstTrialRecorder
    from evalgate.application.evaluation.unmet_conditions import UnmetConditions
    from evalgate.evaluators.kinds.calls.similar_tools import SimilarTools
    from evalgate.models.run.golden import GoldenResult
    from evalgate.models.run.run import RunTrial, TraceRef
    from evalgate.models.trace.trace import TraceRecord, Warning_
    from evalgate.suite.models import Scenario, Suite

    KeepTrial = Callable[[TrialResult], RunTrial]


PLAIN_NAME = rf"(?!{'|'.join(WITHOUT_DOT)}|mcp_)[a-z0-9]+(?:_[a-z0-9]+)*"
"""Names of tools that are not written like another, and end like one only where a check names that one."""
ATTEMPT = re.compile(r"(?<=\d)-\d+$")
"""The end of a recording's id by GitHub: the attempts of a run are one recording."""
MAX_HINTS = 20
"""Scenarios without a trace that get a hint."""
MAX_SEEN_IDS, MAX_COMPARED, MAX_NEAR = 1_000, 100, 3


class SuiteEvaluation:
    """The trials of one suite by scenario; see TraceChoice for the other arguments.

    Records must come in reading order. `keep_trial` stores a trial; trials of goldens and of unreadable records
    stay in memory.
    """

    def __init__(
        self,
        suite: Suite,
        baseline: BaselineScenarios,
        worst_trials: WorstTrialRecorder | None = None,
        keep_trial: KeepTrial | None = None,
        behaviours: BehaviourRecorder | None = None,
    ) -> None:
        self._suite, self._baseline, self._worst_trials = suite, baseline, worst_trials
        self._keep_trial, self._behaviours = keep_trial, behaviours
        self._matcher = ScenarioMatcher(suite)
        self._trials: dict[tuple[int, str], list[RunTrial]] = {}  # by index in the suite and id
        self._damaged: dict[str, list[TrialResult]] = {}  # separate scenarios for records that match none
        self._traces = 0
        self._tools: dict[str, str] = {}
        self._latest: TraceRef | None = None
        self._recordings: dict[tuple[int, str], dict[str, str]] = {}
        self.unclaimed: list[UnclaimedTrace] = []
        self.named_tools = NamedTools(suite)
        ends = "|".join(map(re.escape, self.named_tools.list_names()))
        self._plain_name = re.compile(rf"(?!.*_(?:{ends})\Z){PLAIN_NAME}" if ends else PLAIN_NAME)
        self.similar_tools: SimilarTools | None = None
        self.named_agents = find_named_agents(suite)
        self.named_skills = find_named_skills(suite)
        self._arguments: set[str] = set()
        self.conditions = _watch_conditions(suite)

    def add(self, record: TraceRecord) -> None:
        """Judges one record."""
        self.take(self._judge.judge(record))

    @cached_property
    def _judge(self) -> SuiteJudge:
        return SuiteJudge(self._suite, self._baseline)

    def take(self, judged: JudgedRecord) -> None:
        """Adds one judged record to its scenario, or lists it as unclaimed."""
        self._traces += 1
        self._add_tools(judged)
        if self._latest is None or (judged.ref.recorded_at or "") > (self._latest.recorded_at or ""):
            self._latest = judged.ref
        scenario_id, candidates = judged.scenario_id, judged.candidates
        chosen = self._matcher.choose([each.candidate for each in candidates], scenario_id, judged.ref)
        place = None if chosen is None else candidates[chosen].candidate.scenario
        trial = judged.damage if chosen is None or judged.damage is not None else candidates[chosen].trial
        if place is None and judged.damage is not None:
            self._damaged.setdefault(judged.fallback_id, []).append(judged.damage)
        elif place is None or chosen is None or trial is None:
            self.unclaimed.append(UnclaimedTrace(self._suite.name, judged.ref, scenario_id))
        else:
            scenario, id_ = claim = self._matcher.make_claim(place, scenario_id)
            trajectory = candidates[chosen].trajectory
            if trajectory is not None and self._worst_trials is not None:
                key, worst = ScenarioKey(self._suite.name, id_, claim.variant), self._worst_trials
                add = worst.add_new if self._baseline.find_scenario(key) is None else worst.add
                add(key, trial, trajectory)
            behaviour = candidates[chosen].behaviour
            if behaviour is not None and self._behaviours is not None:
                self._behaviours.add(ScenarioKey(self._suite.name, id_, claim.variant), behaviour)
            self.named_tools.add(trial.tool_calls, judged.defined)
            self._add_similar(place, trial.tool_calls, judged)
            if self.named_agents is not None:
                self.named_agents.add(judged.acting)
            if self.named_skills is not None:
                self.named_skills.add(judged.skills)
            self._arguments.update(judged.arguments)
            if self.conditions is not None:
                self.conditions.add(trial)
            kept = trial if scenario.golden is not None else self._keep(trial)
            self._trials.setdefault((place, id_), []).append(kept)
            if (recording := judged.ref.recording) is not None:
                times = self._recordings.setdefault((place, id_), {})
                times.setdefault(ATTEMPT.sub("", recording), judged.ref.recorded_at or "an unknown time")

    def _add_tools(self, judged: JudgedRecord) -> None:
        if judged.tools and judged.ref.tools_hash is not None and len(self._tools) < MOST_SETS:
            self._tools[judged.ref.tools_hash] = judged.tools

    def _add_similar(self, place: int, called: Iterable[str], judged: JudgedRecord) -> None:
        if not judged.spans and not judged.passed and all(map(self._plain_name.fullmatch, called)):
            return
        if self.similar_tools is None:
            from evalgate.evaluators.kinds.calls.similar_tools import SimilarTools  # few agents' tools have such names

            self.similar_tools = SimilarTools()
        scenario = self._suite.scenarios[place]
        where = self._suite.path if scenario.location is None else str(scenario.location)
        checks = [each.written for each in scenario.assertions]
        self.similar_tools.add(place, where, checks, called)
        self.similar_tools.add_spans(place, where, checks, judged.spans)
        self.similar_tools.add_passed(place, where, judged.passed)

    def find_misspelt_arguments(self) -> Iterable[Warning_]:
        """Warns of arguments that the suite names, and that are likely typos of those in its traces."""
        return NamedArguments(self._suite).find_typos(sorted(self._arguments)) if self._arguments else ()

    def _keep(self, trial: TrialResult) -> RunTrial:
        return trial if self._keep_trial is None else self._keep_trial(trial)

    @property
    def overlap(self) -> Overlap | None:
        """A trace that fits two variants."""
        return self._matcher.overlap

    def count(self) -> int:
        """How many scenarios there are, including optional ones without traces."""
        return self._matcher.count() + len(self._damaged)

    def result(self) -> SuiteResult:
        """The result of the suite, once all its traces were added."""
        found = SuiteResult(self._suite.name, self._suite.path, [], traces=self._traces, latest=self._latest)
        found.tool_digests, found.tool_kinds = dict(sorted(self._tools.items())), self._suite.tool_kinds
        hints = MAX_HINTS
        for place, claim in self._matcher.all_claims():
            trials = self._trials.pop((place, claim.id), [])
            # An unreadable file with the name of a scenario is a trial of it. If the scenario has variants,
            # its variant is unknown, so the file is reported as a separate scenario.
            if self._damaged and claim.variant is None:
                unread = self._damaged.pop(claim.id, [])
                trials += unread if claim.scenario.golden is not None else map(self._keep, unread)
            scenario = _scenario_result(claim, count_trials(trials))
            if scenario is not None and scenario.verdict == "MISSING" and hints:
                hints -= 1
                scenario.reason = f"{scenario.reason}{self._suggest_id(claim.id)}"
            if scenario is None:
                found.skipped += 1
            else:
                scenario.recordings = self._recordings.get((place, claim.id), {})
                found.scenarios.append(scenario)
        for id_, unread in sorted(self._damaged.items()):
            found.scenarios.append(_damaged_result(id_, count_trials([*map(self._keep, unread)]).kept))
        return found

    def _suggest_id(self, id_: str) -> str:
        """Names the ids of traces without a scenario that are like this one; empty without any."""
        from difflib import get_close_matches

        ids = sorted({each.scenario_id for each in self.unclaimed[:MAX_SEEN_IDS] if each.scenario_id})
        wanted = id_.replace("*", "").casefold()
        by_prefix = [each for each in ids if wanted and _share_beginning(wanted, each.casefold())]
        close = by_prefix or get_close_matches(wanted[:MAX_COMPARED], [each[:MAX_COMPARED] for each in ids], MAX_NEAR)
        if not close:
            return ""
        left = len(close) - MAX_NEAR
        named = ", ".join(mark_value(cut_middle(redact(each), 120), 200) for each in close[:MAX_NEAR]) + (
            f" and {left:,} more" if left > 0 else ""
        )
        return f"; traces without a scenario have similar ids, did you mean {named}?"


def _watch_conditions(suite: Suite) -> UnmetConditions | None:
    """What notes whether conditions held; None if no check of the suite has one."""
    if not any(each.type == "when" for scenario in suite.scenarios for each in scenario.assertions):
        return None
    from evalgate.application.evaluation.unmet_conditions import UnmetConditions

    return UnmetConditions()


def _share_beginning(first: str, second: str) -> bool:
    return first.startswith(second) or second.startswith(first)


def _scenario_result(claim: ScenarioClaim, found: CountedTrials) -> ScenarioResult | None:
    scenario, trials = claim.scenario, found.kept
    judged = judge_scenario(trials, scenario.threshold, scenario.rules)
    if judged is None:
        return None
    return ScenarioResult(
        claim.id,
        judged.verdict,
        judged.score,
        scenario.threshold,
        trials,
        variant=claim.variant,
        pass_rate=judged.pass_rate,
        pass_rate_interval=judged.interval,
        reason=judged.reason,
        location=scenario.location,
        golden=_golden_result(scenario, trials, judged.score),
        duplicates=found.describe_duplicates(scenario, judged),
        passes_needed=judged.passes_needed,
    )


def _golden_result(scenario: Scenario, trials: Sequence[RunTrial], score: float | None) -> GoldenResult | None:
    if scenario.golden is None:
        return None
    from evalgate.scoring.golden.results import combine_trials

    return combine_trials(scenario.golden, [each for each in trials if isinstance(each, TrialResult)], score)


def _damaged_result(id_: str, trials: Sequence[RunTrial]) -> ScenarioResult:
    return ScenarioResult(
        id_,
        "ERROR",
        0.0,
        DEFAULT_THRESHOLD,
        trials,
        pass_rate=0.0,
        pass_rate_interval=wilson_interval(0, len(trials)),
        reason=trials[0].reason,
    )
