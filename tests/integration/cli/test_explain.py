"""`evalgate explain` on the bundled example, as after `make demo`."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from documents import ROOT

from evalgate.cli import main
from evalgate.cli.shell import Shell

SUITE = str(ROOT / "examples/support-agent/evals/support.yaml")
TRACES = str(ROOT / "examples/support-agent/traces")


def evalgate(folder: Path, *words: str, tty: bool = False) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    out.isatty = lambda: tty  # type: ignore[method-assign]
    code = main(words, Shell(out, err, {"SOURCE_DATE_EPOCH": "1767323045"}, str(folder)))
    return code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Main's baseline in `main`, the pull request's run in the default folder, and one without a baseline."""
    folder = tmp_path_factory.mktemp("demo")
    main_traces, traces = f"{TRACES}/main/*.jsonl", f"{TRACES}/pr/*.jsonl"
    assert evalgate(folder, "run", SUITE, "-q", "--traces", main_traces, "--output-dir", "main")[0] == 0
    assert evalgate(folder, "run", SUITE, "-q", "--traces", traces, "--baseline", "main/baseline.zip")[0] == 1
    assert evalgate(folder, "run", SUITE, "-q", "--traces", traces, "--output-dir", "alone")[0] == 1
    return folder


DIFFERENCE = """\
Difference from the baseline (trial 0 there, trial 0 here)
  the first difference is call 2 of the baseline in turn 1, which is missing
  turn 1
      1 lookup_order {"order_id":"A1002"}
    - 2 check_refund_policy {"order_id":"A1002"}
    + 2 issue_refund {"amount":34.0,"order_id":"A1002"}
"""


def test_the_example_is_explained_from_what_its_run_left(demo: Path) -> None:
    code, out, err = evalgate(demo, "explain", "refund-outside-window")
    assert (code, err) == (0, "")
    glance, difference, *_, repeat = out.split("\n\n")
    assert glance.startswith("HARD FAIL  refund-outside-window\n  suite    support (")
    assert "  why      no refund (4 of 4 trials): issue_refund must not be called, but was (call 2)\n" in glance
    assert "  change   broken: passed 4 of 4 before, 0 of 4 now\n" in glance
    assert difference.startswith(DIFFERENCE)
    assert "{+Done: $34.00" in difference
    assert "\n  trials 1, 2 and 3 failed in the same checks\n" in out
    assert 'call 2 issue_refund: order_id "A1002" from user' in out
    assert out.count("\n") <= 42
    assert evalgate(demo, "explain", "refund-outside-window", "--all")[1].count("  trial ") == 4
    assert repeat.startswith("To reproduce the run\n  evalgate run ")


def test_a_run_that_was_not_compared_is_compared_when_asked_about(demo: Path) -> None:
    alone = ["explain", "refund-outside-window", "--results", "alone/results.json"]
    assert "  change   not compared;" in evalgate(demo, *alone)[1]
    code, out, err = evalgate(demo, *alone, "--baseline", "main/baseline.zip")
    assert (code, err) == (0, "")
    assert DIFFERENCE in out


def test_results_alone_give_names_and_say_what_is_missing(demo: Path) -> None:
    copied = demo / "elsewhere"
    copied.mkdir(exist_ok=True)
    (copied / "results.json").write_bytes((demo / "alone" / "results.json").read_bytes())
    words = [
        "explain",
        "refund-in-window",
        "--results",
        "elsewhere/results.json",
        "--baseline",
        "main/baseline.zip",
    ]
    code, out, err = evalgate(demo, *words)
    assert code == 0
    assert err == (
        "warning: arguments and answers are not compared: baseline.zip next to these results holds no trace of it\n"
    )
    assert "  - check_refund_policy\n" in out


def test_a_scenario_inconclusive_says_how_many_trials_it_needs(demo: Path) -> None:
    out = evalgate(demo, "explain", "where-is-my-order", "--suite", "support")[1]
    assert "may be chance" in out
    assert "Boschloo's test, p 0.727" in " ".join(out.split())


def test_the_only_scenario_that_fails_needs_no_name(demo: Path) -> None:
    one = ["--scenario", "refund-outside-window", "--output-dir", "one"]
    assert evalgate(demo, "run", SUITE, "-q", "--traces", f"{TRACES}/pr/*.jsonl", *one)[0] == 1
    _, named, _ = evalgate(demo, "explain", "refund-outside-window", "--results", "one")
    code, out, _ = evalgate(demo, "explain", "--results", "one")
    assert (code, out) == (0, named)
    assert "refund-outside-window" in out


def test_without_a_name_what_acts_differently_is_explained_where_all_pass(demo: Path) -> None:
    (demo / "other").mkdir(exist_ok=True)
    for path in Path(f"{TRACES}/main").iterdir():
        text = path.read_text(encoding="utf-8").replace("scripted-small-1", "scripted-small-2")
        (demo / "other" / path.name).write_text(text, encoding="utf-8")
    run = ["run", SUITE, "-q", "--traces", "other/*.jsonl", "--baseline", "main/baseline.zip", "--output-dir", "yellow"]
    assert evalgate(demo, *run)[0] == 0
    code, out, err = evalgate(demo, "explain", "yellow")
    assert (code, err) == (0, "")
    assert out.count("\nPASS  ") == 2  # and one at the beginning
    assert "\n\n5 more scenarios act differently (evalgate explain SCENARIO): " in out
    assert evalgate(demo, *run, "--scenario", "not-our-business")[0] == 0
    code, out, err = evalgate(demo, "explain", "yellow")
    assert (code, err) == (0, "")
    assert out.startswith("PASS  not-our-business\n")
    assert "scripted-small-2" in out


def test_a_run_in_which_nothing_fails_or_differs_says_so_in_one_line(demo: Path) -> None:
    passed = "all 8 scenarios pass, cancel-before-shipping with checks that did not pass"
    line = f"EvalGate passed: {passed} (evalgate explain SCENARIO explains one)\n"
    assert evalgate(demo, "explain", "main") == (0, line, "")


def test_a_passing_scenario_is_explained_too(demo: Path) -> None:
    code, out, _ = evalgate(demo, "explain", "not-our-business")
    assert code == 0
    assert "  why      every check passed\n" in out


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (
            ["refund-outside-windw"],
            "no suite of .evalgate/results.json has scenario `refund-outside-windw` (did you mean `refund-outside-window`?)",
        ),
        (["refund-in-window", "--suite", "suport"], "no suite `suport` (did you mean `support`?)"),
        (["refund-in-window", "--variant", "x"], "scenario `refund-in-window` has no variant `x` in these results"),
        (["refund-in-window", "--results", "gone.json"], "gone.json"),
        (["refund-in-window", "--baseline", "gone.zip"], "gone.zip"),
        ([], "scenarios do not pass or got worse (name one of them: "),
    ],
)
def test_what_can_not_be_looked_up_is_one_line_and_exit_code_two(demo: Path, words: list[str], part: str) -> None:
    code, out, err = evalgate(demo, "explain", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert part in err


def test_colours_appear_on_a_terminal_only(demo: Path) -> None:
    assert "\x1b[31m" in evalgate(demo, "explain", "refund-in-window", tty=True)[1]
    assert "\x1b" not in evalgate(demo, "explain", "refund-in-window")[1]


def test_results_and_comment_carry_the_difference(demo: Path) -> None:
    results = json.loads((demo / ".evalgate" / "results.json").read_bytes())
    changes = {each["id"]: each["change"].get("behaviour") for each in results["suites"][0]["scenarios"]}
    assert {id_ for id_, behaviour in changes.items() if behaviour} == {
        "refund-in-window",
        "refund-outside-window",
        "refund-needs-human",
        "order-number-missing",
        "where-is-my-order",
    }
    comment = (demo / ".evalgate" / "comment.md").read_text(encoding="utf-8")
    assert '+ issue_refund {"amount":34.0,"order_id":"A1002"}\n' in comment
    assert "- I am sorry: refunds end 30 days after delivery.\n" in comment


def test_the_verb_as_a_process(demo: Path) -> None:
    command = [sys.executable, "-m", "evalgate", "explain", "refund-in-window"]
    done = subprocess.run(command, cwd=demo, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("FAIL  refund-in-window\n")
