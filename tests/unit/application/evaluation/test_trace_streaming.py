"""Traces are streamed: each is freed after it was judged."""

import gc

from builders import make_trace
from fakes.core import make_tools

from evalgate.adapters.progress import SilentProgress
from evalgate.application.evaluation.evaluate import TraceChoice, evaluate
from evalgate.models.trace.trace import Trace

SUITE = "version: 1\nsuite: s\ntraces: [t]\nscenarios: [{id: '*', assertions: [{path: metadata.model, eq: m}]}]\n"


class Stream:
    """Makes traces on demand and counts how many are alive."""

    def __init__(self):
        self.alive = []

    def read(self, patterns, base, form):
        for number in range(5):
            yield make_trace(scenario_id=f"s{number}", response="yes please")
            self.alive.append(sum(type(each) is Trace for each in gc.get_objects()))


def test_a_judged_trace_is_freed_without_the_garbage_collector():
    configuration, stream = make_tools(SUITE).suites.load([]), Stream()
    gc.collect()
    before = sum(type(each) is Trace for each in gc.get_objects())
    gc.disable()
    try:
        evaluate(configuration, stream, TraceChoice(), SilentProgress(), lambda _: None)
    finally:
        gc.enable()
    assert max(stream.alive) - before <= 1
