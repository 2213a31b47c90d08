"""Reads the inputs of the Action: one field each, named as in action.yml with `_` for `-`."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any, get_args

from evalgate.errors import Problem, SettingError
from evalgate.models.comparison.decision import FailOn
from evalgate.models.comparison.weakening import OnWeakening
from evalgate.records import dataclass, field
from evalgate.settings.limits import IN_ACTION, Limits, limits_from

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalgate.application.action.post_comment import CommentMode

KEY = re.compile(r"[A-Za-z0-9._/-]{1,100}")
ARTIFACT_NAME = re.compile(r'[^"<>|*?:\r\n\\/\x00-\x1f]{1,200}')
BRANCH = re.compile(r"[^\x00-\x20\x7f~^:?*\[\\]{1,255}")
WORKFLOW = re.compile(r"(?:\.github/workflows/)?[A-Za-z0-9._-]{1,200}\.ya?ml")
LONGEST_PATH, LONGEST_NAME = 1_000, 255
"""Maximum characters of a path and bytes of one component, on any system."""
WITHHELD = {
    "allow-untrusted-head": "nothing of a stranger's is read where a token may write; docs/github.md, Forks, "
    "shows the two workflows that need no such trust"
}
"""Inputs that people expect but that don't exist on purpose, with the reason."""
OF_THE_RUNNER = {"ENTRYPOINT", "ARGS"}
"""Inputs of every container action."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs from the workflow file; empty text means not given."""

    config: tuple[str, ...] = ()
    traces: tuple[str, ...] = ()
    format: str = ""
    working_directory: str = "."
    github_token: str = field(default="", repr=False)
    mode: str = "auto"
    fail_on: tuple[str, ...] = ()
    on_weakening: OnWeakening | None = None
    baseline: str = "auto"
    baseline_artifact: str = "evalgate-baseline"
    baseline_branch: str = ""
    baseline_workflow: str = ""
    upload_baseline: str = "auto"
    upload_report: str = "auto"
    comment: CommentMode = "auto"
    comment_key: str = ""
    template: str = ""
    policy_from: str = "head"
    approvals_from: str = "base"
    allow_self_approval: bool = False
    annotations: bool = True
    check_run: bool = False
    job_summary: bool = True
    junit_path: str = ""
    sarif_path: str = ""
    store_url: str = field(default="", repr=False)  # may carry a password
    max_comment_chars: int = 60_000
    limits: Limits = IN_ACTION
    debug: bool = False


def read_inputs(environ: Mapping[str, str], problems: list[Problem]) -> tuple[Inputs, list[str]]:
    """The inputs, and notes on unknown ones. Invalid inputs are added to `problems` and keep the default."""
    values: dict[str, Any] = {}
    for name, read in READERS.items():
        text = environ.get(variable(name), "").strip()
        if not text:
            continue
        try:
            values[name] = read(text)
        except ValueError as mistake:
            problems.append(Problem(f"input `{spelt(name)}` {mistake}"))
    return Inputs(**values), _unknown(environ, problems)


def spelt(name: str) -> str:
    """A field's name as written in a workflow."""
    return name.replace("_", "-")


def variable(name: str) -> str:
    """The environment variable that holds an input; the runner keeps hyphens."""
    return f"INPUT_{spelt(name).upper()}"


def _unknown(environ: Mapping[str, str], problems: list[Problem]) -> list[str]:
    """Adds misspelt inputs to `problems`; returns notes on other unknown INPUT_ variables."""
    known = {variable(name): spelt(name) for name in READERS}
    notes = []
    for key in sorted(environ):
        name = key.removeprefix("INPUT_")
        if not key.startswith("INPUT_") or key in known or name in OF_THE_RUNNER or not environ[key].strip():
            continue
        meant = nearest(name.lower().replace("_", "-"), known.values())
        if name.lower() in WITHHELD:
            problems.append(Problem(f"there is no input `{name.lower()}`", hint=WITHHELD[name.lower()]))
        elif meant:
            problems.append(Problem(f"unknown input `{name.lower()}`", hint=f"did you mean `{meant}`?"))
        else:
            notes.append(f"unknown input `{name.lower()}` is ignored")
    return notes


def nearest(word: str, choices: Any) -> str | None:
    """The choice closest to a misspelt word, if any is close."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, sorted(choices), n=1, cutoff=0.7)), None)


# --- readers: convert text to a value; the text of a ValueError continues after the input's name ----


def _text(text: str) -> str:
    if any(ord(character) < ord(" ") for character in text):
        raise ValueError("must be one line without control characters")
    return text


def _lines(text: str) -> tuple[str, ...]:
    return tuple(_text(line.strip()) for line in text.splitlines() if line.strip())


def _flag(text: str) -> bool:
    return _choice("true", "false")(text.lower()) == "true"


def _choice(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            meant = nearest(text.lower(), words)
            remedy = f"; did you mean `{meant}`?" if meant else ""
            raise ValueError(f"must be one of {', '.join(words)}, not `{shown(text)}`{remedy}")
        return text

    return read


def _words(*allowed: str) -> Callable[[str], tuple[str, ...]]:
    one = _choice(*allowed)

    def read(text: str) -> tuple[str, ...]:
        words = [word.strip() for word in re.split(r"[,\n]", text) if word.strip()]
        if not words or text.strip() == "[]":
            raise ValueError("names nothing; to let nothing fail use `mode: report-only`")
        return tuple(dict.fromkeys(one(word) for word in words))

    return read


def _like(pattern: re.Pattern[str], description: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if not pattern.fullmatch(text):
            raise ValueError(f"must be {description}, not `{shown(text)}`")
        return text

    return read


def _between(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", text) or not low <= int(text) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}, not `{shown(text)}`")
        return int(text)

    return read


def _inside(text: str) -> str:
    depth = 0
    for part in _text(text).split("/"):
        depth += {"..": -1, ".": 0, "": 0}.get(part, 1)
        if depth < 0:
            break
    if text.startswith("/") or depth < 0:
        raise ValueError(f"must be a path inside the workspace, not `{shown(text)}`")
    if len(text) > LONGEST_PATH or any(
        len(part.encode("utf-8", "surrogatepass")) > LONGEST_NAME for part in text.split("/")
    ):
        raise ValueError(f"is longer than a path can be: `{shown(text)}`")
    return text


def _file_inside(text: str) -> str:
    if posixpath.normpath(_inside(text)) == ".":
        raise ValueError(f"must be the path of a file, not `{shown(text)}`")
    return text


def _branch(text: str) -> str:
    """Checks a branch name by git's rules: it is used in URLs, where `..` would lead elsewhere."""
    wrong = any(each in text for each in ("..", "//", "@{"))
    if wrong or text.startswith(("/", "-")) or text.endswith(("/", ".", ".lock")):
        raise ValueError(f"must be the name of a branch, not `{shown(text)}`")
    return _like(BRANCH, "the name of a branch")(text)


def _limits(text: str) -> Limits:
    try:
        return limits_from(_lines(text), IN_ACTION)
    except SettingError as mistake:
        raise ValueError(f"is wrong: {shown('; '.join(map(str, mistake.problems)), 500)}") from None


def _token(text: str) -> str:
    if not re.fullmatch(r"[!-~]{1,4000}", text):
        raise ValueError("is not a token: it has blanks or characters that no token has")
    return text


def shown(text: str, limit: int = 60) -> str:
    """Shortens a value for a message."""
    return text if len(text) <= limit else text[:limit] + "..."


READERS: dict[str, Callable[[str], Any]] = {
    "config": _lines,
    "traces": _lines,
    "format": _text,
    "working_directory": _inside,
    "github_token": _token,
    "mode": _choice("auto", "gate", "report-only", "evaluate", "publish", "approve"),
    "on_weakening": _choice(*get_args(OnWeakening)),
    "fail_on": _words(*get_args(FailOn)),
    "baseline": _text,
    "baseline_artifact": _like(ARTIFACT_NAME, 'a name without any of " : < > | * ? \\ /'),
    "baseline_branch": _branch,
    "baseline_workflow": _like(WORKFLOW, "a workflow's file name, such as evalgate.yml"),
    "upload_baseline": _choice("auto", "true", "false"),
    "upload_report": _choice("auto", "true", "false"),
    "comment": _choice("auto", "always", "on-change", "on-failure", "off"),
    "comment_key": _like(KEY, "made of letters, digits and . _ / -"),
    "template": _file_inside,
    "policy_from": _choice("head", "base"),
    "approvals_from": _choice("base", "head", "comments"),
    "allow_self_approval": _flag,
    "annotations": _flag,
    "check_run": _flag,
    "job_summary": _flag,
    "junit_path": _file_inside,
    "sarif_path": _file_inside,
    "store_url": _text,
    "max_comment_chars": _between(1_000, 65_000),
    "limits": _limits,
    "debug": _flag,
}
