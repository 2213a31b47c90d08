"""A scenario that passes and acts differently is named in every report, and blocks where a policy asks for that."""

import html
import io
import json
import re

import pytest
from command import evalgate

from evalgate.cli import main
from evalgate.cli.shell import Shell

SUITE = """version: 1
suite: trips
traces: ["traces/*.json"]
scenarios:
  - {id: book, assertions: [{type: tool_called, tool: book_flight, required: true}]}
"""
KEY = "ghp_" + "a1B2" * 9
LINE = "book_flight.flight_id: TP533 -> TP534 in 3 of 3"


def write(folder, flight, trials=3):
    (folder / "traces").mkdir(parents=True)
    (folder / "suite.yaml").write_text(SUITE)
    for number in range(trials):
        call = {"id": "c1", "name": "book_flight", "arguments": {"flight_id": flight}}
        messages = [
            {"role": "user", "content": f"a flight, please; my key is {KEY}"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "booked"},
            {"role": "assistant", "content": "Done."},
        ]
        trace = {"schema": "evalgate.trace/1", "scenario_id": "book", "trial": number, "messages": messages}
        (folder / f"traces/{number}.json").write_text(json.dumps(trace))


def run(folder, flight, *arguments, trials=3):
    write(folder, flight, trials)
    return evalgate(folder, ["suite.yaml", *arguments])


@pytest.fixture
def compared(tmp_path):
    base = run(tmp_path / "base", "TP533")
    return run(tmp_path / "head", "TP534", "--baseline", str(base.folder / "baseline.zip"))


def verb(folder, *arguments):
    shell = Shell(io.StringIO(), io.StringIO(), {}, str(folder))
    assert main(arguments, shell) == 0, shell.err.getvalue()
    return shell.out.getvalue()


def test_terminal_comment_results_and_page_name_it(compared):
    assert compared.code == 0
    assert f"acts differently: book: {LINE}" in compared.stdout
    comment = compared.text("comment.md")
    assert "<summary>Passing, but acting differently (1)</summary>" in comment
    assert "- ` book ` ` book_flight.flight_id `: ` TP533 ` → ` TP534 ` in 3 of 3" in comment
    assert comment.count("Asked: ` a flight, please; my key is [redacted: GitHub token] `") == 1
    (scenario,) = compared.results["suites"][0]["scenarios"]
    assert scenario["differences"] == [
        {
            "kind": "argument",
            "what": "book_flight.flight_id",
            "before": "TP533",
            "now": "TP534",
            "trials_before": 3,
            "trials": 3,
        }
    ]
    verb(compared.folder.parent, "view")
    page = (compared.folder / "report.html").read_text()
    words = " ".join(html.unescape(re.sub(r"<[^>]*>", "", page)).split())
    assert f"acts differently: {LINE}" in words
    assert "no verdict changed" in page


def test_explain_and_compare_give_the_same_line(compared, tmp_path):
    folder = compared.folder.parent
    assert LINE in verb(folder, "explain", "book")
    assert LINE in verb(tmp_path, "compare", "base/.evalgate", "head/.evalgate")
    assert LINE in verb(folder, "explain", "book", "--baseline", "../base/.evalgate/baseline.zip")


def test_explain_compares_the_calls_with_the_baseline_that_the_run_had(compared):
    folder = compared.folder.parent
    difference = '    ~ 1 book_flight\n        ~ flight_id: "TP533" -> "TP534"\n'
    assert difference in verb(folder, "explain", "book")
    for_agent = verb(folder, "explain", "book", "--for-agent")
    assert f"differs: {LINE}\n" in for_agent
    assert 'now: book_flight(flight_id: "TP534")' in for_agent
    run(folder.parent / "base/again", "TP999", "--output-dir", "../.evalgate")  # another baseline has its place
    assert difference not in verb(folder, "explain", "book")


def write_two(folder, flight):
    """Two scenarios of two trials that book `flight`."""
    write(folder, flight, 4)
    (folder / "suite.yaml").write_text(SUITE + SUITE.splitlines()[-1].replace("book,", "book-again,") + "\n")
    for number in (2, 3):
        file = folder / f"traces/{number}.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"scenario_id": "book-again"}))
    return evalgate(folder, ["suite.yaml", *(() if flight == "TP533" else ("--baseline", "../base/.evalgate"))])


def test_explain_without_a_name_explains_what_acts_differently(tmp_path):
    write_two(tmp_path / "base", "TP533")
    write_two(tmp_path / "head", "TP534")
    out = verb(tmp_path / "head", "explain")
    assert out.count("book_flight.flight_id: TP533 -> TP534 in 2 of 2") == 2
    assert [line for line in out.splitlines() if line.startswith("PASS")] == ["PASS  book", "PASS  book-again"]
    against = verb(tmp_path / "head", "explain", "--baseline", "../base/.evalgate")
    assert against.count("book_flight.flight_id: TP533 -> TP534 in 2 of 2") == 2
    assert "PASS  book-again" not in verb(tmp_path / "head", "explain", "--variant", "none")


def test_a_yellow_comment_names_the_commands_that_explain_and_show(compared):
    _, _, reproduce = compared.text("comment.md").partition("<summary>Reproduce and explain in a shell</summary>")
    assert "\nevalgate explain book\nevalgate show traces/0.json\n" in reproduce


def test_explain_without_a_name_claims_nothing_of_a_run_that_was_not_compared(tmp_path):
    run(tmp_path / "base", "TP533")
    run(tmp_path / "head", "TP534")
    hint = "(evalgate explain SCENARIO explains one)"
    assert verb(tmp_path / "head", "explain") == f"EvalGate passed: the only scenario passes {hint}\n"
    assert LINE in verb(tmp_path / "head", "explain", "--baseline", "../base/.evalgate")
    run(tmp_path / "same", "TP533", "--baseline", "../base/.evalgate")
    out = verb(tmp_path / "same", "explain")
    assert out.startswith(
        "EvalGate passed: nothing new was recorded (all 3 traces are the same as those of the baseline); to judge"
    )
    assert out.count("\n") == 1


def test_explain_without_a_name_explains_a_scenario_that_passes_and_fails_the_gate_by_its_cost(tmp_path):
    suite = SUITE + "policy: {fail_on: [regression], regression: {cost: {max_increase: 0.2}}}\n"
    for side, cost in {"base": 0.01, "head": 0.05}.items():
        write(tmp_path / side, "TP533")
        (tmp_path / side / "suite.yaml").write_text(suite)
        for file in (tmp_path / side / "traces").iterdir():
            file.write_text(json.dumps(json.loads(file.read_text()) | {"cost_usd": cost}))
    base = evalgate(tmp_path / "base", ["suite.yaml"])
    assert evalgate(tmp_path / "head", ["suite.yaml", "--baseline", str(base.folder / "baseline.zip")]).code == 1
    assert "  why      cost +400% (limit +20%)\n" in verb(tmp_path / "head", "explain")


HOSTILE = "x`\x1b[31m\u202e<img src=x>|]("


def test_another_value_that_the_run_leaves_is_the_same_line_in_every_report(tmp_path):
    for side, status in {"base": "shipped", "head": "refunded"}.items():
        write(tmp_path / side, "TP533")
        for file in (tmp_path / side / "traces").iterdir():
            before = {"orders": {"A7": {"status": "paid"}, HOSTILE: {"status": "paid"}}}
            after = {
                "orders": {"A7": {"status": status}, HOSTILE: {"status": status if status != "shipped" else "paid"}}
            }
            trace = json.loads(file.read_text()) | {"state": {"before": before, "after": after}}
            file.write_text(json.dumps(trace))
    base = evalgate(tmp_path / "base", ["suite.yaml"])
    head = evalgate(tmp_path / "head", ["suite.yaml", "--baseline", str(base.folder / "baseline.zip")])
    line = 'state orders.A7.status: "shipped" -> "refunded" in 3 of 3'
    assert head.code == 0
    assert f"acts differently: book: {line}" in head.stdout
    assert "the same as in the baseline" not in head.stdout
    comment = head.text("comment.md")
    assert "<summary>Passing, but acting differently (2)</summary>" in comment
    assert '- ` book ` state ` orders.A7.status `: ` "shipped" ` \u2192 ` "refunded" ` in 3 of 3' in comment
    assert [each["kind"] for each in head.results["suites"][0]["scenarios"][0]["differences"]] == ["state", "state"]
    verb(tmp_path / "head", "view")
    page = (head.folder / "report.html").read_text()
    assert f"acts differently: {line}" in " ".join(html.unescape(re.sub(r"<[^>]*>", "", page)).split())
    explained = verb(tmp_path / "head", "explain", "book")
    compared = verb(tmp_path, "compare", "base/.evalgate", "head/.evalgate")
    assert line in explained
    assert line in compared
    for text in (head.stdout, comment, page, explained, compared):
        assert not {"\x1b", "\u202e"} & {*text}
    assert "<img" not in page


def test_an_answer_that_lost_its_values_is_shown_beside_that_of_the_baseline_in_every_report(tmp_path):
    answers = {
        "base": "It is booked: TP533, for 120 EUR.",
        "head": f"Sorry, I can't book it.\n\n## {HOSTILE.replace('31', '')}\n{'x ' * 200}",
    }
    for side, answer in answers.items():
        write(tmp_path / side, "TP533")
        for number, file in enumerate(sorted((tmp_path / side / "traces").iterdir())):
            trace = json.loads(file.read_text())
            trace["messages"][-1]["content"] = answer.replace("it", ("it", "this", "that")[number])
            file.write_text(json.dumps(trace))
    base = evalgate(tmp_path / "base", ["suite.yaml"])
    head = evalgate(tmp_path / "head", ["suite.yaml", "--baseline", str(base.folder / "baseline.zip")])
    [found] = head.results["suites"][0]["scenarios"][0]["differences"]
    assert (found["kind"], found["example"]["before"]) == ("literals", answers["base"])
    gone = "no longer in the answer: TP533, \u20ac120 in 3 of 3"
    line = f"{gone}; for example: {answers['base']} -> Sorry, I can't book it."
    verb(tmp_path / "head", "view")
    page = (head.folder / "report.html").read_text()
    explained = verb(tmp_path / "head", "explain", "book")
    compared = verb(tmp_path, "compare", "base/.evalgate", "head/.evalgate")
    plain = (html.unescape(re.sub(r"<[^>]*>", "", page)), explained, compared, head.stdout)
    assert [line in " ".join(each.split()) for each in plain] == [True] * 4
    comment = head.text("comment.md")
    assert f"for example: ` {answers['base']} ` \u2192 `` Sorry, I can't book it." in comment
    end = found["example"]["now"].rpartition("x")[2]
    assert end.endswith(" more characters)")
    assert [end in each for each in (*plain, comment)] == [True] * 5  # so they are not cut once more
    assert "example" not in comment.splitlines()[1]
    assert not re.search(r"^\W*##? x", comment, re.MULTILINE)
    for text in (*plain, comment):
        assert not {"\x1b", "\u202e"} & {*text}
    assert "<img" not in page


def test_behaviour_changed_blocks_where_it_is_asked_for(tmp_path):
    base = run(tmp_path / "base", "TP533")
    arguments = ["--baseline", str(base.folder / "baseline.zip"), "--fail-on", "hard_fail,behaviour_changed"]
    assert run(tmp_path / "same", "TP533", *arguments).code == 0
    ran = run(tmp_path / "head", "TP534", *arguments)
    assert ran.code == 1
    assert [each["code"] for each in ran.results["reasons"]] == ["behaviour_changed"]


@pytest.mark.parametrize("fail_on", ["behaviour_changed", "hard_fail"])
def test_a_baseline_without_traces_is_named_where_a_change_would_block(tmp_path, fail_on):
    base = run(tmp_path / "base", "TP533")
    ran = run(tmp_path / "head", "TP534", "--baseline", str(base.folder / "results.json"), "--fail-on", fail_on)
    warning = "what the agent did in 1 scenario was not compared with the baseline: it does not hold all traces of them"
    assert (ran.code, warning in ran.stdout + ran.stderr) == (0, fail_on == "behaviour_changed")


def test_one_trial_is_marked_as_such(tmp_path):
    base = run(tmp_path / "base", "TP533", trials=1)
    ran = run(tmp_path / "head", "TP534", "--baseline", str(base.folder / "baseline.zip"), trials=1)
    assert "TP533 -> TP534 (one trial)" in ran.stdout


def test_workers_give_the_same(tmp_path):
    base = run(tmp_path / "base", "TP533")
    baseline = ["--baseline", str(base.folder / "baseline.zip")]
    one = run(tmp_path / "one", "TP534", *baseline)
    two = run(tmp_path / "two", "TP534", *baseline, "--jobs", "2")
    assert one.results["suites"] == two.results["suites"]


def test_an_argument_from_another_source_is_shown_where_a_check_asks_for_sources(tmp_path):
    for side, role in {"base": "user", "head": "system"}.items():
        write(tmp_path / side, "TP533")
        suite = SUITE.replace("[{", "[{type: grounded_arguments, tools: [book_flight]}, {")
        (tmp_path / side / "suite.yaml").write_text(suite)
        for file in (tmp_path / side / "traces").iterdir():
            trace = json.loads(file.read_text())
            trace["messages"].insert(0, {"role": role, "content": "Flights to Rome are TP533."})
            file.write_text(json.dumps(trace))
    base = evalgate(tmp_path / "base", ["suite.yaml"])
    line = "book_flight.flight_id came from the user in all trials of the baseline, now from the instructions in 3 of 3"
    ran = evalgate(tmp_path / "head", ["suite.yaml", "--baseline", str(base.folder / "baseline.zip")])
    assert ran.code == 0
    assert f"acts differently: book: {line}" in ran.stdout
    assert " ".join(line.split()) in " ".join(verb(tmp_path / "head", "explain", "book").split())
    assert line in verb(tmp_path, "compare", "base/.evalgate", "head/.evalgate")


@pytest.mark.shared
@pytest.mark.parametrize(
    ("traces", "kind"), [("traces-wrongarg", "argument"), ("traces-answer", "literals"), ("traces-late", "status")]
)
def test_the_breaks_of_the_first_hour_are_shown(shared, tmp_path, traces, kind):
    case = shared / "cases/first-hour"
    suite = (case / "evals/travel.yaml").read_text().split("scenarios:")[0]
    suite += "scenarios: [{id: book, assertions: [{type: not_empty}]}]\n"
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals/suite.yaml").write_text(suite)
    (tmp_path / "case").symlink_to(case)
    base = evalgate(tmp_path, ["evals/suite.yaml", "--traces", "case/traces-main/book/*.jsonl"])
    (base.folder / "baseline.zip").rename(tmp_path / "base.zip")
    ran = evalgate(tmp_path, ["evals/suite.yaml", "--traces", f"case/{traces}/book/*.jsonl", "--baseline", "base.zip"])
    (scenario,) = ran.results["suites"][0]["scenarios"]
    assert [each["kind"] for each in scenario["differences"]] == [kind]


def test_the_same_recordings_are_compared_without_the_traces_of_the_baseline(tmp_path):
    write(tmp_path, "TP533", trials=1)
    suite = (tmp_path / "suite.yaml").read_text() + "policy: {fail_on: [behaviour_changed]}\n"
    (tmp_path / "suite.yaml").write_text(suite)
    evalgate(tmp_path, ["suite.yaml"])
    (tmp_path / ".evalgate/results.json").rename(tmp_path / "base.json")  # results without traces
    same = evalgate(tmp_path, ["suite.yaml", "--baseline", "base.json"])
    assert "was not compared" not in same.text("comment.md")
    [trace] = (tmp_path / "traces").iterdir()
    trace.write_text(trace.read_text() + " ")  # the same run in other bytes is read again
    assert "was not compared" in evalgate(tmp_path, ["suite.yaml", "--baseline", "base.json"]).text("comment.md")
