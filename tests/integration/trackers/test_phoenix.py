"""`evalgate track --to phoenix`: what a real Phoenix holds afterwards, and whatever goes wrong on the way."""

from __future__ import annotations

import json
import time
from urllib.parse import quote, urlencode

import pytest
from scheduling_project import ANSWER, ARGUMENT, a_trace, evalgate_in, write_project
from tracker_servers import PHOENIX_KEY, ask, needs

from evalgate.errors import TrackerRefused, TrackerUnreachable
from evalgate.features.track.application.track_run import track_run
from evalgate.features.track.bootstrap import build_tracker, load_published_run
from evalgate.measures.redaction.redact import hide_secrets
from evalgate.settings.secret_variables import find_secret_values

PACE = 0.02
"""Real seconds for each second of the tracker's 30."""
PATIENT = {"seconds": 600, "pace": 0.1}
"""Enough time for a real server, with short pauses before a request is repeated."""
ALWAYS = 500
CALLS = ("correct_tool", "correct_count", "no_false_trigger")
needs_phoenix = needs("phoenix")


@pytest.fixture
def environ(phoenix, request):
    """The variables of a repository that only this test has."""
    repository = f"acme/{abs(hash(request.node.name))}"
    return {"PHOENIX_ENDPOINT": phoenix.url, "PHOENIX_API_KEY": PHOENIX_KEY, "GITHUB_REPOSITORY": repository}


def track(folder, environ, *arguments):
    return evalgate_in(folder, environ, "track", "--to", "phoenix", *arguments)


def publish(project, environ, seconds=30, pace=PACE):
    hide_secrets(find_secret_values(environ))  # as the command does
    run = load_published_run(str(project / ".evalgate"), environ, str(project), "final")
    return track_run(run, build_tracker("phoenix", environ, seconds=seconds, pace=pace))


class Held:
    """What the server has of a suite, read from the server itself."""

    def __init__(self, server, environ, suite):
        query = urlencode({"name": f"evalgate/{environ['GITHUB_REPOSITORY']}/{suite}"})
        [self.dataset] = ask(f"{server}/v1/datasets?{query}", key=PHOENIX_KEY)["data"]
        place = f"{server}/v1/datasets/{quote(self.dataset['id'])}"
        self.versions = ask(f"{place}/versions", key=PHOENIX_KEY)["data"]
        self.experiments = ask(f"{place}/experiments", key=PHOENIX_KEY)["data"]
        self._server = server

    @property
    def runs(self):
        """The trials of the only experiment, by scenario and variant."""
        [experiment] = self.experiments
        try:
            found = ask(f"{self._server}/v1/experiments/{quote(experiment['id'])}/json", key=PHOENIX_KEY)
        except OSError:  # Phoenix answers 404 for an experiment without runs
            return {}
        return {(run["input"]["scenario"], run["input"].get("variant"), run["repetition_number"]): run for run in found}


def evaluations_of(run):
    return {each["name"]: (each["score"], each["label"]) for each in run["annotations"]}


@needs_phoenix
def test_the_server_holds_an_experiment_of_each_suite_with_a_run_for_each_trial(project, environ, phoenix_server):
    done = track(project, environ)

    assert done.exit_code == 0, done.err
    positive, negative = (Held(phoenix_server, environ, suite) for suite in ("positive", "negative"))
    scores = {place: evaluations_of(run) for held in (positive, negative) for place, run in held.runs.items()}
    assert {place: [found.get(key, (None,))[0] for key in CALLS] for place, found in scores.items()} == {
        ("tea", "flat", 1): [1.0, 0.0, None],  # one call of two
        ("tea", "grouped", 1): [1.0, 1.0, None],
        ("weekly", "flat", 1): [0.0, 0.0, None],  # another tool
        ("weekly", "grouped", 1): [1.0, 1.0, None],
        ("joke", "flat", 1): [None, None, 1.0],
        ("joke", "grouped", 1): [None, None, 0.0],
    }
    assert scores["tea", "flat", 1] == {
        "evalgate.verdict": (0.0, "failed"),
        "evalgate.score": (0.5, None),
        "assertion.expected_tool": (0.0, None),
        "assertion.runs-no-code-ever": (1.0, None),
        "correct_tool": (1.0, None),
        "correct_count": (0.0, None),
        "latency_seconds": (3.0, None),
        "input_tokens": (100.0, None),
        "output_tokens": (20.0, None),
        "total_tokens": (120.0, None),
    }
    tea = positive.runs["tea", "flat", 1]
    assert tea["input"] == {
        "scenario": "tea",
        "variant": "flat",
        "prompt": "Remind me of my tea, twice.",
        "category": "sequence",
    }
    assert tea["reference_output"] == {"expected_tool": "schedule_task", "min_calls": 2}
    assert tea["output"] == {"call_count": 1, "tool_call_names": ["schedule_task"], "answer": ANSWER}
    assert (tea["start_time"], tea["latency_ms"]) == ("2026-11-20T10:00:00+00:00", 3000.0)
    [experiment] = positive.experiments
    metadata = experiment["metadata"]
    assert (metadata["branch"], metadata["commit"], metadata["model"]) == ("main", "c" * 40, "small-1")
    assert (metadata["complete"], metadata["rows_sent"], metadata["rows_total"]) == (True, 4, 4)
    assert (metadata["pass_rate"], metadata["hard_fails"], metadata["verdict"]) == (0.5, 0, "pass")
    page = f"/datasets/{positive.dataset['id']}/compare?experimentId={experiment['id']}\n"
    assert environ["PHOENIX_ENDPOINT"] + page in done.out.replace("%3D", "=")


@needs_phoenix
def test_publishing_again_adds_nothing(project, environ, phoenix, phoenix_server):
    first = track(project, environ)
    before = len(phoenix.requests)

    second = track(project, environ)

    assert second.exit_code == 0, second.err
    assert second.out == first.out.replace("published:", "was there:")
    assert {method for method, *_ in phoenix.requests[before:]} == {"GET"}
    for suite, count in (("positive", 4), ("negative", 2)):
        held = Held(phoenix_server, environ, suite)
        assert (len(held.experiments), len(held.versions), len(held.runs)) == (1, 1, count)


@needs_phoenix
def test_runs_of_main_and_of_a_branch_are_two_experiments_over_the_same_examples(project, environ, phoenix_server):
    for job in ({"GITHUB_RUN_ID": "1", "GITHUB_REF_NAME": "main"}, {"GITHUB_RUN_ID": "2", "GITHUB_REF_NAME": "other"}):
        assert evalgate_in(project, {**environ, **job}, "run").exit_code == 0
        assert track(project, {**environ, **job}).exit_code == 0

    held = Held(phoenix_server, environ, "positive")
    assert {each["metadata"]["branch"] for each in held.experiments} == {"main", "other"}
    assert len({each["dataset_version_id"] for each in held.experiments}) == len(held.versions) == 1


@needs_phoenix
def test_a_check_that_is_not_evaluable_has_no_score_and_says_so(tmp_path, environ, phoenix_server):
    write_project(tmp_path, [a_trace("joke", "grouped", [("tasks", None)])])
    assert evalgate_in(tmp_path, environ, "run").exit_code in (0, 1)

    assert track(tmp_path, environ).exit_code == 0

    [run] = Held(phoenix_server, environ, "negative").runs.values()
    found = evaluations_of(run)
    assert found["no_false_trigger"] == found["assertion.expected_tool"] == (None, "not_evaluable")
    [verdict] = [each for each in run["annotations"] if each["name"] == "evalgate.verdict"]
    assert verdict["metadata"]["evalgate.not_evaluable"] == "assertion.expected_tool, no_false_trigger"


@needs_phoenix
def test_what_time_does_not_allow_is_counted_and_sent_the_next_time(project, environ, phoenix, phoenix_server):
    trials = [a_trace("tea", "flat", [], trace_id=f"t{number}") for number in range(60)]
    (project / "traces/all.jsonl").write_text("\n".join(map(json.dumps, trials)))
    assert evalgate_in(project, environ, "run").exit_code in (0, 1)

    phoenix.delays = {"/experiment_evaluations": 0.1}

    report = publish(project, environ, seconds=6, pace=1)
    phoenix.delays = {}

    assert report.failure is None
    [(code, message)] = report.warnings
    [experiment] = Held(phoenix_server, environ, "positive").experiments
    sent = experiment["metadata"]["rows_sent"]
    assert 0 < sent < 60
    assert (experiment["metadata"]["complete"], experiment["metadata"]["rows_total"]) == (False, 60)
    assert code == "tracker_partial"
    assert message.startswith(f"Phoenix: {sent} of 60 trials of suite positive were sent in the time there is")

    assert publish(project, environ, **PATIENT).warnings == []

    held = Held(phoenix_server, environ, "positive")
    assert (len(held.experiments), len(held.runs)) == (1, 60)
    assert {len(run["annotations"]) for run in held.runs.values()} == {10}
    assert held.experiments[0]["metadata"]["complete"] is True


@needs_phoenix
@pytest.mark.parametrize(
    ("fault", "calls"),
    [
        ("lost", [0, 1, 2, 3, 5, 6, 12, 40]),  # lookups, the upload, the experiment, examples, runs, evaluations
        ("reset", [1, 3, 6]),
        (429, [3]),
        (500, [1, 3]),
    ],
)
def test_a_fault_that_passes_leaves_the_server_as_without_it(project, environ, phoenix, phoenix_server, fault, calls):
    for call in calls:
        mine = {**environ, "GITHUB_REPOSITORY": f"{environ['GITHUB_REPOSITORY']}-{call}"}
        phoenix.faults = [None] * call + [fault]

        report = publish(project, mine, **PATIENT)

        assert (report.failure, report.warnings) == (None, []), call
        for suite, count, keys in (("positive", 4, {9, 10}), ("negative", 2, {8})):
            held = Held(phoenix_server, mine, suite)
            assert (len(held.experiments), len(held.versions), len(held.runs)) == (1, 1, count)
            assert {len(run["annotations"]) for run in held.runs.values()} == keys
            assert held.experiments[0]["metadata"]["complete"] is True


@needs_phoenix
@pytest.mark.parametrize(
    ("fault", "calls"),
    [("reset", [5]), ("drip", [3]), (401, [6]), (409, [1, 3]), (422, [5]), (429, [3]), (500, [1, 3, 4, 6, 20])],
)
def test_a_fault_that_stays_is_one_line_and_the_next_attempt_completes_the_experiment(
    project, environ, phoenix, phoenix_server, fault, calls
):
    for call in calls:
        mine = {**environ, "GITHUB_REPOSITORY": f"{environ['GITHUB_REPOSITORY']}-{call}"}
        phoenix.faults = [None] * call + [fault] * ALWAYS
        begun = time.monotonic()

        report = publish(project, mine)

        assert time.monotonic() - begun < 30 * PACE + 5
        assert report.failure is not None
        phoenix.faults = []
        assert publish(project, mine, **PATIENT).failure is None
        for suite, count in (("positive", 4), ("negative", 2)):
            held = Held(phoenix_server, mine, suite)
            assert (len(held.experiments), len(held.runs)) == (1, count)


REASONS = {
    "reset": (TrackerUnreachable, "no response (the connection failed)"),
    "drip": (TrackerUnreachable, "no complete response within"),
    302: (TrackerRefused, "is not at this address (status 302) (check PHOENIX_ENDPOINT)"),
    401: (TrackerRefused, "refused the key (status 401) (check PHOENIX_API_KEY)"),
    404: (TrackerRefused, "is not at this address (status 404) (check PHOENIX_ENDPOINT)"),
    409: (TrackerRefused, 'refused the run (status 409): {"message": "no, Bearer [redacted: secret]"}'),
    422: (TrackerRefused, "refused the run (status 422)"),
    429: (TrackerUnreachable, "returned status 429"),
    500: (TrackerUnreachable, "returned status 500"),
    200: (TrackerUnreachable, "answered without the ids of the experiment"),
}


@pytest.mark.parametrize("fault", REASONS)
def test_a_fault_is_one_line_that_names_tracker_and_reason(project, environ, phoenix, fault):
    kind, reason = REASONS[fault]
    phoenix.faults = [fault] * ALWAYS

    report = publish(project, environ)

    assert isinstance(report.failure, kind)
    line = str(report.problem)
    assert line.startswith("Phoenix")
    assert reason in line
    assert PHOENIX_KEY not in line
    assert "\n" not in line


@pytest.mark.parametrize("fault", [401, 422, 500])
def test_run_has_the_same_verdict_output_and_files_with_phoenix(project, environ, phoenix, fault):
    fixed = {"SOURCE_DATE_EPOCH": "1790000000", "GITHUB_REPOSITORY": "acme/agent"}
    without = evalgate_in(project, fixed, "run")
    files = {path.name: path.read_bytes() for path in (project / ".evalgate").iterdir() if path.name != "tracking.json"}
    phoenix.faults, phoenix.retry_after = [fault] * ALWAYS, "31"

    done = evalgate_in(project, {**environ, **fixed}, "run", "--track", "phoenix")

    assert (done.exit_code, done.out) == (without.exit_code, without.out)
    assert files == {name: (project / ".evalgate" / name).read_bytes() for name in files}
    assert [line.partition(": Phoenix")[0] for line in done.err.removeprefix(without.err).splitlines()] == [
        "warning: not tracked"
    ]


@needs_phoenix
def test_no_secret_is_in_a_request_and_the_key_only_in_its_header(tmp_path, environ, phoenix):
    secrets = ["sk-proj-" + "Ab3dEf6h" * 6, "hunter2-hunter2-planted", "ghp_" + "a1B2c3D4e5" * 4, "of-the-proxy-1234"]
    text = f"keys: {' '.join(secrets)} and {PHOENIX_KEY}"
    trace = a_trace("joke", "flat", [("other", {"password": secrets[1], "text": text})], model=secrets[2])
    trace["messages"][-1]["content"] = text
    write_project(tmp_path, [trace])
    headers = f"x-proxy={secrets[3]}"
    environ = {**environ, "DB_PASSWORD": secrets[1], "PHOENIX_CLIENT_HEADERS": headers}
    assert evalgate_in(tmp_path, environ, "run").exit_code in (0, 1)

    done = track(tmp_path, environ, "--content", "full")

    assert done.exit_code == 0, done.err
    assert [secret for secret in (*secrets, PHOENIX_KEY) if secret in phoenix.sent + done.out + done.err] == []
    assert {headers["Authorization"] for _, _, headers, _ in phoenix.requests} == {f"Bearer {PHOENIX_KEY}"}
    assert {headers["X-Proxy"] for _, _, headers, _ in phoenix.requests} == {secrets[3]}


@needs_phoenix
@pytest.mark.parametrize(
    ("level", "sent", "kept"),
    [
        ("none", [], [ANSWER, ARGUMENT, "Remind me of", "first message of tea", "schedule_task", "Runs no code"]),
        ("final", [ANSWER, "Remind me of", "schedule_task", "Runs no code"], [ARGUMENT, "first message of tea"]),
        ("full", [ANSWER, "Remind me of", "schedule_task", ARGUMENT, "first message of tea"], []),
    ],
)
def test_content_decides_which_texts_leave(project, environ, phoenix, level, sent, kept):
    assert track(project, environ, "--content", level).exit_code == 0

    assert [text for text in sent if text not in phoenix.sent] == []
    assert [text for text in kept if text in phoenix.sent] == []


@needs_phoenix
def test_what_was_deleted_as_the_page_says_is_gone_and_can_be_published_again(project, environ, phoenix_server):
    assert track(project, environ).exit_code == 0
    for suite, kind in (("negative", "experiments"), ("positive", "datasets")):
        held = Held(phoenix_server, environ, suite)
        [experiment] = held.experiments
        place = experiment["id"] if kind == "experiments" else held.dataset["id"]
        ask(f"{phoenix_server}/v1/{kind}/{quote(place)}", key=PHOENIX_KEY, method="DELETE")
        with pytest.raises(OSError, match="404"):
            ask(f"{phoenix_server}/v1/experiments/{quote(experiment['id'])}", key=PHOENIX_KEY)

    again = track(project, environ)

    assert (again.exit_code, again.out.count("published: ")) == (0, 2), again.err
    assert len(Held(phoenix_server, environ, "positive").runs) == 4


@needs_phoenix
def test_a_wrong_key_is_refused_by_the_server(project, environ):
    done = track(project, {**environ, "PHOENIX_API_KEY": "another-key-1234567890"})

    assert done.exit_code == 4
    assert done.err == "warning: not tracked: Phoenix refused the key (status 401) (check PHOENIX_API_KEY)\n"


@needs_phoenix
def test_the_address_of_the_collector_and_the_header_of_its_client_do_as_well(project, environ):
    environ["PHOENIX_COLLECTOR_ENDPOINT"] = f"{environ.pop('PHOENIX_ENDPOINT')}/v1/traces"
    environ["PHOENIX_CLIENT_HEADERS"] = f"authorization=Bearer%20{environ.pop('PHOENIX_API_KEY')}"

    done = track(project, environ)

    assert done.exit_code == 0, done.err


def test_a_fork_sends_nothing_without_a_key(project, environ, phoenix):
    fork = {**environ, "PHOENIX_API_KEY": "", "GITHUB_HEAD_REF": "main", "GITHUB_EVENT_PATH": "absent"}

    done = evalgate_in(project, fork, "run", "--track", "phoenix")

    assert done.exit_code == 0
    assert done.err.endswith("note: not tracked: PHOENIX_API_KEY is not set\n")
    assert phoenix.requests == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"PHOENIX_ENDPOINT": ""}, "error: PHOENIX_ENDPOINT is not set (set it in the environment)\n"),
        ({"PHOENIX_ENDPOINT": "http://phoenix.example"}, "the base URL of Phoenix is not https"),
        ({"PHOENIX_CLIENT_HEADERS": "x=a%0Ab"}, "error: PHOENIX_CLIENT_HEADERS has characters that no key has\n"),
    ],
)
def test_wrong_input_is_named(project, environ, phoenix, changed, message):
    done = track(project, {**environ, **changed})

    assert (done.exit_code, done.out) == (2, "")
    assert message in done.err
    assert phoenix.requests == []


def test_a_dry_run_prints_failed_trials_first(project):
    done = evalgate_in(project, {}, "track", "--dry-run", "--to", "phoenix,mlflow")

    uploads = json.loads(done.out)
    assert list(uploads) == ["phoenix", "mlflow"]
    _, positive = uploads["phoenix"]
    assert positive["dataset"]["name"] == "evalgate/project/positive"
    assert [run["evaluations"][0]["result"]["label"] for run in positive["runs"]] == [
        *("failed", "failed", "passed", "passed"),
    ]
