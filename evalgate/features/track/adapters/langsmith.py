"""LangSmith: one request uploads an experiment that ran elsewhere."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit
from uuid import UUID

import orjson

from evalgate.errors import TrackerUnreachable, Unreachable
from evalgate.features.track.adapters.rows import describe_row, find_end, name_row
from evalgate.features.track.adapters.sender import LARGEST_BODY, TrackerAccount, TrackerSender
from evalgate.features.track.models import Experiment, Published

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from evalgate.adapters.http import Http
    from evalgate.features.track.models import (
        PublishedRow,
        PublishedRun,
        PublishedScore,
        PublishedSuite,
    )

NAME = "LangSmith"
DEFAULT_URL = "https://api.smith.langchain.com"
URL_VARIABLE, KEY_VARIABLE, WORKSPACE_VARIABLE = "LANGSMITH_ENDPOINT", "LANGSMITH_API_KEY", "LANGSMITH_WORKSPACE_ID"
REGIONS = ("eu", "apac", "aws")
CLOUD = "smith.langchain.com"
TAKEN = frozenset({400, 409})
MOST_LISTED = 100
TRUSTED_EVENTS = frozenset({"push", "schedule", "workflow_dispatch"})
"""Events whose branch is one of the repository: a pull request's may have any name."""


class LangSmith:
    """Publishes each suite as an experiment of a dataset that the upload makes and all runs share."""

    name = NAME

    def __init__(self, url: str, key: str, workspace: str, http: Http) -> None:
        headers = {"x-api-key": key, **({"X-Tenant-Id": workspace} if workspace else {})}
        account = TrackerAccount(NAME, _find_api(url), KEY_VARIABLE, URL_VARIABLE, headers)
        self._sender, self._pages = TrackerSender(account, http), find_pages(url)

    def publish(self, run: PublishedRun) -> Published:
        """Uploads the suites that have trials; raises TrackerUnreachable or TrackerRefused."""
        experiments, warnings = list[Experiment](), list[str]()
        for suite in run.suites:
            if suite.rows:
                experiments.append(self._publish_suite(suite, run.base_branch, warnings))
        return Published(tuple(experiments), tuple(dict.fromkeys(warnings)))

    def _publish_suite(self, suite: PublishedSuite, base_branch: str | None, warnings: list[str]) -> Experiment:
        session = self._find_session(suite.experiment)
        is_new = session is None
        if session is None:
            session = self._upload(suite, warnings)
        ids = {name: _as_uuid(session.get(name)) for name in ("id", "tenant_id", "reference_dataset_id")}
        compared = self._find_base(ids["reference_dataset_id"], base_branch, suite, warnings)
        selected = quote(",".join([ids["id"], *([compared] if compared and compared != ids["id"] else [])]), safe="")
        path = f"/o/{ids['tenant_id']}/datasets/{ids['reference_dataset_id']}/compare?selectedSessions={selected}"
        return Experiment(suite.name, suite.experiment, self._pages + path, is_new)

    def _upload(self, suite: PublishedSuite, warnings: list[str]) -> dict[str, Any]:
        body = build_upload(suite)
        if len(orjson.dumps(body)) > LARGEST_BODY:
            warnings.append(f"{NAME}: the texts of suite {suite.name} were left out: they are larger than 20 MB")
            body = build_upload(suite, with_texts=False)
        answer = self._sender.send("POST", "/datasets/upload-experiment", body, allowed=TAKEN)
        if answer.status in TAKEN:  # another job was faster, or an answer was lost
            session = self._find_session(suite.experiment)
            if session is None:
                raise self._sender.describe_refusal(answer)
            return session
        found = self._sender.read_json(answer)
        experiment = found.get("experiment") if isinstance(found, dict) else None
        return experiment if isinstance(experiment, dict) else {}

    def _find_session(self, name: str) -> dict[str, Any] | None:
        """The experiment of this name, which is unique in a workspace."""
        return next((each for each in self._list_sessions(name=name) if each.get("name") == name), None)

    def _list_sessions(self, **query: str) -> list[dict[str, Any]]:
        path = f"/sessions?{urlencode({**query, 'limit': MOST_LISTED})}"
        found = self._sender.read_json(self._sender.send("GET", path))
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []

    def _find_base(self, dataset: str, branch: str | None, suite: PublishedSuite, warnings: list[str]) -> str | None:
        """The id of the experiment of the branch to compare with: of the baseline's commit, else of its newest run.

        Not finding out is a warning.
        """
        if branch is None:
            return None
        try:
            sessions = self._list_sessions(reference_dataset=dataset)
        except Unreachable as error:
            warnings.append(f"{error.problems[0].message}: the link does not compare with {branch}")
            return None
        own = {name: suite.metadata.get(name) for name in ("repository", "repository_id")}
        wanted = {"branch": branch, "fork": "false", **own}
        found = [
            (metadata, each)
            for each in sessions
            for metadata in (_find_metadata(each),)
            if all(metadata.get(name) == value for name, value in wanted.items())
            and metadata.get("event") in TRUSTED_EVENTS
        ]
        if not found:
            return None
        commit = suite.metadata.get("base_commit")
        _, newest = max(found, key=lambda pair: (pair[0].get("commit") == commit, *_order(*pair)))
        return _as_uuid(newest.get("id"))


def _order(metadata: Mapping[str, Any], session: Mapping[str, Any]) -> tuple[int, str]:
    """Puts later runs after earlier ones: GitHub's ids grow, while traces of one recording start at the same time."""
    run_id = str(metadata.get("run_id"))
    return int(run_id[:18]) if run_id.isdecimal() else 0, str(session.get("start_time"))


def build_upload(suite: PublishedSuite, *, with_texts: bool = True) -> dict[str, Any]:
    """The body of the request that uploads an experiment."""
    ends = [find_end(row) for row in suite.rows]
    return {
        "experiment_name": suite.experiment,
        "experiment_description": f"EvalGate, suite {suite.name}",
        "experiment_start_time": _format_time(min(row.started_at for row in suite.rows)),
        "experiment_end_time": _format_time(max(ends)),
        "experiment_metadata": suite.metadata,
        "dataset_name": suite.dataset,
        "dataset_description": "Scenarios of EvalGate, uploaded with each run",
        "summary_experiment_scores": _build_scores(suite.scores),
        "results": [_build_row(row, with_texts=with_texts) for row in suite.rows],
    }


def _build_row(row: PublishedRow, *, with_texts: bool) -> dict[str, Any]:
    found = {
        "row_id": row.id,
        "inputs": row.inputs,
        "expected_outputs": row.expected,
        "actual_outputs": row.outputs,
        "evaluation_scores": _build_scores(row.scores, with_texts=with_texts),
        "start_time": _format_time(row.started_at),
        "end_time": _format_time(find_end(row)),
        "run_name": name_row(row),
        "run_metadata": describe_row(row),
        **({} if row.error is None else {"error": row.error}),
    }
    if not with_texts:
        ids = ("scenario", "variant")
        found["inputs"] = {name: value for name, value in row.inputs.items() if name in ids}
        found["expected_outputs"], found["actual_outputs"] = {}, {"call_count": row.outputs.get("call_count")}
    return found


def _build_scores(scores: list[PublishedScore], *, with_texts: bool = True) -> list[dict[str, Any]]:
    """The scores that are known: LangSmith has no null."""
    return [
        {
            "key": score.key,
            "score": score.score,
            **({} if score.value is None else {"value": score.value}),
            **({} if score.comment is None or not with_texts else {"comment": score.comment}),
        }
        for score in scores
        if score.score is not None
    ]


def _format_time(time: datetime) -> str:
    return time.astimezone(UTC).isoformat()


def _find_api(url: str) -> str:
    """The base of the API's first version; a self-hosted address may end in /api or /api/v1."""
    base = url.rstrip("/")
    return base if base.endswith("/api/v1") else f"{base.removesuffix('/api')}/api/v1"


def find_pages(url: str) -> str:
    """The address of the pages for people, from that of the API.

    >>> find_pages("https://eu.api.smith.langchain.com"), find_pages("https://ls.example.com/api/v1")
    ('https://eu.smith.langchain.com', 'https://ls.example.com')
    """
    parts = urlsplit(_find_api(url))
    region, _, rest = (parts.hostname or "").partition(".")
    if parts.hostname == f"api.{CLOUD}":
        return f"https://{CLOUD}"
    if rest == f"api.{CLOUD}" and region in REGIONS:
        return f"https://{region}.{CLOUD}"
    return f"{parts.scheme}://{parts.netloc}{parts.path.removesuffix('/api/v1')}"


def _find_metadata(session: Mapping[str, Any]) -> dict[str, Any]:
    extra = session.get("extra")
    metadata = extra.get("metadata") if isinstance(extra, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def _as_uuid(value: object) -> str:
    """An id of the tracker in the one form of UUIDs; raises TrackerUnreachable for anything else."""
    try:
        return str(UUID(str(value)))
    except ValueError:
        raise TrackerUnreachable(f"{NAME} answered without the ids of the experiment") from None
