"""Judges the suites of a test session once, as `evalgate run` does; workers of pytest-xdist share the result."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evalgate.errors import InvalidInput, Location, Problem, SettingError
from evalgate.models.results.document_names import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.application.judge.judge import Tools
    from evalgate.models.results.results import ReasonDoc, ResultsDoc
    from evalgate.suite.models import Configuration

RESULTS = "results.json"


class SharedFolder(NamedTuple):
    """Where the workers of one session keep the result of judging; `run_id` is the same for all of them."""

    path: Path
    run_id: str


class Selection(NamedTuple):
    """The traces to judge instead of those that suites name, and the only scenarios: ids or `id[variant]`."""

    traces: Sequence[str]
    scenarios: Sequence[str]


class SessionJudge:
    """The suites that `configs` name, and what judging them gave; paths are relative to `cwd`.

    `baseline` is the path of one, or `none`. Errors of the user are InvalidInput.
    """

    def __init__(
        self,
        configs: Sequence[str],
        cwd: str,
        environ: Mapping[str, str],
        baseline: str = "none",
        *,
        shared: SharedFolder | None = None,
        selection: Selection | None = None,
    ) -> None:
        self._selection = selection
        self._configs, self._cwd, self._environ = tuple(configs), cwd, environ
        self._baseline, self._shared = baseline, shared

    @property
    def root(self) -> Path:
        """The folder that paths are relative to."""
        return Path(self._cwd)

    def select(self, selection: Selection) -> SessionJudge:
        """A judge by the same suites of other traces, in this process."""
        return SessionJudge(self._configs, self._cwd, self._environ, self._baseline, selection=selection)

    @cached_property
    def configuration(self) -> Configuration:
        """The suites; raises SuiteError with all their errors."""
        from evalgate.bootstrap.named_store import shell_store_opener
        from evalgate.bootstrap.sources import build_suite_files

        opener = shell_store_opener(None, self._environ, self._cwd)
        return build_suite_files(self._cwd, store=opener).load(self._configs)

    @cached_property
    def results(self) -> ResultsDoc:
        """The results of the run, judged when they are first needed. Raises InvalidInput."""
        from evalgate.reporting.results.load_results import load_results

        results = load_results(self._judge() if self._shared is None else self._judge_once(self._shared))
        if results["verdict"] == "invalid":
            raise InvalidInput(*map(_describe_problem, results["reasons"]))
        return results

    def _judge_once(self, shared: SharedFolder) -> bytes:
        """What the first of several processes found; the others wait for it."""
        digest = hashlib.sha256(repr((self._configs, self._cwd, self._baseline)).encode()).hexdigest()[:16]
        shared.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = shared.path / f"{shared.run_id}-{digest}.json"
        with _lock(path.with_suffix(".lock")):
            if not path.exists():
                part = path.with_suffix(".part")
                part.write_bytes(self._judge())
                part.replace(path)
        return path.read_bytes()

    def _judge(self) -> bytes:
        from evalgate.adapters.files.git_head import find_commit_and_branch
        from evalgate.application.judge.judge import judge
        from evalgate.application.messages.request import with_history
        from evalgate.bootstrap.named_store import open_shell_store
        from evalgate.bootstrap.shell_tools import build_run_request
        from evalgate.models.run.chunks import join_chunks

        commit, branch = find_commit_and_branch(None, self._environ, self._cwd)
        request = build_run_request(self._configs, self._baseline, self._cwd, commit)
        store = open_shell_store(None, self._environ, self._cwd)
        if store is not None:
            request = with_history(request, store)
        with tempfile.TemporaryDirectory(prefix="evalgate-") as folder:
            from msgspec.structs import replace

            request = replace(
                request,
                subject=replace(request.subject, branch=branch),
                baseline=replace(request.baseline, makes_zip=False),
            )
            if self._selection is not None:
                request = replace(request, sources=replace(request.sources, **self._selection._asdict()))
            return join_chunks(judge(request, self._build_tools(folder)).files[RESULTS])

    def _build_tools(self, folder: str) -> Tools:
        from evalgate.bootstrap.named_store import shell_store_opener
        from evalgate.bootstrap.shell_tools import Place, build_shell_tools
        from evalgate.settings.limits import Limits

        return build_shell_tools(
            Place(self._cwd, folder, self._environ.get("SOURCE_DATE_EPOCH")),
            Limits(),
            progress_to=None,
            store=shell_store_opener(None, self._environ, self._cwd),
        )


def find_configs(named: Sequence[str], globs: Sequence[str], root: Path) -> list[str]:
    """The suites to judge: those named on the command line, else the project file with the globs of the ini file."""
    if named:
        return list(named)
    return [*([PROJECT] if (root / PROJECT).is_file() else []), *globs]


def _describe_problem(reason: ReasonDoc) -> Problem:
    place = reason.get("location")
    where = None if place is None else Location(place.file, place.line, place.column)
    return Problem(reason["message"], where)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Holds a lock of all processes on this machine; it ends with the process too."""
    try:
        stream = path.open("a+b")
    except OSError as error:
        raise SettingError(f"can't write {path}: {error.strerror or 'unknown error'}") from None
    with stream:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(stream.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX)
        yield
