"""`evalgate track --to langsmith`: what LangSmith holds afterwards, computed by hand."""

from __future__ import annotations

import json

import pytest
from fakes.langsmith import KEY, TENANT
from scheduling_project import ANSWER, ARGUMENT, a_trace, evalgate_in, write_project

CALLS = ("correct_tool", "correct_count", "no_false_trigger")
JOB = {
    "GITHUB_REPOSITORY": "acme/agent",
    "GITHUB_REPOSITORY_ID": "17",
    "GITHUB_SERVER_URL": "https://github.example",
    "GITHUB_RUN_ATTEMPT": "1",
}
ON_MAIN = {**JOB, "GITHUB_EVENT_NAME": "push", "GITHUB_REF_NAME": "main", "GITHUB_SHA": "a" * 40, "GITHUB_RUN_ID": "1"}


def in_pull_request(folder, head=17):
    """The variables of a pull request's job, whose head is in the repository with this id."""
    event = folder / "event.json"
    event.write_text(json.dumps({"pull_request": {"head": {"repo": {"id": head}}, "base": {"repo": {"id": 17}}}}))
    return {
        **JOB,
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REF": "refs/pull/7/merge",
        "GITHUB_REF_NAME": "7/merge",
        "GITHUB_HEAD_REF": "feature",
        "GITHUB_BASE_REF": "main",
        "GITHUB_SHA": "b" * 40,
        "GITHUB_RUN_ID": "2",
    }


def rows_of(langsmith):
    return {row["run_name"]: row for upload in langsmith.uploads for row in upload["results"]}


def scores_of(row):
    return {score["key"]: score["score"] for score in row["evaluation_scores"]}


def track(folder, environ, *arguments):
    return evalgate_in(folder, environ, "track", "--to", "langsmith", *arguments)


def test_each_suite_is_an_experiment_and_each_trial_a_row_with_the_feedback_of_scheduling_suites(
    project, langsmith, environ
):
    done = track(project, environ)

    assert done.exit_code == 0, done.err
    assert [upload["dataset_name"] for upload in langsmith.uploads] == [
        "evalgate/project/negative",
        "evalgate/project/positive",
    ]
    rows = rows_of(langsmith)
    assert {name: tuple(scores_of(row).get(key) for key in CALLS) for name, row in rows.items()} == {
        "tea[flat]": (1.0, 0.0, None),  # one call of two
        "tea[grouped]": (1.0, 1.0, None),
        "weekly[flat]": (0.0, 0.0, None),  # another tool
        "weekly[grouped]": (1.0, 1.0, None),
        "joke[flat]": (None, None, 1.0),
        "joke[grouped]": (None, None, 0.0),
    }
    tea = rows["tea[flat]"]
    assert tea["inputs"] == {
        "scenario": "tea",
        "variant": "flat",
        "prompt": "Remind me of my tea, twice.",
        "category": "sequence",
    }
    assert tea["expected_outputs"] == {"expected_tool": "schedule_task", "min_calls": 2}
    assert tea["actual_outputs"] == {"tool_call_names": ["schedule_task"], "call_count": 1, "answer": ANSWER}
    values = {score["key"]: score.get("value") for score in tea["evaluation_scores"]}
    assert [values[key] for key in ("input_tokens", "output_tokens", "total_tokens")] == [100, 20, 120]
    assert scores_of(tea)["assertion.expected_tool"] == 0.0
    assert scores_of(tea)["assertion.runs-no-code-ever"] == 1.0
    assert scores_of(tea)["latency_seconds"] == 3.0
    assert (tea["start_time"], tea["end_time"]) == ("2026-11-20T10:00:00+00:00", "2026-11-20T10:00:03+00:00")
    assert rows["tea[grouped]"]["expected_outputs"] == {"expected_tool": "tasks", "min_calls": 2}
    assert rows["joke[flat]"]["expected_outputs"] == {"expected_tool_calls": 0}
    positive = langsmith.uploads[1]["experiment_metadata"]
    assert positive["assertion.runs-no-code-ever"] == "Runs no code, ever"
    assert (positive["branch"], positive["commit"], positive["model"]) == ("main", "c" * 40, "small-1")


def test_publishing_again_adds_nothing(project, langsmith, environ):
    first, second = track(project, environ), track(project, environ)

    assert len(langsmith.uploads) == 2
    assert second.exit_code == 0
    assert second.out == first.out.replace("published:", "was there:")


def test_an_answer_that_was_lost_is_looked_up_and_adds_nothing(project, langsmith, environ):
    langsmith.loses_answers = 1
    langsmith.retry_after = "0"

    done = track(project, environ)

    assert (done.exit_code, len(langsmith.uploads)) == (0, 2), done.err
    assert done.out.count("/compare?selectedSessions=") == 2


def test_runs_of_main_and_of_a_branch_are_two_experiments_of_one_dataset(project, langsmith, environ):
    for job in (ON_MAIN, in_pull_request(project)):
        assert evalgate_in(project, job, "run").exit_code == 0
        done = track(project, {**environ, **job})
        assert done.exit_code == 0, done.err

    main, branch = (
        [each for each in langsmith.uploads if f"-{name}-" in each["experiment_name"]] for name in ("main", "feature")
    )
    assert [each["dataset_name"] for each in main] == [
        f"evalgate/acme/agent/{name}" for name in ("negative", "positive")
    ]
    assert [each["dataset_name"] for each in branch] == [each["dataset_name"] for each in main]
    assert len({each["experiment_name"] for each in langsmith.uploads}) == 4
    for former, later in zip(main, branch, strict=True):
        assert [row["row_id"] for row in former["results"]] == [row["row_id"] for row in later["results"]]
        assert [row["inputs"] for row in former["results"]] == [row["inputs"] for row in later["results"]]
    dataset = langsmith.sessions[3]["reference_dataset_id"]
    pair = f"{langsmith.sessions[3]['id']}%2C{langsmith.sessions[1]['id']}"
    assert f"{langsmith.url}/o/{TENANT}/datasets/{dataset}/compare?selectedSessions={pair}" in done.out
    metadata = branch[0]["experiment_metadata"]
    assert (metadata["pull_request"], metadata["event"], metadata["fork"]) == ("7", "pull_request", "false")
    assert metadata["run_url"] == "https://github.example/acme/agent/actions/runs/2"


def test_a_branch_is_compared_with_the_experiment_of_its_baselines_commit_else_with_the_newest(
    project, langsmith, environ
):
    for number, letter in ((1, "c"), (30, "d"), (4, "e")):  # all traces start at the same time
        job = {**ON_MAIN, "GITHUB_SHA": letter * 40, "GITHUB_RUN_ID": str(number)}
        assert evalgate_in(project, job, "run", "--output-dir", letter).exit_code == 0
        assert evalgate_in(project, {**environ, **job}, "track", letter, "--to", "langsmith").exit_code == 0
    branch = in_pull_request(project)

    linked = []
    for baseline in ("c/baseline.zip", "none"):
        evalgate_in(project, branch, "run", "--baseline", baseline)
        linked.append(track(project, {**environ, **branch}).out)

    ids = {session["name"].split("-positive-main-")[-1][:7]: session["id"] for session in langsmith.sessions}
    assert [f"%2C{ids[letter * 7]}" in out for letter, out in zip("cd", linked, strict=True)] == [True, True]


def test_a_branch_of_a_fork_that_is_called_main_is_not_compared_with(project, langsmith, environ):
    fork = {**in_pull_request(project, head=18), "GITHUB_HEAD_REF": "main"}
    assert evalgate_in(project, fork, "run").exit_code == 0
    track(project, {**environ, **fork})
    assert {each["dataset_name"] for each in langsmith.uploads} == {"evalgate/acme/agent/forks"}
    assert ANSWER.encode() not in b"".join(body for *_, body in langsmith.requests)

    done = track(project, {**environ, **in_pull_request(project)})

    assert "%2C" not in done.out


def test_a_check_that_is_not_evaluable_is_left_out_and_never_0(tmp_path, langsmith, environ):
    write_project(tmp_path, [a_trace("joke", "grouped", [("tasks", None)])])
    assert evalgate_in(tmp_path, {}, "run").exit_code in (0, 1)

    assert track(tmp_path, environ).exit_code == 0

    row = rows_of(langsmith)["joke[grouped]"]
    missing = {"assertion.expected_tool", "no_false_trigger"}
    assert (
        scores_of(row)["evalgate.verdict"] == 0.0
    )  # the trial fails: its suite excludes no check for lack of evidence
    assert missing.isdisjoint(scores_of(row))
    assert set(row["run_metadata"]["evalgate.not_evaluable"].split(", ")) == missing


@pytest.mark.parametrize(
    ("level", "sent", "kept"),
    [
        ("none", [], [ANSWER, ARGUMENT, "Remind me of", "first message of tea", "schedule_task", "Runs no code"]),
        ("final", [ANSWER, "Remind me of", "schedule_task"], [ARGUMENT, "first message of tea"]),
        ("full", [ANSWER, "Remind me of", "schedule_task", ARGUMENT, "first message of tea"], []),
    ],
)
def test_content_decides_which_texts_leave(project, langsmith, environ, level, sent, kept):
    assert track(project, environ, "--content", level).exit_code == 0

    texts = b"".join(body for *_, body in langsmith.requests).decode()
    assert [text for text in sent if text not in texts] == []
    assert [text for text in kept if text in texts] == []


def test_results_alone_are_published_as_ids_and_numbers(project, langsmith, environ):
    (project / ".evalgate/baseline.zip").unlink()

    done = track(project, environ)

    assert done.exit_code == 0
    assert done.err == (
        "warning: no answers and conversations were sent: the run keeps no traces (baseline.zip), or more than 50 MB of"
        " their texts\n"
    )
    assert rows_of(langsmith)["tea[flat]"]["actual_outputs"]["call_count"] == 1


def test_no_secret_is_in_a_request_and_the_key_only_in_its_header(tmp_path, langsmith, environ):
    secrets = ["sk-proj-" + "Ab3dEf6h" * 6, "hunter2-hunter2-planted", "ghp_" + "a1B2c3D4e5" * 4]
    text = f"keys: {' '.join(secrets)} and {KEY}"
    trace = a_trace("joke", "flat", [("other", {"password": secrets[1], "text": text})], model=secrets[2])
    trace["messages"][-1]["content"] = text
    write_project(tmp_path, [trace])
    assert evalgate_in(tmp_path, {}, "run").exit_code in (0, 1)

    done = track(tmp_path, {**environ, "DB_PASSWORD": secrets[1]}, "--content", "full")

    assert done.exit_code == 0, done.err
    sent = b"".join(path.encode() + body for _, path, _, body in langsmith.requests).decode()
    assert [secret for secret in (*secrets, KEY) if secret in sent + done.out + done.err] == []
    assert {headers["x-api-key"] for _, _, headers, _ in langsmith.requests} == {KEY}
    assert not any("Authorization" in headers or "Cookie" in headers for _, _, headers, _ in langsmith.requests)


def test_a_dry_run_prints_what_would_leave_and_needs_no_key(project, langsmith):
    done = evalgate_in(project, {}, "track", "--dry-run")

    assert done.exit_code == 0, done.err
    assert [each["dataset_name"] for each in json.loads(done.out)["langsmith"]] == [
        f"evalgate/project/{name}" for name in ("negative", "positive")
    ]
    assert langsmith.requests == []


def test_the_document_describes_what_was_published(project, langsmith, environ):
    done = track(project, environ, "--json")

    document = json.loads((project / ".evalgate/tracking.json").read_bytes())
    assert json.loads(done.out) == document
    assert document["schema"] == "evalgate.tracking/1"
    assert [each["name"] for each in document["trackers"][0]["experiments"]] == [
        each["name"] for each in langsmith.sessions
    ]


@pytest.mark.parametrize(
    ("changed", "arguments", "message"),
    [
        ({"LANGSMITH_API_KEY": ""}, [], "error: LANGSMITH_API_KEY is not set (set it in the environment)\n"),
        ({"LANGSMITH_API_KEY": "a\nb: c"}, [], "error: LANGSMITH_API_KEY has characters that no key has\n"),
        ({"LANGSMITH_ENDPOINT": "http://langsmith.example"}, [], "the base URL of LangSmith is not https"),
        ({"LANGSMITH_ENDPOINT": "https://u:p@langsmith.example"}, [], "is more than a host and a path"),
        ({}, ["--to", "langsmit"], "there is no tracker 'langsmit' (choose from langsmith, "),
        ({}, ["elsewhere"], "error: there is no finished run at elsewhere (run `evalgate run` first)\n"),
    ],
)
def test_wrong_input_is_named(project, langsmith, environ, changed, arguments, message):
    done = track(project, {**environ, **changed}, *arguments)

    assert (done.exit_code, done.out) == (2, "")
    assert message in done.err
    assert langsmith.requests == []
