"""Judges one shard of a run, for `merge` to combine with the others: redacted lines of JSON, read as untrusted data."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from itertools import chain
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import orjson
from msgspec import Struct
from msgspec.structs import replace

from evalgate.application.comparison.baseline import config_hash, load_baseline, rules_of
from evalgate.application.comparison.changed_rules import RuleSources, find_changed_rules
from evalgate.application.comparison.price_comparison import reprice_baseline
from evalgate.application.evaluation.cross_scorer import MAX_CROSS_SCORED
from evalgate.application.evaluation.evaluate import TraceChoice
from evalgate.application.evaluation.run_checks import check_traces
from evalgate.application.evaluation.suite_judge import JudgedRecord  # noqa: TC001  (needed for decoding)
from evalgate.application.evaluation.trajectories import BaselineScenarios
from evalgate.application.parallel.batched_evaluation import BatchDispatcher, BatchJudge, BatchPlan, JudgedBatch
from evalgate.errors import SettingError
from evalgate.measures.redaction.redact import redact, redact_value
from evalgate.models.run.golden import Index  # noqa: TC001  (needed for decoding)
from evalgate.models.run.run import AssertionResult, TrialResult  # noqa: TC001  (needed for decoding)
from evalgate.models.trace.trace import Warning_  # noqa: TC001  (needed for decoding)
from evalgate.ports.shards import ShardHead
from evalgate.reporting.results.clean_values import clamp_count
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.application.messages.request import JudgeRequest, Tools
    from evalgate.application.parallel.batched_evaluation import NumberedBatch
    from evalgate.models.results.baseline_run import BaselineRun
    from evalgate.ports.batches import EvaluationPools
    from evalgate.ports.shards import Shard, ShardDraft
    from evalgate.suite.models import Configuration


class ShardBatch(Struct, forbid_unknown_fields=True):
    """One batch of one suite. `assertions` are the lists that trials share; `places` has that of each trial.

    `kept` is the number of its traces that the shard holds for a baseline.
    """

    suite: Index
    batch: Index
    kept: Index | None
    size: Index
    records: list[JudgedRecord]
    assertions: list[list[AssertionResult]]
    places: list[Index]
    warnings: list[tuple[Warning_, Index]]
    unpriced: dict[str, Index]

    def unpack(self) -> JudgedBatch:
        """The batch as it was judged, without its traces; raises IndexError if parts do not fit."""
        trials = [trial for record in self.records for trial in _list_trials(record)]
        for trial, place in zip(trials, self.places, strict=True):
            trial.assertions = self.assertions[place]
        return JudgedBatch(
            is_judged=True, records=self.records, warnings=self.warnings, unpriced=self.unpriced, size=self.size
        )


_DECODER = msgspec.json.Decoder(ShardBatch)


def encode_batch(suite: int, batch: int, found: JudgedBatch) -> bytes:
    """Encodes a batch, which is used up, as a line of JSON with all text of traces redacted."""
    lists: dict[int, tuple[int, list[AssertionResult]]] = {}  # by identity
    places = []
    for trial in chain.from_iterable(map(_list_trials, found.records)):
        place, _ = lists.setdefault(id(trial.assertions), (len(lists), trial.assertions))
        places.append(place)
        trial.assertions = []
    texts = {
        "records": found.records,
        "assertions": [assertions for _, assertions in lists.values()],
        "warnings": found.warnings,
        "unpriced": found.unpriced,
    }
    document = {
        "suite": suite,
        "batch": batch,
        "kept": None if found.lines is None else len(found.lines),
        "size": found.size,
        "places": places,
        **{name: make_plain(msgspec.to_builtins(value)) for name, value in texts.items()},
    }
    return msgspec.json.encode(document) + b"\n"


def decode_batch(line: bytes) -> ShardBatch:
    """Decodes a batch; raises SettingError if invalid."""
    try:
        return _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise SettingError("a batch in it is invalid: create the shard again with this version") from None


def _list_trials(record: JudgedRecord) -> Iterator[TrialResult]:
    """All trials of a record, in order."""
    if record.damage is not None:
        yield record.damage
    for candidate in record.candidates:
        if candidate.trial is not None:
            yield candidate.trial
    if record.crossed is not None:
        yield from _list_trials(record.crossed)


def make_plain(value: Any, *, is_clean: bool = False) -> Any:
    """A value as JSON, redacted; `is_clean` if secret fields are emptied already."""
    if isinstance(value, dict):
        clean = value if is_clean else redact_value(value)
        return {_without_secrets(str(key)): make_plain(item, is_clean=True) for key, item in clean.items()}
    if isinstance(value, list | tuple):
        return [make_plain(item, is_clean=is_clean) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        if isinstance(value, int):
            return clamp_count(value)
        return value if isfinite(value) else None
    return _without_secrets(str(value))


@lru_cache(maxsize=16_384)
def _without_secrets(text: str) -> str:
    return redact(text if text.isascii() else text.encode("utf-8", "replace").decode())


MOST_KEPT = 256 * 1024 * 1024
"""How many bytes of traces a baseline can hold, unpacked."""


class ShardSummary(NamedTuple):
    """Counts of a shard: its traces, its batches, and the batches of the run."""

    traces: int
    batches: int
    of_batches: int


def judge_shard(
    request: JudgeRequest, tools: Tools, shard: Shard, pools: EvaluationPools, draft: ShardDraft
) -> ShardSummary:
    """Judges the shard's share and writes it. Raises InvalidInput, as for a run that can't start."""
    now = tools.clock.now()
    configuration = tools.suites.load(request.sources.configs)
    check_traces(configuration, request.sources, tools.traces)
    baseline = load_baseline(request.baseline, tools.baselines, rules_of(configuration), now)
    digest = digest_of(baseline.results)
    if baseline.results is not None:
        baseline = replace(baseline, results=reprice_baseline(baseline.results, configuration, tools.prices))
    sources = RuleSources(tools.baselines, tools.traces, tools.prices)
    rules = find_changed_rules(configuration, baseline, sources, request)
    choice = TraceChoice(
        *(request.sources.traces, request.sources.form, BaselineScenarios(baseline.results), tools.prices),
        cross_scorer=rules.cross_scorer,
        scenarios=request.sources.scenarios,
    )
    chosen = [choice.resolve_for_suite(suite)[:2] for suite in configuration.suites]
    source, engine, encode_line = pools.open(chosen) or pools.open_in_process()
    plan = BatchPlan(configuration, source, choice, shard.of)
    contents = [(_without_secrets(path)[:4_096], digest) for path, digest in plan.digest_files()]
    share = _Share(shard, draft, keeps=request.baseline.makes_zip, crosses=rules.cross_scorer is not None)
    try:
        engine.begin(BatchJudge(configuration, choice, source, encode_line))
        for batch, found in BatchDispatcher(plan, engine).judge_batches(share):
            tools.progress.advance("traces", len(found.records))
            share.take(batch.suite, batch.number, found)
    finally:
        engine.close()
        tools.progress.finish()
    draft.finish(_build_head(request, configuration, shard, share, digest, contents))
    return ShardSummary(share.traces, share.batches, sum(share.counts))


class _Share:
    """Receives what one shard judges, and records all batches of the run for the plan's fingerprint."""

    def __init__(self, shard: Shard, draft: ShardDraft, *, keeps: bool, crosses: bool) -> None:
        self._shard, self._draft = shard, draft
        self._crosses = crosses
        self.keeps = keeps
        self.is_full = not keeps
        self.traces = self.batches = 0
        self.counts: list[int] = []
        self._kept_bytes = 0
        self._plans: dict[int, Any] = {}

    def has(self, batch: NumberedBatch) -> bool:
        """Whether the batch belongs to this shard; called for every batch of the run, in order."""
        while len(self.counts) <= batch.suite:
            self.counts.append(0)
        self.counts[batch.suite] += 1
        plan = self._plans.setdefault(batch.suite, hashlib.sha256())
        plan.update(orjson.dumps(_fingerprint(batch)))
        return self._shard.has_batch(batch.suite, batch.number)

    def wants_crossed(self, suite: int) -> bool:  # noqa: ARG002  all suites share one limit
        """Whether to judge by the baseline's rules as well; a whole run never does so more often."""
        return self._crosses and self.traces <= MAX_CROSS_SCORED

    def take(self, suite: int, number: int, found: JudgedBatch) -> None:
        """Writes the results of a batch."""
        self.traces += len(found.records)
        self.batches += 1
        lines = found.lines or ()
        self._kept_bytes += sum(map(len, lines))
        self.is_full = self.is_full or self._kept_bytes > MOST_KEPT
        self._draft.add(encode_batch(suite, number, found), lines)

    def plan(self) -> str:
        """The fingerprint of all files and batches of the run."""
        plans = [(suite, plan.hexdigest()) for suite, plan in sorted(self._plans.items())]
        return hashlib.sha256(orjson.dumps(plans)).hexdigest()


def digest_of(baseline: BaselineRun | None) -> str | None:
    """Identifies the baseline that a shard was compared with."""
    return None if baseline is None else hashlib.sha256(baseline.fingerprint.encode()).hexdigest()


def _fingerprint(batch: NumberedBatch) -> list[Any]:
    files, stretch, groups = batch.batch
    parts = [[(part.file.path, part.size, part.sha256) for part in group] for group in groups]
    return [batch.number, [file.path for file in files], stretch and stretch[:4], parts]


def _build_head(
    request: JudgeRequest,
    configuration: Configuration,
    shard: Shard,
    share: _Share,
    digest: str | None,
    contents: list[tuple[str, str]],
) -> ShardHead:
    suites = len(configuration.suites)
    return ShardHead(
        evalgate_version=__version__,
        shard=shard.number,
        of=shard.of,
        config_hash=config_hash(configuration),
        baseline=digest,
        plan=share.plan(),
        contents=contents,
        keeps_traces=share.keeps,
        traces=None if request.sources.traces is None else list(request.sources.traces),
        format=request.sources.form,
        scenarios=list(request.sources.scenarios),
        batches=[*share.counts, *[0] * (suites - len(share.counts))],
        commit=request.subject.commit and request.subject.commit[:200],
    )
