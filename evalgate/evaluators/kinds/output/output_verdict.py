"""Checks that judge one output by a verdict word, which decides the outcome and is kept as evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from evalgate.evaluators.core.evaluator import Check, Finding
from evalgate.evaluators.core.evidence import require_evidence
from evalgate.evaluators.kinds.output.output_source import NoOutputError, build_reader, describe_source, source_evidence
from evalgate.measures.jmespath.query import QueryFailedError
from evalgate.measures.text.patterns import PatternFailedError
from evalgate.measures.values.outputs import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.evaluators.kinds.output.output_source import Source, SourcePart
    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import EvidenceKind, Trace

Verdict = Literal["success", "failure", "error", "target", "progress", "stall"]

OUTCOMES: dict[Verdict, Outcome] = {
    "success": "passed",
    "failure": "failed",
    "error": "error",
    "target": "passed",
    "progress": "passed",
    "stall": "failed",
}


def build_finding(word: Verdict, reason: str, **evidence: Any) -> Finding:
    """Builds a finding from its verdict word."""
    return Finding(OUTCOMES[word], reason, {"verdict": word, **evidence})


def build_check(
    source: Source | None,
    judge: Callable[[str, Trace], Finding],
    part: SourcePart = "result",
    more_evidence: Sequence[EvidenceKind] = (),
) -> Check:
    """Builds a check of the output: not_evaluable if it is missing, error if it can't be read.

    `part` is the default of the source's `field`; `more_evidence` is needed by `judge`. Raises FieldProblemError.
    """
    subject, read = describe_source(source, part), build_reader(source, part)

    def check(trace: Trace) -> Finding:
        try:
            return judge(read(trace), trace)
        except NoOutputError as error:
            return Finding("not_evaluable", str(error))
        except (OutputError, PatternFailedError, QueryFailedError) as error:
            return build_finding("error", f"{subject}: {error}")

    kinds = tuple(dict.fromkeys((*source_evidence(source), *more_evidence)))
    return require_evidence(check, kinds, denies=source is None or source.tool is None)
