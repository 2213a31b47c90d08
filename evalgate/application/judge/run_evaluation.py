"""Judges traces in this process, or by workers if there are enough traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.application.evaluation.evaluate import evaluate

if TYPE_CHECKING:
    from evalgate.application.evaluation.evaluate import TraceChoice
    from evalgate.application.messages.tools import Tools
    from evalgate.models.run.run import Run
    from evalgate.ports import TraceSpool
    from evalgate.suite.models import Configuration


def run_evaluation(
    configuration: Configuration, tools: Tools, choice: TraceChoice, spool: TraceSpool | None
) -> Run:
    """Returns the run; it is the same whichever process judged it."""
    if tools.shards is not None:
        from evalgate.application.parallel.shard_merge import merge_shards

        return merge_shards(configuration, tools, choice, spool, tools.shards)
    chosen = [choice.resolve_for_suite(suite)[:2] for suite in configuration.suites]
    pool = None if tools.pools is None else tools.pools.open(chosen)
    if pool is None:
        return evaluate(
            configuration, tools.traces, choice, tools.progress, None if spool is None else spool.add
        )
    from evalgate.application.parallel.batch_judge import BatchJudge
    from evalgate.application.parallel.batched_evaluation import evaluate_in_batches

    source, engine, line_of = pool
    try:
        engine.begin(BatchJudge(configuration, choice, source, line_of))
        return evaluate_in_batches(configuration, source, choice, tools.progress, engine, spool)
    finally:
        engine.close()
