"""Goldens from a suite to the comment: read, judged, compared, decided, shown, and read back."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from command import evalgate
from documents import ROOT

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.suites import SuiteFiles
from evalgate.application.documents.golden_documents import evaluations_of, goldens_of
from evalgate.application.documents.run_documents import run_of
from evalgate.cli import main
from evalgate.cli.shell import Shell
from evalgate.errors import SettingError, SuiteError
from evalgate.reporting.results.load_results import load_results

if TYPE_CHECKING:
    from pathlib import Path

HELLO = {"id": "hello", "user_messages": ["Hello"], "golden_responses": ["Hello! How can I help?"]}
REFUND = {
    "id": "refund",
    "user_messages": ["Late, order 42.", "Yes please."],
    "golden_responses": ["Sorry. Refund it?", "Done."],
    "required_tool_usage": ["lookup@1", "refund@2"],
}
ASKED = {"role": "user", "content": "Late, order 42."}
TALK = [
    ASKED,
    {"role": "assistant", "tool_calls": [{"id": "a", "name": "lookup", "arguments": {}}]},
    {"role": "tool", "tool_call_id": "a", "content": "late"},
    {"role": "assistant", "content": "Sorry. Refund it?"},
    {"role": "user", "content": "Yes please."},
    {"role": "assistant", "tool_calls": [{"id": "b", "name": "refund", "arguments": {}}]},
    {"role": "tool", "tool_call_id": "b", "content": "ok"},
    {"role": "assistant", "content": "Done."},
]
NO_REFUND = [*TALK[:5], TALK[7]]
GREETING = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello! How can I help?"}]


def write(folder: Path, name: str, content: Any) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def trace(folder: Path, scenario: str, messages: list[dict[str, Any]], name: str = "", **fields: Any) -> None:
    record = {"schema": "evalgate.trace/1", "scenario_id": scenario, "messages": messages, **fields}
    write(folder, f"traces/{name or scenario}.json", record)


def suite(folder: Path, *goldens: Any, **fields: Any) -> None:
    document = {"version": 1, "suite": "s", "traces": ["traces/*.json"], "goldens": list(goldens), **fields}
    write(folder, "suite.yaml", yaml.safe_dump(document))


def run(folder: Path, *arguments: str):
    return evalgate(folder, ["suite.yaml", *arguments])


def the(ran, scenario: str) -> dict[str, Any]:
    return next(each for each in ran.results["suites"][0]["scenarios"] if each["id"] == scenario)


def mistakes(folder: Path) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        SuiteFiles(Workspace(None, str(folder))).load(["suite.yaml"])
    return [str(problem) for problem in caught.value.problems]


# Verdicts


def test_golden_that_holds__passes(tmp_path):
    suite(tmp_path, REFUND)
    trace(tmp_path, "refund", TALK)
    ran = run(tmp_path)
    found = the(ran, "refund")
    assert (ran.code, found["verdict"], found["score"], found["threshold"]) == (0, "PASS", 1.0, 0.85)
    assert found["dimensions"]["tool_success_rate"] == found["dimensions"]["response_completeness"] == 1.0
    assert found["dimensions"]["tone_adherence"] is None
    assert found["golden"]["level"] == "excellent"
    assert found["golden"]["regression_status"] == "pass"


@pytest.mark.parametrize(("score", "verdict"), [(0.88, "PASS"), (0.82, "FAIL"), (0.85, "PASS")])
def test_passing_score(tmp_path, score, verdict):
    suite(tmp_path, {"id": "judged"})
    names = ["identity_correctness", "memory_precision", "memory_recall", "tool_success_rate"]
    names += ["tone_adherence", "refusal_correctness", "factual_accuracy", "response_completeness"]
    trace(tmp_path, "judged", GREETING, scores=dict.fromkeys(names, score))
    found = the(run(tmp_path), "judged")
    assert (found["verdict"], found["score"]) == (verdict, score)


def test_nothing_to_judge__is_never_passed(tmp_path):
    suite(tmp_path, {"id": "empty", "title": "Says nothing"})
    trace(tmp_path, "empty", GREETING)
    ran = run(tmp_path)
    assert (ran.code, the(ran, "empty")["verdict"]) == (3, "NOT_EVALUABLE")
    assert the(ran, "empty")["golden"]["regression_status"] is None
    reason = "nothing could be evaluated: the trace has no evidence for any dimension of the golden"
    assert the(ran, "empty")["reason"] == reason


def test_golden_without_trace__is_missing(tmp_path):
    suite(tmp_path, REFUND, HELLO)
    trace(tmp_path, "hello", GREETING)
    ran = run(tmp_path)
    assert (ran.code, the(ran, "refund")["verdict"]) == (1, "MISSING")
    assert set(the(ran, "refund")["dimensions"].values()) == {None}


def test_required_assertion__makes_a_hard_fail_and_moves_no_score(tmp_path):
    suite(
        tmp_path,
        {**REFUND, "assertions": [{"not": {"type": "icontains", "value": "done"}, "required": True}]},
    )
    trace(tmp_path, "refund", TALK)
    found = the(run(tmp_path), "refund")
    assert (found["verdict"], found["score"]) == ("HARD_FAIL", 1.0)
    assert found["trials"][0]["assertions"][-1]["weight"] == 0


def test_assertion_for_a_dimension__is_its_score(tmp_path):
    checks = [{"type": "icontains", "value": word, "dimension": "tone_adherence"} for word in ("done", "sorry")]
    suite(tmp_path, {**REFUND, "assertions": checks})
    trace(tmp_path, "refund", TALK)
    assert the(run(tmp_path), "refund")["dimensions"]["tone_adherence"] == 0.5


def test_several_trials__are_their_mean_and_an_issue_of_all_is_one(tmp_path):
    suite(tmp_path, REFUND)
    trace(tmp_path, "refund", TALK, "one", trial=0)
    trace(tmp_path, "refund", NO_REFUND, "two", trial=1)
    trace(tmp_path, "refund", NO_REFUND, "three", trial=2)
    found = the(run(tmp_path), "refund")
    assert found["dimensions"]["tool_success_rate"] == pytest.approx(2 / 3)
    assert found["golden"]["turns"]["tool_success_rate"] == [1.0, pytest.approx(1 / 3)]
    assert found["golden"]["critical_issues"] == 1
    assert found["verdict"] == "PARTIAL"


def test_variants__each_judge_the_golden(tmp_path):
    variants = {name: {"match": {"path": f"traces/{name}.json"}} for name in ("flat", "deep")}
    suite(tmp_path, REFUND, variants=variants)
    trace(tmp_path, "refund", TALK, "flat")
    trace(tmp_path, "refund", NO_REFUND, "deep")
    scenarios = run(tmp_path).results["suites"][0]["scenarios"]
    assert {each["variant"]: each["verdict"] for each in scenarios} == {"flat": "PASS", "deep": "FAIL"}


# Critical issues


@pytest.mark.parametrize(("policy", "code"), [({}, 1), ({"critical_issue_threshold": 1}, 0)])
def test_more_critical_issues_than_allowed__are_a_hard_fail(tmp_path, policy, code):
    suite(tmp_path, {**REFUND, "passing_score": 0.5}, HELLO, policy=policy)
    trace(tmp_path, "refund", NO_REFUND)
    trace(tmp_path, "hello", GREETING)
    ran = run(tmp_path)
    assert (ran.code, the(ran, "refund")["verdict"]) == (code, "PASS")
    if code:
        (reason,) = ran.results["reasons"]
        assert (reason["code"], reason["suite"]) == ("hard_fail", "s")
        assert "refund, turn 2: `refund` was not called" in reason["message"]
        assert "goldens have too many critical issues" in ran.text("comment.md")


def test_critical_issues_of_the_baseline__are_not_a_new_hard_fail(tmp_path):
    suite(tmp_path, {**REFUND, "passing_score": 0.5})
    trace(tmp_path, "refund", NO_REFUND)
    run(tmp_path)
    write(tmp_path, "base.json", (tmp_path / ".evalgate/results.json").read_text())
    assert run(tmp_path, "--fail-on", "new_hard_fail", "--baseline", "base.json").code == 0
    assert run(tmp_path, "--fail-on", "new_hard_fail").code == 1


def test_golden_in_quarantine__counts_no_critical_issue(tmp_path):
    aside = [{"scenario": "refund", "reason": "known", "until": "2027-02-01"}]
    suite(tmp_path, {**REFUND, "passing_score": 0.5}, HELLO, quarantine=aside)
    trace(tmp_path, "refund", NO_REFUND)
    trace(tmp_path, "hello", GREETING)
    assert run(tmp_path).code == 0


# Against a baseline


def compared(tmp_path) -> Any:
    suite(tmp_path, REFUND, HELLO)
    trace(tmp_path, "refund", TALK)
    trace(tmp_path, "hello", GREETING)
    run(tmp_path)
    write(tmp_path, "base.json", (tmp_path / ".evalgate/results.json").read_text())
    trace(tmp_path, "refund", NO_REFUND)
    return run(tmp_path, "--baseline", "base.json")


def test_degradation__says_which_dimension_and_which_turn(tmp_path):
    golden = the(compared(tmp_path), "refund")["golden"]
    assert (golden["regression_status"], golden["previous_score"]) == ("degradation", 1.0)
    moves = {move["dimension"]: (move["before"], move["now"], move["delta"], move["turn"]) for move in golden["moves"]}
    assert moves == {"tool_success_rate": (1.0, 0.5, -0.5, 1)}


def test_comment_and_summary__show_dimensions_with_deltas(tmp_path):
    ran = compared(tmp_path)
    comment, summary = ran.text("comment.md"), ran.text("summary.md")
    assert "| tool success rate | 0.50 (\u22120.50) | failing | ` refund `, turn 2 | 1 of 2 |" in comment
    assert "tool success rate 0.50 (\u22120.50, turn 2) | 1 critical | turn 2: " in comment
    assert "` hello `" not in comment.partition("Golden conversations")[2].partition("</details>")[0]
    assert "| tool success rate | \u2588\u2588\u2588\u2588\u2588\u2591\u2591\u2591\u2591\u2591 | 0.50" in summary
    assert "| ` hello ` | \u2705\u00a0PASS |  | \u2588" in summary


def test_explain__shows_dimensions_and_issues(tmp_path):
    compared(tmp_path)
    ran = _shell(tmp_path, "explain", "refund")
    assert "failing, degradation" in ran or "fair, degradation" in ran or "poor, degradation" in ran
    assert re.search(r"tool success rate +\u2588{5}\u2591{5} 0.50 failing \(\u22120.50, turn 2\)", ran)
    assert re.search(r"critical +turn 2: `refund` was not called", ran)


def test_compare__shows_goldens_as_the_run_did(tmp_path):
    ran = compared(tmp_path)
    comparison = json.loads(_shell(tmp_path, "compare", "base.json", ".evalgate/results.json", "--json"))
    again = next(each for each in comparison["suites"][0]["scenarios"] if each["id"] == "refund")
    assert again["golden"] == the(ran, "refund")["golden"]
    assert again["dimensions"] == the(ran, "refund")["dimensions"]


def test_baseline_zip__keeps_goldens_of_files_and_shows_what_got_weaker(tmp_path):
    write(tmp_path, "goldens/refund.yaml", yaml.safe_dump(REFUND))
    suite(tmp_path, {"file": "goldens/*.yaml"})
    trace(tmp_path, "refund", TALK)
    run(tmp_path)
    (tmp_path / ".evalgate/baseline.zip").rename(tmp_path / "base.zip")
    weaker = {**REFUND, "required_tool_usage": ["lookup@1"], "passing_score": 0.5, "strict": False}
    write(tmp_path, "goldens/refund.yaml", yaml.safe_dump(weaker))
    trace(tmp_path, "refund", NO_REFUND)
    ran = run(tmp_path, "--baseline", "base.zip")
    weakenings = {(each["kind"], each["before"]) for each in ran.results["weakenings"]}
    assert weakenings >= {
        ("threshold_lowered", "threshold: 0.85"),
        ("check_removed", 'required_tool_usage: "refund@2"'),
    }
    cause = the(ran, "refund")["change"]["cause"]
    assert cause["now_by_old_rules"] == "FAIL"


# Documents


def test_results__are_read_back_as_the_run_they_describe(tmp_path):
    document = load_results(json.dumps(compared(tmp_path).results).encode())
    scenario = next(each for each in run_of(document).suites[0].scenarios if each.id == "refund")
    assert scenario.golden is not None
    assert scenario.golden.golden.required_tool_usage == ("lookup@1", "refund@2")
    assert scenario.golden.critical_issues == 1
    assert scenario.trials[0].golden.turns[1].golden_response == "Done."


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("dimensions", "tone_adherence"), 2.0),
        (("dimensions", "charm"), 0.5),
        (("golden", "issues"), [{"category": "tools", "severity": "dire", "message": "x"}]),
        (("golden", "turns"), {"tool_success_rate": "x"}),
        (("golden", "version"), "1"),
    ],
)
def test_results_with_other_goldens__are_refused(tmp_path, place, value):
    results = compared(tmp_path).results
    scenario = results["suites"][0]["scenarios"][0]
    scenario[place[0]] = {**scenario[place[0]], place[1]: value}
    with pytest.raises(SettingError, match=r"is not a valid evalgate\.results/1 document"):
        load_results(json.dumps(results).encode())


def test_evaluations__hold_all_that_a_store_keeps(tmp_path):
    document = load_results(json.dumps(compared(tmp_path).results).encode())
    refund, hello = evaluations_of(document, "run-1")
    assert (refund.golden_id, refund.suite, refund.run_id, hello.golden_id) == (
        "refund",
        "s",
        "run-1",
        "hello",
    )
    assert (refund.regression_status, refund.previous_score) == ("degradation", 1.0)
    assert (refund.statistics.total_turns, refund.statistics.critical_issue_count) == (2, 1)
    assert refund.statistics.pass_rate == 0.5
    assert refund.turns[0].tools_invoked == ("lookup",)
    assert refund.turns[1].issues[0].message == "`refund` was not called"
    assert [each.id for each in goldens_of(document)] == ["refund", "hello"]


def test_secrets_and_hostile_text__never_leave_their_spans(tmp_path):
    secret = "ghp_" + "a1B2" * 9
    hostile = f"<img src=x> @everyone | `tick` \u202e {secret}"
    suite(tmp_path, {"id": "x", "title": hostile, "user_messages": [hostile], "golden_responses": ["Fine."]})
    trace(tmp_path, "x", [{"role": "user", "content": hostile}, {"role": "assistant", "content": hostile}])
    ran = run(tmp_path)
    for name in ("results.json", "comment.md", "summary.md", "junit.xml"):
        assert secret not in ran.text(name)
        assert "\u202e" not in ran.text(name) or name == "results.json"
    assert secret not in ran.stdout + _shell(tmp_path, "explain", "x")


def test_shards__put_together_are_the_run(tmp_path):
    suite(tmp_path, REFUND, HELLO)
    trace(tmp_path, "refund", TALK[:4])  # a turn of the golden is missing
    trace(tmp_path, "hello", GREETING)
    whole = run(tmp_path).results
    for number in (1, 2):
        _shell(tmp_path, "run", "suite.yaml", "--shard", f"{number}/2", "--output-dir", f"s{number}")
    _shell(tmp_path, "merge", "s1", "s2", "--config", "suite.yaml", "--output-dir", "m")
    merged = json.loads((tmp_path / "m/results.json").read_bytes())
    assert merged["suites"] == whole["suites"]
    (trial,) = the(run(tmp_path), "refund")["trials"]
    assert [turn["is_missing"] for turn in trial["golden"]["turns"]] == [False, True]


# What a suite may say


@pytest.mark.parametrize(
    ("golden", "settings", "message"),
    [
        ({}, {"weights": {"tools": 0.5}}, "suite.yaml:2:3: the weights must sum to 1, not to 1.25"),
        ({}, {"passing_score": 2}, "`passing_score` must be at most 1"),
        ({}, {"warning_threshold": 0.9}, "is above `passing_score`"),
        ({}, {"pasing_score": 0.9}, "did you mean `passing_score`?"),
        ({"id": "a*"}, {}, "its `id` must not contain `*`"),
        ({"user_message": []}, {}, "did you mean `user_messages`?"),
        ({"required_tool_usage": ["lookup@3"]}, {}, "`lookup@3` refers to turn 3, but the golden has only 1"),
        ({"turn_weights": [1, 2]}, {}, "`turn_weights` has 2 entries for 1 turns"),
        ({"trials": {"min_pass_k": {"k": 3, "of": 2}}}, {}, "`k` must be at most `of`, and 3 is more than 2"),
        ({"turn_weights": [0]}, {}, "the weights of the turns sum to 0"),
        ({"assertions": [{"type": "not_empty"}]}, {}, "has no effect on a golden"),
        ({"assertions": [{"type": "not_empty", "dimension": "charm"}]}, {}, "`dimension` must be one of"),
        (
            {"assertions": [{"type": "not_empty", "dimension": "tone_adherence"}], "evaluate_tone": False},
            {},
            "which is not evaluated",
        ),
        (
            {f"evaluate_{name}": False for name in ("identity", "memory", "tools", "tone", "refusal", "accuracy",
                                                    "completeness")},
            {},
            "no dimension of golden `hello` is evaluated",
        ),
    ],
)  # fmt: skip
def test_errors__are_reported_with_their_location(tmp_path, golden, settings, message):
    suite(tmp_path, {**HELLO, **golden}, **({"golden": settings} if settings else {}))
    found = mistakes(tmp_path)
    assert any(message in line for line in found), found
    assert all(line.startswith("suite.yaml:") for line in found)


def test_dimension_outside_a_golden__is_an_error(tmp_path):
    check = {"type": "not_empty", "dimension": "tone_adherence"}
    suite(tmp_path, HELLO, scenarios=[{"id": "s", "assertions": [check]}])
    (line,) = mistakes(tmp_path)
    assert "but this is not a golden (remove `dimension`)" in line


def test_an_id_that_looks_like_a_scenarios__is_an_error(tmp_path):
    suite(tmp_path, HELLO, scenarios=[{"id": "h\u0435llo", "assertions": [{"type": "not_empty"}]}])
    assert ["`hello` looks like `h\u0435llo`" in line for line in mistakes(tmp_path)] == [True]


def test_one_id_twice__is_an_error(tmp_path):
    suite(tmp_path, HELLO, scenarios=[{"id": "hello", "assertions": [{"type": "not_empty"}]}])
    assert ["`hello` appears twice" in line for line in mistakes(tmp_path)] == [True]


def test_golden_settings_without_goldens__are_an_error(tmp_path):
    document = {"version": 1, "scenarios": [{"id": "s", "assertions": [{"type": "not_empty"}]}], "golden": {}}
    write(tmp_path, "suite.yaml", yaml.safe_dump(document))
    assert "`golden` is set, but the suite has no goldens" in mistakes(tmp_path)[0]


def test_near_misses_of_known_words__are_warnings(tmp_path):
    suite(
        tmp_path,
        {**HELLO, "primary_stance": "helpfull", "required_refusal": ["correct_refusl"], "intent": "mine"},
    )
    loaded = SuiteFiles(Workspace(None, str(tmp_path))).load(["suite.yaml"])
    assert [problem.hint for problem in loaded.warnings] == [
        "did you mean `helpful`?", "did you mean `correct_refusal`?",
    ]  # fmt: skip


def test_files_of_goldens__in_every_form(tmp_path):
    write(tmp_path, "g/one.yaml", yaml.safe_dump(HELLO))
    write(tmp_path, "g/two.json", [{**HELLO, "id": "b"}, {**HELLO, "id": "c"}])
    write(tmp_path, "g/three.yml", yaml.safe_dump({"goldens": [{**HELLO, "id": "d"}]}))
    lines = [json.dumps({**HELLO, "id": each, "title": "\U0001f600"}) for each in "ef"]
    write(tmp_path, "g/four.jsonl", "\n".join(lines) + "\n\n")
    suite(tmp_path, {"file": ["g/*.y*ml", "g/*.json", "g/*.jsonl"]}, {**HELLO, "id": "z"})
    loaded = SuiteFiles(Workspace(None, str(tmp_path))).load(["suite.yaml"])
    assert [each.id for each in loaded.suites[0].scenarios] == ["hello", "d", "b", "c", "e", "f", "z"]
    assert str(loaded.suites[0].scenarios[4].location) == "g/four.jsonl:1"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("g.jsonl", '{"id": "a"}\n{"id": "b", "id": "c"}', "g.jsonl:2: the key `id` appears twice"),
        ("g.jsonl", '{"id": NaN}', "g.jsonl:1: NaN"),
        ("g.jsonl", '{"id": "a"', "g.jsonl:1: invalid JSON document: it ends at column"),
        ("g.jsonl", "[" * 100_000, "g.jsonl:1: invalid JSON document"),
        ("g.yaml", "id: a\nid: b", "g.yaml:2:1: the key `id` appears twice"),
        ("g.yaml", "- 7", "g.yaml:1:3: "),
        ("g.yaml", "user_messages: [hi]", "g.yaml:1:1: `id` is missing"),
        ("g.yaml", "traces: [t]\ngoldens: [{id: a}]", "g.yaml:1:1: this is a suite, not a goldens file"),
        ("other.txt", "id: a", "suite.yaml:3:5: no goldens file matches 'g.*'"),
    ],
)
def test_errors_in_files_of_goldens__name_the_file(tmp_path, name, text, message):
    write(tmp_path, name, text)
    write(tmp_path, "suite.yaml", "version: 1\ngoldens:\n  - file: 'g.*'\ntraces: ['*.nothing']\n")
    found = mistakes(tmp_path)
    assert any(line.startswith(message) for line in found), found


def test_store_that_is_not_named__is_an_error(tmp_path):
    suite(tmp_path, {"store": {"tags": ["money"]}})
    assert "these goldens need a store, and none is configured" in mistakes(tmp_path)[0]


def test_suite_without_goldens__loads_nothing_of_them(tmp_path):
    import subprocess
    import sys

    write(tmp_path, "traces/a.json", {"schema": "evalgate.trace/1", "scenario_id": "a", "messages": GREETING})
    document = {
        "version": 1,
        "traces": ["traces/*.json"],
        "scenarios": [{"id": "a", "assertions": [{"type": "not_empty"}]}],
    }
    write(tmp_path, "suite.yaml", yaml.safe_dump(document))
    program = (
        "import sys; from evalgate.cli import main; from evalgate.cli.shell import Shell;"
        "code = main(['run', 'suite.yaml', '-q'], Shell(sys.stdout, sys.stderr, {}, '.'));"
        "print(code, [name for name in sys.modules if 'scoring.golden' in name or 'suite.golden' in name"
        " or name.endswith('models.run.evaluation')])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"


# The page


def page_block(language: str, number: int = 0) -> str:
    text = (ROOT / "docs/golden.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)[number]


def test_example_of_the_page__scores_as_it_says(tmp_path):
    write(tmp_path, "suite.yaml", page_block("yaml"))
    write(tmp_path, "traces/late.json", page_block("jsonc"))
    found = the(run(tmp_path), "late-parcel")
    text = (ROOT / "docs/golden.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]*) ?\| ([\d.]+) \| (.*?) ?\|$", text, re.MULTILINE)
    documented = {name: (score, float(weight), why) for name, score, weight, why in rows}
    assert documented.keys() == found["dimensions"].keys()
    for row in found["trials"][0]["assertions"]:
        score, weight, why = documented[row["name"]]
        assert row["weight"] == weight
        assert (f"{row['score']:.2f}" if row["outcome"] != "not_evaluable" else "") == score
        assert row["reason"].endswith(why)
    assert (f"{found['score']:.2f}", found["golden"]["level"]) == ("0.78", "fair")
    assert f"= {found['score']:.2f}, which is `{found['golden']['level']}`" in text


def test_tables_of_the_page__name_every_key():
    from evalgate.suite.golden_file import GoldenEntry, GoldenSettings

    text = (ROOT / "docs/golden.md").read_text(encoding="utf-8")
    for model, heading in (
        (GoldenEntry, "## A golden"),
        (GoldenSettings, "## How a suite judges its goldens"),
    ):
        section = text.split(f"\n{heading}\n")[1].split("\n## ")[0]
        for name in model.model_fields:
            assert f"`{name}`" in section or (model is GoldenSettings and name.startswith("evaluate_")), name


def test_settings_of_the_page__are_valid(tmp_path):
    write(tmp_path, "goldens/one.yaml", yaml.safe_dump(HELLO))
    write(tmp_path, "suite.yaml", page_block("yaml", 2))
    loaded = SuiteFiles(Workspace(None, str(tmp_path))).load(["suite.yaml"])
    assert loaded.suites[0].scenarios[0].threshold == 0.9


def _shell(folder: Path, *arguments: str) -> str:
    import io

    out, err = io.StringIO(), io.StringIO()
    main(list(arguments), Shell(out, err, {"SOURCE_DATE_EPOCH": "1800000000"}, str(folder)))
    return out.getvalue()
