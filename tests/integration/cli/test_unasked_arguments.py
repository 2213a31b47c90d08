"""A value that no one asked for, once it is the baseline's, is named by each report as long as an agent passes it."""

import html
import io
import json
import re
import zipfile

import pytest
from command import evalgate
from shard_runs import run_command

from evalgate.cli import main
from evalgate.cli.shell import Shell

COMMIT = "a1" * 20
SUITE = """version: 1
suite: shop
traces: ["traces/*.json"]
scenarios:
"""
SCENARIO = "  - {{id: {}, assertions: [{{type: output_contains, value: refund, required: true}}{}]}}\n"
STILL = "Not as asked: refund-0 still calls issue_refund with order_id B2002, though A1001 was asked for"
SINCE = f"{STILL} (since {COMMIT[:7]})"
OF_ONE = SINCE.removeprefix("Not as asked: refund-0 ")


def write(folder, order, *, scenarios=1, trials=2, user="Refund order A1001, please.", answer="A refund.", check=""):
    (folder / "traces").mkdir(parents=True, exist_ok=True)
    names = [f"refund-{number}" for number in range(scenarios)]
    (folder / "suite.yaml").write_text(SUITE + "".join(SCENARIO.format(name, check) for name in names))
    for name in names:
        for number in range(trials):
            call = {"id": "c1", "name": "issue_refund", "arguments": {"order_id": order}}
            messages = [
                {"role": "user", "content": user},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": "ok"},
                {"role": "assistant", "content": answer},
            ]
            trace = {"schema": "evalgate.trace/1", "scenario_id": name, "trial": number, "messages": messages}
            trace["metadata"] = {"recorded": folder.name}
            (folder / f"traces/{name}-{number}.json").write_text(json.dumps(trace))


def run(folder, order, before=None, *arguments, **options):
    write(folder, order, **options)
    compared = ["--baseline", str(before.folder / "baseline.zip")] if before else []
    return evalgate(folder, ["suite.yaml", *compared, *arguments, "--commit", COMMIT])


@pytest.fixture
def wrong(tmp_path):
    """A run that a comparison found to be wrong, as a baseline."""
    return run(tmp_path / "wrong", "B2002", run(tmp_path / "right", "A1001"))


def verb(folder, *arguments):
    shell = Shell(io.StringIO(), io.StringIO(), {}, str(folder))
    assert main(arguments, shell) == 0, shell.err.getvalue()
    return shell.out.getvalue()


def kept(done):
    return [each.get("unasked") for each in done.results["suites"][0]["scenarios"]]


def first_line(text):
    return next(line for line in text.splitlines() if line.startswith("## "))


def test_the_run_that_finds_it_names_the_difference_alone(wrong):
    found = {"tool": "issue_refund", "argument": "order_id", "value": "B2002", "asked": "A1001", "trials": 2, "of": 2}
    assert kept(wrong) == [[found]]
    assert "issue_refund.order_id: A1001 -> B2002 in 2 of 2, though A1001 was asked for" in wrong.stdout
    assert "still calls" not in wrong.stdout + wrong.text("comment.md")


def test_every_report_of_a_later_run_names_it_and_nothing_else_changes(wrong, tmp_path):
    later = run(tmp_path / "later", "B2002", wrong)
    (fact,) = kept(later)[0]
    assert (fact["since"], fact["trials"], later.code) == (COMMIT, 2, 0)
    assert f"{SINCE}. Fix the agent, or name the value in a check if it is right." in later.stdout.splitlines()
    comment = later.text("comment.md")
    assert first_line(comment).startswith("## ✅ EvalGate passed: ")
    line = "` refund-0 ` still calls ` issue_refund ` with ` order_id ` ` B2002 `, though ` A1001 ` was asked for"
    assert f"\nNot as asked: {line} (since ` {COMMIT[:7]} `). Fix the agent" in comment.partition("<details>")[0]
    assert line in later.text("summary.md")
    folder = later.folder.parent
    verb(folder, "view")
    page = (later.folder / "report.html").read_text()
    words = " ".join(html.unescape(re.sub(r"<[^>]*>", "", page)).split())
    assert words.count(OF_ONE) == 2, "of the run, and of the scenario"
    explained = " ".join(verb(folder, "explain", "refund-0").split())
    assert f"{OF_ONE} if that is right, add a check that names the value" in explained
    assert SINCE in verb(tmp_path, "compare", "wrong/.evalgate", "later/.evalgate")


def test_it_goes_on_from_baseline_to_baseline_until_it_is_mended(wrong, tmp_path):
    later = run(tmp_path / "later", "B2002", wrong)
    again = run(tmp_path / "again", "B2002", later, trials=1)
    assert SINCE in again.stdout, "of one trial"
    corrected = run(tmp_path / "corrected", "A1001", again, trials=2)
    assert "issue_refund.order_id: B2002 -> A1001 (one trial), as was asked for" in corrected.stdout
    assert kept(corrected) == [None]
    after = run(tmp_path / "after", "A1001", corrected)
    assert "asked for" not in after.stdout + after.text("comment.md")


def test_a_revert_is_seen_to_be_what_was_asked_for(wrong, tmp_path):
    corrected = run(tmp_path / "corrected", "A1001", wrong)
    heading = first_line(corrected.text("comment.md"))
    assert heading.startswith("## 🟡 EvalGate passed: scenario ` refund-0 ` acts differently: ")
    assert "` B2002 ` → ` A1001 ` in 2 of 2, as was asked for; the only scenario passes" in heading
    comment = corrected.text("comment.md")
    assert "\nThe baseline did not do what was asked for, and this run does.\n" in comment
    assert "If this is wrong" not in comment


def test_another_request_ends_it_and_so_does_a_check_that_names_the_value(wrong, tmp_path):
    asked = run(tmp_path / "asked", "B2002", wrong, user="Refund order B2002, please.")
    check = ', {path: "tool_calls[0].arguments.order_id", eq: B2002}'
    wanted = run(tmp_path / "wanted", "B2002", wrong, check=check)
    assert kept(asked) + kept(wanted) == [None, None]
    assert "asked for" not in asked.stdout + wanted.stdout


def test_it_is_kept_while_the_scenario_breaks_and_the_difference_of_calls_says_which_side_is_wrong(wrong, tmp_path):
    broken = run(tmp_path / "broken", "C3003", wrong, answer="No.")
    for path in (tmp_path / "broken/traces").iterdir():
        trace = json.loads(path.read_text())
        path.write_text(json.dumps({**trace, "messages": [trace["messages"][0], trace["messages"][3]]}))
    broken = evalgate(tmp_path / "broken", broken.arguments)
    assert kept(broken)[0][0]["trials"] == 0
    assert "still calls" not in broken.stdout + broken.text("comment.md")
    words = (
        "In the baseline (the lines with a minus) it calls issue_refund with order_id B2002, though A1001 was asked for"
    )
    assert words in broken.text("comment.md").replace("` ", "").replace(" `", "")
    folder = broken.folder.parent
    assert words in " ".join(verb(folder, "explain", "refund-0").split())
    assert f"asked: {words}" in verb(folder, "explain", "refund-0", "--for-agent")
    assert SINCE in run(tmp_path / "after", "B2002", broken).stdout


def test_of_many_scenarios_three_are_named(tmp_path):
    right = run(tmp_path / "right", "A1001", scenarios=5)
    later = run(tmp_path / "later", "B2002", run(tmp_path / "wrong", "B2002", right, scenarios=5), scenarios=5)
    (line,) = [each for each in later.text("comment.md").splitlines() if "still calls" in each]
    assert (line.count("still calls"), "; 2 more scenarios like them. Fix" in line) == (3, True)


def test_a_baseline_of_before_says_nothing(wrong, tmp_path):
    path = wrong.folder / "baseline.zip"
    rewrite(path, lambda scenario: scenario.pop("unasked"))
    later = run(tmp_path / "later", "B2002", wrong)
    assert (kept(later), "asked for" in later.stdout) == ([None], False)


def rewrite(path, change):
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    results = json.loads(parts["results.json"])
    change(results["suites"][0]["scenarios"][0])
    parts["results.json"] = json.dumps(results).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


FACT = {"tool": "issue_refund", "argument": "order_id", "value": "B2002", "asked": "A1001", "trials": 2, "of": 2}


@pytest.mark.parametrize(
    "lie", [None, {}, "x", [1], [{**FACT, "value": 5}], [{**FACT, "trials": -1}], [{**FACT, "since": {}}]]
)
def test_a_baseline_with_other_types_is_refused(wrong, tmp_path, lie):
    rewrite(wrong.folder / "baseline.zip", lambda scenario: scenario.update(unasked=lie))
    later = run(tmp_path / "later", "B2002", wrong)
    assert later.code == 2
    assert "suites[0].scenarios[0].unasked" in later.stdout + later.stderr


def test_a_baseline_that_lies_at_length_changes_no_verdict_and_is_bounded(wrong, tmp_path):
    markup = "</details><script>@everyone"
    lies = [{**FACT, "tool": markup * 1_000, "since": markup}] * 5_000 + [{**FACT, "value": markup, "asked": markup}]
    rewrite(wrong.folder / "baseline.zip", lambda scenario: scenario.update(unasked=lies))
    later = run(tmp_path / "later", "B2002", wrong)
    assert (later.code, kept(later)) == (0, [None])
    failing = run(tmp_path / "failing", "B2002", wrong, answer="No.")
    assert len(kept(failing)[0]) == 20
    assert len(json.dumps(kept(failing))) < 20_000
    assert markup not in failing.text("comment.md")


def test_merged_shards_keep_it_and_find_it(wrong, tmp_path):
    for before in (wrong.folder, tmp_path / "right/.evalgate"):
        folder = tmp_path / f"of-{before.parent.name}"
        write(folder, "B2002", scenarios=2)
        flags = ["--baseline", str(before / "baseline.zip"), "--commit", COMMIT]
        for number in (1, 2):
            shard = ["--shard", f"{number}/2", "--output-dir", f"s{number}"]
            code, output = run_command(folder, "run", "suite.yaml", *flags, *shard)
            assert code == 0, output
        code, output = run_command(
            folder, "merge", "s1", "s2", "--config", "suite.yaml", *flags, "--output-dir", "merged"
        )
        assert code == 0, output
        whole = evalgate(folder, ["suite.yaml", *flags])
        (scenario, _) = json.loads((folder / "merged/results.json").read_text())["suites"][0]["scenarios"]
        assert scenario["unasked"] == kept(whole)[0]
        assert len(scenario["unasked"]) == 1
