"""The verbs `fetch-baseline` and `comment`, for jobs on GitLab."""

from __future__ import annotations

import hashlib
import shlex
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.cli.command import Command, option
from evalgate.errors import Problem, SettingError, Unreachable
from evalgate.models.results.document_names import OUTPUT_FOLDER

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from evalgate.cli.shell import Shell
    from evalgate.features.gitlab.adapters.project import GitLabProject

TOKEN = "EVALGATE_GITLAB_TOKEN"  # noqa: S105  (a name)
BASELINE = f"{OUTPUT_FOLDER}/baseline.zip"
BASELINE_PATH = ".evalgate-main.zip"
"""Where it is put by default."""
NONE = "none"
LARGEST_NOTE = 1_000_000
"""Characters that GitLab takes."""
SECONDS = 120.0
PAGE = "docs/other-ci.md, GitLab"
NO_TOKEN = f"no note: set {TOKEN} to a project access token with the scope api ({PAGE})"
OF_FORK = f"no note: a merge request of a fork has no {TOKEN} ({PAGE})"
OWN_NEEDS = "it needs the scope api and the role Developer, and must not have expired"
JOBS_NEEDS = f"set {TOKEN}, or let jobs of this project read the artifacts of the target's ({PAGE})"
ZIP = b"PK"
NO_JOB = "outside of a job it is a token of yours with the scope read_api"
ELSEWHERE = {"CI_API_V4_URL": "; elsewhere it is https://YOUR-GITLAB/api/v4"}
FREE = f", or the token of the job may not read it, as on GitLab Free: set {TOKEN} ({PAGE})"
COULD_NOT_RUN = """\
## ❌ EvalGate could not run

**Commit** `{commit}` was not judged. The log of [its job]({job}) says why.
"""


def fetch_baseline(arguments: Namespace, shell: Shell) -> int:
    """Writes the baseline that a job left on the target branch, else on the default branch, and prints its path.

    Prints `none` if there is none, as for the first pipeline: what `evalgate run --baseline` takes.
    """
    from evalgate.adapters.file_writer import open_named

    environ = shell.environ
    job = arguments.job or _require("CI_JOB_NAME", environ)
    if not arguments.branches:
        _require("CI_DEFAULT_BRANCH", environ)
    project = _open_project(environ, arguments.project)
    for branch in arguments.branches or _list_branches(environ):
        content = project.fetch_artifact(branch, job, BASELINE)
        if content is not None:
            if not content.startswith(ZIP):
                hint = "a page of a proxy or of a sign-in?"
                raise Unreachable(Problem("GitLab's answer is no zip file", None, hint))
            with open_named(arguments.output, shell.cwd) as stream:
                stream.write(content)
            shell.note(f"baseline: of the job {job} in the newest successful pipeline of {branch}")
            shell.print_safe(arguments.output)
            return 0
        free = "" if environ.get(TOKEN) else FREE
        shell.note(f"no baseline of {branch}: no pipeline with the job {job} succeeded, or its artifact expired{free}")
    shell.print_line(NONE)
    return 0


def build_fetch_command(path: str, environ: Mapping[str, str]) -> str | None:
    """The command that gets a job's baseline in any shell; None if the job got none at this path.

    It names no server: whoever can change the job could have it name theirs, for the reader's token.
    """
    job, project, branches = environ.get("CI_JOB_NAME", ""), _find_project(environ), _list_branches(environ)
    if path != BASELINE_PATH or not (job and project and branches):
        return None
    words = ["evalgate", "fetch-baseline", "--from", "gitlab", "--project", project, "--job", job]
    return shlex.join([*words, *chain.from_iterable(("--branch", branch) for branch in branches)])


def _find_project(environ: Mapping[str, str]) -> str:
    return environ.get("CI_MERGE_REQUEST_PROJECT_ID") or environ.get("CI_PROJECT_ID", "")


def _list_branches(environ: Mapping[str, str]) -> list[str]:
    """The target branch, if any, and the default branch."""
    names = ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CI_DEFAULT_BRANCH")
    return [*dict.fromkeys(filter(None, map(environ.get, names)))]


def comment(arguments: Namespace, shell: Shell) -> int:
    """Writes the report as a note of the merge request, in place of the one that this job wrote before.

    A job of an older commit writes none: its report, or that it was cancelled, is not the newer commit's.
    """
    environ = shell.environ
    number = environ.get("CI_MERGE_REQUEST_IID", "")
    if not number:
        shell.note("no note: this pipeline is not one of a merge request")
    elif not environ.get(TOKEN):
        shell.note(OF_FORK if _is_of_fork(environ) else NO_TOKEN)
    else:
        project = _open_project(environ)
        judged = environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or _require("CI_COMMIT_SHA", environ)
        head = project.find_head(number)
        if head not in {judged, None}:
            shell.note(f"no note: the merge request has a newer commit, {str(head)[:8]}")
            return 0
        job = hashlib.sha256(_require("CI_JOB_NAME", environ).encode(errors="surrogateescape")).hexdigest()[:16]
        body = _read_report(Path(shell.cwd, arguments.run, "comment.md"), environ)
        is_new = project.write_note(number, f"<!-- evalgate:sticky v1 key=gitlab/{job} -->", body)
        shell.print_line(f"note {'written' if is_new else 'updated'}")
    return 0


def _is_of_fork(environ: Mapping[str, str]) -> bool:
    source, target = (environ.get(f"CI_MERGE_REQUEST_{name}PROJECT_ID", "") for name in ("SOURCE_", ""))
    return source != target


def _read_report(path: Path, environ: Mapping[str, str]) -> str:
    """The report without its first line, a marker; without one that can be read, a text that says so.

    No older report may stay, whatever a branch has put in its place.
    """
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(LARGEST_NOTE - 100).partition("\n")[2]
    except (OSError, UnicodeDecodeError):
        return COULD_NOT_RUN.format(commit=environ.get("CI_COMMIT_SHORT_SHA", ""), job=environ.get("CI_JOB_URL", ""))


def _require(name: str, environ: Mapping[str, str]) -> str:
    if text := environ.get(name, ""):
        return text
    raise SettingError(
        Problem(f"the variable {name} is not set", None, f"GitLab sets it in a job{ELSEWHERE.get(name, '')}")
    )


def _open_project(environ: Mapping[str, str], number: str | None = None) -> GitLabProject:
    """A project, by default the one that the merge request is to be merged into; by its own token, else the job's."""
    from evalgate.adapters.http import Http, Network, RequestDeadline
    from evalgate.features.gitlab.adapters.project import GitLabProject, Token
    from evalgate.settings.job import read_either_case, read_proxies
    from evalgate.settings.plain_url import require_plain_url

    api = require_plain_url("GitLab", _require("CI_API_V4_URL", environ), allow_http=True)
    number = number or _find_project(environ) or _require("CI_PROJECT_ID", environ)
    own = environ.get(TOKEN, "")
    if own:
        token = Token(own, "PRIVATE-TOKEN", TOKEN, OWN_NEEDS)
    else:
        secret = environ.get("CI_JOB_TOKEN")
        if not secret:
            raise SettingError(Problem(f"the variable {TOKEN} is not set", None, NO_JOB))
        token = Token(secret, "JOB-TOKEN", "the token of the job", JOBS_NEEDS)
    bundle = environ.get("REQUESTS_CA_BUNDLE") or environ.get("CI_SERVER_TLS_CA_FILE", "")
    network = Network(read_proxies(environ), read_either_case(environ, "NO_PROXY"), bundle)
    return GitLabProject(api, number, token, Http(network, RequestDeadline(SECONDS)))


COMMANDS = {
    "fetch-baseline": Command(
        fetch_baseline,
        [
            option("--from", dest="service", choices=["gitlab"], required=True, help="the service that keeps it"),
            option(
                "--project", metavar="ID", help="the project (default: that of this job's merge request, else this one)"
            ),
            option(
                "--branch",
                action="append",
                dest="branches",
                metavar="NAME",
                help="the branch, then the next one given (default: the target branch, then the default branch)",
            ),
            option("--job", metavar="NAME", help="the job that left it (default: this job)"),
            option("--output", metavar="PATH", default=BASELINE_PATH, help=f"(default {BASELINE_PATH})"),
        ],
        """examples:
  baseline=$(evalgate fetch-baseline --from gitlab)
  evalgate run --baseline "$baseline"

In your own shell it needs CI_API_V4_URL (https://YOUR-GITLAB/api/v4), EVALGATE_GITLAB_TOKEN, and the three options,
as the report of a merge request names them.

exit codes: 0 it was written and its path printed, or none printed; 4 GitLab refused or did not answer.
""",
    ),
    "comment": Command(
        comment,
        [
            option("run", nargs="?", metavar="DIR", default=OUTPUT_FOLDER, help="the folder of the run's files"),
            option("--to", dest="service", choices=["gitlab"], required=True, help="where the merge request is"),
        ],
        """examples:
  evalgate comment --to gitlab       after the run, also after one that failed

exit codes: 0 written, or there is no merge request or token; 4 GitLab refused or did not answer.
""",
    ),
}
