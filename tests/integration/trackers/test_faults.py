"""Whatever goes wrong at a tracker: one warning, within the time, and the verdict as without tracking."""

from __future__ import annotations

import socket
import time

import pytest
from fakes.langsmith import KEY
from scheduling_project import evalgate_in

from evalgate.errors import TrackerRefused, TrackerUnreachable
from evalgate.features.track.application.track_run import track_run
from evalgate.features.track.bootstrap import build_tracker, load_published_run

PACE = 0.02
"""Real seconds for each second of the tracker's 30."""
ALWAYS = 20
FAULTS = {
    "reset": ("reset", TrackerUnreachable, "no response (the connection failed)"),
    "dripping": ("drip", TrackerUnreachable, "no complete response within"),
    "401": (401, TrackerRefused, "refused the key (status 401) (check LANGSMITH_API_KEY)"),
    "403": (403, TrackerRefused, "refused the key (status 403) (check LANGSMITH_API_KEY)"),
    "404": (404, TrackerRefused, "is not at this address (status 404) (check LANGSMITH_ENDPOINT)"),
    "302": (302, TrackerRefused, "is not at this address (status 302) (check LANGSMITH_ENDPOINT)"),
    "409": (409, TrackerRefused, "refused the run (status 409): "),
    "422": (422, TrackerRefused, "refused the run (status 422): "),
    "429": (429, TrackerUnreachable, "returned status 429"),
    "500": (500, TrackerUnreachable, "returned status 500"),
    "another shape": ("text", TrackerUnreachable, "answered without the ids of the experiment"),
}


def publish(project, environ):
    tracker = build_tracker("langsmith", environ, pace=PACE)
    return track_run(load_published_run(str(project / ".evalgate"), environ, str(project), "final"), tracker)


CASES = [(name, call) for name in FAULTS for call in (0, 1) if (name, call) != ("another shape", 0)]


@pytest.mark.parametrize(("name", "call"), CASES)
def test_a_fault_is_one_line_that_names_tracker_and_reason(project, langsmith, environ, name, call):
    fault, kind, reason = FAULTS[name]
    langsmith.faults = [None] * call + [fault] * ALWAYS
    started = time.monotonic()

    report = publish(project, environ)

    assert isinstance(report.failure, kind)
    line = str(report.problem)
    assert line.startswith("LangSmith")
    assert reason in line
    assert "\n" not in line
    assert KEY not in line
    assert time.monotonic() - started < 30 * PACE + 3
    assert len(langsmith.requests) <= call + 4


def test_a_refused_connection_is_one_line(project, langsmith, environ):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"

    report = publish(project, {**environ, "LANGSMITH_ENDPOINT": url})

    assert str(report.problem) == "LangSmith: no response (the connection failed)"


@pytest.mark.parametrize("fault", ["reset", 408, 429, 500, 503])
@pytest.mark.parametrize("call", range(4))
def test_a_fault_that_passes_costs_nothing(project, langsmith, environ, fault, call):
    langsmith.faults = [None] * call + [fault]

    report = publish(project, environ)

    assert report.failure is None
    assert len(langsmith.uploads) == len(report.experiments) == 2


def test_a_longer_wait_than_there_is_time_for_ends_it_at_once(project, langsmith, environ):
    langsmith.faults, langsmith.retry_after = [429] * ALWAYS, "31"

    report = publish(project, environ)

    assert (str(report.problem), len(langsmith.requests)) == ("LangSmith returned status 429", 1)


def test_without_the_experiment_of_main_the_link_is_to_this_one_and_says_so(project, langsmith, environ):
    langsmith.faults = [None, None, 500, 500, 500]
    job = {"GITHUB_BASE_REF": "main", "GITHUB_REF_NAME": "feature"}

    report = publish(project, {**environ, **job})

    assert report.failure is None
    assert [message for _, message in report.warnings] == [
        "LangSmith returned status 500: the link does not compare with main"
    ]


def outputs(project):
    return {path.name: path.read_bytes() for path in (project / ".evalgate").iterdir() if path.name != "tracking.json"}


FIXED = {"SOURCE_DATE_EPOCH": "1790000000"}


@pytest.mark.parametrize("fault", [None, 401, 422, "text"])
def test_run_has_the_same_verdict_output_and_files_with_any_tracker(project, langsmith, environ, fault):
    without = evalgate_in(project, FIXED, "run")
    files = outputs(project)
    langsmith.faults = [fault] * ALWAYS

    done = evalgate_in(project, {**environ, **FIXED}, "run", "--track", "langsmith")

    assert (done.exit_code, done.out, outputs(project)) == (without.exit_code, without.out, files)
    added = done.err.removeprefix(without.err).splitlines()
    if fault is None:
        assert [line.partition(" ")[0] for line in added] == ["tracked:", "tracked:"]
    else:
        assert [line.partition(": LangSmith")[0] for line in added] == ["warning: not tracked"]


def test_run_without_a_key_sends_nothing_and_says_so(project, langsmith):
    done = evalgate_in(project, {"LANGSMITH_ENDPOINT": langsmith.url}, "run", "--track", "langsmith")

    assert done.exit_code == 0
    assert done.err.endswith("note: not tracked: LANGSMITH_API_KEY is not set\n")
    assert langsmith.requests == []


def test_track_exits_4_where_run_would_go_on(project, langsmith, environ):
    langsmith.faults = [401]

    done = evalgate_in(project, environ, "track", "--to", "langsmith")

    assert (done.exit_code, done.out) == (4, "")
    assert done.err == "warning: not tracked: LangSmith refused the key (status 401) (check LANGSMITH_API_KEY)\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--track", "langsmth"], "error: there is no tracker 'langsmth' (choose from langsmith, "),
        (["--track", "langsmith", "--watch"], "--track publishes a whole run (leave it out with --watch and --shard)"),
        (["--track", "langsmith", "--shard", "1/2"], "--track publishes a whole run"),
    ],
)
def test_run_refuses_a_tracker_it_can_not_publish_to_before_the_work(project, environ, arguments, message):
    done = evalgate_in(project, environ, "run", *arguments)

    assert (done.exit_code, done.out) == (2, "")
    assert message in done.err
