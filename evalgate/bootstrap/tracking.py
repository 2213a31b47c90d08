"""Connects trackers to finished runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evalgate.errors import InvalidInput, Problem, SettingError, TrackerKeyMissing
from evalgate.settings.tracking import MAX_SECONDS, read_tracking_context, require_tracker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.results.published_run import ContentLevel, PublishedRun
    from evalgate.ports import StepOutput
    from evalgate.ports.tracking import Tracker
    from evalgate.settings.settings import Settings

RESULTS = "results.json"


def load_published_run(
    folder: str, environ: Mapping[str, str], cwd: str, content: ContentLevel, prefix: str = "evalgate"
) -> PublishedRun:
    """The finished run of a folder, as it may leave; raises InvalidInput."""
    from evalgate.application.tracking.published_run import build_published_run, load_finished
    from evalgate.bootstrap.shell_tools import find_baseline
    from evalgate.bootstrap.sources import build_baseline_files, build_trace_files
    from evalgate.bootstrap.store import find_commit_and_branch

    source = os.path.join(folder, RESULTS)  # noqa: PTH118  (keeps the user's spelling)
    if not os.path.isfile(os.path.join(cwd, source)):  # noqa: PTH113, PTH118
        source = find_baseline(folder, cwd)
        if not os.path.isfile(os.path.join(cwd, source)):  # noqa: PTH113, PTH118
            raise SettingError(Problem(f"there is no finished run at {folder}", None, "run `evalgate run` first"))
    finished = load_finished(build_baseline_files(cwd), build_trace_files(cwd), source, content)
    _, branch = find_commit_and_branch(None, environ, cwd)
    return build_published_run(finished, read_tracking_context(environ, cwd, branch, prefix), content)


def build_tracker(
    name: str, environ: Mapping[str, str], *, allow_http: bool = False, seconds: float = MAX_SECONDS, pace: float = 1.0
) -> Tracker:
    """The tracker with its key and address of the environment; raises SettingError, TrackerKeyMissing without a key.

    `pace` is the real duration of one of its seconds.
    """
    from evalgate.adapters.http import Http, Network, RequestDeadline
    from evalgate.adapters.trackers import langsmith
    from evalgate.settings.job import read_either_case, read_proxies
    from evalgate.settings.provider_urls import require_plain_url

    require_tracker(name)
    key = _read_header(langsmith.KEY_VARIABLE, environ)
    if not key:
        raise TrackerKeyMissing(Problem(f"{langsmith.KEY_VARIABLE} is not set", None, "docs/tracking.md"))
    url = environ.get(langsmith.URL_VARIABLE) or langsmith.DEFAULT_URL
    network = Network(
        read_proxies(environ), read_either_case(environ, "NO_PROXY"), environ.get("REQUESTS_CA_BUNDLE", "")
    )
    return langsmith.LangSmith(
        require_plain_url(langsmith.NAME, url, allow_http=allow_http),
        key,
        _read_header(langsmith.WORKSPACE_VARIABLE, environ),
        Http(network, RequestDeadline(seconds, pace=pace)),
    )


def build_job_trackers(settings: Settings, environ: Mapping[str, str], step: StepOutput) -> list[Tracker]:
    """The trackers that the job names and has keys for; a missing key is a notice, any other problem a warning."""
    from evalgate.application.action.post_comment import add_annotation

    inputs = settings.inputs
    found: list[Tracker] = []
    missing: list[str] = []
    for name in inputs.track:
        try:
            seconds = inputs.track_timeout / len(inputs.track)
            found.append(build_tracker(name, environ, allow_http=inputs.track_allow_http, seconds=seconds))
        except TrackerKeyMissing as error:
            missing.append(error.problems[0].message)
        except InvalidInput as error:
            add_annotation(step, "warning", f"not tracked: {error.problems[0]}")
    if missing:
        reason = "; GitHub gives no secrets to pull requests from forks" if settings.is_from_fork else ""
        add_annotation(step, "notice", f"not tracked: {', '.join(missing)}{reason}")
    return found


def _read_header(name: str, environ: Mapping[str, str]) -> str:
    """A variable that is sent as a header; raises SettingError for characters that no header can hold."""
    value = environ.get(name, "").strip()
    if not (value.isascii() and (value.isprintable() or not value)):
        raise SettingError(f"{name} has characters that no key has")
    return value
