"""`evalgate approve` and `evalgate approvals`: known failures are accepted, in the file or in a store."""

from __future__ import annotations

import json
import os
import shutil
import stat
from io import StringIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from in_process_command import CommandResult

from evalgate.adapters.suites.approvals_file import append_approvals, read_approvals
from evalgate.cli import main
from evalgate.cli.shell import Shell
from evalgate.models.approvals.approval import FILE, ApprovalFile

SUITE = """\
version: 1
suite: support
traces: ["../traces/*.json"]
scenarios:
  - {id: refund, assertions: [{contains: "yes", name: polite, required: true}, {contains: "ok"}]}
  - {id: "no", assertions: [{contains: "yes", required: true}]}
  - {id: fine, assertions: [{contains: "ok"}]}
  - {id: lost, assertions: [{contains: "ok"}]}
"""
UNTIL = ["--until", "2026-12-31", "--because", "ticket 4711", "--who", "Ana"]
NOW = "1767312000"  # 2026-01-02


@pytest.fixture
def evalgate(tmp_path):
    def run(*arguments, **environ):
        shell = Shell(StringIO(), StringIO(), {"SOURCE_DATE_EPOCH": NOW, **environ}, str(tmp_path))
        code = main(arguments, shell)
        return CommandResult(code, shell.out.getvalue(), shell.err.getvalue())

    return run


@pytest.fixture
def folder(tmp_path, evalgate):
    """A run of which two scenarios fail and one has no trace."""
    (tmp_path / "evals").mkdir()
    (tmp_path / "traces").mkdir()
    (tmp_path / "evals/support.yaml").write_text(SUITE)
    for name in ("refund", "no", "fine"):
        messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "ok"}]
        trace = {"schema": "evalgate.trace/1", "scenario_id": name, "messages": messages}
        (tmp_path / f"traces/{name}.json").write_text(json.dumps(trace))
    assert evalgate("run", "-q").exit_code == 1
    return tmp_path


def approved(folder):
    content = (folder / FILE).read_bytes()
    return read_approvals(ApprovalFile(FILE, content))


def reasons(folder):
    results = json.loads((folder / ".evalgate/results.json").read_bytes())
    return {reason.get("scenario") for reason in results["reasons"]}


def test_an_approved_failure_fails_no_longer(folder, evalgate):
    done = evalgate("approve", "refund", *UNTIL)
    assert (done.exit_code, done.out) == (
        0,
        "approved until 2026-12-31: support / refund, score at least 0.5\n",
    )
    [approval] = approved(folder)
    assert (approval.least_score, approval.who, approval.reason) == (0.5, "Ana", "ticket 4711")
    evalgate("run", "-q")
    assert reasons(folder) == {"no", "lost"}


def test_all_is_whatever_fails_and_can_be_approved(folder, evalgate):
    assert evalgate("approve", "all", *UNTIL).exit_code == 0
    assert [approval.scenario for approval in approved(folder)] == ["refund", "no"]
    evalgate("run", "-q")
    assert reasons(folder) == {"lost"}


def test_its_bounds_are_written_and_hold(folder, evalgate):
    bounds = ["--suite", "support", "--assertion", "polite", "--limit", "score>=0.25", "--this-recording"]
    assert evalgate("approve", "refund", *bounds, *UNTIL).exit_code == 0
    [approval] = approved(folder)
    assert (approval.assertion, approval.least_score, len(approval.traces)) == ("polite", 0.25, 1)
    assert evalgate("approve", "no", "--limit", "none", *UNTIL).exit_code == 0
    evalgate("run", "-q")
    assert reasons(folder) == {"lost"}
    trace = folder / "traces/refund.json"
    trace.write_text(trace.read_text().replace('"q"', '"other"'))
    evalgate("run", "-q")
    assert reasons(folder) == {"refund", "lost"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["refnd"], "no scenario `refnd` (did you mean `refund`?)"),
        (["fine"], "scenario `fine` passes: there is nothing to approve"),
        (["lost"], "scenario `lost` is MISSING: only an evaluated scenario can be approved"),
        (["refund", "--suite", "other"], "no scenario `refund`"),
        (["refund", "--variant", "v"], "has no variant `v`"),
        (["refund", "--assertion", "polit"], "did you mean `polite`?"),
        (["refund", "--change", "broken"], "is not broken: nothing was compared"),
        (["refund", "--limit", "score>=0.9"], "its score 0.5 is already below the limit of 0.9"),
        (["refund", "--limit", "0.7"], "write score>=0.7"),
        (["refund", "--limit", "score>=1.7"], "write score>=0.7"),
        (["refund", "--results", "nowhere.json"], "nowhere.json"),
        (["refund", "--run", "nowhere"], "there is no finished run at nowhere"),
        (["fine", "--run", ".evalgate"], "scenario `fine` passes: there is nothing to approve"),
        (["all", "--suite", "other"], "there is no failure to approve"),
    ],
)
def test_invalid_arguments_are_refused(folder, evalgate, arguments, words):
    done = evalgate("approve", *arguments, *UNTIL)
    assert done.exit_code == 2
    assert words in done.err
    assert not (folder / FILE).exists()


@pytest.mark.parametrize(
    ("day", "words"),
    [
        ("tomorrow", "is not a valid date"),
        ("2026-2-1", "is not a valid date"),
        ("2026-02-30", "is not a valid date"),
        ("2026-01-01", "is in the past"),
    ],
)
def test_a_date_must_exist_and_be_in_the_future(folder, evalgate, day, words):
    done = evalgate("approve", "refund", "--until", day, "--because", "x", "--who", "Ana")
    assert done.exit_code == 2
    assert words in done.err


def test_the_approver_is_known_or_required(folder, evalgate):
    words = ["approve", "refund", "--until", "2026-12-31", "--because", "x"]
    assert "give --who NAME" in evalgate(*words).err
    assert evalgate(*words, USER="ben").exit_code == 0
    assert approved(folder)[0].who == "ben"


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_without_a_user_the_approver_is_the_one_that_git_knows(folder, evalgate):
    config = folder / ".gitconfig"
    config.write_text(f'[user]\n\tname = "  Ana\\n\u202eLima {"x" * 5_000}"\n')
    done = evalgate("approve", "refund", "--until", "2026-12-31", "--because", "x", HOME=str(folder))
    assert done.exit_code == 0
    who = approved(folder)[0].who
    assert who.startswith("Ana \u23ce Lima xxx")
    assert len(who) == 200


# --- the file -------------------------------------------------------------------------------------------------

OLD = '{suite: support, scenario: "no", reason: r, who: w, until: 2026-12-31}'


@pytest.mark.parametrize(
    "before",
    [
        "",
        "# note\n",
        "version: 1\napprovals: []  # none yet\n",
        f"# note\napprovals:\n- {OLD} # keep\n# end",
        f"version: 1\napprovals:\n  - {OLD}\n\n\n",
        f"approvals:\n    - {OLD}\n",
        "approvals:\n  - suite: support\n    scenario: x # why\n    reason: >\n      long\n    who: w\n    until: 2026-12-31\n",
    ],
)
def test_the_content_of_the_file_is_preserved(folder, evalgate, before):
    (folder / FILE).write_text(before)
    known = read_approvals(ApprovalFile(FILE, before.encode())) if "- " in before else []
    assert evalgate("approve", "refund", *UNTIL).exit_code == 0
    after = (folder / FILE).read_text()
    assert [each.scope for each in approved(folder)][:-1] == [each.scope for each in known]
    assert approved(folder)[-1].scenario == "refund"
    assert all(line in after.splitlines() for line in before.replace(" []", "").splitlines() if line)


@pytest.mark.parametrize("before", [f"approvals: [{OLD}]", "approvals: []\nversion: 1\n"])
def test_a_file_that_can_not_be_appended_to_is_left_alone(folder, evalgate, before):
    (folder / FILE).write_text(before)
    done = evalgate("approve", "refund", *UNTIL)
    assert done.exit_code == 2
    assert "the list must come last in the file" in done.err
    assert (folder / FILE).read_text() == before


def test_a_file_with_errors_is_left_alone(folder, evalgate):
    (folder / FILE).write_text("approvals: [{suite: support}]")
    done = evalgate("approve", "refund", *UNTIL)
    assert (done.exit_code, "`scenario` is missing" in done.err) == (2, True)


def test_the_file_is_replaced_whole_and_keeps_its_mode_and_its_link(folder, evalgate):
    target = folder / "shared.yaml"
    target.write_text("approvals: []\n")
    target.chmod(0o640)
    (folder / FILE).symlink_to(target)
    assert evalgate("approve", "refund", *UNTIL).exit_code == 0
    assert (folder / FILE).is_symlink()
    assert stat.S_IMODE(os.stat(target).st_mode) == 0o640  # noqa: PTH116
    assert not list(folder.glob(".*.part"))


def test_a_file_that_changed_meanwhile_is_not_overwritten(folder):
    from evalgate.adapters.files.project_files import LocalApprovalsFile
    from evalgate.errors import SettingError

    (folder / FILE).write_text("approvals: []\n")
    with pytest.raises(SettingError, match="has changed in the meantime"):
        LocalApprovalsFile(str(folder)).replace(b"", b"mine")
    with pytest.raises(SettingError, match="has changed in the meantime"):
        LocalApprovalsFile(str(folder)).replace(None, b"mine")
    assert (folder / FILE).read_text() == "approvals: []\n"


TEXTS = st.text(min_size=1, max_size=40).map(str.strip).filter(bool)


@given(reason=st.text(min_size=1, max_size=60), who=st.text(min_size=1, max_size=20), scenario=TEXTS)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_text_is_read_back_unchanged_or_refused(reason, who, scenario):
    from evalgate.errors import InvalidInput

    [old] = read_approvals(ApprovalFile(FILE, f"approvals: [{OLD}]".encode()))
    from msgspec.structs import replace

    new = replace(old, reason=reason, who=who, scenario=scenario)
    try:
        content = append_approvals(None, [new])
    except InvalidInput:
        return
    assert [each.scope for each in read_approvals(ApprovalFile(FILE, content))] == [new.scope]


# --- the list, and the store ----------------------------------------------------------------------------------


def test_the_list_says_whether_each_holds(folder, evalgate):
    evalgate("approve", "refund", *UNTIL)
    with (folder / FILE).open("a") as file:
        file.write("  - {suite: support, scenario: fine, reason: r, who: w, until: 2026-12-31}\n")
        file.write("  - {suite: support, scenario: lost, reason: r, who: w, until: 2026-12-31}\n")
        file.write("  - {suite: support, scenario: 'no', reason: r, who: w, until: 2025-12-31}\n")
    listed = evalgate("approvals").out.splitlines()
    assert [line.split(":")[0] for line in listed] == ["approved", "unused", "does not count"]
    assert "expires in 363 days, by Ana: ticket 4711" in listed[0]
    everything = json.loads(evalgate("approvals", "--all", "--json").out)["approvals"]
    assert [each["status"] for each in everything] == ["active", "unused", "void", "expired"]


def test_without_a_finished_run_the_day_alone_decides(folder, evalgate):
    evalgate("approve", "refund", *UNTIL)
    (folder / ".evalgate/results.json").unlink()
    assert evalgate("approvals").out.startswith("approved: support / refund")


def test_an_empty_list_says_so(tmp_path, evalgate):
    done = evalgate("approvals")
    assert (done.exit_code, done.out, done.err) == (0, "", "no approvals\n")


def test_an_approval_in_a_store_counts_for_runs_with_that_store_until_it_is_withdrawn(folder, evalgate):
    store = ["--store-url", "kept.db"]
    assert evalgate("approve", "all", *UNTIL, *store).exit_code == 0
    assert not (folder / FILE).exists()
    evalgate("run", "-q")
    assert reasons(folder) == {"refund", "no", "lost"}
    evalgate("run", "-q", *store)
    assert reasons(folder) == {"lost"}
    listed = json.loads(evalgate("approvals", "--json", *store).out)["approvals"]
    assert {each["status"] for each in listed} == {"active"}
    assert {each["provenance"]["source"] for each in listed} == {"shell"}
    [refund] = [each["id"] for each in listed if each["scenario"] == "refund"]
    assert evalgate("approvals", "--withdraw", refund, *store).exit_code == 0
    evalgate("run", "-q", *store)
    assert reasons(folder) == {"refund", "lost"}
    assert len(evalgate("approvals", *store).out.splitlines()) == 1
    assert "withdrawn on 2026-01-02" in evalgate("approvals", "--all", *store).out
    assert evalgate("approvals", "--withdraw", refund, *store).exit_code == 2
    assert "name the store" in evalgate("approvals", "--withdraw", refund).err


def test_a_stored_run_is_approved_once_all_that_fails_in_it_is(folder, evalgate):
    (folder / "evals/support.yaml").write_text(SUITE.replace('  - {id: lost, assertions: [{contains: "ok"}]}\n', ""))
    store = ["--store-url", "kept.db"]

    def decisions():
        runs = json.loads(evalgate("history", "--json", *store).out)["runs"]
        return [(run["approval"]["status"], run["approval"]["approved_by"]) for run in runs]

    assert evalgate("run", "-q", *store).exit_code == 1
    assert decisions() == [("pending", None)]
    assert evalgate("approve", "refund", *UNTIL, *store).exit_code == 0
    assert decisions() == [("pending", None)]
    assert evalgate("approve", "no", *UNTIL, *store).exit_code == 0
    assert decisions() == [("approved", "Ana")]
    [history_run] = json.loads(evalgate("history", "--json", *store).out)["runs"]
    assert history_run["approval"] == {
        "status": "approved",
        "approved_by": "Ana",
        "comment": "ticket 4711",
        "at": "2026-01-02T00:00:00Z",
    }
    assert "fail (approved)" in evalgate("history", *store).out


def test_a_run_of_which_something_is_missing_stays_undecided(folder, evalgate):
    store = ["--store-url", "kept.db"]
    evalgate("run", "-q", *store)
    assert evalgate("approve", "all", *UNTIL, *store).exit_code == 0
    [history_run] = json.loads(evalgate("history", "--json", *store).out)["runs"]
    assert history_run["approval"] == {"status": "pending", "approved_by": None, "comment": "", "at": None}


def test_hostile_text_reaches_no_terminal(folder, evalgate):
    words = ["--until", "2026-12-31", "--because", "\x1b[31m::error::x", "--who", "\u202eana"]
    assert evalgate("approve", "refund", *words).exit_code == 0
    listed = evalgate("approvals").out
    assert "\x1b" not in listed
    assert "\u202e" not in listed
    assert not listed.startswith("::")
