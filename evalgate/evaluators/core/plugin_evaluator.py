"""Plugin evaluators: their output is validated, so that their bugs can't end a run."""

from __future__ import annotations

from copy import deepcopy
from math import isfinite
from typing import TYPE_CHECKING, Any, cast, get_args

import orjson

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.measures.values.json_values import shorten, show
from evalgate.models.run.run import Outcome

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

MAX_REASON = 1_000
"""Characters of a reason; the rest is cut."""
MAX_EVIDENCE = 20_000
"""Bytes of evidence as JSON; larger evidence is left out."""


def compile_plugin(settings: Evaluator) -> Check:
    """Compiles the check and validates its findings. Raises FieldProblemError, also if compiling crashes."""
    try:
        made: tuple[Any, Any] = settings.label(), settings.compile()
    except FieldProblemError:
        raise
    except Exception as error:  # noqa: BLE001  (untrusted code: any exception is reported)
        raise FieldProblemError(
            "type", f"plugin evaluator {show(settings.type)} failed on these settings ({type(error).__name__})"
        ) from None
    label, check = made
    if not isinstance(label, str) or not callable(check):
        raise FieldProblemError("type", f"plugin evaluator {show(settings.type)} returned an invalid label or check")
    return lambda trace: _run_check(check, trace)


def _run_check(check: Check, trace: Trace) -> Finding:
    """Runs the check and cuts its finding to the bounds; an invalid finding is an error."""
    found = check(trace)
    wrong = _describe_invalid(found)
    if wrong:
        return Finding("error", f"the check returned an invalid finding: {wrong}")
    evidence = found.evidence
    if evidence is not None and len(orjson.dumps(evidence)) > MAX_EVIDENCE:
        evidence = {"left_out": f"more than {MAX_EVIDENCE} bytes"}
    evidence = deepcopy(evidence)  # the check may change it for the next trace
    reason = shorten(" ".join(found.reason.split()), MAX_REASON)
    score = None if found.score is None else found.score + 0  # 0.0 and -0.0 are equal, and one row
    return found._replace(reason=reason, evidence=evidence, score=score)


def _describe_invalid(found: object) -> str | None:
    if not isinstance(found, Finding):
        return f"expected a Finding, got {type(found).__name__}"
    outcome, reason, evidence, score = cast("tuple[Any, ...]", found)
    if outcome not in get_args(Outcome):
        return f"unknown outcome {show(outcome, 40)}"
    if not isinstance(reason, str):
        return f"expected text as reason, got {type(reason).__name__}"
    if score is not None and not (type(score) in (int, float) and isfinite(score) and 0 <= score <= 1):
        return f"expected a score from 0 to 1, got {show(score, 40)}"
    if not isinstance(evidence, dict | None):
        return f"expected a dict as evidence, got {type(evidence).__name__}"
    return None
