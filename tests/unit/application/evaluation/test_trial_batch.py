"""Trials received as a batch of columns get the same order as trials received one by one."""

from __future__ import annotations

import marshal

from builders import make_trace
from fakes.core import make_tools
from hypothesis import given
from hypothesis import strategies as st

from evalgate.adapters.progress import SilentProgress
from evalgate.application.evaluation.evaluate import TraceChoice, evaluate
from evalgate.application.evaluation.suite_evaluation import SuiteEvaluation
from evalgate.application.evaluation.trial_batch import TrialBatch, is_trial_batch
from evalgate.application.parallel.batch_judge import BatchJudge, BatchTask
from evalgate.models.run.run import Run
from evalgate.ports.batches import Batch

SUITE = "version: 1\nsuite: s\ntraces: [t]\nscenarios: [{id: '*', assertions: [{path: model, eq: m}]}]\n"
ROWS = st.tuples(
    st.sampled_from(["a", "b"]),
    st.none() | st.integers(0, 3),
    st.none() | st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]),
)


class ListedTraces:
    """Serves a fixed list of traces, as one batch or as a whole."""

    size, parts = 0, ()

    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return iter(
            [
                make_trace(scenario_id=name, trial=number, started_at=started, trace_id=f"t{place}")
                for place, (name, number, started) in self.rows
            ]
        )

    def read(self, patterns, base, form):
        return iter(self)

    def open_batch(self, batch, form):
        return self


def documents(run: Run) -> list[list[bytes]]:
    return [list(scenario.trials.documents()) for suite in run.suites for scenario in suite.scenarios]


@given(st.lists(st.lists(ROWS, max_size=4), max_size=4))
def test_trial_batches_give_the_same_trials_as_single_records(blocks):
    numbered = iter(range(99))
    rows = [[(next(numbered), fields) for fields in block] for block in blocks]
    configuration = make_tools(SUITE).suites.load([])
    whole = evaluate(
        configuration, ListedTraces([row for block in rows for row in block]), TraceChoice(), SilentProgress(), None
    )
    evaluation = SuiteEvaluation(configuration.suites[0], TraceChoice().baseline)
    for block in rows:
        sent = BatchJudge(configuration, TraceChoice(), ListedTraces(block), lambda _: b"")(BatchTask(0, Batch()))
        found = marshal.loads(sent)["records"]  # noqa: S302  (bytes of evalgate)
        assert all(map(is_trial_batch, found))
        for each in found:
            evaluation.take_all(TrialBatch._make(each))
    assert documents(Run([evaluation.result()])) == documents(whole)
