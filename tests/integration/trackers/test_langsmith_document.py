"""Bodies of requests against LangSmith's own description of its API, which `make tracker-documents` downloads."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import pytest
from fakes.langsmith import UPLOAD
from scheduling_project import a_trace, evalgate_in, write_project

DOCUMENT = Path(__file__).resolve().parents[3] / ".trackers/langsmith-openapi.json"


@pytest.fixture(scope="module")
def described():
    """The schema of an uploaded experiment, and the properties of each schema by its name."""
    if not DOCUMENT.exists():
        pytest.skip("LangSmith's API document is absent; `make tracker-documents` downloads it")
    document = json.loads(DOCUMENT.read_bytes())
    content = document["paths"][UPLOAD]["post"]["requestBody"]["content"]["application/json"]
    schema = {**content["schema"], "components": document["components"]}
    properties = {name: each.get("properties", {}).keys() for name, each in document["components"]["schemas"].items()}
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True), properties


def assert_described(body, described):
    """The body is valid, and has no field that the document does not have."""
    validator, properties = described
    assert [error.message for error in validator.iter_errors(body)] == []
    scores = [
        *body["summary_experiment_scores"],
        *(score for row in body["results"] for score in row["evaluation_scores"]),
    ]
    assert body.keys() <= properties["ExperimentResultsUpload"]
    assert {name for row in body["results"] for name in row} <= properties["ExperimentResultRow"]
    assert {name for score in scores for name in score} <= properties["FeedbackCreateCoreSchema"]


@pytest.mark.parametrize("level", ["none", "final", "full"])
def test_uploads_are_as_the_document_describes_them(project, described, level):
    done = evalgate_in(project, {}, "track", "--dry-run", "--content", level)

    bodies = json.loads(done.out)["langsmith"]
    assert [len(body["results"]) for body in bodies] == [2, 4]
    for body in bodies:
        assert_described(body, described)


def test_so_are_those_of_trials_that_were_not_judged(tmp_path, described):
    errors = {"status": "error", "error": {"type": "rate_limit", "message": "status 429"}}
    traces = [a_trace("joke", "grouped", [("tasks", None)]), a_trace("joke", "flat", [], started_at=None, **errors)]
    write_project(tmp_path, traces)
    assert evalgate_in(tmp_path, {}, "run").exit_code in range(5)

    done = evalgate_in(tmp_path, {}, "track", "--dry-run", "--content", "full")

    [body] = json.loads(done.out)["langsmith"]
    assert_described(body, described)


def test_a_body_without_a_start_is_refused(project, described):
    [body, _] = json.loads(evalgate_in(project, {}, "track", "--dry-run").out)["langsmith"]
    del body["results"][0]["start_time"]

    with pytest.raises(AssertionError, match="start_time"):
        assert_described(body, described)
