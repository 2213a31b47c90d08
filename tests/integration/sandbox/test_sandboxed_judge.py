"""The judge's own process: it answers as one in this process would, and can't reach its parent."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import msgspec
import pytest
from request_builder import make_request

from evalgate.adapters.sandbox.exchange_dir import LARGEST_ANSWER, ExchangeDir
from evalgate.adapters.sandbox.judge_process import (
    JUDGE_GROUP,
    choose_user,
    fork_ready_judge,
    start_judge,
    wait_for_judge,
)
from evalgate.adapters.sandbox.process_bounds import Bounds
from evalgate.bootstrap import judge_main as judge_server
from evalgate.bootstrap.judge_context import JudgeContext
from evalgate.bootstrap.judge_main import HANDLERS, run_ready_judge
from evalgate.bootstrap.sandboxed_judge import SandboxedJudge
from evalgate.errors import JudgeCrashed, OverLimit
from evalgate.features.track.models import PublishedRun, TrackingContext, TrackingOptions
from evalgate.models.comparison.comparison import BaselineInfo
from evalgate.models.run.chunks import join_chunks
from evalgate.settings.limits import Limits

ROOT = Path(__file__).resolve().parents[3]
LIBRARIES = str(Path(msgspec.__file__).parents[1])
EXAMPLE = ROOT / "examples" / "support-agent"
EPOCH = "1767225600"
IS_ROOT = os.geteuid() == 0
SECRET = "s3cr3t-of-the-job"
ROOMY = 16_000_000_000
"""Bytes: a judge that is forked from a process that ran many tests has all their memory."""


@pytest.fixture
def workspace(tmp_path):
    return Path(shutil.copytree(EXAMPLE, tmp_path / "workspace"))


def bench_at(workspace, **limits):
    root = str(workspace)
    return JudgeContext(root, root, f"{root}/.evalgate", Limits(**limits), EPOCH)


def apart(workspace, tmp_path, **limits):
    return SandboxedJudge(bench_at(workspace, **limits), folder_of(tmp_path))


def folder_of(tmp_path):
    """One of the job's own."""
    folder = tmp_path / "evalgate-downloads"
    folder.mkdir()
    return folder


def request(**changes):
    given = {"configs": ["evals/support.yaml"], "traces": ["traces/pr/*.jsonl"], **changes}
    outputs = {"results.sarif": True, "report.html": True, **given.pop("outputs", {})}
    return make_request(commit="c" * 40, comment_key="k", outputs=outputs, **given)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"traces": ["traces/main/*.jsonl"]},
        {"report_only": True, "fail_on": ["below_threshold"]},
        {"configs": ["evals/absent.yaml"]},
        {"configs": ["../outside.yaml"]},
        {"baseline": BaselineInfo("given", path="none.zip"), "baseline_required": True},
        {"form": "no-such-format"},
    ],
    ids=["fail", "pass", "report-only", "no suite", "outside", "no baseline", "bad format"],
)
def test_a_sandboxed_judge_answers_as_one_in_this_process(workspace, tmp_path, changes):
    asked = request(**changes)
    there = apart(workspace, tmp_path).judge(asked)
    files_there = {name: join_chunks(content) for name, content in there.files.items()}
    made_there = (workspace / ".evalgate/baseline.zip").read_bytes() if there.baseline_zip else None
    here = bench_at(workspace).judge(asked)

    assert files_there == {name: join_chunks(content) for name, content in here.files.items()}
    assert (there.annotations, there.problems) == (list(here.annotations), list(here.problems))
    assert (there.warnings, there.heading) == (list(here.warnings), here.heading)
    assert there.baseline_zip == here.baseline_zip
    assert made_there == (Path(here.baseline_zip).read_bytes() if here.baseline_zip else None)
    gone_by = {name: value for name, value in there.results.items() if value not in ([], None)}
    assert gone_by.items() <= here.results.items() or here.results["verdict"] == "invalid"
    assert there.exit_code == here.exit_code


def test_a_preforked_judge_answers_first_and_others_after_it(workspace, tmp_path):
    ready = fork_ready_judge(run_ready_judge)
    judges = SandboxedJudge(bench_at(workspace, memory=ROOMY), folder_of(tmp_path), None, ready)
    first, second = (judges.judge(request()) for _ in range(2))

    with pytest.raises(ChildProcessError):
        os.waitpid(ready._pid, os.WNOHANG)
    ready.dismiss()  # there is no judge left to dismiss
    files = [{name: join_chunks(content) for name, content in each.files.items()} for each in (first, second)]
    assert files[0] == files[1]
    assert (first.exit_code, len(files[0])) == (1, 6)


def test_a_preforked_judge_may_be_killed_before_its_request(workspace, tmp_path):
    ready = fork_ready_judge(run_ready_judge)
    os.kill(ready._pid, signal.SIGKILL)
    answer = SandboxedJudge(bench_at(workspace), folder_of(tmp_path), None, ready).judge(request())
    assert (answer.exit_code, answer.results["reasons"][0]["code"]) == (2, "over_limit")
    assert "killed by the system" in answer.problems[0].message


def test_a_sandboxed_judge_that_exceeds_a_limit_is_invalid_input(workspace, tmp_path):
    answer = apart(workspace, tmp_path, memory=25_000_000).judge(request())
    assert (answer.exit_code, answer.results["verdict"]) == (2, "invalid")
    assert answer.results["reasons"][0]["code"] == "over_limit"
    assert "25 MB" in answer.problems[0].message
    assert sorted(answer.files) == ["comment.md", "results.json", "summary.md"]


def test_an_output_folder_that_is_a_link_is_refused_before_anything_is_read(workspace, tmp_path):
    (workspace / ".evalgate").symlink_to(tmp_path)
    answer = apart(workspace, tmp_path).judge(request())
    assert answer.results["reasons"][0]["code"] == "refused_path"
    assert not (tmp_path / "evalgate-downloads" / "judge-1").exists()


# --- a judge whose code was taken over ---------------------------------------------


def taken_over(forge):
    """A preforked judge that judges, and then changes its answer."""

    def serve(handle):
        HANDLERS["judge"] = lambda *asked: forge(judge_server._judge(*asked), asked[0])
        run_ready_judge(handle)

    return fork_ready_judge(serve)


def as_pass(answer, _context=None, *, excused=None, **summary):
    results = {**answer["results"], "verdict": "pass", "exit_code": 0, "reasons": []}
    return {
        **answer,
        "results": {**results, "summary": {**results["summary"], **summary}},
        "excused": answer.get("excused") if excused is None else excused,
    }


@pytest.mark.parametrize(
    ("forge", "why"),
    [
        (as_pass, "with hard fails that nothing excuses"),
        (lambda answer, _: as_pass(answer, excused={"approved": 1}), "more is approved than can be"),
        (lambda answer, _: as_pass(answer, excused={"quarantined": 1}), "than is in quarantine"),
        (lambda answer, _: as_pass(answer, excused={"not_gating": 1}), "which `fail-on` names"),
        (lambda answer, _: as_pass(answer, hard_fails=0), "`scenarios` is not the sum"),
        (lambda answer, _: {**as_pass(answer), "results": {**answer["results"], "exit_code": 0}}, "does not match"),
    ],
    ids=["as it is", "approved", "quarantined", "not gating", "fewer hard fails", "exit code 0"],
)
def test_a_judge_can_not_forge_a_pass_with_hard_fails(workspace, tmp_path, forge, why):
    asked = request(fail_on=["hard_fail"])
    honest = bench_at(workspace).judge(asked)
    assert (honest.exit_code, honest.results["summary"]["hard_fails"]) == (1, 1)

    judges = SandboxedJudge(bench_at(workspace, memory=ROOMY), folder_of(tmp_path), None, taken_over(forge))
    with pytest.raises(JudgeCrashed) as refusal:
        judges.judge(asked)
    assert refusal.value.exit_code == 70
    assert why in refusal.value.places[0]


def write_instead(name, change):
    """Changes a file that the judge has written."""

    def forge(answer, context):
        path = Path(context.folder, name)
        path.write_bytes(change(path.read_bytes()))
        return answer

    return forge


def with_member(name):
    def change(content):
        archive = io.BytesIO(content)
        with zipfile.ZipFile(archive, "a") as file:
            file.writestr(name, "x")
        return archive.getvalue()

    return change


def in_results(before, after):
    return write_instead("results.json", lambda content: content.replace(before, after, 1))


@pytest.mark.parametrize(
    ("forge", "why"),
    [
        (in_results(b'"verdict":"fail"', b'"verdict":"pass"'), "another one in results.json"),
        (in_results(b'"exit_code":1', b'"exit_code":0'), "another one in results.json"),
        (in_results(b'"hard_fails":1', b'"hard_fails":0'), "another one in results.json"),
        (write_instead("results.json", lambda _: b""), "not valid JSON"),
        (write_instead("baseline.zip", with_member("../../evil.sh")), "baseline that is not valid"),
        (write_instead("baseline.zip", with_member("results.json")), "baseline that is not valid"),
    ],
    ids=["verdict", "exit code", "hard fails", "nothing", "a path", "a name twice"],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_files_of_a_judge_that_contradict_its_answer_are_refused(workspace, tmp_path, forge, why):
    judges = SandboxedJudge(bench_at(workspace, memory=ROOMY), folder_of(tmp_path), None, taken_over(forge))
    with pytest.raises(JudgeCrashed) as refusal:
        judges.judge(request())
    assert why in refusal.value.places[0]
    assert not (workspace / ".evalgate" / "baseline.zip").exists()


# --- what a hostile judge leaves --------------------------------------------------


@pytest.fixture
def place(tmp_path):
    (tmp_path / "downloads").mkdir()
    return ExchangeDir(tmp_path / "downloads" / "judge", None, JUDGE_GROUP)


def leave_link(path, tmp_path):
    (tmp_path / "secret").write_text("of the runner")
    path.symlink_to(tmp_path / "secret")


def leave_second_name(path, tmp_path):
    (tmp_path / "secret").write_text("of the runner")
    os.link(tmp_path / "secret", path)


def leave_pipe(path, tmp_path):
    os.mkfifo(path)


def leave_folder(path, tmp_path):
    path.mkdir()


@pytest.mark.parametrize("leave", [leave_link, leave_second_name, leave_pipe, leave_folder])
@pytest.mark.parametrize("name", ["answer.json", "files/results.json", "reading"])
def test_only_plain_files_of_the_judge_are_read(place, tmp_path, leave, name):
    leave(Path(place.path, name), tmp_path)
    assert place.read_answer() is None
    assert place.read_file("results.json") is None
    assert place.open_file("results.json") is None
    assert place.last_read_file() == ""


def test_a_folder_of_the_judge_that_became_a_link_is_not_followed(place, tmp_path):
    Path(tmp_path, "elsewhere").mkdir()
    Path(tmp_path, "elsewhere", "results.json").write_text("of the runner")
    Path(place.path, "files").rmdir()
    Path(place.path, "files").symlink_to(tmp_path / "elsewhere")
    assert place.read_file("results.json") is None
    assert place.open_file("results.json") is None


def test_an_answer_that_is_too_large_is_refused(place):
    with Path(place.path, "answer.json").open("wb") as file:
        file.truncate(LARGEST_ANSWER + 1)
    with pytest.raises(OverLimit):
        place.read_answer()


# --- what a judge can see ----------------------------------------------------------

PROBE = """
import json, os, sys
files = sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1]  # first: a library may open more, as libffi does
sys.path[:0] = [{root!r}, {libraries!r}]
from evalgate.adapters.sandbox.process_bounds import drop_privileges
folder, user = sys.argv[1:]
drop_privileges(int(user) or None, {group})
seen = {{"environ": dict(os.environ), "user": os.getuid(), "groups": os.getgroups(), "files": files}}
for name in ("environ", "mem", "fd", "cwd"):
    try:
        path = f"/proc/{{os.getppid()}}/{{name}}"
        if name == "fd":
            os.listdir(path)
        elif name == "cwd":
            os.readlink(path)
        else:
            with open(path, "rb") as file:
                seen[name] = file.read(100_000).decode("latin-1") if name == "environ" else "open"
    except OSError as error:
        seen[name] = type(error).__name__
print("printed on stdout"); print("printed on stderr", file=sys.stderr)
with open(folder + "/answer.json", "w") as file:
    json.dump(seen, file)
"""
PACKAGES = str(Path(msgspec.__file__).parents[1])
PARENT = """
import os, sys
sys.path[:0] = [{root!r}, {libraries!r}]
from evalgate.bootstrap.clean_start import reexec_without_environment
reexec_without_environment()
from pathlib import Path
from evalgate.adapters.sandbox.judge_process import JUDGE_GROUP, start_judge, wait_for_judge
from evalgate.adapters.sandbox.process_bounds import Bounds
from evalgate.adapters.sandbox.exchange_dir import ExchangeDir
folder, probe, user = sys.argv[1:]
assert os.environ["TOKEN"] == {secret!r}
place = ExchangeDir(Path(folder) / "judge", int(user) or None, JUDGE_GROUP)
wait_for_judge(start_judge([sys.executable, "-I", probe, place.path, user]), place, Bounds(wall=30))
print(place.read_answer().decode())
"""


def for_everybody(folder):
    """Whether another user gets to a folder."""
    return all(each.stat().st_mode & 0o001 for each in (folder, *folder.parents))


def an_open_python():
    """An interpreter of this version that other users may start, or None: compiled packages load in no other."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    known = [Path(sys.base_prefix, "bin", name), Path("/usr/bin", name)]
    return next((str(each) for each in known if each.exists() and for_everybody(each.resolve().parent)), None)


@pytest.fixture
def seen(tmp_path_factory):
    """What a process started like the judge can see, if its parent has a secret in its environment."""

    def look(user):
        folder = Path("/tmp") / f"evalgate-probe-{os.getpid()}-{user}"
        folder.mkdir(mode=0o755)
        try:
            (folder / "downloads").mkdir(mode=0o755)
            (folder / "probe.py").write_text(PROBE.format(root=str(ROOT), libraries=LIBRARIES, group=JUDGE_GROUP))
            (folder / "parent.py").write_text(PARENT.format(root=str(ROOT), libraries=LIBRARIES, secret=SECRET))
            python = an_open_python() if user else sys.executable
            done = subprocess.run(
                [python, "-I", folder / "parent.py", folder / "downloads", folder / "probe.py", str(user)],
                env={"TOKEN": SECRET, "PATH": os.environ["PATH"]},
                capture_output=True, text=True, check=False, timeout=60,
            )  # fmt: skip
        finally:
            shutil.rmtree(folder)
        assert done.returncode == 0, done.stderr
        assert "printed on" not in done.stdout + done.stderr
        return json.loads(done.stdout)

    return look


def test_a_judge_of_the_same_user_finds_no_secret_in_the_environment_of_its_parent(seen):
    found = seen(0)
    assert found["environ"] in ("", "PermissionError")
    assert found["files"] == [0, 1, 2]
    assert SECRET not in json.dumps(found)
    if not IS_ROOT:  # root may read the memory of any process, which is why it does not stay root
        assert found["mem"] == "PermissionError"


@pytest.mark.skipif(not IS_ROOT, reason="only root can make the judge another user")
@pytest.mark.skipif(an_open_python() is None, reason="no interpreter here that another user may start")
@pytest.mark.skipif(not for_everybody(ROOT), reason="the project lies where another user gets not")
def test_a_judge_of_another_user_can_not_inspect_its_parent(seen):
    found = seen(60_700)
    assert (found["user"], found["groups"]) == (60_700, [])
    assert [found[name] for name in ("environ", "mem", "fd", "cwd")] == ["PermissionError"] * 4
    assert found["files"] == [0, 1, 2]


def test_a_judge_that_crashes_is_reported_with_what_it_was_reading(place):
    program = ["/bin/sh", "-c", f"printf evals/bomb.yaml > {place.path}/reading; kill -SEGV $$"]
    with pytest.raises(OverLimit, match=r"crashed with signal 11.*reading evals/bomb\.yaml"):
        wait_for_judge(start_judge(program), place, Bounds(wall=30))


@pytest.mark.skipif(not IS_ROOT, reason="only root can make the judge another user")
class TestTheUserOfAJudge:
    """Which user a judge becomes, by who may read the workspace."""

    @pytest.fixture
    def folder(self):
        folder = Path("/tmp") / f"evalgate-owner-{os.getpid()}"
        folder.mkdir(mode=0o755)
        os.chown(folder, 1001, 1001)
        yield str(folder)
        shutil.rmtree(folder)

    def test_a_workspace_for_everybody(self, folder):
        assert choose_user([folder], folder) == 60_700

    def test_a_workspace_for_its_owner_only(self, folder):
        Path(folder).chmod(0o700)
        assert choose_user([folder], folder) == 1001

    def test_a_workspace_for_root_only(self, folder):
        Path(folder).chmod(0o700)
        os.chown(folder, 0, 0)
        assert choose_user([folder], folder) is None

    def test_something_needed_for_root_only(self, folder):
        inner = Path(folder, "python")
        inner.mkdir(mode=0o700)
        assert choose_user([folder, str(inner)], folder) is None


CONTEXT = TrackingContext("acme/agent", run_id="9", branch="main")
TRACKED = {"outputs": {"published.json": TrackingOptions(CONTEXT)}, "run_id": "9", "branch": "main"}


def test_what_leaves_for_trackers_is_as_from_a_judge_in_this_process(workspace, tmp_path):
    there, here = apart(workspace, tmp_path).judge(request(**TRACKED)), bench_at(workspace).judge(request(**TRACKED))
    assert there.files["published.json"] == here.files["published.json"]
    published = msgspec.json.decode(here.files["published.json"], type=PublishedRun)
    assert published.suites[0].rows[0].outputs["answer"]


def test_what_a_judge_forged_for_trackers_does_not_leave_and_changes_no_verdict(workspace, tmp_path):
    honest = bench_at(workspace).judge(request(**TRACKED))
    forge = write_instead("published.json", lambda content: content.replace(b"evalgate/acme", b"evalgate/other"))
    judges = SandboxedJudge(bench_at(workspace, memory=ROOMY), folder_of(tmp_path), None, taken_over(forge))

    judgement = judges.judge(request(**TRACKED))

    assert "published.json" not in judgement.files
    assert (judgement.exit_code, judgement.results["verdict"]) == (honest.exit_code, honest.results["verdict"])
    assert judgement.warnings[-1] == "not tracked: the judge's document for trackers is not one of this run"
