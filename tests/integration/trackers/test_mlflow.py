"""`evalgate track --to mlflow`: what a real MLflow holds afterwards, and whatever goes wrong on the way."""

from __future__ import annotations

import json
import time
from urllib.parse import urlencode

import pytest
from scheduling_project import ANSWER, ARGUMENT, a_trace, evalgate_in, write_project
from tracker_servers import ask, needs

from evalgate.errors import TrackerRefused, TrackerUnreachable
from evalgate.features.track.application.track_run import track_run
from evalgate.features.track.bootstrap import build_tracker, load_published_run
from evalgate.measures.redaction.redact import hide_secrets
from evalgate.settings.secret_variables import find_secret_values

PACE = 0.02
"""Real seconds for each second of the tracker's 30."""
PATIENT = {"seconds": 600, "pace": 0.1}
"""Enough time for a real server, with short pauses before a request is repeated."""
ALWAYS = 200
TOKEN = "mlflow-token-0a1b2c3d4e5f6071"
needs_mlflow = needs("mlflow")


@pytest.fixture
def environ(mlflow, request):
    """The variables of a repository that only this test has."""
    repository = f"acme/{abs(hash(request.node.name))}"
    return {"MLFLOW_TRACKING_URI": mlflow.url, "MLFLOW_TRACKING_TOKEN": TOKEN, "GITHUB_REPOSITORY": repository}


def track(folder, environ, *arguments):
    return evalgate_in(folder, environ, "track", "--to", "mlflow", *arguments)


def publish(project, environ, seconds=30, pace=PACE):
    hide_secrets(find_secret_values(environ))  # as the command does
    run = load_published_run(str(project / ".evalgate"), environ, str(project), "final")
    return track_run(run, build_tracker("mlflow", environ, seconds=seconds, pace=pace))


def runs_of(server, environ, suite):
    """The runs of a suite, read from the server itself."""
    name = urlencode({"experiment_name": f"evalgate/{environ['GITHUB_REPOSITORY']}/{suite}"})
    experiment = ask(f"{server}/api/2.0/mlflow/experiments/get-by-name?{name}")["experiment"]["experiment_id"]
    return ask(f"{server}/api/2.0/mlflow/runs/search", {"experiment_ids": [experiment]}).get("runs", [])


def read(run, kind):
    return {each["key"]: each["value"] for each in run["data"].get(kind, [])}


def table_of(server, run):
    path = run["info"]["artifact_uri"].removeprefix("mlflow-artifacts:/")
    found = ask(f"{server}/api/2.0/mlflow-artifacts/artifacts/{path}/evalgate_trials.json")
    return [dict(zip(found["columns"], row, strict=True)) for row in found["data"]]


@needs_mlflow
def test_the_server_holds_a_run_of_each_suite_with_means_tags_and_a_table(project, environ, mlflow_server):
    done = track(project, environ)

    assert done.exit_code == 0, done.err
    [positive], [negative] = (runs_of(mlflow_server, environ, suite) for suite in ("positive", "negative"))
    assert read(positive, "metrics") == {
        "evalgate.verdict": 0.5,  # of tea[flat], which calls once, and weekly[flat], which calls another tool, it is 0
        "evalgate.score": 0.625,  # 0.5, 1, 0, 1
        "assertion.expected_tool": 0.5,
        "assertion.runs-no-code-ever": 1.0,
        "correct_tool": 0.75,
        "correct_count": 0.5,
        "input_tokens": 100,
        "output_tokens": 20,
        "total_tokens": 120,
        "latency_seconds": 3.0,
        "pass_rate": 0.5,
        "hard_fails": 0,
        "regressions": 0,
        "improvements": 0,
        "gate": 1.0,
    }
    assert read(negative, "metrics")["no_false_trigger"] == 0.5
    assert positive["info"]["status"] == "FINISHED"
    assert (positive["info"]["start_time"], positive["info"]["end_time"]) == (1795168800000, 1795168803000)
    tags = read(positive, "tags")
    assert (tags["branch"], tags["commit"], tags["model"], tags["suite"]) == ("main", "c" * 40, "small-1", "positive")
    assert tags["assertion.runs-no-code-ever"] == "Runs no code, ever"
    assert "evalgate.not_evaluable" not in tags
    rows = {(row["scenario"], row["variant"]): row for row in table_of(mlflow_server, positive)}
    assert {place: (row["correct_tool"], row["correct_count"]) for place, row in rows.items()} == {
        ("tea", "flat"): (1.0, 0.0),
        ("tea", "grouped"): (1.0, 1.0),
        ("weekly", "flat"): (0.0, 0.0),
        ("weekly", "grouped"): (1.0, 1.0),
    }
    assert rows["tea", "flat"]["answer"] == ANSWER
    page = f"/#/experiments/{positive['info']['experiment_id']}/runs/{positive['info']['run_id']}\n"
    assert environ["MLFLOW_TRACKING_URI"] + page in done.out


@needs_mlflow
def test_publishing_again_adds_nothing(project, environ, mlflow_server):
    first, second = track(project, environ), track(project, environ)

    assert second.exit_code == 0, second.err
    assert second.out == first.out.replace("published:", "was there:")
    assert [len(runs_of(mlflow_server, environ, suite)) for suite in ("positive", "negative")] == [1, 1]


@needs_mlflow
def test_a_check_that_is_not_evaluable_is_no_part_of_a_mean(tmp_path, environ, mlflow_server):
    write_project(tmp_path, [a_trace("joke", "flat", []), a_trace("joke", "grouped", [("tasks", None)])])
    assert evalgate_in(tmp_path, environ, "run").exit_code in (0, 1)

    assert track(tmp_path, environ).exit_code == 0

    [run] = runs_of(mlflow_server, environ, "negative")
    assert read(run, "metrics")["no_false_trigger"] == 1.0
    assert read(run, "tags")["evalgate.not_evaluable"] == ("assertion.expected_tool: 1 of 2, no_false_trigger: 1 of 2")
    cells = {row["variant"]: row["no_false_trigger"] for row in table_of(mlflow_server, run)}
    assert cells == {"flat": 1.0, "grouped": None}


@needs_mlflow
def test_a_key_that_no_trial_can_be_judged_by_is_no_metric(tmp_path, environ, mlflow_server):
    write_project(tmp_path, [a_trace("joke", "grouped", [("tasks", None)])])
    assert evalgate_in(tmp_path, environ, "run").exit_code in (0, 1)

    assert track(tmp_path, environ).exit_code == 0

    [run] = runs_of(mlflow_server, environ, "negative")
    assert {"no_false_trigger", "assertion.expected_tool"}.isdisjoint(read(run, "metrics"))


@needs_mlflow
@pytest.mark.parametrize(
    ("fault", "calls"),
    [
        ("lost", range(8)),  # the first suite: two lookups, two creations, the table, a batch, a tag, the end
        ("reset", [3, 5]),
        (429, [3]),
        (500, [1, 4]),
    ],
)
def test_a_fault_that_passes_leaves_the_server_as_without_it(project, environ, mlflow, mlflow_server, fault, calls):
    for call in calls:
        mine = {**environ, "GITHUB_REPOSITORY": f"{environ['GITHUB_REPOSITORY']}-{call}"}
        mlflow.faults = [None] * call + [fault]

        report = publish(project, mine, **PATIENT)

        assert report.failure is None, call
        for suite, keys in (("positive", 15), ("negative", 13)):
            [run] = runs_of(mlflow_server, mine, suite)
            assert run["info"]["status"] == "FINISHED"
            assert len(read(run, "metrics")) == keys


@needs_mlflow
@pytest.mark.parametrize(
    ("fault", "calls"),
    [("reset", [7]), ("drip", [3, 5]), (401, [3]), (409, [1]), (422, [5]), (429, [3]), (500, [1, 3, 5, 6, 7])],
)
def test_a_fault_that_stays_is_one_line_and_the_next_attempt_completes_the_run(
    project, environ, mlflow, mlflow_server, fault, calls
):
    for call in calls:
        mine = {**environ, "GITHUB_REPOSITORY": f"{environ['GITHUB_REPOSITORY']}-{call}"}
        mlflow.faults = [None] * call + [fault] * ALWAYS
        begun = time.monotonic()

        report = publish(project, mine)

        assert time.monotonic() - begun < 30 * PACE + 5
        assert report.failure is not None
        mlflow.faults = []
        assert publish(project, mine, **PATIENT).failure is None
        for suite in ("positive", "negative"):
            [run] = runs_of(mlflow_server, mine, suite)
            assert run["info"]["status"] == "FINISHED"


REASONS = {
    "reset": (TrackerUnreachable, "no response (the connection failed)"),
    "drip": (TrackerUnreachable, "no complete response within"),
    302: (TrackerRefused, "is not at this address (status 302) (check MLFLOW_TRACKING_URI)"),
    401: (TrackerRefused, "refused the key (status 401) (check MLFLOW_TRACKING_TOKEN)"),
    404: (TrackerRefused, "is not at this address (status 404) (check MLFLOW_TRACKING_URI)"),
    409: (TrackerRefused, 'refused the run (status 409): {"message": "no, Bearer [redacted: secret]"}'),
    422: (TrackerRefused, "refused the run (status 422)"),
    429: (TrackerUnreachable, "returned status 429"),
    500: (TrackerUnreachable, "returned status 500"),
    200: (TrackerUnreachable, "answered without the ids of the run"),
}


@pytest.mark.parametrize("fault", REASONS)
def test_a_fault_is_one_line_that_names_tracker_and_reason(project, environ, mlflow, fault):
    kind, reason = REASONS[fault]
    mlflow.faults = [fault] * ALWAYS

    report = publish(project, environ)

    assert isinstance(report.failure, kind)
    line = str(report.problem)
    assert line.startswith("MLflow")
    assert reason in line
    assert TOKEN not in line
    assert "\n" not in line


@pytest.mark.parametrize("fault", [401, 422, 500])
def test_run_has_the_same_verdict_output_and_files_with_mlflow(project, environ, mlflow, fault):
    fixed = {"SOURCE_DATE_EPOCH": "1790000000", "GITHUB_REPOSITORY": "acme/agent"}
    without = evalgate_in(project, fixed, "run")
    files = {path.name: path.read_bytes() for path in (project / ".evalgate").iterdir() if path.name != "tracking.json"}
    mlflow.faults, mlflow.retry_after = [fault] * ALWAYS, "31"

    done = evalgate_in(project, {**environ, **fixed}, "run", "--track", "mlflow")

    assert (done.exit_code, done.out) == (without.exit_code, without.out)
    assert files == {name: (project / ".evalgate" / name).read_bytes() for name in files}
    assert [line.partition(": MLflow")[0] for line in done.err.removeprefix(without.err).splitlines()] == [
        "warning: not tracked"
    ]


@needs_mlflow
def test_no_secret_is_in_a_request_and_the_key_only_in_its_header(tmp_path, environ, mlflow):
    secrets = ["sk-proj-" + "Ab3dEf6h" * 6, "hunter2-hunter2-planted", "ghp_" + "a1B2c3D4e5" * 4]
    text = f"keys: {' '.join(secrets)} and {TOKEN}"
    trace = a_trace("joke", "flat", [("other", {"password": secrets[1], "text": text})], model=secrets[2])
    trace["messages"][-1]["content"] = text
    write_project(tmp_path, [trace])
    assert evalgate_in(tmp_path, environ, "run").exit_code in (0, 1)

    done = track(tmp_path, {**environ, "DB_PASSWORD": secrets[1]}, "--content", "full")

    assert done.exit_code == 0, done.err
    assert [secret for secret in (*secrets, TOKEN) if secret in mlflow.sent + done.out + done.err] == []
    assert {headers["Authorization"] for _, _, headers, _ in mlflow.requests} == {f"Bearer {TOKEN}"}


@needs_mlflow
@pytest.mark.parametrize(
    ("level", "sent", "kept"),
    [
        ("none", [], [ANSWER, ARGUMENT, "Remind me of", "first message of tea", "schedule_task", "Runs no code"]),
        ("final", [ANSWER, "Remind me of", "schedule_task", "Runs no code"], [ARGUMENT, "first message of tea"]),
        ("full", [ANSWER, "Remind me of", "schedule_task", ARGUMENT, "first message of tea"], []),
    ],
)
def test_content_decides_which_texts_leave(project, environ, mlflow, level, sent, kept):
    assert track(project, environ, "--content", level).exit_code == 0

    assert [text for text in sent if text not in mlflow.sent] == []
    assert [text for text in kept if text in mlflow.sent] == []


@needs_mlflow
def test_an_experiment_that_was_deleted_is_named(project, environ, mlflow_server):
    assert track(project, environ).exit_code == 0
    [run] = runs_of(mlflow_server, environ, "negative")
    delete = {"experiment_id": run["info"]["experiment_id"]}
    ask(f"{mlflow_server}/api/2.0/mlflow/experiments/delete", delete)

    done = track(project, environ)

    assert done.exit_code == 4
    assert done.err.endswith("is deleted (restore it, or remove it for good with `mlflow gc`)\n")


def test_user_and_password_take_precedence_over_a_token_as_in_its_own_client(project, environ, mlflow):
    mlflow.faults = [401]
    login = {"MLFLOW_TRACKING_USERNAME": "ann", "MLFLOW_TRACKING_PASSWORD": "pass-of-ann-1"}

    done = track(project, {**environ, **login})

    assert mlflow.requests[0][2]["Authorization"] == "Basic YW5uOnBhc3Mtb2YtYW5uLTE="
    assert done.err.endswith("refused the key (status 401) (check MLFLOW_TRACKING_PASSWORD)\n")


def test_a_fork_sends_nothing_without_a_key(project, environ, mlflow):
    fork = {**environ, "MLFLOW_TRACKING_TOKEN": "", "GITHUB_HEAD_REF": "main", "GITHUB_EVENT_PATH": "absent"}

    done = evalgate_in(project, fork, "run", "--track", "mlflow")

    assert done.exit_code == 0
    assert done.err.endswith("note: not tracked: MLFLOW_TRACKING_TOKEN is not set\n")
    assert mlflow.requests == []


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "error: MLFLOW_TRACKING_URI is not set (set it in the environment)\n"),
        ("sqlite:///mlflow.db", "the base URL of MLflow is not https"),
        ("http://mlflow.example", "the base URL of MLflow is not https"),
        ("databricks", "the base URL of MLflow is not https"),
    ],
)
def test_an_address_that_is_not_over_http_is_wrong_input(project, environ, url, message):
    done = track(project, {**environ, "MLFLOW_TRACKING_URI": url})

    assert (done.exit_code, done.out) == (2, "")
    assert message in done.err


def test_a_dry_run_prints_what_each_tracker_would_be_sent(project):
    done = evalgate_in(project, {}, "track", "--dry-run", "--to", "mlflow")

    uploads = json.loads(done.out)
    assert list(uploads) == ["mlflow"]
    assert [each["experiment"]["name"] for each in uploads["mlflow"]] == [
        "evalgate/project/negative",
        "evalgate/project/positive",
    ]
