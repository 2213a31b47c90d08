"""Merges the shards of a run, after checking that they belong together; their content is untrusted."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from evalgate.application.comparison.baseline import config_hash
from evalgate.application.parallel.batched_evaluation import BatchMerger
from evalgate.application.parallel.shards import decode_batch, digest_of
from evalgate.errors import Location, Problem, SettingError, ShardMissing
from evalgate.ports.shards import Shard
from evalgate.scoring.wording import cut_quote
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.application.comparison.baseline import LoadedBaseline
    from evalgate.application.evaluation.evaluate import TraceChoice
    from evalgate.application.messages.request import JudgeRequest, Tools
    from evalgate.application.parallel.batched_evaluation import JudgedBatch
    from evalgate.models.run.run import Run
    from evalgate.ports import TraceArchive, TraceSpool
    from evalgate.ports.shards import OpenShard, ShardHead
    from evalgate.suite.models import Configuration

OTHER_SUITES = "use --config with the suites of the shards, at the commit that they judged"
OTHER_BASELINE = "run `merge` with the --baseline that the shards were judged with"
UNFIT = "it refers to scenarios, checks or traces that do not exist"
NO_TRACES = "use --no-baseline-zip here, or remove it where the shards are judged"
OTHER_CONTENT = "record once, before the shards, and judge them all by these traces"
OTHER_COMMIT = "judge all shards again at this commit, or name theirs by --commit"
HEAD_MISMATCHES = {
    "commit": "judged another commit",
    "evalgate_version": "was judged by a different version of EvalGate",
    "config_hash": "was judged by different suites",
    "baseline": "was compared with a different baseline",
    "plan": "read different traces",
    "keeps_traces": "has a different setting of --no-baseline-zip",
    "traces": "was run with different --traces",
    "format": "was run with a different --format",
    "scenarios": "was run with different --scenario",
    "batches": "read different traces",
}


def check_same_run(shards: Sequence[OpenShard]) -> ShardHead:
    """The header that the shards share; raises SettingError, or ShardMissing if some are missing."""
    first, *others = shards
    seen = {first.head.shard: first}
    for other in others:
        if other.head.of != first.head.of:
            message = f"{_shard_name(other)} and {_shard_name(first)} belong to runs with different numbers of shards"
            raise SettingError(Problem(message, Location(other.path)))
        duplicate = seen.setdefault(other.head.shard, other)
        if duplicate is not other:
            raise SettingError(
                Problem(f"{_shard_name(other)} was given twice: see also {duplicate.path}", Location(other.path))
            )
        for name, what in HEAD_MISMATCHES.items():
            if getattr(other.head, name) != getattr(first.head, name):
                raise SettingError(Problem(f"{_shard_name(other)} {what} than {first.path}", Location(other.path)))
        _require_same_content(first, other)
    if first.head.evalgate_version != __version__:
        message = f"the shards were judged by EvalGate {first.head.evalgate_version[:20]}, this is {__version__}"
        raise SettingError(Problem(message, Location(first.path)))
    missing = [str(number) for number in range(1, first.head.of + 1) if number not in seen]
    if missing:
        several = len(missing) > 1
        raise ShardMissing(
            f"shard{'s' if several else ''} {', '.join(missing[:20])} of {first.head.of} "
            f"{'are' if several else 'is'} missing: {'their' if several else 'its'} results are unknown"
        )
    return first.head


def _require_same_content(first: OpenShard, other: OpenShard) -> None:
    """Raises SettingError if a file had another content for the other shard."""
    pairs = zip(first.head.contents, other.head.contents, strict=False)
    path = next((before[0] for before, now in pairs if before != now), "a file")
    if first.head.contents != other.head.contents:
        message = f"{_shard_name(other)} read different content of {cut_quote(path)} than {first.path}"
        raise SettingError(Problem(message, Location(other.path), OTHER_CONTENT))


def check_shards(
    shards: Sequence[OpenShard], configuration: Configuration, baseline: LoadedBaseline, request: JudgeRequest
) -> None:
    """Raises SettingError for shards of another run, ShardMissing if some are missing."""
    head, commit = check_same_run(shards), request.subject.commit
    if head.commit and commit and head.commit != commit[:200]:
        message = f"the shards judged commit {cut_quote(head.commit)}, this is {cut_quote(commit)}"
        raise SettingError(Problem(message, None, OTHER_COMMIT))
    if head.config_hash != config_hash(configuration) or len(head.batches) != len(configuration.suites):
        raise SettingError(Problem("the shards were judged by different suites than these", None, OTHER_SUITES))
    if head.baseline != digest_of(baseline.results):
        raise SettingError(Problem("the shards were compared with a different baseline", None, OTHER_BASELINE))
    if request.baseline.makes_zip and not head.keeps_traces:
        raise SettingError(Problem("the shards hold no traces for a baseline", None, NO_TRACES))


def merge_shards(
    configuration: Configuration,
    tools: Tools,
    choice: TraceChoice,
    spool: TraceSpool | None,
    shards: Sequence[OpenShard],
) -> Run:
    """The run that one process would have made of what the shards judged."""
    head = shards[0].head
    merger = BatchMerger(configuration, choice, tools.progress, spool)
    expected = [(suite, batch) for suite, count in enumerate(head.batches) for batch in range(count)]
    streams = [_batches(shard, tools.traces, keeps=spool is not None) for shard in shards]
    position = 0
    for (suite, batch), shard, found in heapq.merge(*streams, key=lambda each: each[0]):
        if position == len(expected) or expected[position] != (suite, batch):
            raise _damaged_shard(shard, "its batches do not belong to this run")
        position += 1
        try:
            merger.take(suite, found)
        except (IndexError, StopIteration):
            raise _damaged_shard(shard, UNFIT) from None
    if position < len(expected):
        raise _damaged_shard(shards[-1], "some batches of this run are in no shard")
    return merger.finish_run()


def _batches(
    shard: OpenShard, traces: TraceArchive, *, keeps: bool
) -> Iterator[tuple[tuple[int, int], OpenShard, JudgedBatch]]:
    """The batches of a shard, in order, each with its position in the run."""
    share, lines = Shard(shard.head.shard, shard.head.of), shard.read_traces()
    for content in shard.read_batches():
        try:
            batch = decode_batch(content)
            found = batch.unpack()
        except SettingError as error:
            raise _damaged_shard(shard, error.problems[0].message) from None
        except (IndexError, ValueError):
            raise _damaged_shard(shard, UNFIT) from None
        if not share.has_batch(batch.suite, batch.batch):
            raise _damaged_shard(shard, "it holds a batch that belongs to another shard")
        if keeps and batch.kept is not None:
            found.lines = [_line(shard, lines, traces) for _ in range(batch.kept)]
        yield (batch.suite, batch.batch), shard, found


def _line(shard: OpenShard, lines: Iterator[bytes], traces: TraceArchive) -> bytes:
    line = next(lines, None)
    if line is None or traces.restore_trace(line) is None:
        raise _damaged_shard(shard, "a trace in it can't be read")
    return line


def _shard_name(shard: OpenShard) -> str:
    return f"shard {shard.head.shard}/{shard.head.of}"


def _damaged_shard(shard: OpenShard, reason: str) -> SettingError:
    return SettingError(Problem(f"this shard can't be merged: {reason}", Location(shard.path)))
