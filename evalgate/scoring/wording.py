"""Explains why a scenario has its verdict, in one line to act on. The quoted text is untrusted."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from typing import TYPE_CHECKING

from evalgate.measures.text.plain_text import mark_part
from evalgate.measures.values.json_values import mark_name, truncate
from evalgate.models.comparison.behaviour import DIGEST, HAPPENED, MAIN_AGENT, SUB_AGENTS
from evalgate.models.run.trials import filter_by_status, is_failed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalgate.models.comparison.behaviour import BehaviourDifference
    from evalgate.models.comparison.weakening import Weakening, WeakeningKind
    from evalgate.models.run.run import AnyAssertion, Trial

MOST_NAMES = 3
MAX_QUOTE = 200
"""Characters kept of an untrusted text."""


def cut_quote(text: str) -> str:
    """At most `MAX_QUOTE` characters of a text, marked if it was cut."""
    return text if len(text) <= MAX_QUOTE else truncate(text, MAX_QUOTE - 3) + "..."


def join_words(parts: Sequence[str]) -> str:
    """Joins parts as `a`, `a and b` or `a, b and c`."""
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)


def format_p_value(p: float) -> str:
    """A p-value that never reads as 0."""
    return "< 0.001" if p < 0.001 else f"{p:.2g}"  # noqa: PLR2004


def join_names(names: Sequence[str]) -> str:
    """The first names, each cut, and how many more there are."""
    hidden = len(names) - MOST_NAMES
    return ", ".join(map(cut_quote, names[:MOST_NAMES])) + (f" and {hidden} more" if hidden > 0 else "")


def describe_empty_glob(suite: str, glob: str) -> str:
    """Says that a glob of a suite matches no file."""
    return f"suite {mark_name(suite)}: the glob {mark_name(glob, 120)} of `traces` matches no file"


def build_record_command(path: str, scenario: str = "", trials: int = 0) -> str:
    """The command that records the scenarios of the suite in a file, or one; what starts the agent is not known."""
    options = [f" --scenario {shlex.quote(scenario)}"] if scenario else []
    options += [f" --trials {trials}"] if trials else []
    return f"evalgate record --suite {shlex.quote(path)}{''.join(options)} -- YOUR AGENT"


def of_trials(count: int) -> str:
    """A number of trials in words."""
    return "1 trial" if count == 1 else f"{count} trials"


def below_threshold(score: float, threshold: float, passed: int, total: int) -> str:
    """The score is below the threshold, with as many digits as it takes to show that."""
    shown, limit = f"{score:.2f}", f"{threshold:g}"
    if float(shown) >= threshold:
        shown = f"{score:.9g}"
    return f"score {shown} is below the threshold {limit}, {passed} of {of_trials(total)} passed"


def too_few_passed(passed: int, total: int, demand: str) -> str:
    """Fewer trials passed than the suite demands."""
    return f"{passed} of {of_trials(total)} passed, expected {demand}"


def explain_errors(trials: Sequence[Trial]) -> str:
    """Some trials ended in an error: how many, and the first one's reason."""
    failed = filter_by_status(trials, "error")
    first = failed[0]
    cause = first.reason or _explain_first(first.assertions, {"error"})
    return f"{len(failed)} of {of_trials(len(trials))} could not be judged{cause and f': {cut_quote(cause)}'}"


def explain_hard_fail(trials: Sequence[Trial]) -> str:
    """A required assertion did not pass: which one, in how many trials, and its reason in the first."""
    failed = filter_by_status(trials, "hard_fail")
    first = failed[0].assertions
    cause = _explain_first(first, {"failed"}) or _explain_first(first, {"not_evaluable"})
    return f"{cause or 'a required assertion did not pass'} (in {len(failed)} of {of_trials(len(trials))})"


def explain_always_failed(trials: Sequence[Trial], failed: Sequence[tuple[int, int]]) -> str:
    """A check that is always required did not pass: which one, in how many trials, and its reason in the first."""
    trial, place = failed[0]
    first = [each for each in trials[trial].assertions if is_failed(each)][place]
    return f"{_explain_row(first)} (in {len(failed)} of {of_trials(len(trials))})"


def explain_not_measured(trials: Sequence[Trial]) -> str:
    """No trial is measured: the first one's reason."""
    count = "" if len(trials) == 1 else f" in {of_trials(len(trials))}"
    return f"not measured{count}: {cut_quote(trials[0].reason or '')}"


def _explain_first(assertions: Sequence[AnyAssertion], outcomes: set[str]) -> str:
    """The first required assertion with one of the outcomes, and its reason; empty without one."""
    for found in assertions:
        if found.required and found.outcome in outcomes:
            return _explain_row(found)
    return ""


def _explain_row(found: AnyAssertion) -> str:
    return f"{cut_quote(found.name)}: {cut_quote(found.reason)}"


WEAKENING_WORDS: dict[WeakeningKind, str] = {
    "suite_removed": "the suite was removed",
    "scenario_removed": "the scenario was removed",
    "scenario_optional": "the scenario no longer needs a trace",
    "errors_allowed": "errors in trials are now allowed",
    "run_status_widened": "runs that ended in an error may now pass",
    "opaque_added": "what an agent did need no longer be recorded",
    "lookup_added": "a tool now counts as a look-up, which changes nothing",
    "threshold_lowered": "the threshold was lowered",
    "trials_lowered": "fewer trials need to pass",
    "trials_missing": "fewer trials were recorded",
    "not_measured": "an outage left unmeasured what the baseline measured",
    "check_removed": "a check was removed",
    "check_loosened": "a check was loosened",
    "check_replaced": "a check was replaced by one that may be less strict",
    "check_optional": "a check is no longer required",
    "check_skippable": "a check is skipped if its evidence is missing",
    "weight_lowered": "the weight of a check was lowered",
    "traces_changed": "other files are read",
    "reading_changed": "traces are read in another way",
    "price_lowered": "the prices of models changed",
    "failure_masked": "would fail under the baseline's rules",
    "rules_unchecked": "changed rules were not compared on all traces",
    "fail_on_dropped": "a condition of `fail_on` was removed",
    "tolerance_widened": "the tolerance was widened",
    "evidence_lowered": "fewer scenarios must be evaluated (`min_evaluated`)",
    "freshness_loosened": "older traces or traces of other commits are accepted",
    "warning_lowered": "`on_weakening` was made less strict",
    "approval_added": "an approval was added",
    "quarantine_added": "a quarantine was added",
    "quarantine_extended": "a quarantine was extended",
}
"""What became weaker, by the kind of weakening; `a check` stands for the one that has a name."""
NAME_OF_ITS_OWN = '"name":'


def describe_weakening(weakening: Weakening) -> str:
    """Describes one weakening without its place: what got weaker, which check, the value before and after."""
    check = f" {mark_part(cut_quote(weakening.assertion))}" if weakening.assertion else ""
    move = "" if _is_stated(weakening) else _format_change(weakening.baseline, weakening.current)
    count = weakening.scenarios if weakening.scenario is None else 1
    where = f" in {count} scenarios" if count > 1 and weakening.kind != "suite_removed" else ""
    effect = f"{';' if check or move else ':'} {cut_quote(weakening.effect)}" if weakening.effect else ""
    words = f"{WEAKENING_WORDS[weakening.kind]}{where}"
    return f"{words}{':' if check or move else ''}{check}{f' {move}' if move else ''}{effect}"


def _is_stated(weakening: Weakening) -> bool:
    """Whether the name of a removed check says all of it: the default name is made of what the check is."""
    written = weakening.baseline or ""
    is_whole = weakening.kind == "check_removed" and weakening.assertion is not None and written.startswith("{")
    return is_whole and NAME_OF_ITS_OWN not in written


def _format_change(before: str | None, after: str | None) -> str:
    """`threshold: 0.9 -> 0.8`, with the name only once."""
    if before is None or after is None:
        return before or after or ""
    name, colon, _ = before.partition(": ")
    if not colon or name.startswith("{") or not after.startswith(f"{name}: "):
        return f"{before} -> {after}"
    return f"{before} -> {after.removeprefix(name + colon)}"


_OWN_WORDS = frozenset({"calls", "all_calls", "literals", "answer", "model", "status"})
"""Kinds of differences that are about something of which we choose the name."""
SEVERAL = 2


def describe_difference(found: BehaviourDifference) -> str:
    """A difference of behaviour in one sentence, with its untrusted parts marked."""
    fewest = min(found.trials_before, found.trials)
    count = " (one trial)" if fewest < SEVERAL else f" in {found.trials} of {found.trials}"
    if describe := _DESCRIBE.get(found.kind):
        return describe(found, count)
    return f"{_describe_move(found)}{count}{_compare_with_request(found)}"


def _compare_with_request(found: BehaviourDifference) -> str:
    """Whether an argument is as the user asked for, where that is known."""
    if not found.asked:
        return ""
    return ", as was asked for" if is_as_asked(found) else f", though {mark_part(found.asked)} was asked for"


def is_as_asked(found: BehaviourDifference) -> bool:
    """Whether an argument has what the user asked for, and had not."""
    return found.now.strip('"') == found.asked


def _describe_move(found: BehaviourDifference) -> str:
    what = found.what if found.kind in _OWN_WORDS else mark_part(found.what)
    return f"{what}: {_mark_side(found.before)} -> {_mark_side(found.now)}"


def _describe_asked(found: BehaviourDifference, count: str) -> str:
    """Another setting of the requests, or another address."""
    if found.what != "address":
        return f"{_describe_move(found)}{count}"
    return f"the model was asked at {_name_addresses(found.now)}, before at {_name_addresses(found.before)}{count}"


def _name_addresses(side: str) -> str:
    """Where the model was asked, by `default`, PROVIDER and PROVIDER=URL."""
    named = [each.partition("=") for each in side.split(",")]
    words = [mark_part(url) if url else _ADDRESSES.get(name, OWN_ADDRESS) for name, _, url in named]
    return join_words(list(dict.fromkeys(words)))


OWN_ADDRESS = "an address of this machine or one that is not kept"
_ADDRESSES = {"default": "the default address"}


def _describe_some_calls(found: BehaviourDifference, _: str) -> str:
    """A tool that only trials of one side call, and in how many."""
    tool = mark_part(found.what)
    if found.now.startswith("0 "):
        return f"no longer calls {tool}, before in {found.before}"
    return f"calls {tool} in {found.now}, before in {found.before}"


def _describe_prompt(found: BehaviourDifference, count: str) -> str:
    return f"another {found.what}{count}"


def _describe_origin(found: BehaviourDifference, count: str) -> str:
    """Where an argument came from, which agent made calls, or that one is no longer recorded."""
    if found.kind == "model_calls":
        counts = f"{found.before} model calls before, now {found.now}"
        return f"no model call of a sub-agent is recorded any more: {counts}{count}"
    what = mark_part(found.what)
    before, now = (each if each == MAIN_AGENT else mark_part(each) for each in (found.before, found.now))
    if found.kind == "source":
        return f"{what} came from {before} in all trials of the baseline, now from {now}{count}"
    return f"{what} {'are' if ', ' in found.what else 'is'} called by {now}, before by {before}{count}"


def _describe_calls(found: BehaviourDifference, count: str) -> str:
    """What came and went, as far as it is known, else both sides."""
    return f"{_compare_calls(found.before, found.now) or _describe_move(found)}{count}"


_CALL = re.compile(r"[^,()]+(?:\([^()]*\))?")
_LEFT_OUT = re.compile(r"\d+ more")


def _compare_calls(before: str, now: str) -> str:
    """Which calls came and went, else which are in another order; empty where a side does not name all of them."""
    sides = [_split_calls(before), _split_calls(now)]
    if None in sides:
        return ""
    first, second = (each or [] for each in sides)
    come, gone = [*(Counter(second) - Counter(first)).elements()], [*(Counter(first) - Counter(second)).elements()]
    if come or gone:
        words = [*_describe_some(come, first, "now", "more"), *_describe_some(gone, second, "no longer", "fewer")]
        return ", ".join(words)
    is_plain = len(set(first)) == len(first)
    while first and first[0] == second[0]:
        first, second = first[1:], second[1:]
    while first and first[-1] == second[-1]:
        first, second = first[:-1], second[:-1]
    if is_plain and len(first) > 1 and second == [first[-1], *first[:-1]]:
        return f"now calls {mark_part(second[0])} before {mark_part(second[1])}"
    if is_plain and len(first) > 1 and second == [*first[1:], first[0]]:
        return f"now calls {mark_part(second[-1])} after {mark_part(second[-2])}"
    return f"other order of calls: {_mark_side(', '.join(first))} -> {_mark_side(', '.join(second))}" if first else ""


def _split_calls(text: str) -> list[str] | None:
    """The calls of one side; None if it leaves some out, or an argument looks like more than one."""
    names = [] if text == "none" else [each.strip() for each in _CALL.findall(text)]
    is_whole = text == (", ".join(names) or "none") and not (names and _LEFT_OUT.fullmatch(names[-1]))
    return names if is_whole else None


def _describe_some(calls: Sequence[str], others: Sequence[str], adverb: str, amount: str) -> Iterator[str]:
    """Calls that one side has alone: of tools that the other side does not call, and of those that it calls, too."""
    known = {_name_tool(each) for each in others}
    alone = [each for each in calls if _name_tool(each) not in known]
    again = [each for each in calls if _name_tool(each) in known]
    if alone:
        yield f"{adverb} calls {mark_part(', '.join(alone))}"
    if again:
        yield f"{len(again)} {amount} {'call' if len(again) == 1 else 'calls'}: {mark_part(', '.join(again))}"


def _name_tool(call: str) -> str:
    return call.partition("(")[0]


MORE = "+"
"""Begins the number of tools that a side of a difference does not name."""


def _describe_tools(found: BehaviourDifference, count: str) -> str:
    """Which tools have another definition, are new, or are gone, where a difference names them."""
    before, now = found.before.split(), found.now.split()
    if not before + now:
        return f"other {found.what}{count}"
    more = sorted({each for each in before + now if each[: len(MORE)] == MORE and each[len(MORE) :].isdigit()})
    names = [each for each in dict.fromkeys(now + before) if each not in more]
    words = [
        f"tool {mark_part(name)} "
        f"{'is gone' if name not in now else 'is new' if name not in before else 'has another definition'}"
        for name in names
    ]
    prompt = ["another system prompt"] if found.what.endswith("system prompt") else []
    whose = f"{found.what}: " if found.what.endswith(SUB_AGENTS) else ""
    return whose + ", ".join([*words, *(["others differ"] if more else []), *prompt]) + count


def _describe_answers(found: BehaviourDifference, count: str) -> str:
    """What only the answers of one side have, or both have with other words around it, with an example if one is kept.

    It is an answer of each side, so that a wrong one does not read like other words.
    """
    what = "answer with other words" if found.kind == "wording" else "answer"
    words = f"{what}: {mark_part(found.before)} -> {mark_part(found.now)}"
    if not found.now:
        words = f"no longer in the answer: {mark_part(found.before)}"
    elif not found.before:
        words = f"new in the answer: {mark_part(found.now)}"
    sides = found.example and (_mark_side(found.example.baseline), _mark_side(found.example.current))
    return f"{words}{count}; for example: {' -> '.join(sides)}" if sides else f"{words}{count}"


def _mark_side(text: str | None) -> str:
    """One side of a difference; the answer may be empty."""
    return mark_part(text) if text else "nothing"


def _describe_left(found: BehaviourDifference, count: str) -> str:
    """What the run left behind: a value as JSON, or what happened to it in our words."""
    whole = "state" if found.kind == "state" else "files"
    if not (found.what or found.before):
        return f"{found.now} of the {whole}{count}"
    what = f"{found.kind} {mark_part(found.what)}" if found.what else whole
    if found.before.startswith(DIGEST) and found.now.startswith(DIGEST):
        return f"{what}: other content{count}"
    return f"{what}: {_show_left(found.before)} -> {_show_left(found.now)}{count}"


def _show_left(side: str) -> str:
    if side.startswith(DIGEST):
        return "other content"
    return side if side in HAPPENED else mark_part(side)


_DESCRIBE: dict[str, Callable[[BehaviourDifference, str], str]] = {
    "calls": _describe_calls,
    "all_calls": _describe_calls,
    "some_calls": _describe_some_calls,
    "source": _describe_origin,
    "maker": _describe_origin,
    "model_calls": _describe_origin,
    "literals": _describe_answers,
    "wording": _describe_answers,
    "tools": _describe_tools,
    "prompt": _describe_prompt,
    "asked": _describe_asked,
    "state": _describe_left,
    "file": _describe_left,
}
"""Sentences by the kind of a difference, of which the other kinds share one."""
