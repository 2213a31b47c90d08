"""`exit_code`: the exit code of a command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding
from evalgate.evaluators.kinds.output.output_source import SourceField, describe_source
from evalgate.evaluators.kinds.output.output_verdict import build_check, build_finding
from evalgate.measures.values.json_values import shorten
from evalgate.measures.values.outputs import OutputError, quote_beginning

if TYPE_CHECKING:
    from evalgate.evaluators.kinds.output.output_verdict import Verdict
    from evalgate.models.trace.trace import Trace

_INTEGER = re.compile(r"[+-]?[0-9]+")


class ExitCode(Evaluator):
    """0 is success, 1 is failure, any other code an error. With `tool`, `field` defaults to `exit_code`."""

    type: Literal["exit_code"]
    source: SourceField | None = None

    def label(self) -> str:
        """The check in words."""
        return f"{describe_source(self.source, 'exit_code')} is 0"

    def compile(self) -> Check:
        """Returns a check of the number; raises FieldProblemError if the source is invalid."""
        return build_check(self.source, _judge_code, "exit_code")


def _judge_code(text: str, _: Trace) -> Finding:
    code = text.strip()
    if not _INTEGER.fullmatch(code):
        raise OutputError(f"expected an exit code, got {quote_beginning(text)}")
    digits = code.lstrip("+-").lstrip("0")
    if not digits:
        return build_finding("success", f"exit code {shorten(code, 20)}")
    word: Verdict = "failure" if digits == "1" and code[0] != "-" else "error"
    return build_finding(word, f"expected exit code 0, got {shorten(code, 20)}")
