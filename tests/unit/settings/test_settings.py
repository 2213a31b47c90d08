from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from evalgate.bootstrap.features import all_settings
from evalgate.errors import SettingError
from evalgate.settings.limits import IN_ACTION
from evalgate.settings.read_inputs import read_values
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
FINISHED = {
    **PUSH,
    "workflow_run": {
        "id": 77,
        "event": "pull_request",
        "status": "completed",
        "head_branch": "main",
        "head_sha": HEAD,
        "head_repository": {"id": 2002, "full_name": "mallory/agent"},
        "repository": {"id": 1001},
    },
}


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
        return Settings.from_environ({**job, **environ}, all_settings())

    return _read


def read_problems(read, **arguments):
    with pytest.raises(SettingError) as caught:
        read(**arguments)
    return [str(problem) for problem in caught.value.problems]


def test_without_inputs_the_defaults_are_used(read):
    assert read().inputs.values == {"github-token": "ghs_secret"}


def test_an_empty_input_counts_as_not_given(read):
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
    assert read(inputs={"max-comment-chars": "65536"}).inputs.max_comment_chars == 65_000
    assert inputs.working_directory == "agents/../support"


def test_limits_override_the_defaults_of_the_action_one_per_line(read):
    assert read().inputs.limits == IN_ACTION
    limits = read(inputs={"limits": "record=50MB\n messages = 5000\n\ntogether=1gb\n"}).inputs.limits
    assert limits == replace(IN_ACTION, record=50_000_000, messages=5_000, together=1_000_000_000)


def test_all_errors_are_reported_at_once(read):
    problems = read_problems(
        read,
        inputs={
            "mode": "reportonly",
            "comment": "allways",
            "max-comment-chars": "many",
            "annotations": "yes",
        },
        GITHUB_SHA="main",
    )
    assert problems == [
        "input `mode` must be one of auto, gate, report-only, evaluate, publish, approve, not `reportonly`; did you mean `report-only`?",
        "input `comment` must be one of auto, combined, always, on-change, on-failure, off, not `allways`; did you mean `always`?",
        "input `annotations` must be one of true, false, not `yes`",
        "input `max-comment-chars` must be a whole number from 1000 to 65536, not `many`",
        "variable GITHUB_SHA has an unexpected value (outside GitHub Actions use `evalgate run`)",
    ]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("fail-on", "hardfail", "did you mean `hard_fail`?"),
        ("fail-on", "[]", "report-only"),
        ("fail-on", ",", "report-only"),
        ("working-directory", "../secrets", "inside the workspace"),
        ("working-directory", "/etc", "inside the workspace"),
        ("working-directory", "a/../../b", "inside the workspace"),
        ("junit-path", "/tmp/x.xml", "inside the workspace"),
        ("junit-path", "x" * 300, "too long for a path"),
        ("sarif-path", "x/" * 600, "too long for a path"),
        ("working-directory", "\u8a66" * 90, "too long for a path"),
        ("junit-path", ".", "the path of a file"),
        ("sarif-path", "a/..", "the path of a file"),
        ("template", "./", "the path of a file"),
        ("baseline-branch", "main/../../../user", "the name of a branch"),
        ("baseline-branch", "/main", "the name of a branch"),
        ("baseline-branch", "-rf", "the name of a branch"),
        ("baseline-branch", "main.lock", "the name of a branch"),
        ("baseline-branch", "main@{1}", "the name of a branch"),
        ("baseline-artifact", "a/b", "a name without"),
        ("baseline-branch", "a b", "the name of a branch"),
        ("baseline-workflow", "../../x.yml", "file name"),
        ("comment-key", "a b", "letters, digits"),
        ("comment-key", "a-->", "letters, digits"),
        ("config", "a\x1bb", "control characters"),
        ("max-comment-chars", "70000", "from 1000 to 65536"),
        ("retention-days", "0", "input `retention-days` must be a whole number from 1 to 90, not `0`"),
        ("retention-days", "91", "from 1 to 90"),
        ("report-retention-days", "1.5", "input `report-retention-days` must be a whole number from 1 to 90"),
        ("max-comment-chars", "\u0665\u0660\u0660\u0660", "whole number"),
        ("github-token", "two words", "not a token"),
        ("limits", "recrod=1MB", "unknown limit 'recrod' (known: suite, record"),
        ("limits", "record=0", "limit record: '0' is not a size (for example record=50MB)"),
        ("limits", "messages=5MB", "limit messages: '5MB' is not a whole number above 0 (for example messages=5000)"),
        ("limits", "record=1MB\nrecord", "limit record: '' is not a size"),
    ],
)
def test_an_invalid_value_is_refused(read, name, value, message):
    [problem] = read_problems(read, inputs={name: value})
    assert message in problem


def test_a_misspelt_input_is_an_error(read):
    assert read_problems(read, inputs={"fail_on": "broken"}) == ["unknown input `fail_on` (did you mean `fail-on`?)"]


def test_an_unknown_input_is_a_note(read):
    assert read(inputs={"zzz": "1"}).notes == ("unknown input `zzz` is ignored",)


def test_inputs_that_every_container_action_has_are_accepted(read):
    assert read(inputs={"args": "x", "entrypoint": "y"}).notes == ()


def test_no_token_is_in_any_text(read):
    settings = read(HTTPS_PROXY="http://me:password@proxy")
    text = f"{settings!r} {settings}"
    assert not [word for word in ("ghs_secret", "runtime_secret", "password") if word in text]


def test_a_wrong_token_is_not_repeated(read):
    assert "hidden" not in str(read_problems(read, inputs={"github-token": "hidden token"}))


def test_a_pull_request_is_compared_with_the_first_parent_of_its_merge_commit(read):
    settings = read()
    assert settings.baseline_reference == ("parent", SHA, BASE)
    assert (settings.baseline_branch, settings.commit, settings.makes_baseline) == ("release", HEAD, False)


@pytest.mark.parametrize(("repository", "from_fork"), [({"id": 1001}, False), ({"id": 2002}, True), (None, True)])
def test_a_fork_is_detected_by_its_repository(read, repository, from_fork):
    head = {**PULL_REQUEST["pull_request"]["head"], "repo": repository}
    payload = {**PULL_REQUEST, "pull_request": {**PULL_REQUEST["pull_request"], "head": head}}
    assert read(payload=payload).event.pull_request.from_fork is from_fork


def test_a_push_to_the_default_branch_makes_the_baseline(read):
    settings = read("push")
    assert settings.makes_baseline
    assert settings.baseline_reference == ("parent", SHA, None)


@pytest.mark.parametrize(
    ("environ", "inputs", "made", "uploaded"),
    [
        ({"GITHUB_REF": "refs/heads/feature"}, {}, False, False),
        ({"GITHUB_REF": "refs/tags/main"}, {}, False, False),
        ({"GITHUB_REF": "refs/heads/release"}, {"baseline-branch": "release"}, True, True),
        ({}, {"upload-baseline": "false"}, True, False),
        ({"GITHUB_REF": "refs/heads/feature"}, {"upload-baseline": "false"}, False, False),
        ({"GITHUB_REF": "refs/heads/feature"}, {"upload-baseline": "true"}, True, True),
        ({"GITHUB_REF": "refs/heads/main"}, {"upload-baseline": "true", "baseline-branch": "release"}, True, True),
    ],
)
def test_making_and_uploading_the_baseline_can_be_configured(read, environ, inputs, made, uploaded):
    settings = read("push", inputs=inputs, **environ)
    assert (settings.makes_baseline, settings.uploads_baseline) == (made, uploaded)


def test_a_push_to_another_branch_is_compared_with_its_merge_base(read):
    assert read("push", GITHUB_REF="refs/heads/x").baseline_reference == ("fork_point", SHA, None)


def test_a_merge_group_is_compared_with_its_base_commit(read):
    payload = {**PUSH, "merge_group": {"base_sha": BASE}}
    assert read("merge_group", payload).baseline_reference == ("commit", BASE, None)


def test_a_merge_group_uses_the_baseline_of_its_target_branch(read):
    payload = {**PUSH, "merge_group": {"base_sha": BASE, "base_ref": "refs/heads/release"}}
    assert read("merge_group", payload).baseline_branch == "release"


@pytest.mark.parametrize(
    ("event", "ref", "makes"),
    [
        ("schedule", "refs/heads/main", True),
        ("workflow_dispatch", "refs/heads/main", True),
        ("workflow_dispatch", "refs/heads/feature", False),
        ("workflow_dispatch", "refs/tags/main", False),
        ("repository_dispatch", "refs/heads/main", False),
        ("issues", "refs/heads/main", False),
    ],
)
def test_a_run_without_a_push_is_compared_with_its_own_commit_and_may_make_a_baseline(read, event, ref, makes):
    settings = read(event, GITHUB_REF=ref)
    assert settings.baseline_reference == ("fork_point", SHA, None)
    assert (settings.baseline_branch, settings.makes_baseline, settings.uploads_baseline) == ("main", makes, makes)


@pytest.mark.parametrize(
    ("event", "ref", "branch", "reason"),
    [
        ("pull_request", "refs/pull/7/merge", "", "this is a run of `pull_request`"),
        ("merge_group", "refs/heads/gh-readonly-queue/main/pr-7", "", "this is a run of `merge_group`"),
        ("repository_dispatch", "refs/heads/main", "", "this is a run of `repository_dispatch`"),
        ("push", "refs/tags/main", "", "only those of branches, and this is a run of `refs/tags/main`"),
        ("workflow_dispatch", "refs/tags/main", "", "only those of branches, and this is a run of `refs/tags/main`"),
        ("push", "refs/heads/x", "release", "`baseline-branch` is `release`, and this is a run of `x`"),
    ],
)
def test_a_baseline_that_every_pull_request_would_refuse_is_not_uploaded(read, event, ref, branch, reason):
    inputs = {"upload-baseline": "true", "baseline-branch": branch}
    settings = read(event, inputs=inputs, GITHUB_REF=ref)
    assert (settings.makes_baseline, settings.uploads_baseline) == (True, False)
    assert reason in settings.upload_refusal
    assert read(event, inputs={**inputs, "upload-baseline": "auto"}, GITHUB_REF=ref).upload_refusal == ""


@pytest.mark.parametrize(("days", "most"), [("", None), ("0", None), ("30", 30), ("x", None)])
def test_the_longest_retention_of_the_repository_is_known(read, days, most):
    assert read("push", GITHUB_RETENTION_DAYS=days).job.max_retention_days == most


@pytest.mark.parametrize("mode", ["auto", "gate", "evaluate", "report-only"])
@pytest.mark.parametrize("event", ["pull_request_target", "workflow_run"])
def test_an_event_with_untrusted_files_and_a_write_token_is_refused(read, event, mode):
    problems = read_problems(read, event=event, payload={**PULL_REQUEST, **FINISHED}, inputs={"mode": mode})
    assert len(problems) == 1
    assert problems[0].startswith(f"evalgate reads no files on the event `{event}`: they may be untrusted (")


@pytest.mark.parametrize("event", ["pull_request", "pull_request_target", "push"])
def test_publishing_is_refused_on_any_event_except_workflow_run(read, event):
    [problem] = read_problems(read, event=event, inputs={"mode": "publish"})
    assert problem.startswith("`mode: publish` belongs in a workflow that runs on `workflow_run`, not on")


def test_the_input_that_would_trust_an_untrusted_head_is_refused_with_the_reason(read):
    [problem] = read_problems(read, inputs={"allow-untrusted-head": "true"})
    assert problem.startswith(
        "there is no input `allow-untrusted-head` (untrusted files are never read in a job whose token may write; "
    )


def finished_run(**changes):
    return {**PUSH, "workflow_run": {**FINISHED["workflow_run"], **changes}}


def test_a_finished_run_is_read_for_publishing(read):
    settings = read("workflow_run", FINISHED, inputs={"mode": "publish", "comment-key": "a/b"})
    run = settings.event.triggering_run
    assert (run.id, run.event, run.head_repository_id, run.is_same_repository) == (
        77,
        "pull_request",
        2002,
        False,
    )
    assert (run.head_owner, run.head_branch, run.head_sha) == ("mallory", "main", HEAD)
    assert settings.report_artifact == "evalgate-report-a-b"


@pytest.mark.parametrize("repository", [None, {"id": 2002, "full_name": "mallory"}, {"id": True, "full_name": "m/a"}])
def test_a_finished_run_of_a_deleted_fork_has_no_owner(read, repository):
    run = read(
        "workflow_run", finished_run(head_repository=repository), inputs={"mode": "publish"}
    ).event.triggering_run
    assert (run.head_repository_id, run.head_owner, run.is_same_repository) == (None, "", False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": None}, "contains no valid workflow run"),
        ({"id": True}, "contains no valid workflow run"),
        ({"head_sha": "main"}, "contains no valid workflow run"),
        ({"head_branch": ""}, "contains no valid workflow run"),
        ({"head_branch": "x" * 256}, "contains no valid workflow run"),
        ({"repository": {"id": 2002}}, "belongs to another repository"),
        ({"repository": None}, "belongs to another repository"),
        ({"status": "in_progress"}, "types: [completed]"),
    ],
)
def test_a_run_that_can_not_be_published_is_an_error(read, changes, message):
    [problem] = read_problems(read, event="workflow_run", payload=finished_run(**changes), inputs={"mode": "publish"})
    assert message in problem


FORKED = {
    **PULL_REQUEST,
    "pull_request": {
        **PULL_REQUEST["pull_request"],
        "head": {"ref": "main", "sha": HEAD, "repo": {"id": 2002}},
    },
}


@pytest.mark.parametrize(
    ("payload", "inputs", "actor", "left"),
    [
        (PULL_REQUEST, {}, "alice", False),
        (FORKED, {}, "mallory", True),
        (FORKED, {"mode": "report-only"}, "mallory", True),
        (FORKED, {"upload-report": "false"}, "mallory", False),
        (PULL_REQUEST, {}, "dependabot[bot]", False),
        (PULL_REQUEST, {"mode": "evaluate"}, "alice", True),
        (PULL_REQUEST, {"mode": "evaluate", "upload-report": "false"}, "alice", False),
        (PULL_REQUEST, {"upload-report": "true"}, "alice", True),
    ],
)
def test_a_report_is_uploaded_for_a_fork_or_if_requested(read, payload, inputs, actor, left):
    assert read(payload=payload, inputs=inputs, GITHUB_ACTOR=actor).uploads_report is left


@pytest.mark.parametrize(
    ("event", "inputs", "may"),
    [("pull_request", {}, True), ("pull_request", {"upload-report": "false"}, False), ("push", {}, False)],
)
def test_a_report_may_be_uploaded_where_a_comment_is_refused(read, event, inputs, may):
    assert read(event, inputs=inputs).may_upload_report is may


def test_without_a_repository_id_there_is_no_baseline_and_a_note_with_the_reason(read):
    settings = read(GITHUB_REPOSITORY_ID="")
    assert (settings.job.repository_id, settings.finds_baseline) == (0, False)
    assert settings.notes[0].startswith("there is no baseline: GITHUB_REPOSITORY_ID is not set, as under `act`")
    for choice in ("none", "a.zip"):
        assert read(inputs={"baseline": choice}, GITHUB_REPOSITORY_ID="").notes == ()


@pytest.mark.parametrize(
    ("event", "payload", "inputs"),
    [
        ("workflow_run", FINISHED, {"mode": "publish"}),
        ("issue_comment", None, {"baseline-workflow": "x.yml"}),
    ],
)
def test_publishing_and_approving_need_a_repository_id(read, event, payload, inputs):
    problems = read_problems(read, event=event, payload=payload, inputs=inputs, GITHUB_REPOSITORY_ID="")
    assert "GITHUB_REPOSITORY_ID is not set" in problems[-1]


def test_the_comment_template_comes_from_a_trusted_commit(read):
    assert read().template_commit == BASE
    no_sha = {**PULL_REQUEST, "pull_request": {**PULL_REQUEST["pull_request"], "base": {"ref": "release"}}}
    assert read(payload=no_sha).template_commit == "release"
    assert read("workflow_run", FINISHED, inputs={"mode": "publish"}).template_commit == SHA
    assert read("push").template_commit == ""


@pytest.mark.parametrize("path", ["/etc/passwd", "../x.j2", "a/../../x.j2", "a\nb"])
def test_a_template_outside_the_workspace_is_an_error(read, path):
    assert "input `template` must be" in "".join(read_problems(read, inputs={"template": path}))


def test_a_push_uploads_no_report(read):
    assert not read("push", inputs={"mode": "evaluate", "upload-report": "true"}).uploads_report


def test_a_workflow_file_of_any_name_gives_a_valid_comment_key(read):
    reference = "acme/agent/.github/workflows/my evals -- new (2).yml@refs/heads/x"
    assert read(GITHUB_WORKFLOW_REF=reference).comment_key == "my-evals-new-2-.yml/gate"


def test_workflow_and_comment_key_come_from_the_workflow_file_and_job(read):
    settings = read()
    assert settings.baseline_workflow == ".github/workflows/evals.yml"
    assert settings.comment_key == "evals.yml/gate"


def test_workflow_and_comment_key_can_be_set(read):
    settings = read(inputs={"baseline-workflow": "main.yml", "comment-key": "mine"})
    assert (settings.baseline_workflow, settings.comment_key) == (".github/workflows/main.yml", "mine")


def test_outside_github_every_missing_variable_is_reported():
    with pytest.raises(SettingError) as caught:
        Settings.from_environ({}, all_settings())
    assert len(caught.value.problems) == 6
    assert "evalgate run" in str(caught.value)


@pytest.mark.parametrize("content", ["", "[]", "{", "[" * 100_000, '{"pull_request": {"number": true}}'])
def test_an_unreadable_event_file_is_an_error(read, tmp_path, content):
    path = tmp_path / "broken.json"
    path.write_text(content)
    assert any("GITHUB_EVENT_PATH" in problem for problem in read_problems(read, GITHUB_EVENT_PATH=str(path)))


def test_proxy_variables_are_read_in_either_case(read):
    job = read(https_proxy="http://a:1", HTTP_PROXY="http://b:2", no_proxy="c").job
    assert job.proxies == {"https": "http://a:1", "http": "http://b:2"}
    assert job.no_proxy == "c"


@given(st.dictionaries(st.sampled_from([each.variable for each in all_settings()]), st.text(max_size=30)))
def test_any_text_is_a_value_or_an_error(environ):
    problems = []
    values, _ = read_values(all_settings(), environ, problems)
    assert len(problems) + len(values) == sum(bool(text.strip()) for text in environ.values())


# --- approving in a comment -----------------------------------------------------------------------------------

COMMENT_EVENT = {
    **PUSH,
    "action": "created",
    "issue": {"number": 7, "pull_request": {"url": "x"}},
    "comment": {"id": 12, "body": "/evalgate approve all because x"},
}
APPROVE = {"baseline-workflow": "evals.yml"}


@pytest.mark.parametrize("mode", ["auto", "approve"])
def test_a_comment_event_is_read_and_nothing_is_judged(read, mode):
    settings = read("issue_comment", COMMENT_EVENT, inputs={**APPROVE, "mode": mode})
    comment = settings.event.comment
    assert settings.is_approving
    assert (comment.id, comment.number, comment.action, comment.is_on_pull_request) == (
        12,
        7,
        "created",
        True,
    )
    assert settings.baseline_workflow == ".github/workflows/evals.yml"
    assert settings.template_commit == SHA, "the default branch's"
    assert not settings.reads_comments


def test_a_comment_on_an_issue_is_distinguished_and_cut(read):
    payload = {**COMMENT_EVENT, "issue": {"number": 7}, "comment": {"id": 12, "body": "x" * 100_000}}
    comment = read("issue_comment", payload, inputs=APPROVE).event.comment
    assert (comment.is_on_pull_request, len(comment.body)) == (False, 2_000)


@pytest.mark.parametrize("changes", [{"comment": {}}, {"comment": {"id": "12"}}, {"issue": {"number": True}}])
def test_an_unidentified_comment_is_an_error(read, changes):
    [problem] = read_problems(read, event="issue_comment", payload={**COMMENT_EVENT, **changes}, inputs=APPROVE)
    assert "contains no comment" in problem


@pytest.mark.parametrize("mode", ["gate", "report-only", "evaluate"])
def test_nothing_is_judged_on_an_event_that_anybody_can_trigger(read, mode):
    [problem] = read_problems(read, event="issue_comment", payload=COMMENT_EVENT, inputs={**APPROVE, "mode": mode})
    assert "only `mode: approve` or `auto` is possible" in problem


@pytest.mark.parametrize("event", ["push", "pull_request", "workflow_run"])
def test_approve_mode_requires_a_comment_event(read, event):
    [problem] = read_problems(read, event=event, payload={**PULL_REQUEST, **FINISHED}, inputs={"mode": "approve"})
    assert problem.startswith("`mode: approve` belongs in a workflow that runs on `issue_comment`")


def test_approve_mode_requires_the_workflow_of_the_gate(read):
    [problem] = read_problems(read, event="issue_comment", payload=COMMENT_EVENT)
    assert problem.startswith("`baseline-workflow` must name the workflow file")


@pytest.mark.parametrize(
    ("attempt", "source", "reads"),
    [("1", "comments", False), ("2", "comments", True), ("2", "base", False), ("x", "comments", False)],
)
def test_comments_are_read_by_a_rerun(read, attempt, source, reads):
    settings = read("pull_request", inputs={"approvals-from": source}, GITHUB_RUN_ATTEMPT=attempt)
    assert settings.reads_comments == reads
    assert settings.uploads_report == (source == "comments")
    assert settings.approvals_commit == BASE


def test_on_other_events_no_comments_are_read(read):
    settings = read("push", inputs={"approvals-from": "comments"}, GITHUB_RUN_ATTEMPT="2")
    assert (settings.reads_comments, settings.uploads_report) == (False, False)


def names_of(settings):
    return settings.comment_key, settings.baseline_artifact, settings.report_artifact


@pytest.mark.parametrize("matrix", [{}, {"matrix": "null"}, {"matrix": "{}"}])
def test_a_job_without_a_matrix_has_the_names_it_always_had(read, matrix):
    assert names_of(read(inputs=matrix)) == (
        "evals.yml/gate",
        "evalgate-baseline",
        "evalgate-report-evals.yml-gate",
    )


def test_each_leg_of_a_matrix_has_names_of_its_own(read):
    assert names_of(read(inputs={"matrix": '{"suite": "support"}'})) == (
        "evals.yml/gate/support-4747915e",
        "evalgate-baseline-support-4747915e",
        "evalgate-report-evals.yml-gate-support-4747915e",
    )


def test_names_that_a_workflow_sets_stay_as_they_are_in_a_matrix(read):
    given = {"matrix": '{"suite": "support"}', "comment-key": "own", "baseline-artifact": "evalgate-baseline"}
    assert names_of(read(inputs=given)) == ("own", "evalgate-baseline", "evalgate-report-own")


def test_a_reusable_workflow_has_the_names_of_its_caller(read):
    """GITHUB_WORKFLOW_REF names the workflow that runs, also in a job of a workflow that this one calls."""
    settings = read(GITHUB_WORKFLOW_REF="acme/agent/.github/workflows/caller.yml@refs/heads/x")
    assert (settings.comment_key, settings.baseline_workflow) == ("caller.yml/gate", ".github/workflows/caller.yml")
