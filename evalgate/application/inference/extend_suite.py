"""Appends the scenarios of a trace file to the text of an existing suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.evaluation.evaluate import TraceChoice
from evalgate.application.inference.infer import infer_scenario, is_usable_id
from evalgate.application.inference.insert import find_indent, insert_scenarios
from evalgate.application.inference.observations import TraceSet
from evalgate.application.inference.passing import is_passing
from evalgate.application.inference.self_check import find_failing
from evalgate.application.inference.suite_text import format_check, format_scenario
from evalgate.errors import Problem, SettingError
from evalgate.measures.redaction.redact import redact
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.application.inference.build_suite import InferenceSources
    from evalgate.application.inference.checks import Strictness
    from evalgate.suite.models import Suite

MAX_BYTES = 1_000_000


class ExtendedSuite(NamedTuple):
    """The text of a suite with scenarios appended, and their ids."""

    text: str
    added: Sequence[str]


def extend_suite(path: str, trace: str, strictness: Strictness, sources: InferenceSources) -> ExtendedSuite:
    """Appends the scenarios of a trace file; raises SettingError.

    The suite must find the file by its `traces`, as it will in a run.
    """
    suite = sources.suites.load([path]).suites[0]
    named = _read_passing(suite, path, trace, sources)
    found = TraceSet(named)
    new = _choose_new(suite, path, trace, found)
    text = sources.files.read(path, MAX_BYTES, what="suite").decode()
    indent = find_indent(text, path)
    scenarios = [infer_scenario(id_, found.scenarios[id_], found, strictness) for id_ in new]
    while True:
        lines = [line for each in scenarios for line in format_scenario(each.id, each.fields, each.checks, indent)]
        extended = insert_scenarios(text, path, lines)
        failing = list(find_failing(sources.suites.parse_text(extended.removeprefix("\ufeff"), path), named))
        broken = {extended.splitlines()[line - 1].strip() for each in failing for line in each.lines}
        kept = [[check for check in each.checks if format_check(check, 0) not in broken] for each in scenarios]
        if [len(checks) for checks in kept] == [len(each.checks) for each in scenarios]:
            return ExtendedSuite(extended, new)
        for each, checks in zip(scenarios, kept, strict=True):
            each.checks = checks


def _read_passing(suite: Suite, path: str, trace: str, sources: InferenceSources) -> list[Trace]:
    wanted = {file.path for file in sources.files.expand(trace, ".")}
    if not wanted:
        raise SettingError(f"no trace file at {trace!r}")
    records = sources.traces.read(*TraceChoice().resolve_for_suite(suite))
    named = [each for each in records if isinstance(each, Trace) and each.source.path in wanted and is_passing(each)]
    if not named:
        hint = f"it finds {', '.join(suite.traces or ['no traces'])}, relative to its folder"
        raise SettingError(Problem(f"suite {path} finds no trace that passed in {trace!r}", None, hint))
    return named


def _choose_new(suite: Suite, path: str, trace: str, found: TraceSet) -> list[str]:
    known = {scenario.id for scenario in suite.scenarios}
    unusable = [id_ for id_ in found.scenarios if not is_usable_id(id_)]
    if unusable:
        raise SettingError(f"{trace} has a scenario whose id is a secret or contains *: {redact(unusable[0])[:80]!r}")
    new = [id_ for id_ in found.scenarios if id_ not in known]
    if not new:
        raise SettingError(f"suite {path} has a scenario {', '.join(found.scenarios)} already")
    return new
