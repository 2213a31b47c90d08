"""Measures the sources of arguments: which stand nowhere in recorded runs, and which planted changes are found.

    .venv/bin/python benchmarks/provenance.py TRACES...

Judged are the arguments of calls that change something, without free text. Each is changed in turn, in its own place,
and counts as found if the changed value stands nowhere. `--misses` lists the changes that were not found.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.bootstrap.sources import build_trace_files
from evalgate.measures.provenance.leaves import Leaf, is_free_text, list_leaves
from evalgate.measures.provenance.trace_sources import ArgumentSources
from evalgate.measures.provenance.values import is_identifier
from evalgate.measures.text.tool_words import changes_something
from evalgate.models.trace.trace import Trace
from evalgate.scoring.recorded_result import is_passing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BARS = {"id: one character": 0.95, "id: cut": 1.0, "id: of another run": 0.7}
"""The least share of a planted change that must be found."""
MOST_FALSE_ALARMS = 0.01
"""Rewarded runs with an alarm, of all."""
SCENARIOS_OF_AN_ENUMERATION = 2
"""Passing scenarios in which a value stands nowhere, from which on `init` allows it."""
PLACE = re.compile(r"\[[0-9]+\]")
ALPHABETS = ("0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")


class JudgedLeaf(NamedTuple):
    """A value of a call that changes something; `call` counts from 1."""

    trace: Trace
    sources: ArgumentSources
    call: int
    leaf: Leaf

    def name(self) -> str:
        """The tool and the argument, without places in lists."""
        return f"{self.trace.agent_calls[self.call - 1]['name']}.{PLACE.sub('[]', self.leaf.path)}"

    def describe(self) -> str:
        """Where it is, and what it is."""
        place = f"{self.trace.source.path.rsplit('/', 1)[-1]} {self.trace.scenario_id}/{self.trace.source.record}"
        return f"{place} call {self.call} {self.name()} = {self.leaf.value!r}"


@dataclass
class DomainFigures:
    """What was counted in one domain; `planted` holds found and made changes by kind."""

    runs: int = 0
    rewarded: int = 0
    values: int = 0
    unknown: int = 0
    alarms: list[JudgedLeaf] = field(default_factory=list)
    planted: dict[str, Counter[bool]] = field(default_factory=lambda: defaultdict(Counter))
    misses: list[str] = field(default_factory=list)


def list_judged(traces: Sequence[Trace]) -> Iterator[JudgedLeaf]:
    """The values of the calls that change something, without free text."""
    for trace in traces:
        sources = ArgumentSources(trace)
        for number, call in enumerate(trace.agent_calls, 1):
            if changes_something(call["name"], trace.tool_definitions):
                leaves = list_leaves(call["arguments"])
                yield from (JudgedLeaf(trace, sources, number, leaf) for leaf in leaves if not is_free_text(leaf.value))


def measure(traces: Sequence[Trace]) -> DomainFigures:
    """Counts alarms and planted changes."""
    judged = list(list_judged(traces))
    others: dict[str, dict[Any, set[int]]] = defaultdict(lambda: defaultdict(set))
    for each in judged:
        others[each.name()][each.leaf.value].add(id(each.trace))
    figures = DomainFigures(len(traces), sum(map(is_passing, traces)), len(judged))
    for each in judged:
        found = each.sources.find(each.call, each.leaf)
        figures.unknown += found.unknown is not None
        if found.is_nowhere:
            figures.alarms.append(each)
            continue
        for kind, value in plant(each, others[each.name()]):
            is_found = each.sources.find(each.call, Leaf(each.leaf.path, value)).is_nowhere
            figures.planted[kind][is_found] += 1
            if not is_found:
                figures.misses.append(f"{kind}: {each.describe()} -> {value!r}")
    return figures


def plant(judged: JudgedLeaf, others: dict[Any, set[int]]) -> Iterator[tuple[str, Any]]:
    """Yields changed values with the kind of the change."""
    value = judged.leaf.value
    if isinstance(value, str) and is_identifier(value) and " " not in value:
        yield "id: one character", change_character(value)
        yield "id: cut", value[:-1]
        foreign = [each for each, runs in others.items() if id(judged.trace) not in runs and each != value]
        if foreign:
            yield "id: of another run", foreign[sum(map(ord, value)) % len(foreign)]
    elif isinstance(value, int | float):
        yield "amount: one digit", change_digit(value)
    elif isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        yield "date: three days later", (date.fromisoformat(value) + timedelta(3)).isoformat()
    same = [each for each, runs in others.items() if id(judged.trace) in runs and each != value]
    if same:
        yield "another value of the same run", same[0]


def change_character(value: str) -> str:
    """The value with one letter or digit replaced by the next of its kind, at a place that depends on the value."""
    places = [at for at, each in enumerate(value) if any(each in alphabet for alphabet in ALPHABETS)]
    at = places[sum(map(ord, value)) % len(places)]
    alphabet = next(each for each in ALPHABETS if value[at] in each)
    return value[:at] + alphabet[(alphabet.index(value[at]) + 1) % len(alphabet)] + value[at + 1 :]


def change_digit(value: float) -> float:
    """The number with one of its digits replaced by the next."""
    changed = change_character(str(value))
    return float(changed) if isinstance(value, float) else int(changed)


def find_enumerations(alarms: Sequence[JudgedLeaf]) -> set[tuple[str, Any]]:
    """Values that stand nowhere in passing runs of several scenarios, as `init` allows them."""
    scenarios: dict[tuple[str, Any], set[Any]] = defaultdict(set)
    for each in alarms:
        if is_passing(each.trace):
            scenarios[each.name(), each.leaf.value].add(each.trace.scenario_id)
    return {key for key, found in scenarios.items() if len(found) >= SCENARIOS_OF_AN_ENUMERATION}


def find_domain(trace: Trace) -> str:
    """The benchmark and domain of a trace, by its path."""
    path = Path(trace.source.path)
    domain = next((each for each in ("airline", "retail", "telecom") if each in path.name), "")
    return f"{path.parent.name} {domain}".strip()


def show(name: str, figures: DomainFigures, *, lists_misses: bool) -> bool:
    """Prints the figures of a domain; returns whether each reaches its bar."""
    allowed = find_enumerations(figures.alarms)
    rewarded = [each for each in figures.alarms if is_passing(each.trace)]
    rest = [each for each in rewarded if (each.name(), each.leaf.value) not in allowed]
    print(f"## {name}: {figures.runs} runs, {figures.rewarded} rewarded, {figures.values} values")
    print(f"unknown: {figures.unknown}; nowhere: {len(figures.alarms)}, in rewarded runs {len(rewarded)}")
    for key, value in sorted(allowed, key=str):
        print(f"  allowed by `init`, as in several scenarios: {key} = {value!r}")
    for each in rest:
        print(f"  nowhere in a rewarded run: {each.describe()}")
    good = True
    for kind, counted in sorted(figures.planted.items()):
        share, bar = counted[True] / counted.total(), BARS.get(kind)
        good &= bar is None or share >= bar
        print(f"  {kind}: {share:.2f} of {counted.total()} found" + (f", at least {bar:.2f}" if bar else ""))
    for each in figures.misses if lists_misses else ():
        print(f"    missed: {each}")
    return good


def main(arguments: Sequence[str]) -> int:
    """Prints the figures of each domain; 1 if one misses its bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", nargs="+")
    parser.add_argument("--misses", action="store_true")
    given = parser.parse_args(arguments)
    domains: dict[str, list[Trace]] = defaultdict(list)
    for trace in build_trace_files(".").read(given.traces, ".", "auto"):
        if isinstance(trace, Trace):
            domains[find_domain(trace)].append(trace)
    started = time.process_time()
    good = [show(name, measure(traces), lists_misses=given.misses) for name, traces in sorted(domains.items())]
    print(f"{time.process_time() - started:.1f} s of CPU")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
