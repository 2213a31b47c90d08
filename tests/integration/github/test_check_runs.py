from __future__ import annotations

import pytest
from fakes.hub import site_of

from evalgate.adapters.github.check_runs import CheckRuns
from evalgate.adapters.github.client import Client
from evalgate.adapters.http import RequestDeadline
from evalgate.errors import Forbidden, Unreachable
from evalgate.models.github import Annotation, CheckRun

HEAD = "a" * 40


def check(*annotations, **changes):
    made = CheckRun("EvalGate (k)", HEAD, "failure", "Failed: 1 scenario", "## text", annotations)
    return made._replace(**changes)


def numbered(count):
    return [Annotation("error", f"s{n}", f"m{n}", "evals/s.yaml", n + 1, 3) for n in range(count)]


def written(hub):
    [found] = hub.state["check_runs"]
    return found


def test_a_check_run_is_complete_with_its_verdict_summary_and_page(hub, client):
    CheckRuns(client).post(check(details_url="https://github.com/acme/agent/actions/runs/1"))
    found = written(hub)
    assert (found["name"], found["head_sha"], found["status"]) == ("EvalGate (k)", HEAD, "completed")
    assert (found["conclusion"], found["output"]["summary"]) == ("failure", "## text")
    assert found["details_url"].endswith("/runs/1")
    assert found["external_id"].startswith("evalgate-")


def test_an_annotation_has_its_line_and_column(hub, client):
    CheckRuns(client).post(check(Annotation("error", "refund", "no refund", "evals/s.yaml", 12, 9)))
    assert written(hub)["annotations"] == [
        {
            "path": "evals/s.yaml",
            "start_line": 12,
            "end_line": 12,
            "start_column": 9,
            "end_column": 9,
            "annotation_level": "failure",
            "title": "refund",
            "message": "no refund",
        }
    ]


@pytest.mark.parametrize(("count", "requests"), [(0, 1), (50, 1), (51, 2), (100, 2)])
def test_annotations_go_in_batches_of_fifty_in_their_order(hub, client, count, requests):
    CheckRuns(client).post(check(*numbered(count)))
    assert [annotation["title"] for annotation in written(hub)["annotations"]] == [f"s{n}" for n in range(count)]
    assert len(hub.requests) == requests
    assert "text" not in written(hub)["output"]


def test_after_a_hundred_annotations_the_others_are_in_the_text(hub, client):
    of_run = Annotation("error", "EvalGate", "7 more scenarios like these: see results.json")
    assert CheckRuns(client).post(check(*numbered(103), of_run)) == ""
    assert [annotation["title"] for annotation in written(hub)["annotations"]] == [f"s{n}" for n in range(100)]
    assert len(hub.requests) == 2
    assert written(hub)["output"]["text"].splitlines() == [
        *(f"- error: ` s{n} `, ` m{n} `, ` evals/s.yaml:{n + 1} `" for n in range(100, 103)),
        "- error: ` EvalGate `, ` 7 more scenarios like these: see results.json `",
    ]


def test_the_text_is_cut_at_the_bytes_that_github_takes_and_refers_to_the_results(hub, client):
    CheckRuns(client).post(check(*(each._replace(message="\u00e9\U0001f600" * 50) for each in numbered(900))))
    text = written(hub)["output"]["text"]
    assert 65_000 < len(text.encode()) <= 65_535
    assert text.endswith("`\n- more are in results.json\n")


def test_characters_above_16_bits_are_escaped_in_annotations(hub, client):
    emoji = Annotation("error", "\U0001f600" * 90, "cost \U0001f4a4 \u2714", "s.yaml", 1)
    place = Annotation("error", "t", "m", "\U0001f600.yaml", 1)
    CheckRuns(client).post(check(emoji, place, title="\U0001f600", summary="\U0001f600"))
    [annotation] = written(hub)["annotations"]
    assert annotation["title"].startswith("\\U0001f600\\U0001f600")
    assert len(annotation["title"]) < 255
    assert annotation["message"] == "cost \\U0001f4a4 \u2714"
    assert (written(hub)["output"]["title"], written(hub)["output"]["summary"]) == ("\\U0001f600", "\U0001f600")


INVALID = {
    "kind": "status",
    "status": 422,
    "body": {"message": "Validation Failed", "errors": [{"resource": "CheckRun", "field": "annotations"}]},
}


def test_rejected_annotations_are_listed_in_the_text_and_githubs_reason_is_returned(hub, client):
    hub.fail(INVALID, method="POST", path="check-runs")
    reason = CheckRuns(client).post(check(*numbered(120)))
    assert reason == 'GitHub rejects the request as invalid (422): "Validation Failed; CheckRun annotations"'
    assert (written(hub)["conclusion"], written(hub)["annotations"]) == ("failure", [])
    assert written(hub)["output"]["text"].count("- error: ") == 120
    assert len(hub.requests) == 2


def test_a_rejected_second_batch_is_in_the_text_too(hub, client):
    hub.fail(INVALID, method="PATCH", path="check-runs")
    assert "Validation Failed" in CheckRuns(client).post(check(*numbered(60)))
    assert len(written(hub)["annotations"]) == 50
    assert written(hub)["output"]["text"].count("- error: ") == 60


@pytest.mark.parametrize("count", [0, 3])
def test_a_check_run_that_is_invalid_otherwise_is_an_error_with_githubs_reason(hub, client, count):
    with pytest.raises(Unreachable, match="summary exceeds a maximum bytesize of 65535"):
        CheckRuns(client).post(check(*numbered(count), summary="\u00e9" * 40_000))
    assert hub.state["check_runs"] == []
    assert len(hub.requests) == (2 if count else 1)


@pytest.mark.parametrize("place", [(None, None), ("/etc/passwd", 3), ("../s.yaml", 3), ("a\n::b", 3), ("s.yaml", None)])
def test_an_annotation_without_a_place_in_the_repository_is_left_to_the_summary(hub, client, place):
    CheckRuns(client).post(check(Annotation("error", "t", "m", *place)))
    assert written(hub)["annotations"] == []


def test_untrusted_text_is_cleaned_and_cut(hub, client):
    CheckRuns(client).post(check(Annotation("error", "t" * 999, "a\u202eb\x1b[31m\n" + "m" * 99_999, "s.yaml", 1)))
    [annotation] = written(hub)["annotations"]
    assert len(annotation["title"]) < 255
    assert len(annotation["message"].encode()) < 64 * 1024
    assert annotation["message"].isprintable()
    assert "\u202e" not in annotation["message"]


@pytest.mark.parametrize(
    "fault", [{"kind": "commit_then_reset"}, {"kind": "commit_then_status", "status": 502}, {"kind": "reset"}]
)
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_lost_answer_doubles_neither_the_check_run_nor_an_annotation(hub, client, method, fault):
    hub.fail(fault, method=method, path="check-runs")
    CheckRuns(client).post(check(*numbered(90)))
    assert [annotation["title"] for annotation in written(hub)["annotations"]] == [f"s{n}" for n in range(90)]


def test_a_check_run_of_an_earlier_run_is_not_taken_for_the_lost_one(hub, client):
    CheckRuns(client).post(check())
    hub.fail({"kind": "reset"}, method="POST", path="check-runs")
    CheckRuns(client).post(check(conclusion="success"))
    assert [found["conclusion"] for found in hub.state["check_runs"]] == ["failure", "success"]


def test_without_checks_write_the_error_names_the_permission(hub, budget):
    client = Client(site_of(hub, "ghs_readonly"), budget)
    with pytest.raises(Forbidden, match="add `checks: write` to `permissions:`"):
        CheckRuns(client).post(check())
    client.close()


def test_a_failing_server_is_unreachable_within_the_budget(hub, site):
    hub.fail({"kind": "hang", "seconds": 2}, times=-1, path="check-runs")
    client = Client(site, RequestDeadline(0.5))
    with pytest.raises(Unreachable):
        CheckRuns(client).post(check())
    client.close()
