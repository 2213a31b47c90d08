"""A run destroys no evidence: not its baseline, not the files of the last run if its input is wrong."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from evalgate.cli import main
from evalgate.cli.shell import Shell

SUITE = """\
version: 1
suite: refunds
traces: [../traces/*.json]
scenarios:
  - id: refund
    assertions:
      - {type: output_contains, value: refunded}
policy: {fail_on: [hard_fail, broken, below_threshold]}
"""
SAVED = ".evalgate/saved/baseline.zip"
SLOW = "".join(f"      - {{regex: '(a|a)+(a|{one})+(a|a)+$'}}\n" for one in "abc")


@pytest.fixture
def project(tmp_path):
    (tmp_path / "traces").mkdir()
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "suite.yaml").write_text(SUITE)
    answer(tmp_path, "It is refunded.")
    return tmp_path


def answer(project, text):
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": text}]
    content = {"schema": "evalgate.trace/1", "scenario_id": "refund", "messages": messages}
    (project / "traces" / "refund.json").write_text(json.dumps(content))


def evalgate(project, *words):
    """The main function itself; as a process where a limit needs one."""
    environ = {"SOURCE_DATE_EPOCH": "1767323045"}
    if "--limit" in words:
        command = [sys.executable, "-m", "evalgate", *words]
        done = subprocess.run(command, cwd=project, env=environ, capture_output=True, text=True, check=False)
        return SimpleNamespace(code=done.returncode, out=done.stdout, err=done.stderr)
    out, err = io.StringIO(), io.StringIO()
    code = main(words, Shell(out, err, environ, str(project)))
    return SimpleNamespace(code=code, out=out.getvalue(), err=err.getvalue())


def files_of(project):
    """Every file and folder below the project, with content and time of change."""
    return {
        str(path.relative_to(project)): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in project.rglob("*")
    }


def test_the_same_command_stays_red(project):
    assert evalgate(project, "run").code == 0
    answer(project, "no")
    command = ("run", "--baseline", ".evalgate/baseline.zip", "--fail-on", "broken")
    assert [evalgate(project, *command).code for _ in range(3)] == [1, 1, 1]


@pytest.mark.parametrize("named", [".evalgate/baseline.zip", "./.evalgate/../.evalgate/baseline.zip", "link.zip"])
def test_a_run_compared_with_its_own_baseline_zip_keeps_it_and_writes_the_rest(project, named):
    evalgate(project, "run", "--sarif")
    (project / "link.zip").symlink_to(".evalgate/baseline.zip")
    before = files_of(project / ".evalgate")
    answer(project, "no")

    done = evalgate(project, "run", "--sarif", "--baseline", named, "-q")

    after = files_of(project / ".evalgate")
    assert {name for name in after if after[name] == before[name]} == {".gitignore", "baseline.zip"}
    assert done.code == 1
    assert done.err == (
        "note: .evalgate/baseline.zip is the baseline of this run and was not replaced"
        " (keep a baseline where no run writes: evalgate baseline save)\n"
    )


def test_a_run_compared_with_its_own_results_keeps_them_and_writes_the_rest(project):
    evalgate(project, "run")
    before = files_of(project / ".evalgate")
    answer(project, "no")

    done = evalgate(project, "run", "--baseline", ".evalgate/results.json")

    after = files_of(project / ".evalgate")
    assert {name for name in after if after[name] == before[name]} == {".gitignore", "results.json"}
    assert done.code == 1
    assert "note: .evalgate/results.json is the baseline of this run and was not replaced" in done.err
    assert "written to .evalgate: comment.md, summary.md, junit.xml, baseline.zip\n" in done.err


def test_a_kept_baseline_changes_no_exit_code(project):
    evalgate(project, "run")
    assert evalgate(project, "run", "--baseline", ".evalgate/baseline.zip").code == 0


def test_a_run_that_writes_no_baseline_says_nothing_about_one(project):
    evalgate(project, "run")
    done = evalgate(project, "run", "--baseline", ".evalgate/baseline.zip", "--no-baseline-zip")
    assert "not replaced" not in done.err


def test_a_merge_compared_with_its_own_baseline_keeps_it(project):
    evalgate(project, "run")
    before = (project / ".evalgate/baseline.zip").read_bytes()
    answer(project, "no")
    given = ("--baseline", ".evalgate/baseline.zip")
    evalgate(project, "run", "--shard", "1/1", "--output-dir", "shards", *given)
    done = evalgate(project, "merge", "shards", "--config", "evals/suite.yaml", *given)
    assert (done.code, (project / ".evalgate/baseline.zip").read_bytes()) == (1, before)
    assert "baseline.zip is the baseline of this run and was not replaced" in done.err


WRONG_INPUT = {
    "a typo in the suite": ["run", "evals/typo.yaml"],
    "a condition that does not exist": ["run", "evals/suite.yaml", "--fail-on", "nothing"],
    "a baseline that is missing": ["run", "evals/suite.yaml", "--baseline", "gone.zip"],
    "a format that does not exist": ["run", "evals/suite.yaml", "--format", "nativ"],
    "a store": ["run", "evals/typo.yaml", "--store-url", "runs.db"],
    "a limit on the process": ["run", "evals/typo.yaml", "--limit", "cpu=8"],
    "a limit on the process that is exceeded": ["run", "evals/slow.yaml", "--limit", "cpu=1"],
    "a shard": ["run", "evals/typo.yaml", "--shard", "1/2"],
    "ids that redaction makes equal": ["run", "evals/alike.yaml"],
}


@pytest.mark.parametrize("words", WRONG_INPUT.values(), ids=list(WRONG_INPUT))
def test_wrong_input_writes_and_creates_nothing(project, words):
    evalgate(project, "run", "--sarif")
    answer(project, "a" * 40 + "b")
    alike = "".join(f"  - {{id: C-{number}, assertions: [{{type: no_loops}}]}}\n" for number in (1, 2))
    for name, text in {
        "typo": SUITE + "treshold: 1\n",
        "slow": SUITE.replace("policy", SLOW + "policy"),
        "alike": SUITE.replace("policy", alike + "policy"),
    }.items():
        (project / "evals" / f"{name}.yaml").write_text(text)
    (project / "evalgate.yaml").write_text("redact: {patterns: [{name: customer, regex: 'C-[0-9]'}]}\n")
    before = files_of(project)

    for output in [".evalgate", "new/folder"] if "cpu=1" not in words else ["new/folder"]:
        done = evalgate(project, *words, "--output-dir", output)
        assert (done.code, done.out, files_of(project)) == (2, "", before), done.err


def test_a_run_beyond_its_limits_leaves_no_unfinished_file(project):
    (project / "evals/suite.yaml").write_text(SUITE.replace("policy", SLOW + "policy"))
    answer(project, "a" * 40 + "b")
    (project / ".evalgate").mkdir()
    (project / ".evalgate/.baseline.zip.part").write_bytes(b"PK")
    assert evalgate(project, "run", "--limit", "cpu=1").code == 2
    assert list((project / ".evalgate").iterdir()) == []


def test_wrong_input_still_prints_json(project):
    (project / "evals/suite.yaml").write_text(SUITE + "treshold: 1\n")
    done = evalgate(project, "run", "--json")
    assert (done.code, json.loads(done.out)["verdict"]) == (2, "invalid")
    assert not (project / ".evalgate").exists()


def test_save__copies_the_baseline_of_a_passing_run(project):
    evalgate(project, "run")
    done = evalgate(project, "baseline", "save")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"saved: {SAVED}, of a run that passed: the only scenario passes\n"
    assert (project / SAVED).read_bytes() == (project / ".evalgate/baseline.zip").read_bytes()
    assert [path.name for path in (project / SAVED).parent.iterdir() if path.suffix == ".zip"] == ["baseline.zip"]


def test_a_loop_of_run_and_save_stays_red_until_a_person_saves(project):
    evalgate(project, "run")
    evalgate(project, "baseline", "save")
    answer(project, "no")
    command = ("run", "--baseline", SAVED, "--fail-on", "broken")
    codes = [evalgate(project, *command).code for _ in range(2)]
    saved = evalgate(project, "baseline", "save").code
    assert (codes, saved, evalgate(project, *command).code) == ([1, 1], 0, 0)


def test_save__of_a_failing_run_says_that_it_fails(project):
    answer(project, "no")
    evalgate(project, "run")
    done = evalgate(project, "baseline", "save")
    assert done.code == 0
    reason = 'expected the answer to contain "refunded", got "no"'
    assert done.out == f"saved: {SAVED}, of a run that failed: 1 scenario is below threshold: {reason}\n"
    assert done.err == "warning: the saved run failed; what fails in a baseline can't count as broken later\n"


def test_save__takes_another_folder_and_another_path(project):
    evalgate(project, "run", "--output-dir", "out")
    done = evalgate(project, "baseline", "save", "--output-dir", "out", "-o", "main.zip")
    assert (done.code, done.out.partition(",")[0]) == (0, "saved: main.zip")
    assert (project / "main.zip").read_bytes() == (project / "out/baseline.zip").read_bytes()
    assert not (project / ".evalgate").exists()


def test_save__to_the_default_path_of_a_run_elsewhere_ignores_itself(project):
    evalgate(project, "run", "--output-dir", "out")
    evalgate(project, "baseline", "save", "--output-dir", "out")
    assert (project / ".evalgate/saved/.gitignore").read_text() == "*\n"


@pytest.mark.parametrize("folder", [".evalgate/saved", "./.evalgate/x/../saved/", "link"])
def test_no_run_writes_where_a_baseline_is_saved(project, folder):
    evalgate(project, "run")
    evalgate(project, "baseline", "save")
    (project / "link").symlink_to(".evalgate/saved")
    before = files_of(project)
    done = evalgate(project, "run", "--output-dir", folder)
    assert (done.code, files_of(project)) == (2, before)
    assert f"error: --output-dir {folder} is where `evalgate baseline save` writes" in done.err


def test_save__of_a_run_that_could_not_judge_is_refused(project):
    assert evalgate(project, "run", "--report-only", "--fail-on", "no_baseline").code == 0
    refused(project, "the run in .evalgate can't be a baseline: it could not judge")


def test_save__without_a_run_is_refused(project):
    refused(
        project,
        "there is no finished run at .evalgate (run `evalgate run` first, or pass the --output-dir of a finished one)",
    )


def test_a_baseline_that_is_not_there_names_the_saved_one_or_how_to_save_one(project):
    message = "error: .evalgate/saved/base.zip: baseline does not exist"
    evalgate(project, "run")
    words = ("run", "--baseline", ".evalgate/saved/base.zip")
    assert f"{message} (`evalgate baseline save` keeps the one of the last run)" in evalgate(project, *words).err
    evalgate(project, "baseline", "save")
    assert f"{message} (did you mean .evalgate/saved/baseline.zip?)" in evalgate(project, *words).err


@pytest.mark.parametrize("words", [["--no-baseline-zip"], ["--baseline", ".evalgate/baseline.zip"]])
def test_save__where_the_baseline_zip_is_of_another_run_is_refused(project, words):
    evalgate(project, "run")
    answer(project, "no")
    evalgate(project, "run", *words)
    refused(project, ".evalgate has no baseline.zip of its last run")


def test_save__of_a_damaged_baseline_is_refused(project):
    evalgate(project, "run")
    whole = (project / ".evalgate/baseline.zip").read_bytes()
    (project / ".evalgate/baseline.zip").write_bytes(whole[: len(whole) // 2])
    refused(project, "the baseline .evalgate/baseline.zip is refused")


def refused(project, part):
    """Saving ends with exit code 2 and one line, and writes nothing."""
    before = files_of(project)
    done = evalgate(project, "baseline", "save")
    [line] = done.err.splitlines()
    assert (done.code, done.out) == (2, "")
    assert part in line
    assert files_of(project) == before
