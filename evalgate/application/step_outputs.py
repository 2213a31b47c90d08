"""What later steps of a workflow are told: figures, words from closed sets and paths of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.results import ResultsDoc
    from evalgate.ports import Comment

UNFINISHED: Mapping[str, str] = {"verdict": "cannot_judge"}


def outputs_of(results: ResultsDoc, paths: Mapping[str, str]) -> dict[str, str]:
    """The outputs of a judged run; unknown is empty. `paths` are outputs that name files."""
    baseline = results["baseline"]
    return {
        "verdict": results["verdict"],
        "exit-code": str(results["exit_code"]),
        **_figures(results),
        "baseline-status": baseline["status"] if baseline else "none",
        "baseline-sha": (baseline["sha"] or "") if baseline else "",
        **paths,
    }


def comment_outputs(comment: Comment) -> dict[str, str]:
    """Where the comment is."""
    return {"comment-id": str(comment.id), "comment-url": comment.url}


def _figures(results: ResultsDoc) -> dict[str, str]:
    summary = results["summary"]
    if summary is None:
        return {}
    hard_fails = summary["hard_fails"] + summary["errors"] + summary["missing"]
    return {
        "score": _figure(summary["score"]),
        "scenarios-total": str(summary["scenarios"]),
        "scenarios-passed": str(summary["passed"]),
        "scenarios-failed": str(summary["scenarios"] - summary["passed"]),
        "hard-fails": str(hard_fails),
        "regressions": str(summary["regressions"]),
        "improvements": str(summary["improvements"]),
        "cost-usd": _figure(summary["cost_usd"]),
    }


def _figure(value: float | None) -> str:
    """Plain decimals, never an exponent, so that a shell can compare them."""
    return "" if value is None else f"{value:.6f}".rstrip("0").rstrip(".") or "0"
