"""Reads the inputs of the Action: one field each, named as in action.yml with `_` for `-`."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any, get_args

from msgspec import Struct

from evalgate.errors import Problem, SettingError
from evalgate.features.track.models import CONTENT_LEVELS, ContentLevel
from evalgate.features.track.settings import MAX_SECONDS, TRACKERS
from evalgate.models.comparison.decision import FailOn
from evalgate.models.comparison.weakening import OnWeakening
from evalgate.settings.limits import IN_ACTION, Limits, parse_limits
from evalgate.settings.matrix import MatrixLeg, parse_matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalgate.application.action.post_comment import CommentMode

KEY = re.compile(r"[A-Za-z0-9._/-]{1,100}")
ARTIFACT_NAME = re.compile(r'[^"<>|*?:\r\n\\/\x00-\x1f]{1,200}')
BRANCH = re.compile(r"[^\x00-\x20\x7f~^:?*\[\\]{1,255}")
WORKFLOW = re.compile(r"(?:\.github/workflows/)?[A-Za-z0-9._-]{1,200}\.ya?ml")
LONGEST_PATH, LONGEST_NAME = 1_000, 255
"""Maximum characters of a path and bytes of one component, on any system."""
MAX_RETENTION_DAYS = 90
UNSUPPORTED = {
    "allow-untrusted-head": "untrusted files are never read in a job whose token may write; docs/github.md, Forks, "
    "shows the two workflows that work without it"
}
"""Inputs that people expect but that don't exist on purpose, with the reason."""
RUNNER_INPUTS = {"ENTRYPOINT", "ARGS"}
"""Inputs of every container action."""


class Inputs(Struct, frozen=True):
    """The inputs from the workflow file; empty text means not given."""

    config: tuple[str, ...] = ()
    traces: tuple[str, ...] = ()
    format: str = ""
    working_directory: str = "."
    github_token: str = ""
    mode: str = "auto"
    fail_on: tuple[str, ...] = ()
    on_weakening: OnWeakening | None = None
    baseline: str = "auto"
    baseline_artifact: str = ""
    baseline_branch: str = ""
    baseline_workflow: str = ""
    upload_baseline: str = "auto"
    upload_report: str = "auto"
    retention_days: int | None = None  # of the baseline; None for the repository's setting
    report_retention_days: int | None = None
    comment: CommentMode = "auto"
    comment_key: str = ""
    template: str = ""
    policy_from: str = "head"
    approvals_from: str = "base"
    allow_self_approval: bool = False
    annotations: bool = True
    check_run: bool = False
    job_summary: bool = True
    mutation_score: bool = False
    junit_path: str = ""
    sarif_path: str = ""
    html_path: str = ""
    store_url: str = ""  # may carry a password
    track: tuple[str, ...] = ()
    track_content: ContentLevel = "final"
    track_timeout: int = MAX_SECONDS
    track_forks: bool = False
    track_allow_http: bool = False
    max_comment_chars: int = 60_000
    limits: Limits = IN_ACTION
    matrix: MatrixLeg | None = None
    debug: bool = False

    def __repr__(self) -> str:  # without secrets
        return "Inputs(...)"


def read_inputs(environ: Mapping[str, str], problems: list[Problem]) -> tuple[Inputs, list[str]]:
    """The inputs, and notes on unknown ones. Invalid inputs are added to `problems` and keep the default."""
    values: dict[str, Any] = {}
    for name, read in READERS.items():
        text = environ.get(input_variable(name), "").strip()
        if not text:
            continue
        try:
            values[name] = read(text)
        except ValueError as error:
            problems.append(Problem(f"input `{input_name(name)}` {error}"))
    return Inputs(**values), _check_unknown_inputs(environ, problems)


def input_name(name: str) -> str:
    """A field's name as written in a workflow."""
    return name.replace("_", "-")


def input_variable(name: str) -> str:
    """The environment variable that holds an input; the runner keeps hyphens."""
    return f"INPUT_{input_name(name).upper()}"


def _check_unknown_inputs(environ: Mapping[str, str], problems: list[Problem]) -> list[str]:
    """Adds misspelt inputs to `problems`; returns notes on other unknown INPUT_ variables."""
    known = {input_variable(name): input_name(name) for name in READERS}
    notes = []
    for key in sorted(environ):
        name = key.removeprefix("INPUT_")
        if not key.startswith("INPUT_") or key in known or name in RUNNER_INPUTS or not environ[key].strip():
            continue
        guess = nearest_choice(name.lower().replace("_", "-"), known.values())
        if name.lower() in UNSUPPORTED:
            problems.append(Problem(f"there is no input `{name.lower()}`", hint=UNSUPPORTED[name.lower()]))
        elif guess:
            problems.append(Problem(f"unknown input `{name.lower()}`", hint=f"did you mean `{guess}`?"))
        else:
            notes.append(f"unknown input `{name.lower()}` is ignored")
    return notes


def nearest_choice(word: str, choices: Any) -> str | None:
    """The choice closest to a misspelt word, if any is close."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, sorted(choices), n=1, cutoff=0.7)), None)


# --- readers: convert text to a value; the text of a ValueError continues after the input's name ----


def _read_text(text: str) -> str:
    if any(ord(character) < ord(" ") for character in text):
        raise ValueError("must be one line without control characters")
    return text


def _read_lines(text: str) -> tuple[str, ...]:
    return tuple(_read_text(line.strip()) for line in text.splitlines() if line.strip())


def _read_flag(text: str) -> bool:
    return _choice_reader("true", "false")(text.lower()) == "true"


def _choice_reader(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            guess = nearest_choice(text.lower(), words)
            remedy = f"; did you mean `{guess}`?" if guess else ""
            raise ValueError(f"must be one of {', '.join(words)}, not `{shorten(text)}`{remedy}")
        return text

    return read


def _list_reader(*allowed: str, hint: str = "") -> Callable[[str], tuple[str, ...]]:
    read_choice = _choice_reader(*allowed)

    def read(text: str) -> tuple[str, ...]:
        words = [word.strip() for word in re.split(r"[,\n]", text) if word.strip()]
        if not words or text.strip() == "[]":
            raise ValueError(f"is empty{hint}")
        return tuple(dict.fromkeys(read_choice(word) for word in words))

    return read


def _pattern_reader(pattern: re.Pattern[str], description: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if not pattern.fullmatch(text):
            raise ValueError(f"must be {description}, not `{shorten(text)}`")
        return text

    return read


def _int_reader(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", text) or not low <= int(text) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}, not `{shorten(text)}`")
        return int(text)

    return read


def _read_inside_path(text: str) -> str:
    depth = 0
    for part in _read_text(text).split("/"):
        depth += {"..": -1, ".": 0, "": 0}.get(part, 1)
        if depth < 0:
            break
    if text.startswith("/") or depth < 0:
        raise ValueError(f"must be a path inside the workspace, not `{shorten(text)}`")
    if len(text) > LONGEST_PATH or any(
        len(part.encode("utf-8", "surrogatepass")) > LONGEST_NAME for part in text.split("/")
    ):
        raise ValueError(f"is too long for a path: `{shorten(text)}`")
    return text


def _read_file_path(text: str) -> str:
    if posixpath.normpath(_read_inside_path(text)) == ".":
        raise ValueError(f"must be the path of a file, not `{shorten(text)}`")
    return text


def _read_branch(text: str) -> str:
    """Checks a branch name by git's rules: it is used in URLs, where `..` would lead elsewhere."""
    is_wrong = any(each in text for each in ("..", "//", "@{"))
    if is_wrong or text.startswith(("/", "-")) or text.endswith(("/", ".", ".lock")):
        raise ValueError(f"must be the name of a branch, not `{shorten(text)}`")
    return _pattern_reader(BRANCH, "the name of a branch")(text)


def _read_limits(text: str) -> Limits:
    try:
        return parse_limits(_read_lines(text), IN_ACTION)
    except SettingError as error:
        raise ValueError(f"is invalid: {shorten('; '.join(map(str, error.problems)), 500)}") from None


def _read_token(text: str) -> str:
    if not re.fullmatch(r"[!-~]{1,4000}", text):
        raise ValueError("is not a token: it contains blanks or invalid characters")
    return text


def shorten(text: str, limit: int = 60) -> str:
    """Shortens a value for a message."""
    return text if len(text) <= limit else text[:limit] + "..."


READERS: dict[str, Callable[[str], Any]] = {
    "config": _read_lines,
    "traces": _read_lines,
    "format": _read_text,
    "working_directory": _read_inside_path,
    "github_token": _read_token,
    "mode": _choice_reader("auto", "gate", "report-only", "evaluate", "publish", "approve"),
    "on_weakening": _choice_reader(*get_args(OnWeakening)),
    "fail_on": _list_reader(*get_args(FailOn), hint="; to never fail the check use `mode: report-only`"),
    "baseline": _read_text,
    "baseline_artifact": _pattern_reader(ARTIFACT_NAME, 'a name without any of " : < > | * ? \\ /'),
    "baseline_branch": _read_branch,
    "baseline_workflow": _pattern_reader(WORKFLOW, "a workflow's file name, such as evalgate.yml"),
    "upload_baseline": _choice_reader("auto", "true", "false"),
    "upload_report": _choice_reader("auto", "true", "false"),
    "retention_days": _int_reader(1, MAX_RETENTION_DAYS),
    "report_retention_days": _int_reader(1, MAX_RETENTION_DAYS),
    "comment": _choice_reader("auto", "always", "on-change", "on-failure", "off"),
    "comment_key": _pattern_reader(KEY, "made of letters, digits and . _ / -"),
    "template": _read_file_path,
    "policy_from": _choice_reader("head", "base"),
    "approvals_from": _choice_reader("base", "head", "comments"),
    "allow_self_approval": _read_flag,
    "annotations": _read_flag,
    "check_run": _read_flag,
    "job_summary": _read_flag,
    "mutation_score": _read_flag,
    "junit_path": _read_file_path,
    "sarif_path": _read_file_path,
    "html_path": _read_file_path,
    "store_url": _read_text,
    "track": _list_reader(*TRACKERS),
    "track_content": _choice_reader(*CONTENT_LEVELS),
    "track_timeout": _int_reader(1, MAX_SECONDS),
    "track_forks": _read_flag,
    "track_allow_http": _read_flag,
    "max_comment_chars": _int_reader(1_000, 65_000),
    "limits": _read_limits,
    "matrix": parse_matrix,
    "debug": _read_flag,
}
