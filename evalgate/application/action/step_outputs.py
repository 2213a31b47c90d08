"""Step outputs for later steps: numbers, words from closed sets and paths of output files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from evalgate.models.results.results import BaselineDoc, ResultsDoc
    from evalgate.ports import Comment

OUTPUTS = (
    *("verdict", "exit-code", "score", "scenarios-total", "scenarios-passed", "scenarios-failed"),
    *("hard-fails", "regressions", "improvements", "cost-usd"),
    *("baseline-status", "baseline-sha", "baseline-age-seconds", "baseline-distance", "baseline-drift"),
    *("baseline-path", "results-path", "report-path", "sarif-path", "html-path", "comment-id", "comment-url"),
    "tracking-url",
)
"""Every output that action.yml declares."""
UNFINISHED: Mapping[str, str] = {"verdict": "cannot_judge"}


def outputs_of(results: ResultsDoc, paths: Mapping[str, str]) -> dict[str, str]:
    """The outputs of a judged run; unknown values are empty. `paths` are outputs that name files."""
    return {
        "verdict": results["verdict"],
        "exit-code": str(results["exit_code"]),
        **_summary_outputs(results),
        **_baseline_outputs(results["baseline"]),
        **paths,
    }


def empty_outputs(names: Collection[str]) -> dict[str, str]:
    """The outputs that a run has not set, as empty strings."""
    return {name: "" for name in OUTPUTS if name not in names}


def comment_outputs(comment: Comment) -> dict[str, str]:
    """The id and URL of the comment."""
    return {"comment-id": str(comment.id), "comment-url": comment.url}


def _baseline_outputs(baseline: BaselineDoc | None) -> dict[str, str]:
    """Which baseline was used; `baseline-drift` names which of its rules differ."""
    if baseline is None:
        return {"baseline-status": "none"}
    drift = baseline.get("drift")
    words = [("suites", drift["suites"]), ("evaluators", drift["evaluators"])] if drift else []
    return {
        "baseline-status": baseline["status"],
        "baseline-sha": baseline["sha"] or "",
        "baseline-age-seconds": _format_count(baseline["age_seconds"]),
        "baseline-distance": _format_count(baseline["distance"]),
        "baseline-drift": ",".join(word for word, differs in words if differs),
    }


def _format_count(value: int | None) -> str:
    return "" if value is None else str(value)


def _summary_outputs(results: ResultsDoc) -> dict[str, str]:
    summary = results["summary"]
    if summary is None:
        return {}
    hard_fails = summary["hard_fails"] + summary["errors"] + summary["missing"]
    return {
        "score": _format_decimal(summary["score"]),
        "scenarios-total": str(summary["scenarios"]),
        "scenarios-passed": str(summary["passed"]),
        "scenarios-failed": str(summary["scenarios"] - summary["passed"]),
        "hard-fails": str(hard_fails),
        "regressions": str(summary["regressions"]),
        "improvements": str(summary["improvements"]),
        "cost-usd": _format_decimal(summary["cost_usd"]),
    }


def _format_decimal(value: float | None) -> str:
    """Plain decimals without exponent, so that a shell can compare them."""
    return "" if value is None else f"{value:.6f}".rstrip("0").rstrip(".") or "0"
