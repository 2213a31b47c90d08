"""One case of a whole run: the files of a project, `evalgate run` on them, and what must come of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from command import CommandResult, evalgate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PASS, FAILED, INVALID, CANNOT_JUDGE = 0, 1, 2, 3
SUITE = "evals/support.yaml"
ALL = ("--fail-on", "hard_fail,below_threshold,broken,regression,model_changed,weakened", "--on-weakening", "fail")

Files = "Mapping[str, Any]"


class Case(NamedTuple):
    """`files` are laid out and judged, against a baseline made of `before` if there is one.

    The run ends with `code`; `says` are texts in the comment, or in what the command prints if it writes none;
    `silent` are texts that are in neither.
    """

    name: str
    files: Mapping[str, Any]
    code: int
    says: Sequence[str] = ()
    arguments: Sequence[str] = ()
    before: Mapping[str, Any] | None = None
    silent: Sequence[str] = ()

    def run(self, folder: Path, environ: Mapping[str, str] | None = None) -> CommandResult:
        """Runs the command on the case; a baseline is made in a folder beside it."""
        arguments = [SUITE, *self.arguments]
        if self.before is not None:
            lay_out(folder / "before", self.before)
            evalgate(folder / "before", [SUITE])
            arguments += ["--baseline", str(folder / "before/.evalgate/baseline.zip")]
        lay_out(folder / "now", self.files)
        return evalgate(folder / "now", arguments, environ=environ)

    def find_faults(self, result: CommandResult) -> list[str]:
        """What is wrong with the result."""
        shown = result.text("comment.md") + result.stdout + result.stderr
        found = [] if result.code == self.code else [f"exit {result.code}, not {self.code}"]
        found += [f"lacks {text!r}" for text in self.says if text not in shown]
        found += [f"says {text!r}" for text in self.silent if text in shown]
        return [f"{each}\n{shown}" for each in found[:1]] + found[1:]


def lay_out(folder: Path, files: Mapping[str, Any]) -> None:
    """Writes files below a folder; what is no text is written as JSON."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))


def suite(*checks: Any, scenario: Mapping[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A suite of one scenario `refund` with these checks."""
    entry = {"id": "refund", "assertions": list(checks), **(scenario or {})}
    return {"version": 1, "suite": "support", "traces": ["../traces/**"], "scenarios": [entry], **fields}


def check(kind: str, **fields: Any) -> dict[str, Any]:
    """A required check."""
    return {"type": kind, "required": True, **fields}


def trace(*calls: str, answer: str | None = "Your refund is issued.", **fields: Any) -> dict[str, Any]:
    """A native trace of scenario `refund`: a request, calls with their results, and an answer."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Refund order A-7, please."}]
    for number, name in enumerate(calls):
        request = {"id": f"c{number}", "name": name, "arguments": {"order": "A-7"}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [request]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "done"},
        ]
    if answer is not None:
        messages.append({"role": "assistant", "content": answer})
    return {"schema": "evalgate.trace/1", "scenario_id": "refund", "messages": messages, **fields}


def trials(*traces: Mapping[str, Any]) -> dict[str, Any]:
    """The files of several trials."""
    return {f"traces/refund/{number}.json": {**each, "trial": number} for number, each in enumerate(traces)}
