"""Checks that judge one output in a word; the word stays in the evidence and decides the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from evalgate.evaluators.core.evaluator import Check, Finding
from evalgate.evaluators.kinds.output.output_source import NoOutputError, Read
from evalgate.measures.jmespath.query import QueryFailedError
from evalgate.measures.text.patterns import PatternFailedError
from evalgate.measures.values.outputs import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import Trace

Verdict = Literal["success", "failure", "error", "target", "progress", "stall"]

OUTCOMES: dict[Verdict, Outcome] = {
    "success": "passed",
    "failure": "failed",
    "error": "error",
    "target": "passed",
    "progress": "passed",
    "stall": "failed",
}


def verdict(word: Verdict, reason: str, **evidence: Any) -> Finding:
    """A finding by its word."""
    return Finding(OUTCOMES[word], reason, {"verdict": word, **evidence})


def judging(subject: str, read: Read, judge: Callable[[str, Trace], Finding]) -> Check:
    """Reads the output and judges it: a lacking one is not_evaluable, one that can't be read an error."""

    def check(trace: Trace) -> Finding:
        try:
            return judge(read(trace), trace)
        except NoOutputError as error:
            return Finding("not_evaluable", str(error))
        except (OutputError, PatternFailedError, QueryFailedError) as error:
            return verdict("error", f"{subject}: {error}")

    return check
