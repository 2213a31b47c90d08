"""Compiled assertions: one by itself, several as a group with one weight and one row, and negated ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import force_setattr

from evalgate.evaluators.core.evaluator import (
    Check,
    EvidenceCheck,
    Finding,
    Undecided,
    build_undecided,
    combine_undecided,
    is_skippable,
)
from evalgate.measures.values.json_values import shorten
from evalgate.models.run.run import FAILED_OUTCOMES, HOLDS_NOT, UNWANTED, WHEN, AssertionResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.errors import Location
    from evalgate.models.run.golden import Dimension
    from evalgate.models.run.run import Outcome, Required
    from evalgate.models.trace.trace import Trace

    _RowKey = tuple[str, int, float | None, type]

SCENARIO_ID_PATH = "metadata.scenario_id"
MAX_CONDITION = 60
"""Characters of a condition in the name of the checks below it."""
MAX_FAILED_SCORE = 0.99
"""What failed scores below 1, so that a scenario of failed checks never has the score 1."""
MAX_CACHED_ROWS = 20
"""Result rows per outcome that an assertion caches, since other traces may get the same row."""


class _RowCache:
    """Cache of an assertion's result rows: most checks return the same finding for many traces.

    `rows` holds the first rows of each outcome; `row` is the row last reused, and `finding` its finding.
    """

    __slots__ = ("digest", "finding", "row", "rows")

    row: AssertionResult

    def __init__(self) -> None:
        self.digest: str | None = None
        self.finding: Finding | None = None
        self.rows: dict[Outcome, dict[_RowKey, AssertionResult]] = {}


class Assertion(Struct, frozen=True, eq=False):
    """A check ready to run. With `on_missing_skip`, lacking evidence does not count in the trial's mean.

    `written` is the entry of the suite, with the scheduling tool of its scenario and variant filled in;
    `dimension` is the dimension of a golden that it judges. `careful_check` replaces `check` on traces with gaps
    in their evidence.
    """

    name: str
    type: str
    weight: float
    required: Required
    on_missing_skip: bool
    check: Check
    location: Location | None = None
    warning: str | None = None
    written: Any = None
    dimension: Dimension | None = None
    careful_check: Check | None = None
    is_read_later: bool = False  # the evaluator's `reads_baseline`
    versions: dict[str, int] = {}  # of the evaluators that it and its members use, by type
    members: Sequence[Assertion] = ()  # of a group; the first one of a `when` is its condition
    row_cache: Any = None  # a _RowCache

    def __post_init__(self) -> None:
        """Begins an empty cache, also in a copy with another weight: its rows differ."""
        force_setattr(self, "row_cache", _RowCache())

    def evaluate(self, trace: Trace) -> Finding:
        """Returns the finding; a crash of the check is an `error`, so that the other checks still report."""
        try:
            return self._check_carefully(trace) if trace.gaps else self.check(trace)
        except Exception as error:  # noqa: BLE001  (a crash is a result)
            return _build_crash_finding(error)

    def assess(self, trace: Trace) -> AssertionResult:
        """Returns the finding as a row of the results."""
        try:
            found = self._check_carefully(trace) if trace.gaps else self.check(trace)
        except Exception as error:  # noqa: BLE001  (a crash is a result)
            found = _build_crash_finding(error)
        cache: _RowCache = self.row_cache
        if found is cache.finding:
            return cache.row
        outcome, reason, evidence, score = found
        rows = cache.rows.get(outcome)
        if rows is None:
            rows = cache.rows[outcome] = {}
        # Cached rows keep their evidence alive, so its id stays unique; 1 and 1.0 differ in the JSON output.
        key = reason, id(evidence), score, score.__class__
        row = rows.get(key)
        if row is not None:
            row.is_shared = True
            cache.finding, cache.row = found, row
            return row
        is_skipped = outcome == "not_evaluable" and self.on_missing_skip and is_skippable(found)
        row = self._row(outcome, reason, evidence, score, counts=not is_skipped)
        if len(rows) < MAX_CACHED_ROWS:
            rows[key] = row
        return row

    @property
    def digest(self) -> str:
        """What identifies the check by its demands."""
        cache: _RowCache = self.row_cache
        if cache.digest is None:
            from evalgate.evaluators.core.check_digest import compute_check_digest  # only for what fails

            cache.digest = compute_check_digest(self.type, self.written, self.required)
        return cache.digest

    def _check_carefully(self, trace: Trace) -> Finding:
        return (self.careful_check or self.check)(trace)

    def _row(
        self, outcome: Outcome, reason: str, evidence: dict[str, Any] | None, score: float | None, *, counts: bool
    ) -> AssertionResult:
        if not reason.isprintable():  # for example a tool's name with line breaks
            reason = " ".join(reason.split())
        if score is None:
            score = 1.0 if outcome == "passed" else 0.0
        elif outcome == "failed":
            score = min(score, MAX_FAILED_SCORE)
        return AssertionResult(
            self.name,
            self.type,
            outcome,
            score,
            self.weight,
            self.required,
            reason,
            self.location,
            evidence,
            counts,
            self.digest if outcome in FAILED_OUTCOMES else None,
        )


def _build_crash_finding(error: Exception) -> Finding:
    return Finding("error", f"the check crashed on this trace ({type(error).__name__})")


MemberFindings = list[tuple["Assertion", Finding]]
Decider = Callable[[MemberFindings], Finding]

MAX_CACHED_DECISIONS = 64
"""Combinations of members' findings whose decision a group caches."""


def all_of(members: Sequence[Assertion]) -> Check:
    """Passes if every member passes; otherwise failed decides, else error, else not_evaluable."""
    decide = _cache_decisions(_decide_all_of)
    return lambda trace: decide(_evaluate(members, trace))


def any_of(members: Sequence[Assertion]) -> Check:
    """Passes if one member passes; else error, else not_evaluable, else failed."""
    decide = _cache_decisions(lambda found: _decide_by(found, ("passed", "error", "not_evaluable", "failed")))
    return lambda trace: decide(_evaluate(members, trace))


def at_least(k: int, members: Sequence[Assertion]) -> Check:
    """Passes if `k` members pass; fails if `k` could not be reached even if all undecided ones passed."""

    def decide(found: MemberFindings) -> Finding:
        if not found:
            return _decide_by(found, ())
        outcomes = [finding.outcome for _, finding in found]
        passed = outcomes.count("passed")
        undecided = outcomes.count("error") + outcomes.count("not_evaluable")
        if passed >= k:
            return _build_finding("passed", found, "passed", f"{passed} of {len(found)} passed, {k} needed")
        if passed + undecided < k:
            return _build_finding("failed", found, "failed", f"{passed} of {len(found)} passed, {k} needed")
        return _decide_by(
            [(m, f) for m, f in found if f.outcome in ("error", "not_evaluable")], ("error", "not_evaluable")
        )

    cached_decide = _cache_decisions(decide)
    return lambda trace: cached_decide(_evaluate(members, trace))


def when(condition: Assertion, then: Sequence[Assertion], *, is_named: bool) -> Check:
    """Judges the members only if the condition passes; if that can't be judged, neither can the group.

    A reason repeats neither the condition nor a single member, unless the user named the group otherwise.
    """
    decide_then = _decide_named(condition) if is_named else _decide_only if len(then) == 1 else _decide_all_of
    decide, decide_unmet = _cache_decisions(decide_then), _cache_decisions(_decide_unmet)

    def check(trace: Trace) -> Finding:
        found = condition.evaluate(trace)
        if found.outcome == "passed":
            return decide(_evaluate(then, trace))
        if isinstance(found, Undecided):
            return _decide_unknown(found, _evaluate(then, trace))
        return decide_unmet([(condition, found)])

    return check


def name_conditional(condition: Assertion, then: Sequence[Assertion]) -> str:
    """The name of a group by its condition and its first member.

    A condition about the id of the scenario is left out: the check stands below it.
    """
    holds = "it applies" if _is_about_id(condition) else shorten(condition.name, MAX_CONDITION)
    return f"{WHEN} {holds}: {then[0].name}{f' and {len(then) - 1} more' if len(then) > 1 else ''}"


def _is_about_id(condition: Assertion) -> bool:
    return isinstance(condition.written, dict) and condition.written.get("path") == SCENARIO_ID_PATH


def _decide_named(condition: Assertion) -> Decider:
    """Decides as `all_of`; a failure begins with the condition, which the name does not state."""

    def decide(found: MemberFindings) -> Finding:
        decided = _decide_all_of(found)
        if decided.outcome != "failed" or _is_about_id(condition):
            return decided
        return decided._replace(reason=f"{condition.name} holds; {decided.reason}")

    return decide


def _decide_only(found: MemberFindings) -> Finding:
    decided = _decide_all_of(found)
    return decided._replace(reason=found[0][1].reason) if found else decided


def _decide_unknown(condition: Undecided, found: MemberFindings) -> Finding:
    """Decides if calls that were not recorded decide the condition; skippable only if no member could fail."""
    could_fail = any(each.outcome == "failed" or not is_skippable(each) for _, each in found)
    decided = Finding("not_evaluable", f"condition: {condition.reason}")
    return build_undecided(decided, may_fail=condition.may_fail or could_fail, may_pass=True)


def _decide_unmet(conditions: MemberFindings) -> Finding:
    ((_, found),) = conditions
    if found.outcome in ("failed", "skipped"):
        return Finding("skipped", f"condition does not hold: {found.reason}")
    return Finding(found.outcome, f"condition: {found.reason}")


def _cache_decisions(decide: Decider) -> Decider:
    """Caches decisions by the identity of the members' findings, which are the same for most traces."""
    cache: dict[tuple[int, ...], tuple[MemberFindings, Finding]] = {}

    def decide_once(found: MemberFindings) -> Finding:
        key = tuple([id(each) for pair in found for each in pair])
        if key in cache:
            return cache[key][1]
        finding = decide(found)
        if len(cache) < MAX_CACHED_DECISIONS:
            cache[key] = found, finding  # keeping the findings alive keeps their ids unique
        return finding

    return decide_once


def _evaluate(members: Sequence[Assertion], trace: Trace) -> MemberFindings:
    """Returns the members' findings, without skipped ones and missing evidence that may be skipped."""
    found = [(member, member.evaluate(trace)) for member in members]
    return [
        (member, finding)
        for member, finding in found
        if finding.outcome != "skipped"
        and not (finding.outcome == "not_evaluable" and member.on_missing_skip and is_skippable(finding))
    ]


def _decide_all_of(found: MemberFindings) -> Finding:
    return _decide_by(found, ("failed", "error", "not_evaluable", "passed"))


def _decide_by(found: MemberFindings, order: Sequence[Outcome]) -> Finding:
    """Returns a finding with the first outcome of `order` that any member has."""
    if not found:
        return Finding("skipped", "no member applies")
    outcomes = {finding.outcome for _, finding in found}
    outcome = next(each for each in order if each in outcomes)
    return _build_finding(outcome, found, outcome)


def _build_finding(outcome: Outcome, found: MemberFindings, deciding: Outcome, lead: str | None = None) -> Finding:
    reasons = [f"{member.name}: {finding.reason}" for member, finding in found if finding.outcome == deciding]
    evidence: dict[str, Any] = {
        "members": [{"name": m.name, "outcome": f.outcome, "reason": f.reason} for m, f in found]
    }
    if figures := _collect_figures(found):
        evidence["figures"] = figures
    finding = Finding(outcome, "; ".join([lead, *reasons] if lead else reasons), evidence)
    return combine_undecided(finding, [each for _, each in found])


def _collect_figures(found: MemberFindings) -> list[dict[str, Any]]:
    """Collects the values that the next run reads from this run's results, as of `convergence`, in the group."""
    figures: list[dict[str, Any]] = []
    for member, finding in found:
        evidence = finding.evidence or {}
        figures += evidence.get("figures", ())
        if member.is_read_later and "value" in evidence:
            figures.append({"name": member.name, "value": evidence["value"]})
    return figures


_OPPOSITE = {"success": "failure", "failure": "success"}
_FAILURE = {"verdict": "failure"}


def negate_check(
    check: Check, label: str | None, describe: Callable[[Trace], str] | None = None, *, name: str | None = None
) -> Check:
    """Swaps passed and failed; other outcomes stay as they are.

    `label` is the check in words, used as the reason if the condition does not hold. A group has no label:
    its reason is kept, which lists the members that decided. `describe` builds the reason of a failure. A `name` of
    the user's own does not say what must not hold.
    """
    if isinstance(check, EvidenceCheck):
        plain, careful = (negate_check(each, label, describe, name=name) for each in (check.plain, check.careful))
        return EvidenceCheck(plain, careful)
    shown = label if name is None else name
    passed = Finding("passed", _describe_negated(label or ""))
    passed_with_verdict = Finding("passed", passed.reason, {"verdict": "success"})

    def negated_check(trace: Trace) -> Finding:
        found = check(trace)
        if found.outcome == "passed":
            reason = _describe_unwanted(found.reason, shown) if describe is None else describe(trace)
            return Finding("failed", reason, _negate_evidence(found.evidence))
        if found.outcome != "failed":
            return found.negate() if isinstance(found, Undecided) else found
        if label is not None and found.evidence is None:
            return passed
        if label is not None and found.evidence == _FAILURE:
            return passed_with_verdict
        return Finding("passed", _describe_negated(found.reason), _negate_evidence(found.evidence))

    return negated_check


def _describe_unwanted(reason: str, name: str | None) -> str:
    """Says that a check passes that must not, with its reason unless that only repeats the name of the check."""
    return UNWANTED if reason == name else f"{UNWANTED}: {reason}"


def _describe_negated(reason: str) -> str:
    return f"{HOLDS_NOT}{reason}"


def _negate_evidence(evidence: dict[str, Any] | None) -> dict[str, Any] | None:
    """Returns the evidence with its verdict swapped too, if that is `success` or `failure`."""
    opposite = _OPPOSITE.get((evidence or {}).get("verdict", ""))
    return evidence if evidence is None or opposite is None else {**evidence, "verdict": opposite}
