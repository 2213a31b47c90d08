"""Connects trackers to finished runs."""

from __future__ import annotations

from base64 import b64encode
from functools import partial
from typing import TYPE_CHECKING, Any

from evalgate.errors import Problem, SettingError, TrackerKeyMissing
from evalgate.features.track.feature import MAX_SECONDS
from evalgate.features.track.settings import is_of_fork, read_tracking_context, require_tracker
from evalgate.settings.plain_url import require_plain_url
from evalgate.settings.secret_variables import read_headers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalgate.adapters.http import Http
    from evalgate.features.track.feature import ContentLevel
    from evalgate.features.track.models import PublishedRun
    from evalgate.features.track.ports import Tracker

    _ReadUrl = Callable[[str, str], str]


def load_published_run(
    run: str, environ: Mapping[str, str], cwd: str, content: ContentLevel, prefix: str = "evalgate"
) -> PublishedRun:
    """The finished run, as it may leave; raises InvalidInput."""
    from evalgate.adapters.files.git_head import find_commit_and_branch
    from evalgate.bootstrap.shell_tools import find_run
    from evalgate.bootstrap.sources import build_baseline_files, build_trace_files
    from evalgate.features.track.application.published_run import build_published_run, load_finished

    finished = load_finished(build_baseline_files(cwd), build_trace_files(cwd), find_run(run, cwd), content)
    _, branch = find_commit_and_branch(None, environ, cwd)
    return build_published_run(finished, read_tracking_context(environ, cwd, branch, prefix), content)


def build_tracker(
    name: str, environ: Mapping[str, str], *, allow_http: bool = False, seconds: float = MAX_SECONDS, pace: float = 1.0
) -> Tracker:
    """The tracker with its key and address of the environment; raises SettingError, TrackerKeyMissing without a key.

    `pace` is the real duration of one of its seconds.
    """
    from evalgate.adapters.http import Http, Network, RequestDeadline
    from evalgate.settings.job import read_either_case, read_proxies

    network = Network(
        read_proxies(environ), read_either_case(environ, "NO_PROXY"), environ.get("REQUESTS_CA_BUNDLE", "")
    )
    http = Http(network, RequestDeadline(seconds, pace=pace))
    return _BUILDERS[require_tracker(name)](environ, http, partial(require_plain_url, allow_http=allow_http))


def _build_langsmith(environ: Mapping[str, str], http: Http, read_url: _ReadUrl) -> Tracker:
    from evalgate.features.track.adapters import langsmith

    key = _read_header(langsmith.KEY_VARIABLE, environ)
    if not key:
        raise _missing(langsmith.KEY_VARIABLE)
    url = environ.get(langsmith.URL_VARIABLE) or langsmith.DEFAULT_URL
    return langsmith.LangSmith(
        read_url(langsmith.NAME, url),
        key,
        _read_header(langsmith.WORKSPACE_VARIABLE, environ),
        http,
    )


def _build_mlflow(environ: Mapping[str, str], http: Http, read_url: _ReadUrl) -> Tracker:
    from evalgate.features.track.adapters import mlflow

    url = environ.get(mlflow.URL_VARIABLE)
    if not url:
        raise _missing(mlflow.URL_VARIABLE)
    user, password = (environ.get(name, "") for name in (mlflow.USER_VARIABLE, mlflow.PASSWORD_VARIABLE))
    token = _read_header(mlflow.TOKEN_VARIABLE, environ)
    headers, key_variable = {}, mlflow.TOKEN_VARIABLE
    if user and password:
        words = b64encode(f"{user}:{password}".encode()).decode()
        headers, key_variable = {"Authorization": f"Basic {words}"}, mlflow.PASSWORD_VARIABLE
    elif token:
        headers = {"Authorization": f"Bearer {token}"}
    elif is_of_fork(environ):
        raise _missing(key_variable)
    return mlflow.MLflow(read_url(mlflow.NAME, url), headers, key_variable, http)


def _build_phoenix(environ: Mapping[str, str], http: Http, read_url: _ReadUrl) -> Tracker:
    from evalgate.features.track.adapters import phoenix

    url = next((environ[name] for name in phoenix.URL_VARIABLES if environ.get(name)), None)
    if url is None:
        raise _missing(phoenix.URL_VARIABLES[0])
    key = _read_header(phoenix.KEY_VARIABLE, environ)
    headers = {
        name.title(): value for name, value in read_headers(_read_header(phoenix.HEADERS_VARIABLE, environ)).items()
    }
    _require_printable(phoenix.HEADERS_VARIABLE, "".join([*headers, *headers.values()]))
    if key:
        headers["Authorization"] = f"Bearer {key}"
    if not headers and is_of_fork(environ):
        raise _missing(phoenix.KEY_VARIABLE)
    url = read_url(phoenix.NAME, url)
    return phoenix.Phoenix(url.removesuffix("/v1/traces"), headers, http)


def _missing(variable: str) -> TrackerKeyMissing:
    return TrackerKeyMissing(Problem(f"{variable} is not set", None, "set it in the environment"))


def _read_header(name: str, environ: Mapping[str, str]) -> str:
    """A variable that is sent as a header; raises SettingError for characters that no header can hold."""
    return _require_printable(name, environ.get(name, "").strip())


def _require_printable(name: str, value: str) -> str:
    if not (value.isascii() and (value.isprintable() or not value)):
        raise SettingError(f"{name} has characters that no key has")
    return value


_BUILDERS: Mapping[str, Callable[[Mapping[str, str], Http, _ReadUrl], Tracker]] = {
    "langsmith": _build_langsmith,
    "mlflow": _build_mlflow,
    "phoenix": _build_phoenix,
}


def describe_uploads(name: str, run: PublishedRun) -> list[dict[str, Any]]:
    """What would be sent to a tracker, of each suite that has trials."""
    from evalgate.features.track.adapters import langsmith, mlflow, phoenix

    builders = {
        "langsmith": langsmith.build_upload,
        "mlflow": mlflow.build_upload,
        "phoenix": phoenix.build_upload,
    }
    build = builders[require_tracker(name)]
    return [build(suite) for suite in run.suites if suite.rows]
