"""What the environment allows a recording: its extra, and the mode of its cassettes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.features.record.application.trials import CacheRules
    from evalgate.features.record.models.cassette import CacheMode

CACHE_MODES: tuple[CacheMode, ...] = ("off", "read", "auto", "write")
UNTRUSTED_EVENTS = ("pull_request_target", "workflow_run", "issue_comment")
"""Events that run with secrets, on what a pull request may have written."""


def require_extra() -> None:
    """Raises SettingError in one line if the packages of the extra are not installed."""
    from importlib.util import find_spec

    if find_spec("aiohttp") is None:
        hint = 'pip install "evalgate-action[record] @ git+https://github.com/org/evalgate"'
        raise SettingError(Problem("evalgate record needs the extra `record`", None, hint))


def choose_cache_rules(
    named: str | None, environ: Mapping[str, str], *, reuses_last: bool = False, records_errors: bool = False
) -> CacheRules:
    """How cassettes are used; raises SettingError where a replay is not safe or would call a provider."""
    from evalgate.features.record.application.trials import CacheRules

    named = named or environ.get("EVALGATE_CACHE") or "off"
    mode = next((mode for mode in CACHE_MODES if mode == named), None)
    if mode is None:
        raise SettingError(Problem(f"EVALGATE_CACHE is {named[:40]!r}", None, f"choose from {', '.join(CACHE_MODES)}"))
    event = environ.get("GITHUB_EVENT_NAME", "")
    if mode in ("read", "auto") and event in UNTRUSTED_EVENTS:
        hint = "a cassette makes the agent call tools: replay it on pull_request (docs/security.md)"
        raise SettingError(Problem(f"cassettes are not replayed on {event}", None, hint))
    if mode == "auto" and environ.get("CI", "").lower() not in ("", "0", "false"):
        hint = "use read in CI, and record on your machine"
        raise SettingError(Problem("--cache auto would call a model provider in CI", None, hint))
    return CacheRules(mode, reuses_last=reuses_last, records_errors=records_errors)
