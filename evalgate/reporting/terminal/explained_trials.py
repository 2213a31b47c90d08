"""The trials of one scenario for a terminal: what failed first and whole, the rest counted or listed."""

from __future__ import annotations

import json
from itertools import groupby, islice
from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.redaction.redact import redact
from evalgate.reporting.terminal.difference import ALL
from evalgate.reporting.text import wording
from evalgate.reporting.text.argument_lines import list_argument_lines, list_changing_calls
from evalgate.reporting.text.commands import build_show_command, find_place
from evalgate.reporting.text.sentences import unmark_parts
from evalgate.reporting.text.wording import identify_reason

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from evalgate.models.results.baseline_run import TracePosition
    from evalgate.models.results.results import ScenarioDoc, SuiteDoc
    from evalgate.models.run.trial_doc import AssertionDoc, TrialDoc
    from evalgate.models.trace.trace import Trace
    from evalgate.reporting.terminal.terminal_page import TerminalPage

MAX_TRIALS, MAX_CHECKS, MAX_EVIDENCE = 50, 200, 1_500
SHORT_TRIALS, SHORT_CHECKS, SHORT_EVIDENCE, SHORT_SOURCES = 3, 6, 240, 5
"""Without `full`: trials and checks that are shown, characters of a value in the evidence, calls with their sources."""
MOST_NUMBERS = 12
_STATUS_COLOURS = {"passed": "green", "not_evaluable": "yellow", "not_measured": "yellow", "skipped": "dim"}
_ORDER = {"failed": 0, "error": 1, "not_evaluable": 2, "skipped": 3, "passed": 4}
_NOT_FAILED = frozenset({"passed", "skipped"})
_REDUNDANT_EVIDENCE = frozenset({"verdict"})  # evidence that only repeats the outcome
_IN_REASON = _REDUNDANT_EVIDENCE | {"members", "alignment", "more", "expected_calls", "judged_by"}
"""Evidence that the reason has in words."""


def to_words(word: str) -> str:
    """How people write a word that a document holds."""
    return word.replace("_", " ")


class TrialTexts(NamedTuple):
    """What is known beside the trials: reasons that are `stated` above, and their traces by place.

    `is_answer_open` is whether no answer is shown above.
    """

    stated: Sequence[str] = ()
    traces: Mapping[TracePosition, Trace] = {}
    is_answer_open: bool = True


def add_trials(page: TerminalPage, suite: SuiteDoc, scenario: ScenarioDoc, known: TrialTexts, *, full: bool) -> None:
    """Adds the trials, those that did not pass first; without `full` one of each kind of failure.

    Of a single trial it leaves out reasons that are stated above.
    """
    page.add_title("Trials" if scenario["trials"] else "No trials")
    trials = sorted(scenario["trials"], key=lambda trial: trial.status == "passed")
    if full:
        _add_all(page, suite, trials, known)
    else:
        _add_kinds(page, suite, trials, known if len(trials) == 1 else known._replace(stated=()))


def _add_all(page: TerminalPage, suite: SuiteDoc, trials: Sequence[TrialDoc], known: TrialTexts) -> None:
    checks_left = MAX_CHECKS
    for trial in trials[:MAX_TRIALS]:
        checks = _sort_checks(trial.assertions)
        _add_trial(page, suite, trial, checks[: max(checks_left, 0)], known._replace(stated=()), full=True)
        left = len(checks) - max(checks_left, 0)
        if left > 0:
            page.add_text(f"and {wording.pluralize(left, 'more check')}", indent=4)
        checks_left -= len(checks)
    left = len(trials) - MAX_TRIALS
    if left > 0:
        page.add_text(f"and {wording.pluralize(left, 'more trial')}", indent=2)


def _add_kinds(page: TerminalPage, suite: SuiteDoc, trials: Sequence[TrialDoc], known: TrialTexts) -> None:
    """Adds the first trial of each kind, then a line that counts the others and the checks that are not shown."""
    kinds: dict[Hashable, list[TrialDoc]] = {}
    for trial in trials:
        kinds.setdefault(_identify_failure(trial), []).append(trial)
    passed = kinds.pop(None, [])
    shown = [each[0] for each in kinds.values()][:SHORT_TRIALS] or passed[:1]
    hidden_checks = shown_checks = 0
    for trial in shown:
        checks = _sort_checks(trial.assertions)
        bad = [each for each in checks if each.outcome not in _NOT_FAILED][:SHORT_CHECKS]
        _add_trial(page, suite, trial, bad, known, full=False)
        hidden_checks += len(checks) - len(bad)
        shown_checks += len(bad)
        alike = kinds.get(_identify_failure(trial), [])[1:]
        if alike:
            page.add_text(f"{_name_trials(alike)} failed in the same checks", indent=2)
    left = [each for kind in list(kinds.values())[SHORT_TRIALS:] for each in kind]
    if left:
        page.add_text(f"{_name_trials(left)} failed in other checks, or for other reasons", indent=2)
    others = [each for each in passed if each not in shown]
    if others:
        place = f" ({find_place(others[0])})" if len(others) == 1 else ""
        page.add_text(f"{_name_trials(others)} passed{place}", indent=2)
    found = [(hidden_checks, "more check" if shown_checks else "check"), (len(trials) - len(shown), "more trial")]
    parts = [wording.pluralize(number, noun) for number, noun in found if number]
    if parts:
        page.add_coloured(f"{ALL} shows {' and '.join(parts)}", "dim", indent=2)


def _identify_failure(trial: TrialDoc) -> Hashable:
    """What trials have in common that fail alike; None for one that passed."""
    if trial.status == "passed":
        return None
    failed = (each for each in trial.assertions if each.outcome not in _NOT_FAILED)
    bad = [(each.name, each.outcome, identify_reason(each.reason)) for each in failed]
    return (trial.status, *bad, *([] if bad else [trial.reason]))


def _sort_checks(checks: Sequence[AssertionDoc]) -> list[AssertionDoc]:
    """The checks, those that failed first, then those that could not be judged."""
    return sorted(checks, key=lambda each: _ORDER.get(each.outcome, 1))


def _name_trials(trials: Sequence[TrialDoc]) -> str:
    """Names trials by their numbers: `trials 1, 2 and 3`."""
    names = [str(each.trial) for each in trials[:MOST_NUMBERS]]
    if len(trials) > MOST_NUMBERS:
        names.append(f"{len(trials) - MOST_NUMBERS:,} more")
    return f"trial{'s' if len(trials) > 1 else ''} {wording.join_words(names)}"


def _count_repeats(names: Sequence[str]) -> Iterator[str]:
    """The names in order, those in a row once with their number: `search x3`."""
    for name, repeated in groupby(names):
        count = sum(1 for _ in repeated)
        yield name if count == 1 else f"{name} x{count}"


def _add_trial(
    page: TerminalPage,
    suite: SuiteDoc,
    trial: TrialDoc,
    checks: Sequence[AssertionDoc],
    known: TrialTexts,
    *,
    full: bool,
) -> None:
    page.add_coloured(
        f"trial {trial.trial}: {to_words(trial.status)}", _STATUS_COLOURS.get(trial.status, "red"), indent=2
    )
    where, form = find_place(trial), trial.trace.format
    page.add_text(f"{where} ({form})" if form else where, indent=4)
    page.add_text(
        f"score {wording.score(trial.score)}, cost {wording.dollars(trial.cost_usd)}, latency"
        f" {wording.seconds(trial.latency_seconds)}, tokens {wording.count(trial.total_tokens)}",
        indent=4,
    )
    if trial.tool_calls:
        calls = f"calls {', '.join(_count_repeats(trial.tool_calls))}"
        page.add_text(calls, indent=4, limit=MAX_EVIDENCE if full else SHORT_EVIDENCE)
    if trial.reason:
        page.add_text(unmark_parts(trial.reason), indent=4)
    for check in checks:
        is_stated = any(unmark_parts(check.reason) in each for each in known.stated)
        _add_check(page, check, is_stated=is_stated, full=full)
    trace = known.traces.get((trial.trace.path, trial.trace.line, trial.trace.record))
    if trace is not None:
        _add_sources(page, trace, full=full)
    if trace is not None and trial.status == "passed" and known.is_answer_open and not full:
        page.add_text(f"final answer: {redact(trace.response['content'] or 'none')}", indent=4, limit=SHORT_EVIDENCE)
    if trial.status != "passed":
        page.add_command(build_show_command(suite, trial), indent=4)


def _add_sources(page: TerminalPage, trace: Trace, *, full: bool) -> None:
    """Adds where the arguments came from: of the first calls that change something, of all if `full` or none does."""
    every = range(1, len(trace.agent_calls) + 1)
    numbers = every if full else list_changing_calls(trace) or every
    texts = ((number, "; ".join(map(str, list_argument_lines(trace, number)))) for number in numbers)
    calls = ((number, text) for number, text in texts if text)
    for number, text in islice(calls, MAX_CHECKS if full else SHORT_SOURCES):
        name = trace.agent_calls[number - 1]["name"]
        page.add_text(f"call {number} {name}: {text}", indent=4, limit=MAX_EVIDENCE if full else SHORT_EVIDENCE)
    if next(calls, None) is not None:
        page.add_text("and more calls (`evalgate show --sources` has all)", indent=4)


def _add_check(page: TerminalPage, check: AssertionDoc, *, is_stated: bool, full: bool) -> None:
    required = " (required)" if check.required else ""
    weight = f", weight {check.weight:g}" if check.weight != 1 else ""
    partial = f", score {wording.score(check.score)}" if 0 < check.score < 1 else ""
    where = f" [{wording.location(check.location)}]" if check.location else ""
    outcome, reason = check.outcome, unmark_parts(check.reason)
    reason_text = "" if is_stated or reason == check.name else f": {reason}"
    text = f"{check.name}{required}{weight}{partial}{reason_text}{where}"
    page.add_labelled(to_words(outcome), text, _STATUS_COLOURS.get(outcome, "red"), indent=4)
    evidence = check.evidence
    if evidence and outcome not in _NOT_FAILED:
        limit = MAX_EVIDENCE if full else SHORT_EVIDENCE
        for name in sorted(evidence.keys() - (_REDUNDANT_EVIDENCE if full else _IN_REASON)):
            whole = name == "expression"
            text = f"{name}: {json.dumps(evidence[name], ensure_ascii=False)}"
            page.add_text(text, indent=8, limit=MAX_EVIDENCE if whole else limit)
