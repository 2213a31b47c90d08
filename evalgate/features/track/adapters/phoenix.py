"""Phoenix: each suite is a dataset, each run of it an experiment, each trial a run of an example with evaluations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode
from uuid import UUID, uuid5

import orjson

from evalgate.errors import TrackerUnreachable
from evalgate.features.track.adapters.rows import describe_row, find_end, order_rows
from evalgate.features.track.adapters.sender import LARGEST_BODY, TrackerAccount, TrackerSender
from evalgate.features.track.adapters.workers import SideBySide
from evalgate.features.track.models import Experiment, Published

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.adapters.http import Http
    from evalgate.features.track.models import PublishedRow, PublishedRun, PublishedScore, PublishedSuite

NAME = "Phoenix"
NAMESPACE = UUID("0b9c5f0a-6f0e-5e53-8b1d-6f0d3e2a9c41")
URL_VARIABLES = ("PHOENIX_ENDPOINT", "PHOENIX_COLLECTOR_ENDPOINT", "PHOENIX_BASE_URL")
KEY_VARIABLE, HEADERS_VARIABLE = "PHOENIX_API_KEY", "PHOENIX_CLIENT_HEADERS"
RUN_KEY, COMPLETE = "evalgate_run_key", "complete"
VERDICT, NOT_EVALUABLE = "evalgate.verdict", "not_evaluable"
OLDER_SERVER, TAKEN = 422, 409
NO_UPDATE = frozenset({404, 405})
"""What servers answer that can't change the metadata of an experiment: the rows are there all the same."""
FOR_ROWS = 5 / 6
"""The part of the time that rows may take; the rest is for what comes after them."""
PAGE, MOST_PAGES = 100, 100
GLOBAL_ID = re.compile(r"[A-Za-z0-9+/=_-]{1,200}")


class Phoenix:
    """Publishes each suite as an experiment of a dataset that all runs of the suite share."""

    name = NAME

    def __init__(self, url: str, headers: Mapping[str, str], http: Http) -> None:
        account = TrackerAccount(NAME, f"{url}/v1", KEY_VARIABLE, URL_VARIABLES[0], headers)
        self._sender, self._url = TrackerSender(account, http), url

    def publish(self, run: PublishedRun) -> Published:
        """Publishes the suites that have trials; raises TrackerUnreachable or TrackerRefused."""
        suites = [suite for suite in run.suites if suite.rows]
        experiments, warnings = list[Experiment](), list[str]()
        reserve = self._sender.seconds_left() * (1 - FOR_ROWS)
        for index, suite in enumerate(suites):
            seconds = (self._sender.seconds_left() - reserve) / (len(suites) - index)
            experiments.append(self._publish_suite(suite, seconds, warnings))
        return Published(tuple(experiments), tuple(warnings))

    def _publish_suite(self, suite: PublishedSuite, seconds: float, warnings: list[str]) -> Experiment:
        dataset = self._find_dataset(suite.dataset)
        found = None if dataset is None else self._find_experiment(dataset, suite.experiment)
        runs: dict[tuple[str, int], str] = {}
        if found is None:
            dataset, version = self._upload_dataset(suite)
            experiment = self._create_experiment(dataset, version, suite)
        else:
            experiment, dataset = found, _require(found.get("dataset_id"))
        place = _require(experiment.get("id"))
        is_new = _get(experiment, "metadata").get(COMPLETE) is not True
        if is_new:
            if found is not None:
                runs = self._list_runs(place)
            examples = self._list_examples(dataset, experiment.get("dataset_version_id"))
            sent = self._send_rows(suite.rows, place, examples, runs, seconds)
            self._close(place, suite, sent)
            if sent < len(suite.rows):
                share = f"{sent:,} of {len(suite.rows):,} trials of suite {suite.name}"
                warnings.append(f"{NAME}: {share} were sent in the time there is; publish again to send the others")
        link = f"{self._url}/datasets/{quote(dataset, safe='')}/compare?experimentId={quote(place, safe='')}"
        return Experiment(suite.name, suite.experiment, link, is_new)

    def _find_dataset(self, name: str) -> str | None:
        found = self._get_data(f"/datasets?{urlencode({'name': name})}")
        return next((_require(each.get("id")) for each in _objects(found) if each.get("name") == name), None)

    def _upload_dataset(self, suite: PublishedSuite) -> tuple[str, object]:
        """The dataset and its version with the examples of this run; an example that has changed keeps its id."""
        body, path = build_dataset(suite), "/datasets/upload?sync=true"
        answer = self._sender.send("POST", path, body, allowed={OLDER_SERVER})
        if answer.status == OLDER_SERVER:
            older = {name: value for name, value in body.items() if name != "example_ids"}
            answer = self._sender.send("POST", path, {**older, "action": "create"}, allowed={TAKEN})
            if answer.status == TAKEN:  # what it has of the examples is all that an older server takes
                dataset = self._find_dataset(suite.dataset)
                if dataset is None:
                    raise self._sender.describe_refusal(answer)
                return dataset, None
        found = _get(self._sender.read_json(answer), "data")
        return _require(found.get("dataset_id")), found.get("version_id")

    def _list_examples(self, dataset: str, version: object) -> dict[tuple[str, str | None], str]:
        """The example of each scenario and variant."""
        query = f"?{urlencode({'version_id': version})}" if isinstance(version, str) else ""
        found = self._get_data(f"/datasets/{quote(dataset, safe='')}/examples{query}")
        examples = _objects(found.get("examples") if isinstance(found, dict) else None)
        return {
            (str(given.get("scenario")), given.get("variant")): _require(each.get("node_id") or each.get("id"))
            for each in examples
            for given in [_get(each, "input")]
        }

    def _find_experiment(self, dataset: str, key: str) -> dict[str, Any] | None:
        pages = self._list_pages(f"/datasets/{quote(dataset, safe='')}/experiments")
        return next((each for each in pages if _get(each, "metadata").get(RUN_KEY) == key), None)

    def _create_experiment(self, dataset: str, version: object, suite: PublishedSuite) -> dict[str, Any]:
        path = f"/datasets/{quote(dataset, safe='')}/experiments"
        body = {**build_experiment(suite), **({"version_id": version} if isinstance(version, str) else {})}
        return self._sender.find_or_create(
            lambda: self._find_experiment(dataset, suite.experiment),
            lambda: _get(self._sender.read_json(self._sender.send("POST", path, body, tries=1)), "data"),
        )

    def _list_runs(self, experiment: str) -> dict[tuple[str, int], str]:
        """The runs that an experiment has, by example and repetition."""
        pages = self._list_pages(f"/experiments/{quote(experiment, safe='')}/runs")
        return {
            (str(each.get("dataset_example_id")), int(each.get("repetition_number") or 0)): _require(each.get("id"))
            for each in pages
        }

    def _send_rows(
        self,
        rows: Sequence[PublishedRow],
        experiment: str,
        examples: Mapping[tuple[str, str | None], str],
        runs: Mapping[tuple[str, int], str],
        seconds: float,
    ) -> int:
        """How many trials the experiment has now, with all of their evaluations."""
        known = dict(runs)
        taken: list[PublishedRow] = []
        start = self._sender.seconds_left()
        path = f"/experiments/{quote(experiment, safe='')}/runs"

        def find_place(row: PublishedRow) -> tuple[str, int]:
            return examples.get((str(row.inputs.get("scenario")), row.inputs.get("variant")), ""), row.trial + 1

        def send_row(sender: TrackerSender, row: PublishedRow) -> None:
            example, repetition = find_place(row)
            run = known.get((example, repetition))
            if run is None:
                body = {"dataset_example_id": example, "repetition_number": repetition, **build_run(row)}
                answer = sender.send("POST", path, body, allowed={TAKEN})
                if answer.status == TAKEN:  # an answer was lost, or another job was faster
                    taken.append(row)
                    return
                run = _require(_get(sender.read_json(answer), "data").get("id"))
            for evaluation in build_evaluations(row):
                sender.send("POST", "/experiment_evaluations", {"experiment_run_id": run, **evaluation})

        def count_left() -> float:
            return seconds - (start - self._sender.seconds_left())

        ordered = [row for row in order_rows(rows) if find_place(row)[0]]
        ordered.sort(key=lambda row: find_place(row) in known)  # first the trials that it lacks
        sent = SideBySide(ordered, send_row).run(self._sender, count_left()) if ordered else 0
        if not taken:
            return sent
        known |= self._list_runs(experiment)
        again = [row for row in taken if find_place(row) in known]
        return sent - len(taken) + SideBySide(again, send_row).run(self._sender, count_left())

    def _close(self, experiment: str, suite: PublishedSuite, sent: int) -> None:
        metadata = {**_build_metadata(suite), COMPLETE: sent == len(suite.rows), "rows_sent": sent}
        path = f"/experiments/{quote(experiment, safe='')}"
        self._sender.send("PATCH", path, {"metadata": metadata}, allowed=NO_UPDATE)

    def _list_pages(self, path: str) -> Iterator[dict[str, Any]]:
        cursor: object = None
        for _ in range(MOST_PAGES):
            query = {"limit": PAGE, **({} if cursor is None else {"cursor": cursor})}
            answer = self._sender.send("GET", f"{path}?{urlencode(query)}", limit=LARGEST_BODY)
            document = self._sender.read_json(answer)
            yield from _objects(_get(document).get("data"))
            cursor = _get(document).get("next_cursor")
            if not isinstance(cursor, str):
                break

    def _get_data(self, path: str) -> Any:
        return _get(self._sender.read_json(self._sender.send("GET", path, limit=LARGEST_BODY))).get("data")


def build_upload(suite: PublishedSuite) -> dict[str, Any]:
    """What is sent of a suite; the requests also name the ids that Phoenix gave."""
    rows = order_rows(suite.rows)
    return {
        "dataset": build_dataset(suite),
        "experiment": build_experiment(suite),
        "runs": [
            {
                "example": _make_example_id(suite, row),
                "repetition_number": row.trial + 1,
                **build_run(row),
                "evaluations": build_evaluations(row),
            }
            for row in rows
        ],
    }


def build_dataset(suite: PublishedSuite) -> dict[str, Any]:
    """The upload of the examples: one for each scenario and variant."""
    examples = {_make_example_id(suite, row): row for row in suite.rows}
    return {
        "action": "update",
        "name": suite.dataset,
        "description": "Scenarios of EvalGate, uploaded with each run",
        "inputs": [row.inputs for row in examples.values()],
        "outputs": [row.expected for row in examples.values()],
        "metadata": [{"suite": suite.name} for _ in examples],
        "example_ids": list(examples),
    }


def _make_example_id(suite: PublishedSuite, row: PublishedRow) -> str:
    """The id of a scenario and variant, the same in all runs."""
    parts = (suite.dataset, suite.name, row.scenario, row.variant)
    return str(uuid5(NAMESPACE, orjson.dumps(parts).decode()))


def build_experiment(suite: PublishedSuite) -> dict[str, Any]:
    """The experiment as it is before it has rows."""
    return {
        "name": suite.experiment,
        "description": f"EvalGate, suite {suite.name}",
        "metadata": {**_build_metadata(suite), COMPLETE: False, "rows_sent": 0},
        "repetitions": max(row.trial for row in suite.rows) + 1,
    }


def _build_metadata(suite: PublishedSuite) -> dict[str, Any]:
    scores = {score.key: score.score for score in suite.scores}
    return {**scores, **suite.metadata, RUN_KEY: suite.experiment, "rows_total": len(suite.rows)}


def build_run(row: PublishedRow) -> dict[str, Any]:
    """A trial without its evaluations."""
    return {"output": row.outputs, **_build_times(row), **({} if row.error is None else {"error": row.error})}


def build_evaluations(row: PublishedRow) -> list[dict[str, Any]]:
    """An evaluation for each score; one that could not be judged has no score, and says so."""
    return [
        {
            "name": score.key,
            "annotator_kind": "CODE",
            **_build_times(row),
            "result": {"score": score.score, "label": _find_label(score, row), "explanation": score.comment},
            **({"metadata": describe_row(row)} if score.key == VERDICT else {}),
        }
        for score in row.scores
    ]


def _find_label(score: PublishedScore, row: PublishedRow) -> str | None:
    if score.key == VERDICT:
        return row.metadata.get("status")
    return NOT_EVALUABLE if score.score is None else None


def _build_times(row: PublishedRow) -> dict[str, str]:
    return {"start_time": row.started_at.isoformat(), "end_time": find_end(row).isoformat()}


def _objects(document: object) -> list[dict[str, Any]]:
    return [each for each in document if isinstance(each, dict)] if isinstance(document, list) else []


def _get(document: Any, name: str | None = None) -> dict[str, Any]:
    """The object, or the one under this name; empty if there is none."""
    if name is not None:
        document = document.get(name) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else {}


def _require(value: object) -> str:
    """An id of the server, of a form that may stand in an address; raises TrackerUnreachable for anything else."""
    text = str(value)
    if value is None or not GLOBAL_ID.fullmatch(text):
        raise TrackerUnreachable(f"{NAME} answered without the ids of the experiment")
    return text
