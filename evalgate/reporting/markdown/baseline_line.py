"""The line of a report that names its baseline, and how that relates to the base commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text.escaping import span
from evalgate.reporting.text.wording import age, counted, listed

if TYPE_CHECKING:
    from evalgate.models.results.results import BaselineDoc, ResultsDoc

SHORT_SHA = 7
MOST_TYPES = 5
TYPE_LIMIT = 60
_STATUS = {
    "exact": "of the base commit",
    "latest": "the latest of the base branch, not of the base commit",
    "given": "given by hand",
}
_WITHOUT = {
    "none": "none yet, so changes can't be shown; the next push to the base branch leaves one",
    "expired": "expired, so changes can't be shown; the next push to the base branch leaves a new one",
    "unreachable": "GitHub did not answer, so changes can't be shown",
}


def baseline_line(document: ResultsDoc) -> str:
    """Formats commit, baseline and rules as one line of Markdown."""
    baseline = document["baseline"]
    commit = document["commit"]
    tested = f"**Commit** {span(commit[:SHORT_SHA])} \u00b7 " if commit else ""
    if baseline is None:
        return f"{tested}**Baseline** not asked for"
    status = baseline["status"]
    if status in _WITHOUT:
        return f"{tested}**Baseline** {_WITHOUT[status]}"
    facts = [fact for fact in (_status(baseline), _age(baseline), _drift(baseline)) if fact]
    return f"{tested}**Baseline** {_what(baseline)} \u00b7 {', '.join(facts)}{_rules(document)}"


def _rules(document: ResultsDoc) -> str:
    """Describes the rules that decided, if they came from the baseline; else empty."""
    rules = document.get("rules")
    if not rules:
        return ""
    same = rules["config_hash"] == rules["proposed_config_hash"]
    own = "which are also the commit's own" if same else "not the commit's own, which say something else"
    return f" \u00b7 **Rules** of the baseline, {own}"


def _what(baseline: BaselineDoc) -> str:
    if baseline["sha"]:
        return span(baseline["sha"][:SHORT_SHA])
    return span(baseline["path"]) if baseline["path"] else "of an unknown commit"


def _status(baseline: BaselineDoc) -> str:
    status, distance = baseline["status"], baseline["distance"]
    drift = baseline.get("drift") if status == "drifted" else None
    if drift:
        status = drift["found"]
    if status == "ancestor":
        back = f"{counted(distance, 'commit')} before" if distance else "an ancestor of"
        return f"{back} the base commit"
    return _STATUS.get(status) or span(status)


def _drift(baseline: BaselineDoc) -> str:
    """Describes which rules differ from the baseline's, as they alone may cause a change."""
    if baseline["status"] != "drifted":
        return ""
    drift = baseline.get("drift")
    if not drift:
        return "judged by other rules, so changes may come from that"
    types = [span(each["type"], TYPE_LIMIT) for each in drift["evaluators"][:MOST_TYPES]]
    left = len(drift["evaluators"]) - MOST_TYPES
    more = [f"{left} more checks"] if left > 0 else []
    parts = [
        *(["other suites or settings"] if drift["suites"] else []),
        *([f"other versions of {listed([*types, *more])}"] if types else []),
    ]
    return f"judged by {listed(parts) or 'other rules'}, so changes may come from that"


def _age(baseline: BaselineDoc) -> str:
    return "" if baseline["age_seconds"] is None else age(baseline["age_seconds"])
