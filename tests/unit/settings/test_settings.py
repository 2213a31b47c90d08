from __future__ import annotations

import json
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.errors import SettingError
from evalgate.settings.inputs import READERS, Inputs, read_inputs
from evalgate.settings.settings import Settings

SHA, BASE, HEAD = "a" * 40, "b" * 40, "c" * 40
PULL_REQUEST = {
    "repository": {"id": 1001, "default_branch": "main"},
    "pull_request": {
        "number": 7,
        "head": {"ref": "feature/x", "sha": HEAD, "repo": {"id": 1001}},
        "base": {"ref": "release", "sha": BASE},
    },
}
PUSH = {"repository": {"id": 1001, "default_branch": "main"}}


@pytest.fixture
def read(tmp_path):
    def _read(event="pull_request", payload=None, inputs=(), **environ):
        path = tmp_path / "event.json"
        given = PULL_REQUEST if event.startswith("pull_request") else PUSH
        path.write_text(json.dumps(given if payload is None else payload))
        job = {
            "GITHUB_WORKSPACE": "/github/workspace",
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(path),
            "GITHUB_REPOSITORY": "acme/agent",
            "GITHUB_REPOSITORY_ID": "1001",
            "GITHUB_SHA": SHA,
            "GITHUB_REF": "refs/heads/main",
            "GITHUB_RUN_ID": "9001",
            "GITHUB_JOB": "gate",
            "GITHUB_WORKFLOW_REF": "acme/agent/.github/workflows/evals.yml@refs/heads/x",
            "INPUT_GITHUB-TOKEN": "ghs_secret",
            "ACTIONS_RUNTIME_TOKEN": "runtime_secret",
            **{f"INPUT_{name.upper()}": value for name, value in dict(inputs).items()},
        }
        return Settings.from_environ({**job, **environ})

    return _read


def mistakes(read, **arguments):
    with pytest.raises(SettingError) as caught:
        read(**arguments)
    return [str(problem) for problem in caught.value.problems]


def test_every_input_has_a_reader():
    assert set(READERS) == {known.name for known in fields(Inputs)}


def test_nothing_given_is_the_defaults(read):
    inputs = read().inputs
    assert inputs == Inputs(github_token="ghs_secret")


def test_an_empty_input_is_not_given(read):
    assert read(inputs={"comment": "", "max-comment-chars": "  "}).inputs.comment == "auto"


def test_inputs_are_read_with_their_hyphens(read):
    inputs = read(
        inputs={
            "config": "evals/a.yaml\n evals/b.yaml \n",
            "fail-on": "hard_fail, broken\nbroken",
            "annotations": "False",
            "max-comment-chars": "5000",
            "working-directory": "agents/../support",
        }
    ).inputs
    assert inputs.config == ("evals/a.yaml", "evals/b.yaml")
    assert inputs.fail_on == ("hard_fail", "broken")
    assert (inputs.annotations, inputs.max_comment_chars) == (False, 5000)
    assert inputs.working_directory == "agents/../support"


def test_every_mistake_is_told_at_once(read):
    told = mistakes(
        read,
        inputs={
            "mode": "reportonly",
            "comment": "allways",
            "max-comment-chars": "many",
            "annotations": "yes",
        },
        GITHUB_SHA="main",
    )
    assert told == [
        "input `mode` must be one of auto, gate, report-only, not `reportonly`; did you mean `report-only`?",
        "input `comment` must be one of auto, always, on-change, on-failure, off, not `allways`; did you mean `always`?",
        "input `annotations` must be one of true, false, not `yes`",
        "input `max-comment-chars` must be a whole number from 1000 to 65000, not `many`",
        "variable GITHUB_SHA is not as GitHub Actions sets it (outside GitHub Actions use `evalgate run`)",
    ]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("fail-on", "hardfail", "did you mean `hard_fail`?"),
        ("fail-on", "[]", "report-only"),
        ("fail-on", ",", "report-only"),
        ("working-directory", "../secrets", "inside the workspace"),
        ("working-directory", "/etc", "inside the workspace"),
        ("working-directory", "a/../../b", "inside the workspace"),
        ("junit-path", "/tmp/x.xml", "inside the workspace"),
        ("baseline-artifact", "a/b", "a name without"),
        ("baseline-branch", "a b", "the name of a branch"),
        ("baseline-workflow", "../../x.yml", "file name"),
        ("comment-key", "a b", "letters, digits"),
        ("comment-key", "a-->", "letters, digits"),
        ("config", "a\x1bb", "control characters"),
        ("max-comment-chars", "70000", "from 1000 to 65000"),
        ("max-comment-chars", "\u0665\u0660\u0660\u0660", "whole number"),
        ("github-token", "two words", "not a token"),
    ],
)
def test_a_value_that_can_not_be_meant_is_refused(read, name, value, said):
    [told] = mistakes(read, inputs={name: value})
    assert said in told


def test_a_misspelt_input_is_a_mistake(read):
    assert mistakes(read, inputs={"fail_on": "broken"}) == [
        "unknown input `fail_on` (did you mean `fail-on`?)"
    ]


def test_an_input_like_no_other_is_a_note(read):
    assert read(inputs={"zzz": "1"}).notes == ("unknown input `zzz` is ignored",)


def test_inputs_that_every_container_action_has_are_no_mistake(read):
    assert read(inputs={"args": "x", "entrypoint": "y"}).notes == ()


def test_no_token_shows_in_any_text(read):
    settings = read(HTTPS_PROXY="http://me:password@proxy")
    told = f"{settings!r} {settings}"
    assert not [word for word in ("ghs_secret", "runtime_secret", "password") if word in told]


def test_a_wrong_token_is_not_repeated(read):
    assert "hidden" not in str(mistakes(read, inputs={"github-token": "hidden token"}))


def test_a_pull_request_is_held_against_the_first_parent_of_its_merge_commit(read):
    settings = read()
    assert settings.compared_commit == ("parent", SHA, BASE)
    assert (settings.baseline_branch, settings.commit, settings.makes_baseline) == ("release", HEAD, False)


@pytest.mark.parametrize(
    ("repository", "from_fork"), [({"id": 1001}, False), ({"id": 2002}, True), (None, True)]
)
def test_a_fork_is_known_by_its_repository(read, repository, from_fork):
    head = {**PULL_REQUEST["pull_request"]["head"], "repo": repository}
    payload = {**PULL_REQUEST, "pull_request": {**PULL_REQUEST["pull_request"], "head": head}}
    assert read(payload=payload).event.pull_request.from_fork is from_fork


def test_a_push_to_the_default_branch_makes_the_baseline(read):
    settings = read("push")
    assert settings.makes_baseline
    assert settings.compared_commit == ("parent", SHA, None)


@pytest.mark.parametrize(
    ("environ", "inputs", "made", "uploaded"),
    [
        ({"GITHUB_REF": "refs/heads/feature"}, {}, False, False),
        ({"GITHUB_REF": "refs/tags/main"}, {}, False, False),
        ({"GITHUB_REF": "refs/heads/release"}, {"baseline-branch": "release"}, True, True),
        ({}, {"upload-baseline": "false"}, True, False),
        ({"GITHUB_REF": "refs/heads/feature"}, {"upload-baseline": "false"}, False, False),
        ({"GITHUB_REF": "refs/heads/feature"}, {"upload-baseline": "true"}, True, True),
    ],
)
def test_who_makes_the_baseline_and_who_uploads_it_can_be_chosen(read, environ, inputs, made, uploaded):
    settings = read("push", inputs=inputs, **environ)
    assert (settings.makes_baseline, settings.uploads_baseline) == (made, uploaded)


def test_a_push_elsewhere_is_held_against_where_it_left_the_branch(read):
    assert read("push", GITHUB_REF="refs/heads/x").compared_commit == ("fork_point", SHA, None)


def test_a_queued_group_is_held_against_what_it_is_built_on(read):
    payload = {**PUSH, "merge_group": {"base_sha": BASE}}
    assert read("merge_group", payload).compared_commit == ("commit", BASE, None)


@pytest.mark.parametrize("event", ["pull_request_target", "workflow_run"])
def test_an_event_with_a_strangers_files_and_a_writing_token_is_refused(read, event):
    assert any("may be a stranger's" in told for told in mistakes(read, event=event))


def test_workflow_and_comment_key_come_from_the_workflow_file_and_job(read):
    settings = read()
    assert settings.baseline_workflow == ".github/workflows/evals.yml"
    assert settings.comment_key == "evals.yml/gate"


def test_workflow_and_comment_key_can_be_given(read):
    settings = read(inputs={"baseline-workflow": "main.yml", "comment-key": "mine"})
    assert (settings.baseline_workflow, settings.comment_key) == (".github/workflows/main.yml", "mine")


def test_outside_github_every_missing_variable_is_told():
    with pytest.raises(SettingError) as caught:
        Settings.from_environ({})
    assert len(caught.value.problems) == 7
    assert "evalgate run" in str(caught.value)


@pytest.mark.parametrize("content", ["", "[]", "{", "[" * 100_000, '{"pull_request": {"number": true}}'])
def test_an_event_file_that_can_not_be_read_is_a_mistake(read, tmp_path, content):
    path = tmp_path / "broken.json"
    path.write_text(content)
    assert any("event file" in told for told in mistakes(read, GITHUB_EVENT_PATH=str(path)))


def test_proxies_are_taken_in_either_case(read):
    job = read(https_proxy="http://a:1", HTTP_PROXY="http://b:2", no_proxy="c").job
    assert job.proxies == {"https": "http://a:1", "http": "http://b:2"}
    assert job.no_proxy == "c"


@given(st.dictionaries(st.sampled_from(sorted(READERS)), st.text(max_size=30)))
def test_any_text_is_a_value_or_a_mistake(values):
    problems = []
    environ = {f"INPUT_{name.replace('_', '-').upper()}": value for name, value in values.items()}
    inputs, _ = read_inputs(environ, problems)
    assert isinstance(inputs, Inputs)
    assert len(problems) <= len(values)
