"""MLflow: each suite is an experiment, each run of it a run with means of scores and a table of its trials."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import zip_longest
from math import fsum
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import orjson

from evalgate.errors import Problem, TrackerRefused, TrackerUnreachable
from evalgate.features.track.adapters.rows import NOT_EVALUABLE, describe_row, find_end, list_not_evaluable
from evalgate.features.track.adapters.sender import LARGEST_BODY, TrackerAccount, TrackerSender
from evalgate.features.track.models import Experiment, Published

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from evalgate.adapters.http import Http, HttpResponse
    from evalgate.features.track.models import PublishedRow, PublishedRun, PublishedSuite

NAME = "MLflow"
URL_VARIABLE, TOKEN_VARIABLE = "MLFLOW_TRACKING_URI", "MLFLOW_TRACKING_TOKEN"
USER_VARIABLE, PASSWORD_VARIABLE = "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"
API, ARTIFACTS = "/api/2.0/mlflow", "/api/2.0/mlflow-artifacts/artifacts"
RUN_KEY = "evalgate.run_key"
OWN_TAGS = ("mlflow.", RUN_KEY)
"""Tags that have a meaning for MLflow or for the next upload, which no name of an assertion may take."""
TABLE, TABLE_TAG = "evalgate_trials.json", "mlflow.loggedArtifacts"
METRICS_AT_ONCE, TAGS_AT_ONCE, LONGEST_TAG = 500, 100, 2_000
"""MLflow takes 1,000 metrics, 100 tags of 8,000 characters, and 1 MB at once: the last is what bounds the others."""
FINISHED = "FINISHED"
NOT_FOUND = 404
MOST_RUNS = 10
EXPERIMENT_ID, RUN_ID = re.compile(r"\d{1,20}"), re.compile(r"[0-9a-f]{32}")
PROXIED = re.compile(r"mlflow-artifacts:((?:/[A-Za-z0-9_-][A-Za-z0-9_.-]*){1,10})")
"""Where the server itself keeps artifacts; others are with a store that only its own clients reach."""


class MLflow:
    """Publishes each suite as a run of an experiment that all runs of the suite share."""

    name = NAME

    def __init__(self, url: str, headers: Mapping[str, str], key_variable: str, http: Http) -> None:
        self._sender = TrackerSender(TrackerAccount(NAME, url, key_variable, URL_VARIABLE, headers), http)
        self._url = url

    def publish(self, run: PublishedRun) -> Published:
        """Publishes the suites that have trials; raises TrackerUnreachable or TrackerRefused."""
        warnings: list[str] = []
        experiments = [self._publish_suite(suite, warnings) for suite in run.suites if suite.rows]
        return Published(tuple(experiments), tuple(warnings))

    def _publish_suite(self, suite: PublishedSuite, warnings: list[str]) -> Experiment:
        upload = build_upload(suite)
        experiment = self._sender.find_or_create(
            lambda: self._find_experiment(suite.dataset), lambda: self._create_experiment(upload["experiment"])
        )
        found = self._sender.find_or_create(
            lambda: self._find_run(experiment, suite.experiment), lambda: self._create_run(experiment, upload["run"])
        )
        run = _require(RUN_ID, found.get("run_id"))
        is_new = found.get("status") != FINISHED  # a run that is not finished lacks something
        if is_new:
            has_table = self._store_table(found.get("artifact_uri"), upload["table"], suite.name, warnings)
            for batch in upload["batches"]:
                self._post("/runs/log-batch", {"run_id": run, **batch})
            if has_table:
                value = orjson.dumps([{"path": TABLE, "type": "table"}]).decode()
                self._post("/runs/set-tag", {"run_id": run, "key": TABLE_TAG, "value": value})
            self._post("/runs/update", {"run_id": run, "status": FINISHED, "end_time": upload["end_time"]})
        return Experiment(suite.name, suite.experiment, f"{self._url}/#/experiments/{experiment}/runs/{run}", is_new)

    def _find_experiment(self, name: str) -> str | None:
        path = f"{API}/experiments/get-by-name?{urlencode({'experiment_name': name})}"
        answer = self._sender.send("GET", path, allowed={NOT_FOUND})
        if answer.status == NOT_FOUND:
            if _find_code(answer) != "RESOURCE_DOES_NOT_EXIST":
                raise self._sender.describe_refusal(answer)
            return None
        found = _get(self._sender.read_json(answer), "experiment")
        if found.get("lifecycle_stage") == "deleted":
            hint = "restore it, or remove it for good with `mlflow gc`"
            raise TrackerRefused(Problem(f"{NAME}: the experiment {name} is deleted", None, hint))
        return _require(EXPERIMENT_ID, found.get("experiment_id"))

    def _create_experiment(self, body: Mapping[str, Any]) -> str:
        return _require(EXPERIMENT_ID, _get(self._post("/experiments/create", body, tries=1)).get("experiment_id"))

    def _find_run(self, experiment: str, key: str) -> dict[str, Any] | None:
        """The run with this key, rather one that is finished than one that is not."""
        wanted = f"tags.`{RUN_KEY}` = '{key}'"
        body = {"experiment_ids": [experiment], "filter": wanted, "max_results": MOST_RUNS}
        found = _get(self._post("/runs/search", body)).get("runs")
        runs = [_get(each, "info") for each in found] if isinstance(found, list) else []
        return min(runs, key=lambda run: run.get("status") != FINISHED, default=None)

    def _create_run(self, experiment: str, body: Mapping[str, Any]) -> dict[str, Any]:
        answer = self._post("/runs/create", {"experiment_id": experiment, **body}, tries=1)
        return _get(answer, "run", "info")

    def _store_table(self, folder: object, table: Mapping[str, Any], suite: str, warnings: list[str]) -> bool:
        """Whether the server holds the table now; one that does not take it holds all but the table."""
        place = PROXIED.fullmatch(folder) if isinstance(folder, str) else None
        if place is None:
            return False
        if len(orjson.dumps(table)) > LARGEST_BODY:
            warnings.append(f"{NAME}: the table of suite {suite} was left out: it is larger than 20 MB")
            return False
        try:
            self._sender.send("PUT", f"{ARTIFACTS}{quote(place[1])}/{TABLE}", table)
        except TrackerRefused as error:
            warnings.append(f"{error.problems[0].message}: the table of suite {suite} was left out")
            return False
        return True

    def _post(self, path: str, body: Mapping[str, Any], **options: Any) -> Any:
        return self._sender.read_json(self._sender.send("POST", API + path, body, **options))


def build_upload(suite: PublishedSuite) -> dict[str, Any]:
    """What is sent of a suite; the requests also name the ids that MLflow gave."""
    started = _as_milliseconds(min(row.started_at for row in suite.rows))
    means = sorted(_average(row.scores for row in suite.rows).items())
    of_suite = [(score.key, score.score) for score in suite.scores if score.score is not None]
    metrics = [{"key": key, "value": value, "timestamp": started, "step": 0} for key, value in [*of_suite, *means]]
    missing = Counter(key for row in suite.rows for key in list_not_evaluable(row))
    of_rows = {NOT_EVALUABLE: ", ".join(f"{key}: {count} of {len(suite.rows)}" for key, count in missing.items())}
    tags = [
        {"key": key, "value": value[:LONGEST_TAG]}
        for key, value in {**suite.metadata, **(of_rows if missing else {})}.items()
        if not key.startswith(OWN_TAGS)
    ]
    nothing: Sequence[Any] = ()
    batches = zip_longest(_divide(metrics, METRICS_AT_ONCE), _divide(tags, TAGS_AT_ONCE), fillvalue=nothing)
    return {
        "experiment": {"name": suite.dataset},
        "run": {
            "run_name": suite.experiment,
            "start_time": started,
            "tags": [{"key": RUN_KEY, "value": suite.experiment}],
        },
        "batches": [{"metrics": some_metrics, "tags": some_tags} for some_metrics, some_tags in batches],
        "table": _build_table(suite.rows),
        "end_time": _as_milliseconds(max(map(find_end, suite.rows))),
    }


def _average(rows: Any) -> dict[str, float]:
    """The mean of each key over the trials that have it: one that could not be judged is no 0."""
    values: dict[str, list[float]] = defaultdict(list)
    for score in (score for scores in rows for score in scores):
        if score.score is not None:
            values[score.key].append(score.score)
    return {key: fsum(found) / len(found) for key, found in values.items()}


def _build_table(rows: Sequence[PublishedRow]) -> dict[str, Any]:
    """One row a trial, in MLflow's form of a table; what a trial lacks is null."""
    cells = [_build_cells(row) for row in rows]
    columns = list(dict.fromkeys(name for each in cells for name in each))
    return {"columns": columns, "data": [[each.get(name) for name in columns] for each in cells]}


def _build_cells(row: PublishedRow) -> dict[str, Any]:
    return {
        "scenario": row.scenario,
        "variant": row.variant,
        "trial": row.trial,
        **{score.key: score.score for score in row.scores},
        **row.inputs,
        **row.expected,
        **row.outputs,
        "error": row.error,
        "id": row.id,
        "metadata": describe_row(row),
        **{f"{score.key}.reason": score.comment for score in row.scores if score.comment is not None},
    }


def _divide(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _as_milliseconds(time: datetime) -> int:
    return int(time.timestamp() * 1000)


def _find_code(answer: HttpResponse) -> object:
    """MLflow's own name of the error; None in an answer that is not its own."""
    try:
        return _get(orjson.loads(answer.body)).get("error_code")
    except ValueError:
        return None


def _get(document: Any, *names: str) -> dict[str, Any]:
    """The object under these names, empty if there is none."""
    for name in names:
        document = document.get(name) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else {}


def _require(form: re.Pattern[str], value: object) -> str:
    """An id of the server, of a form that may stand in an address; raises TrackerUnreachable for anything else."""
    text = str(value)
    if not form.fullmatch(text):
        raise TrackerUnreachable(f"{NAME} answered without the ids of the run")
    return text
