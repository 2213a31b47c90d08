"""Merges the shards of a run, after checking that they belong together; their content is untrusted."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

from evalgate.application.comparison.rules import config_hash
from evalgate.application.parallel.batch_merger import BatchMerger
from evalgate.application.parallel.shard_codec import decode_batch
from evalgate.application.parallel.shards import digest_of
from evalgate.errors import Location, Problem, SettingError, ShardMissing
from evalgate.models.shards.shard import Shard
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.application.comparison.baseline import LoadedBaseline
    from evalgate.application.evaluation.evaluate import TraceChoice
    from evalgate.application.messages.tools import Tools
    from evalgate.models.run.run import Run
    from evalgate.models.shards.shard import ShardHead
    from evalgate.ports import TraceArchive, TraceSpool
    from evalgate.ports.shards import OpenShard
    from evalgate.suite.models import Configuration

OTHER_SUITES = "name the suites of the shards with --config, at the commit that they judged"
OTHER_BASELINE = "give `merge` the --baseline that the shards were given"
NO_TRACES = "give --no-baseline-zip here, or leave it out where the shards are judged"
HEAD_MISMATCHES = {
    "evalgate_version": "was judged by another version of EvalGate",
    "config_hash": "was judged by other suites",
    "baseline": "was judged beside another baseline",
    "plan": "read other traces",
    "keeps_traces": "keeps traces, or the others do",
    "traces": "was given other --traces",
    "format": "was given another --format",
    "batches": "read other traces",
}


def check_same_run(shards: Sequence[OpenShard]) -> ShardHead:
    """The header that the shards share; raises SettingError, or ShardMissing if some are missing."""
    first, *others = shards
    seen = {first.head.shard: first}
    for other in others:
        if other.head.of != first.head.of:
            message = f"{_shard_name(other)} belongs to a run of as many, {_shard_name(first)} to another"
            raise SettingError(Problem(message, Location(other.path)))
        duplicate = seen.setdefault(other.head.shard, other)
        if duplicate is not other:
            raise SettingError(
                Problem(f"{_shard_name(other)} is here twice: also {duplicate.path}", Location(other.path))
            )
        for name, what in HEAD_MISMATCHES.items():
            if getattr(other.head, name) != getattr(first.head, name):
                raise SettingError(Problem(f"{_shard_name(other)} {what} than {first.path}", Location(other.path)))
    if first.head.evalgate_version != __version__:
        message = f"the shards were judged by EvalGate {first.head.evalgate_version[:20]}, this is {__version__}"
        raise SettingError(Problem(message, Location(first.path)))
    missing = [str(number) for number in range(1, first.head.of + 1) if number not in seen]
    if missing:
        several = len(missing) > 1
        raise ShardMissing(
            f"shard{'s' if several else ''} {', '.join(missing[:20])} of {first.head.of} "
            f"{'are' if several else 'is'} missing: what was to be judged there is not known"
        )
    return first.head


def check_shards(
    shards: Sequence[OpenShard], configuration: Configuration, baseline: LoadedBaseline, *, keeps: bool
) -> None:
    """Raises SettingError for shards of another run, ShardMissing if some are missing."""
    head = check_same_run(shards)
    if head.config_hash != config_hash(configuration) or len(head.batches) != len(configuration.suites):
        raise SettingError(Problem("the shards were judged by other suites than these", None, OTHER_SUITES))
    if head.baseline != digest_of(baseline.results):
        raise SettingError(Problem("the shards were judged beside another baseline", None, OTHER_BASELINE))
    if keeps and not head.keeps_traces:
        raise SettingError(Problem("the shards keep no traces for a baseline", None, NO_TRACES))


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
            raise _damaged_shard(shard, "its batches are not those of this run")
        position += 1
        try:
            merger.take(suite, found)
        except (IndexError, StopIteration):
            raise _damaged_shard(shard, "it speaks of scenarios, checks or traces that there are not") from None
    if position < len(expected):
        raise _damaged_shard(shards[-1], "batches of this run are in none of the shards")
    return merger.finish_run()


def _batches(
    shard: OpenShard, traces: TraceArchive, *, keeps: bool
) -> Iterator[tuple[tuple[int, int], OpenShard, Mapping[str, Any]]]:
    """The batches of a shard, in order, each with its position in the run."""
    share, lines = Shard(shard.head.shard, shard.head.of), shard.read_traces()
    for content in shard.read_batches():
        try:
            found: dict[str, Any] = dict(decode_batch(content))
        except SettingError as error:
            raise _damaged_shard(shard, error.problems[0].message) from None
        suite, batch, kept = found["suite"], found["batch"], found["kept"]
        if not share.has_batch(suite, batch):
            raise _damaged_shard(shard, "it holds what another shard has to judge")
        found["lines"] = None
        if keeps and kept is not None:
            found["lines"] = [_line(shard, lines, traces) for _ in range(kept)]
        yield (suite, batch), shard, found


def _line(shard: OpenShard, lines: Iterator[bytes], traces: TraceArchive) -> bytes:
    line = next(lines, None)
    if line is None or traces.restore_trace(line) is None:
        raise _damaged_shard(shard, "a trace that it keeps can't be read")
    return line


def _shard_name(shard: OpenShard) -> str:
    return f"shard {shard.head.shard}/{shard.head.of}"


def _damaged_shard(shard: OpenShard, reason: str) -> SettingError:
    return SettingError(Problem(f"this is no shard that can be merged: {reason}", Location(shard.path)))
