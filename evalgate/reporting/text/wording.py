"""Formats numbers, lists and reasons for people; no number is rounded to a false 0% or 100%, no reason is hidden."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from evalgate.measures.prices import explain_unknown_cost
from evalgate.measures.text.plain_text import mark_unseen, split_parts
from evalgate.scoring.wording import join_words as join_words  # noqa: PLC0414  re-exported

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from evalgate.models.results.results import SummaryDoc
    from evalgate.models.run.trial_doc import LocationDoc, TrialDoc

UNKNOWN = "unknown"
DASH = "\u2013"
MINUS = "\u2212"
OUTCOMES = ("passed", "failed", "not_evaluable", "skipped", "error")
DAY = 86_400
MOST_GROUPS = 3
MOST_READ = 20
"""Failed trials of a scenario whose reasons are compared."""
_NUMBERS = re.compile(r"\b(trial|calls?) \d[\d,]*(?: to \d[\d,]*)?")
_OTHERS = " (other calls: "
_INSTEAD = re.compile(
    r"(?:(?P<place>first|second|third|\w+th|as step [\d,]+), got | \((?:got|other calls:) )"
    r"(?P<names>`[^`]+`(?:, `[^`]+`)*)(?P<tail>\)|(?=;|$))"
)
"""What a sequence says that was called instead of a missing step: the next call, or all others."""


def pluralize(number: int, noun: str) -> str:
    """Returns a number with its noun: `1 scenario`, `2 scenarios`, `1,000 scenarios`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def scenario_name(scenario_id: str, variant: str | None) -> str:
    """Formats the name of a scenario: its id, in which nothing is unseen, and its variant."""
    name = mark_unseen(scenario_id)
    return f"{name} [{variant}]" if variant else name


def scope(*parts: str | None) -> str:
    """Formats where something applies: a suite, a scenario in it, its variant and so on, the known ones."""
    return " / ".join(mark_unseen(part) for part in parts if part)


def checks(summary: SummaryDoc) -> str:
    """Returns counts like `112 passed, 3 failed, 2 not evaluable`; empty if nothing was checked."""
    found = dict(summary).get("checks")  # absent in documents of earlier versions
    if not isinstance(found, dict):
        return ""
    counts = [(found.get(word), word.replace("_", " ")) for word in OUTCOMES]
    return ", ".join(f"{number:,} {word}" for number, word in counts if number)


def unmeasured(summary: SummaryDoc) -> str:
    """Returns how many trials outages left unmeasured; empty if none."""
    count = summary.get("not_measured", 0)
    return pluralize(count, "trial") if count else ""


def location(place: LocationDoc | None) -> str:
    """Formats a location as `file:line`; empty for None."""
    if place is None:
        return ""
    return place.file if place.line is None else f"{place.file}:{place.line}"


def percent(share: float | None) -> str:
    """Formats a share as a whole percentage; 0% and 100% only if exact."""
    if share is None:
        return UNKNOWN
    text = f"{share * 100:.0f}%"
    if text == "0%" and share > 0:
        return "<1%"
    return ">99%" if text == "100%" and share < 1 else text


def rare_percent(share: float) -> str:
    """A share in percent: two digits below 10 %, whole numbers above, and 0% and 100% only if exact."""
    if 0 < share < 0.001:  # noqa: PLR2004
        return "<0.1%"
    return f"{share * 100:.2g}%" if 0 < share < 0.0995 else percent(share)  # noqa: PLR2004


def score(value: float | None) -> str:
    """Formats a score with two decimals; 0.00 and 1.00 only if exact."""
    if value is None:
        return DASH
    text = f"{value:.2f}"
    if text == "0.00" and value > 0:
        return "<0.01"
    return ">0.99" if text == "1.00" and value < 1 else text


def points(delta: float | None, now: float | None = None) -> str:
    """Formats the change of a score with its sign; empty if it is 0 or None.

    Beside the score `now` it is the difference of the two as they are shown: 0.96 and 0.83 differ by 0.13.
    """
    if not delta:
        return ""
    if now is not None:
        shown = round(float(f"{now:.2f}") - float(f"{round(now - delta, 9):.2f}"), 2)
        delta = shown if shown * delta > 0 else delta
    return f"+{score(delta)}" if delta > 0 else f"{MINUS}{score(-delta)}"


def steps(delta: int | None) -> str:
    """Formats the change of a count with its sign; empty if it is 0 or None."""
    if not delta:
        return ""
    return f"+{delta:,}" if delta > 0 else f"{MINUS}{-delta:,}"


def dollars(amount: float | None) -> str:
    """Formats US dollars; without a dollar sign, which starts a formula in Markdown."""
    if amount is None:
        return UNKNOWN
    if amount == 0 or abs(amount) >= 1:
        return f"{amount:,.2f} USD"
    return f"{Decimal(f'{amount:.3g}'):f} USD"  # three digits, never an exponent


def cost(summary: SummaryDoc) -> str:
    """Formats the cost of a run; `(computed)` marks a cost that was not recorded.

    If that of some trials is unknown, it is a lower bound: `>= 0.0178 USD, 1 of 8 unknown`.
    """
    known = summary.get("cost_known")
    if known and summary["cost_usd"] is None:
        computed = " (computed)" if summary.get("cost_computed") else ""
        return f">= {dollars(known['usd'])}{computed}, {known['unknown']:,} of {known['trials']:,} unknown"
    is_computed = summary.get("cost_computed") and summary["cost_usd"] is not None
    return f"{dollars(summary['cost_usd'])}{' (computed)' if is_computed else ''}"


def explain_cost(trials: Iterable[TrialDoc]) -> str:
    """Why the cost of some of these trials is unknown, and how to get it; empty if it is known of all."""
    unknown = [trial for trial in trials if trial.cost_usd is None]
    return explain_unknown_cost([trial.pricing or None for trial in unknown]) if unknown else ""


def seconds(amount: float | None) -> str:
    """Formats a duration given in seconds."""
    if amount is None:
        return UNKNOWN
    return f"{amount:,.1f} s" if amount == 0 or amount >= 1 else f"{amount * 1000:.3g} ms"


def count(amount: int | None) -> str:
    """Formats a count with thousands separators."""
    return UNKNOWN if amount is None else f"{amount:,}"


def mean_count(amount: float | None) -> str:
    """Formats a mean of counts, rounded to a whole number."""
    return count(None if amount is None else round(amount))


def relative(baseline: float | None, current: float | None) -> str:
    """Formats a change relative to the baseline: `+35%`; empty if unknown or unchanged."""
    if baseline is None or current is None or baseline <= 0 or baseline == current:
        return ""
    share = current / baseline - 1
    sign = "+" if share > 0 else MINUS
    return f"{sign}{percent(abs(share)) if abs(share) < 1 else f'{abs(share) * 100:,.0f}%'}"


def age(seconds: int) -> str:
    """Formats an age in whole days, so that a run repeated on the same day gives the same text."""
    return "less than a day old" if seconds < DAY else f"{pluralize(seconds // DAY, 'day')} old"


def list_reasons(reasons: Sequence[str], failed: int, trials: int) -> list[str]:
    """The reasons, the most frequent first: `2 of 3: a` and `1 of 3: b`; a single one as it is.

    `reasons` are those of the first trials of the `failed` ones of all `trials`. Those that are alike count as one.
    """
    if len(set(reasons)) <= 1:
        return [*reasons[:1]]
    groups: dict[Hashable, list[str]] = {}
    for reason in reasons:
        groups.setdefault(identify_reason(reason), []).append(reason)
    alike = sorted(groups.values(), key=len, reverse=True)
    if len(alike) <= 1:
        return [*map(_join_alike, alike)]
    shown = [f"{len(each)} of {trials}: {_join_alike(each)}" for each in alike[:MOST_GROUPS]]
    left = len(alike) - MOST_GROUPS
    if left > 0:
        shown.append(f"and {left} more reason{'s' if left > 1 else ''}")
    if failed > len(reasons):
        shown.append(f"{failed - len(reasons):,} more trials failed")
    return shown


def identify_reason(reason: str) -> Hashable:
    """What alike reasons share: they differ in numbers of trials and calls, in what was called instead, or in order.

    Calls of one message have no order, so neither have names in a clause, nor clauses.

    >>> identify_reason("only `a`, `b` were (call 2)") == identify_reason("only `b`, `a` were (call 3)")
    True
    """
    clauses: list[tuple[list[str], list[str]]] = [([], [])]
    for at, part in enumerate(split_parts(_INSTEAD.sub(r"\g<place>", _NUMBERS.sub(r"\1", reason)))):
        if at % 2:
            clauses[-1][1].append(part)
            continue
        words, *others = part.split("; ")
        clauses[-1][0].append(words)
        clauses += [([each], []) for each in others]
    return tuple(sorted((*words, *sorted(names)) for words, names in clauses))


def _join_alike(reasons: Sequence[str]) -> str:
    """The first of alike reasons, with what was called instead in any of them, or of several calls those in all."""
    first, found = reasons[0], [_INSTEAD.search(each) for each in reasons]
    named = [each["names"].split(", ") for each in found if each]
    if not named or (all(names == named[0] for names in named) and all(found)):
        return first
    match = _INSTEAD.search(first)
    if match is None or not all(found):
        return _INSTEAD.sub(r"\g<place>", first)
    lead, tail = first[match.start() : match.start("names")], match["tail"]
    if lead.startswith(_OTHERS):
        shown = ", ".join(each for each in named[0] if all(each in names for names in named))
    else:
        shown = " or ".join(list(dict.fromkeys(each for names in named for each in names))[:MOST_GROUPS])
    return f"{first[: match.start()]}{f'{lead}{shown}{tail}' if shown else ''}{first[match.end() :]}"
