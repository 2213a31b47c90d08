"""The Action's input `track`: what a tracker gets after the verdict, and what it can't change."""

from __future__ import annotations

import json
import re
import time
from urllib.parse import quote, urlencode

import pytest
from fakes.agent import FORK, current, next_run, on_main, own_comments
from fakes.hub import FakeHub
from fakes.langsmith import KEY, TENANT
from fakes.runner import FakeRunner
from scheduling_project import ANSWER, ARGUMENT, a_trace, write_project
from tracker_servers import PHOENIX_KEY, ask, needs

CALLS = ("correct_tool", "correct_count", "no_false_trigger")
BY_HAND = {
    "tea[flat]": (1.0, 0.0, None),  # one call of two
    "tea[grouped]": (1.0, 1.0, None),
    "weekly[flat]": (0.0, 0.0, None),  # another tool
    "weekly[grouped]": (1.0, 1.0, None),
    "joke[flat]": (None, None, 1.0),
    "joke[grouped]": (None, None, 0.0),
}
FIXED = {"SOURCE_DATE_EPOCH": "1790000000"}


@pytest.fixture(scope="module")
def _running_hub():
    hub = FakeHub()
    yield hub
    hub.stop()


@pytest.fixture
def hub(_running_hub):
    fresh = _running_hub.fresh()
    yield fresh
    assert fresh.violations == []


@pytest.fixture
def workspace(tmp_path):
    write_project(tmp_path / "workspace")
    return tmp_path / "workspace"


@pytest.fixture
def runner(hub, workspace, tmp_path):
    return FakeRunner(hub, workspace, tmp_path)


@pytest.fixture
def gate(runner, environ):
    def run(event="pull_request", *, is_sandboxed=False, variables=environ, **inputs):
        given = {"comment_key": "k", "track": "langsmith", "track_timeout": "2", **inputs}
        return runner.act(event, is_sandboxed=is_sandboxed, variables={**FIXED, **variables}, **given)

    return run


def scores_of(row):
    return {score["key"]: score["score"] for score in row["evaluation_scores"]}


@pytest.mark.parametrize("is_sandboxed", [False, True], ids=["in one process", "apart"])
def test_main_and_a_pull_request_are_two_experiments_of_one_dataset_and_again_adds_nothing(
    hub, gate, langsmith, workspace, is_sandboxed
):
    on_main(hub)
    pushed = gate("push", is_sandboxed=is_sandboxed)
    next_run(hub, "success")
    step = gate(is_sandboxed=is_sandboxed)

    assert (pushed.exit_code, step.exit_code) == (0, 0)
    assert [note for note in (*pushed.annotations, *step.annotations) if "track" in note["message"]] == []
    main, branch = langsmith.uploads[:2], langsmith.uploads[2:]
    assert [each["dataset_name"] for each in main] == [
        f"evalgate/acme/agent/{name}" for name in ("negative", "positive")
    ]
    assert [each["dataset_name"] for each in branch] == [each["dataset_name"] for each in main]
    assert len({each["experiment_name"] for each in langsmith.uploads}) == 4
    for former, later in zip(main, branch, strict=True):
        assert [row["row_id"] for row in former["results"]] == [row["row_id"] for row in later["results"]]
        assert [row["inputs"] for row in former["results"]] == [row["inputs"] for row in later["results"]]
    rows = {row["run_name"]: row for upload in branch for row in upload["results"]}
    assert {name: tuple(scores_of(row).get(key) for key in CALLS) for name, row in rows.items()} == BY_HAND
    tokens = [scores_of(rows["tea[flat]"])[f"{name}_tokens"] for name in ("input", "output", "total")]
    assert tokens == [100, 20, 120]
    assert rows["tea[flat]"]["actual_outputs"]["answer"] == ANSWER
    pairs = [(langsmith.sessions[number + 2], langsmith.sessions[number]) for number in range(2)]
    links = [
        f"{langsmith.url}/o/{TENANT}/datasets/{own['reference_dataset_id']}/compare"
        f"?selectedSessions={own['id']}%2C{base['id']}"
        for own, base in pairs
    ]
    line = f"Tracked: [LangSmith]({links[0]}) · [2]({links[1]})"
    [comment] = own_comments(hub)
    lines = comment.split("\n")
    assert lines[lines.index(line) - 2].startswith("**Score** ")
    assert line in step.summary.split("\n")
    assert step.outputs["tracking-url"] == links[0]
    document = json.loads((workspace / ".evalgate/tracking.json").read_bytes())
    assert [each["url"] for each in document["trackers"][0]["experiments"]] == links

    again = gate(is_sandboxed=is_sandboxed)

    assert len(langsmith.uploads) == 4
    assert own_comments(hub) == [comment]
    assert again.outputs["tracking-url"] == links[0]


@needs("mlflow")
@needs("phoenix")
@pytest.mark.parametrize("is_sandboxed", [False, True], ids=["in one process", "apart"])
def test_all_three_trackers_hold_the_run_and_the_comment_links_to_each(
    hub, gate, langsmith, environ, *, mlflow_server, phoenix_server, is_sandboxed
):
    variables = {
        **environ,
        "MLFLOW_TRACKING_URI": mlflow_server,
        "PHOENIX_ENDPOINT": phoenix_server,
        "PHOENIX_API_KEY": PHOENIX_KEY,
        "GITHUB_SHA": ("a" if is_sandboxed else "b") * 40,
    }
    step = gate(is_sandboxed=is_sandboxed, variables=variables, track="langsmith,mlflow,phoenix", track_timeout="30")

    assert [note for note in step.annotations if "track" in note["message"]] == []
    [line] = [each for each in own_comments(hub)[0].split("\n") if each.startswith("Tracked: ")]
    links = dict(re.findall(r"\[(\D+)\]\(([^)]+)\)", line))
    assert list(links) == ["LangSmith", "MLflow", "Phoenix"]
    assert line.endswith(" more in tracking.json")
    run = links["MLflow"].rpartition("/")[2]
    held = ask(f"{mlflow_server}/api/2.0/mlflow/runs/get?run_id={run}")["run"]["data"]
    measured = {each["key"]: each["value"] for each in held["metrics"]}
    assert (measured["no_false_trigger"], measured["hard_fails"]) == (0.5, 0)
    query = urlencode({"name": "evalgate/acme/agent/negative"})
    [dataset] = ask(f"{phoenix_server}/v1/datasets?{query}", key=PHOENIX_KEY)["data"]
    experiments = ask(f"{phoenix_server}/v1/datasets/{dataset['id']}/experiments", key=PHOENIX_KEY)["data"]
    assert links["Phoenix"].startswith(f"{phoenix_server}/datasets/{dataset['id']}/compare?")
    assert quote(experiments[0]["id"], safe="") in links["Phoenix"] or experiments[0]["id"] in links["Phoenix"]
    assert len(langsmith.uploads) == 2


def test_the_comment_is_posted_before_and_changed_once(hub, gate, langsmith):
    gate()

    written = [each["method"] for each in hub.requests if each["method"] in {"POST", "PATCH"}]
    assert written == ["POST", "PATCH"]


FAULTS = {
    "reset": ("reset", "LangSmith: no response (the connection failed)"),
    "dripping": ("drip", "LangSmith: no complete response within"),
    "401": (401, "LangSmith refused the key (status 401) (check LANGSMITH_API_KEY)"),
    "409": (409, "LangSmith refused the run (status 409)"),
    "422": (422, "LangSmith refused the run (status 422)"),
    "429": (429, "LangSmith returned status 429"),
    "500": (500, "LangSmith returned status 500"),
    "another shape": ("text", "LangSmith answered without the ids of the experiment"),
}


@pytest.fixture
def untracked(hub, runner):
    """The verdict, outputs and comment of the pull request without tracking."""
    step = runner.act(variables=FIXED, comment_key="k")
    comments = own_comments(hub)
    hub.state["comments"].clear()
    return step, comments


CASES = [(name, call) for name in FAULTS for call in (0, 1) if (name, call) != ("another shape", 0)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_fault_changes_nothing_but_one_warning(hub, gate, langsmith, untracked, workspace, case):
    name, call = case
    fault, reason = FAULTS[name]
    langsmith.faults = [None] * call + [fault] * 20
    without, comments = untracked
    started = time.monotonic()

    step = gate(track_timeout="1")

    assert time.monotonic() - started < 1 + 3
    assert_as_without(hub, step, without, comments)
    [warning] = [each for each in step.annotations if each not in without.annotations]
    assert warning["type"] == "warning"
    assert warning["message"].startswith(f"not tracked: {reason}")
    [line] = [line for line in step.summary.split("\n") if line.startswith("Not tracked")]
    assert "LangSmith" in line
    [tracker] = json.loads((workspace / ".evalgate/tracking.json").read_bytes())["trackers"]
    assert (tracker["status"], tracker["experiments"]) == ("failed", [])


def assert_as_without(hub, step, without, comments):
    """Verdict, exit code, outputs and comment are as without tracking."""
    ids = ("comment-id", "comment-url")
    assert step.exit_code == without.exit_code
    assert {**step.outputs, **{name: without.outputs[name] for name in ids}} == without.outputs
    assert own_comments(hub) == comments


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({}, "not tracked: LANGSMITH_API_KEY is not set"),
        ({"LANGSMITH_API_KEY": KEY, "LANGSMITH_ENDPOINT": "http://langsmith.example"}, "is not https"),
        ({"LANGSMITH_API_KEY": "a\nb: c"}, "LANGSMITH_API_KEY has characters that no key has"),
    ],
)
def test_without_a_usable_key_or_address_nothing_is_sent_and_one_note_says_so(
    hub, gate, langsmith, untracked, variables, message
):
    without, comments = untracked

    step = gate(variables=variables)

    assert_as_without(hub, step, without, comments)
    [note] = [each for each in step.annotations if each not in without.annotations]
    assert message in note["message"]
    assert note["type"] == ("notice" if not variables else "warning")
    assert langsmith.requests == []


def test_an_unknown_tracker_is_an_invalid_input(gate, langsmith):
    step = gate(track="langsmit")

    assert step.exit_code == 2
    assert "input `track` must be one of langsmith" in step.annotations[0]["message"]


@pytest.mark.parametrize(
    ("level", "sent", "kept"),
    [
        ("none", [], [ANSWER, ARGUMENT, "Remind me of", "first message of tea", "schedule_task", "Runs no code"]),
        ("final", [ANSWER, "Remind me of", "schedule_task"], [ARGUMENT, "first message of tea"]),
        ("full", [ANSWER, "Remind me of", "schedule_task", ARGUMENT, "first message of tea"], []),
    ],
)
def test_content_decides_which_texts_leave(gate, langsmith, level, sent, kept):
    gate(track_content=level)

    texts = b"".join(body for *_, body in langsmith.requests).decode()
    assert [text for text in sent if text not in texts] == []
    assert [text for text in kept if text in texts] == []


@pytest.mark.parametrize("is_sandboxed", [False, True], ids=["in one process", "apart"])
def test_no_planted_secret_is_in_a_request(runner, langsmith, environ, workspace, is_sandboxed):
    password = "hunter2-hunter2-planted"
    given = {"comment_key": "k", "track": "langsmith", "track_content": "full"}
    variables = runner.environment(variables={**environ, "DB_PASSWORD": password}, **given)
    tokens = (variables["INPUT_GITHUB-TOKEN"], variables["ACTIONS_RUNTIME_TOKEN"])
    secrets = ["sk-proj-" + "Ab3dEf6h" * 6, password, KEY, *tokens]
    text = f"keys: {' '.join(secrets)}"
    trace = a_trace("joke", "flat", [("other", {"password": secrets[0], "text": text})], model=password)
    trace["messages"][-1]["content"] = text
    write_project(workspace, [trace])
    suite = workspace / "evals/negative.yaml"
    suite.write_text(suite.read_text() + f'    assertions: [{{type: no_run_code, name: "{secrets[0]}"}}]\n')

    step = runner.act_in(variables, is_sandboxed=is_sandboxed)

    sent = b"".join(path.encode() + body for _, path, _, body in langsmith.requests).decode()
    assert step.outputs["tracking-url"]
    assert "other" in sent
    assert [secret for secret in secrets if secret in sent] == []
    assert {headers["x-api-key"] for _, _, headers, _ in langsmith.requests} == {KEY}


def test_a_run_with_more_trials_than_a_judge_has_memory_for_is_not_sent_and_says_so(gate, langsmith, monkeypatch):
    monkeypatch.setattr("evalgate.features.track.output.MOST_TRIALS", 5)

    step = gate()

    messages = [each["message"] for each in step.annotations]
    assert "not tracked: the run has 6 trials, and 5 are the most" in messages
    assert (step.exit_code, step.outputs["tracking-url"], langsmith.requests) == (0, "", [])


@pytest.fixture
def fork(hub):
    """The current run is that of pull request 8, from a fork."""
    head = hub.state["pulls"]["8"]["head"]
    current(hub).update(head_branch="main", head_sha=head["sha"], head_repository_id=FORK, pulls=[])
    return {"pr": 8, "token": "ghs_readonly"}


def test_a_fork_without_a_key_sends_nothing_and_says_so(gate, langsmith, fork):
    step = gate(variables={"LANGSMITH_ENDPOINT": langsmith.url}, **fork)

    [note] = [each for each in step.annotations if "track" in each["message"]]
    assert note["type"] == "notice"
    assert note["message"] == (
        "not tracked: LANGSMITH_API_KEY is not set; GitHub gives no secrets to pull requests from forks"
    )
    assert (langsmith.requests, step.outputs["tracking-url"]) == ([], "")


def test_a_fork_with_a_key_sends_ids_and_numbers_to_a_dataset_of_forks(gate, langsmith, fork):
    gate(track_content="full", **fork)

    assert {each["dataset_name"] for each in langsmith.uploads} == {"evalgate/acme/agent/forks"}
    texts = b"".join(body for *_, body in langsmith.requests).decode()
    assert [text for text in (ANSWER, ARGUMENT, "Remind me of", "schedule_task") if text in texts] == []


@pytest.fixture
def published(hub, runner, gate, fork):
    """The run of a fork left its report; the workflow that posts it runs with the key."""
    runner.act(variables=FIXED, comment_key="k", **fork)
    next_run(hub, "success", event="workflow_run", head_branch="main", head_repository_id=1001)

    def run(**inputs):
        return gate("workflow_run", mode="publish", after_run=9001, **inputs)

    return run


@pytest.mark.parametrize("is_sandboxed", [False, True], ids=["in one process", "apart"])
def test_a_publishing_workflow_tracks_a_fork_if_asked_to(hub, langsmith, published, is_sandboxed):
    step = published(track_forks="true", track_content="full", is_sandboxed=is_sandboxed)

    assert step.exit_code == 0
    assert {each["dataset_name"] for each in langsmith.uploads} == {"evalgate/acme/agent/forks"}
    metadata = langsmith.uploads[0]["experiment_metadata"]
    names = ("fork", "event", "head_repository", "run_id", "branch")
    assert [metadata[name] for name in names] == ["true", "pull_request", "mallory/agent", "9001", "main"]
    texts = b"".join(body for *_, body in langsmith.requests).decode()
    assert [text for text in (ANSWER, ARGUMENT, "Remind me of", "schedule_task") if text in texts] == []
    rows = {row["run_name"]: row for upload in langsmith.uploads for row in upload["results"]}
    assert len(rows) == 6
    assert scores_of(rows["weekly[flat]"])["evalgate.verdict"] == 0.0
    [comment] = own_comments(hub)
    assert f"\n\nTracked: [LangSmith]({step.outputs['tracking-url']}) · [2](" in comment
    assert "%2C" not in comment


def test_a_publishing_workflow_tracks_no_fork_by_default(langsmith, published):
    step = published()

    assert (step.exit_code, step.outputs["tracking-url"], langsmith.requests) == (0, "", [])
