"""`evalgate mutate`: the survivors in words, scores, bounds, workers and exit codes."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from evalgate.cli import main
from evalgate.cli.shell import Shell
from evalgate.measures.text.refusals import is_refusal

if TYPE_CHECKING:
    from pathlib import Path

SUITE = """version: 1
suite: shop
traces: ["traces/*.jsonl"]
scenarios:
  - id: refund
    threshold: 1.0
    assertions:
      - {type: tool_sequence, mode: exact, sequence: [lookup_order, {tool: issue_refund, args: {order: A-17}}]}
      - {type: max_tool_errors, max: 0}
      - {type: contains, value: refunded}
      - {type: cost_limit, max_usd: 0.02}
      - {type: latency_limit, max_seconds: 5}
"""


def make_trace(trial: int, answer: str = "Order A-17 is refunded.", scenario: str = "refund") -> dict[str, Any]:
    calls = [("c1", "lookup_order", {"order": "A-17"}), ("c2", "issue_refund", {"order": "A-17"})]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "refund A-17"}]
    for id_, name, arguments in calls:
        call = {"id": id_, "name": name, "arguments": arguments}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": id_, "content": "ok"})
    messages.append({"role": "assistant", "content": answer})
    return {
        "schema": "evalgate.trace/1",
        "trace_id": f"{scenario}-{trial}",
        "scenario_id": scenario,
        "trial": trial,
        "messages": messages,
        "cost_usd": 0.01 + trial / 1000,
        "latency_seconds": 2.0 + trial / 1000,
    }


def evalgate(folder: Path, *words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(("mutate", *words), Shell(out, err, {}, str(folder)))
    return code, out.getvalue(), err.getvalue()


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "traces").mkdir()
    lines = [json.dumps(make_trace(trial)) for trial in range(3)]
    (tmp_path / "traces/all.jsonl").write_text("\n".join([*lines, json.dumps(make_trace(9, "no"))]))
    (tmp_path / "suite.yaml").write_text(SUITE)
    return tmp_path


def test_a_strict_suite_misses_only_what_it_does_not_check(shop: Path):
    """The order of lookup_order is not an argument that the suite checks; all else is."""
    code, out, _ = evalgate(shop, "suite.yaml", "--json")
    found = json.loads(out)
    assert (code, found["schema"]) == (1, "evalgate.mutations/1")
    assert [(each["description"], each["survived"], each["tried"]) for each in found["survivors"]] == [
        ("nothing would notice if `order` of `lookup_order` had another value", 3, 3),
    ]
    assert found["traces"] == {"read": 4, "passing": 3, "recorded_failures": 0, "changed": 3}
    operators = {each["name"]: (each["caught"], each["tried"]) for each in found["operators"]}
    assert operators["duplicate_call"] == operators["drop_call"] == operators["ignored_error"] == (6, 6)
    assert operators["change_argument"] == (3, 6)
    assert [each["number"] for each in found["operators"]] == list(range(1, 19))
    assert found["scenarios"][0]["operators"]["change_argument"]["score"] == 0.5


def test_a_suite_that_notices_everything_exits_with_0(shop: Path):
    strict = SUITE.replace("[lookup_order,", "[{tool: lookup_order, args: {order: A-17}},")
    (shop / "suite.yaml").write_text(strict)
    code, out, err = evalgate(shop, "suite.yaml")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "catches 51 of 51 small changes (100%)"
    assert re.search("^a call dropped +6 +6 +100%$", out, re.MULTILINE)


def test_changes_that_do_not_apply_are_named(shop: Path):
    (shop / "suite.yaml").write_text(SUITE.replace("      - {type: cost_limit, max_usd: 0.02}\n", ""))
    (shop / "traces/all.jsonl").write_text(json.dumps({**make_trace(0), "cost_usd": None}))
    out = evalgate(shop, "suite.yaml")[1]
    reason = "no trace that passes has what they change, or another one shows the same"
    shown = " ".join(out.split())
    assert f"not tried, since {reason}: cost x3, an id or amount invented, a recipient from a result" in shown
    out = evalgate(shop, "suite.yaml", "--max", "5")[1]
    assert "\nnot tried: " in out  # there are such changes


def test_traces_on_which_no_change_can_be_tried_are_exit_2(shop: Path):
    trace = {"schema": "evalgate.trace/1", "scenario_id": "refund", "messages": [{"role": "user", "content": "hi"}]}
    (shop / "traces/all.jsonl").write_text(json.dumps(trace))
    (shop / "suite.yaml").write_text(
        SUITE.partition("threshold")[0] + "assertions: [{type: turn_limit, max_turns: 9}]\n"
    )
    code, out, err = evalgate(shop, "suite.yaml")
    assert (code, out) == (2, "")
    assert "no change can be tried on the 1 of 1 traces that pass" in err


def test_survivors_are_sentences_over_scenarios(shop: Path):
    loose = SUITE.partition("id:")[0] + "id: '*'\n    assertions: [{type: not_empty}]\n"
    (shop / "suite.yaml").write_text(loose)
    (shop / "traces/b.jsonl").write_text(json.dumps(make_trace(1, scenario="return")))
    code, out, _ = evalgate(shop, "suite.yaml")
    assert code == 1
    assert "nothing would notice\n" in out
    assert "  if `issue_refund` were called twice (refund and 1 more scenario)\n" in out
    code, out, _ = evalgate(shop, "suite.yaml", "-v")
    assert "shop / return: nothing would notice\n" in out
    assert "  if `issue_refund` were called twice (1 of 1: traces/b.jsonl, call 2)\n" in out


def test_survivors_are_ranked_by_harm(shop: Path):
    loose = SUITE.partition("threshold")[0] + "assertions: [{type: turn_limit, max_turns: 9}]\n"
    (shop / "suite.yaml").write_text(loose)
    found = json.loads(evalgate(shop, "suite.yaml", "--json")[1])["survivors"]
    operators = [each["operator"] for each in found]
    assert operators[:2] == ["extra_destructive_call", "duplicate_call"]
    assert set(operators[-2:]) == {"triple_cost", "triple_latency"}


def write_varied(shop: Path, id_: str) -> None:
    """Passing traces that differ in calls, order, results and arguments, by a suite that checks almost nothing."""
    again, failing, other = make_trace(1), make_trace(2), make_trace(3)
    again["messages"][1:1] = again["messages"][1:3]
    failing["messages"][2] |= {"content": "no such order", "is_error": True}
    other["messages"][1:3], other["messages"][3:5] = other["messages"][3:5], other["messages"][1:3]
    other["messages"][3]["tool_calls"][0]["arguments"] = {"order": "A-17", "note": "x" * 60}
    traces = [make_trace(0), again, failing, other]
    (shop / "traces/all.jsonl").write_text("\n".join(map(json.dumps, traces)))
    head = SUITE.partition("id:")[0]
    (shop / "suite.yaml").write_text(f"{head}id: {id_}\n    assertions:\n      - {{type: turn_limit, max_turns: 9}}\n")


def test_suggestions_hold_for_all_passing_traces_and_notice_what_they_say(shop: Path):
    write_varied(shop, "refund")
    before = json.loads(evalgate(shop, "suite.yaml", "--json")[1])
    suggestions = before["suggestions"]
    assert len(suggestions) > 4
    assert all(each["scenario"] == "refund" and 0 < each["noticed"] <= each["survived"] for each in suggestions)
    text = (shop / "suite.yaml").read_text()
    for each in suggestions:
        (shop / "suite.yaml").write_text(f"{text}      - {each['suggestion']}\n")
        after = json.loads(evalgate(shop, "suite.yaml", "--json")[1])
        assert after["traces"] == before["traces"], each
        assert after["tried"] == before["tried"]
        mine = [survivor for survivor in before["survivors"] if survivor["suggestion"] == each["suggestion"]]
        left = {survivor["description"]: survivor["survived"] for survivor in after["survivors"]}
        for survivor in mine:
            assert survivor["survived"] - survivor["noticed"] == left.get(survivor["description"], 0), survivor
    lines = "".join(f"      - {each['suggestion']}\n" for each in suggestions)
    (shop / "suite.yaml").write_text(text + lines)
    after = json.loads(evalgate(shop, "suite.yaml", "--json")[1])
    assert not {each["suggestion"] for each in after["suggestions"]} & {each["suggestion"] for each in suggestions}


def test_a_suggestion_that_would_fail_a_passing_trace_is_not_made(shop: Path):
    """A trace calls lookup_order twice and one has a tool error, so neither `exactly: 1` nor `max: 0` holds."""
    write_varied(shop, "refund")
    found = json.loads(evalgate(shop, "suite.yaml", "--json")[1])["suggestions"]
    texts = [each["suggestion"] for each in found]
    assert not any('tool: "lookup_order", exactly: 1' in text or "max_tool_errors, max: 0" in text for text in texts)
    assert "{type: max_tool_errors, max: 1, required: true}" in texts


def test_a_suggestion_for_a_pattern_holds_for_all_scenarios_that_it_matches(shop: Path):
    write_varied(shop, "'*'")
    text = json.dumps(make_trace(0, scenario="return")).replace("issue_refund", "send_label")
    (shop / "traces/b.jsonl").write_text(text)
    assert "add to scenario *\n" in evalgate(shop, "suite.yaml")[1]
    found = json.loads(evalgate(shop, "suite.yaml", "--json")[1])
    assert {each["scenario"] for each in found["suggestions"]} == {"*"}
    lines = "".join(f"      - {each['suggestion']}\n" for each in found["suggestions"])
    (shop / "suite.yaml").write_text((shop / "suite.yaml").read_text() + lines)
    assert json.loads(evalgate(shop, "suite.yaml", "--json")[1])["traces"] == found["traces"]


def test_a_change_that_any_passing_trace_shows_is_not_counted(shop: Path):
    """Ten traces of a scenario are changed; one after them does without the look-up."""
    without = make_trace(12)
    del without["messages"][1:3]
    traces = [*(make_trace(trial) for trial in range(12)), without]
    (shop / "traces/all.jsonl").write_text("\n".join(map(json.dumps, traces)))
    (shop / "suite.yaml").write_text(SUITE.partition("threshold")[0] + "assertions: [{type: not_empty}]\n")
    found = json.loads(evalgate(shop, "suite.yaml", "--json")[1])
    assert found["traces"]["changed"] == 10
    dropped = [each["description"] for each in found["survivors"] if each["operator"] == "drop_call"]
    assert dropped == ["nothing would notice if `issue_refund` were not called"]


def test_survivors_without_a_check_are_listed_apart(shop: Path):
    answers = ["Refunded.", ""]
    traces = [make_trace(trial, answer) for trial, answer in enumerate(answers)]
    (shop / "traces/all.jsonl").write_text("\n".join(map(json.dumps, traces)))
    loose = SUITE.partition("threshold")[0] + "assertions: [{type: turn_limit, max_turns: 9}]\n"
    (shop / "suite.yaml").write_text(loose)
    out = evalgate(shop, "suite.yaml")[1]
    _, _, apart = out.partition(
        "nothing would notice, and no single check that was tried distinguishes it from passing traces\n"
    )
    assert apart.startswith("  if the answer were empty (refund)\n")
    assert "edit `args`" not in apart


def test_an_argument_without_a_check_is_one_for_the_sequence(shop: Path):
    traces = [json.dumps(make_trace(trial)).replace("A-17", order) for trial, order in enumerate(["A-17", "B-4"])]
    (shop / "traces/all.jsonl").write_text("\n".join(traces))
    (shop / "suite.yaml").write_text(SUITE.replace(", args: {order: A-17}", ""))
    _, _, apart = evalgate(shop, "suite.yaml")[1].partition("distinguishes it from passing traces\n")
    assert "  if `order` of `issue_refund` had another value (refund)\n" in apart
    assert "\n  to notice another value of an argument, edit `args` of a `tool_sequence`\n" in apart


def test_the_list_has_a_survivor_of_every_operator(shop: Path):
    loose = SUITE.partition("threshold")[0] + "assertions: [{type: turn_limit, max_turns: 9}]\n"
    trace = make_trace(0)
    for number in range(30):
        call = {"id": f"x{number}", "name": f"cancel_{number}", "arguments": {"a": 1}}
        trace["messages"][1:1] = [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"x{number}", "content": "ok"},
        ]
    (shop / "traces/all.jsonl").write_text(json.dumps(trace))
    (shop / "suite.yaml").write_text(loose)
    out = evalgate(shop, "suite.yaml")[1]
    shown = [line for line in out.splitlines() if line.startswith("  if ")]
    assert len(shown) == 20
    for words in ("the answer were empty", "the agent refused", "three times as much", "ended halfway"):
        assert any(words in line for line in shown), words
    assert re.search(r"^and \d+ more \(-v prints all\)$", out, re.MULTILINE)


@pytest.mark.parametrize(("rewards", "code"), [((1, 0, None), 1), ((0, 0, 0), 2)])
def test_traces_that_are_recorded_as_failed_are_not_changed(shop: Path, rewards: tuple[int | None, ...], code: int):
    traces = [
        make_trace(trial) | ({} if reward is None else {"evaluations": [{"name": "reward", "score_value": reward}]})
        for trial, reward in enumerate(rewards)
    ]
    (shop / "traces/all.jsonl").write_text("\n".join(map(json.dumps, traces)))
    exit_code, out, err = evalgate(shop, "suite.yaml")
    assert exit_code == code
    if code == 2:
        assert "no trace is recorded as passed: 3 of 3 pass the suite only" in err
        return
    assert out.splitlines()[-1].endswith("; 1 trace left out: passes the suite but is recorded as failed")
    found = json.loads(evalgate(shop, "suite.yaml", "--json")[1])["traces"]
    assert found == {"read": 3, "passing": 2, "recorded_failures": 1, "changed": 2}


RATE = "    trials: {min_pass_rate: RATE}\n    threshold: 0\n"
STRICT = "policy: {fail_on: [hard_fail, broken, below_threshold]}\n"


@pytest.mark.parametrize(
    ("policy", "demand", "failing", "effect", "sentence"),
    [
        (
            "",
            "",
            False,
            "below_threshold",
            "0 fail the gate (`fail_on` is not set: only hard_fail does) 48 pass the gate, and",
        ),
        (
            "policy: {fail_on: [hard_fail, broken], regression: {correction: holm}}\n",
            "",
            False,
            "below_threshold",
            "48 pass the gate, and would fail it with below_threshold in `fail_on`",
        ),
        (STRICT, "", False, "gated", "48 fail the gate (`fail_on` is hard_fail, broken, below_threshold)"),
        (STRICT, "", True, "already_failing", "48 are in scenarios that fail the gate already, as recorded"),
        (STRICT, RATE.replace("RATE", "0.5"), True, "allowed", "48 pass the gate: `fail_on` or the pass rate of their"),
    ],
)
def test_the_gate_does_with_a_changed_trace_what_the_report_says(
    shop: Path, policy: str, demand: str, failing: bool, effect: str, sentence: str
):
    """Each caught change is written as a trace and judged by `run`, with the traces as recorded as the baseline."""
    required = SUITE.replace("}\n", ", required: true}\n").replace("    threshold: 1.0\n", demand)
    (shop / "suite.yaml").write_text((required if demand else SUITE) + policy)
    recorded = [make_trace(trial) for trial in range(3)] + [make_trace(9, "no")] * failing
    (shop / "traces/all.jsonl").write_text("\n".join(map(json.dumps, recorded)))
    out = evalgate(shop, "suite.yaml", "--json")[1]
    found = json.loads(out)
    assert found["effects"] == {effect: 48, "missed": 3}
    assert found["gated"] == found["effects"].get("gated", 0)
    assert sentence in " ".join(evalgate(shop, "suite.yaml")[1].split())
    assert run_gate(shop, "--output-dir", "main") == (effect == "already_failing")
    for answer in ("", "no"):
        changed = [make_trace(0, answer), *recorded[1:]]
        (shop / "traces/all.jsonl").write_text("\n".join(map(json.dumps, changed)))
        code = run_gate(shop, "--baseline", "main/baseline.zip", "--output-dir", "head")
        assert code == (effect in {"gated", "already_failing"})


def test_a_check_that_only_lowers_the_score_catches_a_change_and_fails_no_gate(shop: Path):
    (shop / "suite.yaml").write_text(SUITE.replace("threshold: 1.0", "threshold: 0") + STRICT)
    (shop / "traces/all.jsonl").write_text("\n".join(json.dumps(make_trace(trial)) for trial in range(3)))
    found = json.loads(evalgate(shop, "suite.yaml", "--json")[1])
    assert found["effects"] == {"lower_score": 48, "missed": 3}
    assert (found["caught"], found["gated"]) == (48, 0)
    assert "48 only lower the score" in evalgate(shop, "suite.yaml")[1]
    assert run_gate(shop, "--output-dir", "main") == 0
    changed = [make_trace(0, "no"), *(make_trace(trial) for trial in (1, 2))]
    (shop / "traces/all.jsonl").write_text("\n".join(map(json.dumps, changed)))
    assert run_gate(shop, "--baseline", "main/baseline.zip", "--output-dir", "head") == 0


def test_a_refusal_is_no_change_of_an_agent_that_refuses(shop: Path):
    refusals = [json.dumps(make_trace(trial, "I'm sorry, but I can't help with that.")) for trial in range(3)]
    (shop / "traces/all.jsonl").write_text("\n".join(refusals))
    (shop / "suite.yaml").write_text(SUITE.replace("{type: contains, value: refunded}", "{type: is_refusal}"))
    found = json.loads(evalgate(shop, "suite.yaml", "--json")[1])
    tried = {each["name"]: each["tried"] for each in found["operators"]}
    assert (tried["refusal"], tried["empty_answer"]) == (0, 3)


def run_gate(folder: Path, *words: str) -> int:
    return main(("run", "suite.yaml", *words), Shell(io.StringIO(), io.StringIO(), {}, str(folder)))


def test_init_counts_as_mutate_does(shop: Path):
    err = io.StringIO()
    assert main(("init", "traces", "--yes", "--out", "learnt.yaml"), Shell(io.StringIO(), err, {}, str(shop))) == 0
    _, out, _ = evalgate(shop, "learnt.yaml")
    counted = out.splitlines()[-1].split(" (", maxsplit=1)[0]
    assert counted.startswith("catches ")
    assert counted in err.getvalue()


def test_workers_and_order_of_runs_do_not_change_the_report(shop: Path):
    many = [json.dumps(make_trace(trial, scenario=f"s{trial % 7}")) for trial in range(40)]
    (shop / "traces/many.jsonl").write_text("\n".join(many))
    (shop / "suite.yaml").write_text(SUITE.replace("id: refund", 'id: "*"'))
    alone = evalgate(shop, "suite.yaml", "--json", "--jobs", "1")
    assert evalgate(shop, "suite.yaml", "--json", "--jobs", "2") == alone
    assert json.loads(alone[1])["tried"] > 200  # more than one task of a worker


@pytest.mark.parametrize(
    ("status", "check", "caught", "tried"),
    [("ok", "", 0, 0), ("any", "", 0, 4), ("any", "      - {path: metadata.status, eq: ok}\n", 4, 4)],
)
def test_a_run_that_ended_in_an_error_is_tried_where_it_may_pass(shop: Path, status, check, caught, tried):
    (shop / "suite.yaml").write_text(SUITE.replace("threshold: 1.0", f"run_status: {status}") + check)
    _, out, _ = evalgate(shop, "suite.yaml", "--json")
    (found,) = [each for each in json.loads(out)["operators"] if each["name"] == "failed_run"]
    assert (found["caught"], found["tried"]) == (caught, tried)


def test_max_spreads_over_scenarios_and_operators(shop: Path):
    (shop / "traces/b.jsonl").write_text(json.dumps(make_trace(1, scenario="return")))
    (shop / "suite.yaml").write_text(SUITE.replace("id: refund", 'id: "*"'))
    _, out, _ = evalgate(shop, "suite.yaml", "--json", "--max", "24")
    found = json.loads(out)
    assert found["tried"] <= 24 < found["possible"]
    assert [each["tried"] for each in found["scenarios"]] == [12, 12]
    lacking = ("invented_argument", "known_argument", "steered_recipient", "second_record", "failed_run", "other_skill")
    # no id or address, no state, no skill, and the gate itself fails a run that ended in an error
    assert all(each["tried"] == (0 if each["name"] in lacking else 2) for each in found["operators"])
    _, out, _ = evalgate(shop, "suite.yaml", "--json", "--max", "5")
    assert json.loads(out)["tried"] == 5


def test_a_trace_that_would_be_of_another_scenario_is_noticed(shop: Path):
    where = '    match: {where: "length(tool_calls) == `2`"}\n    assertions: [{type: not_empty}]\n'
    head = "version: 1\nsuite: shop\ntraces: ['traces/*.jsonl']\nscenarios:\n  - id: two\n"
    (shop / "suite.yaml").write_text(head + where)
    (shop / "traces/all.jsonl").write_text(json.dumps(make_trace(0)))
    _, out, _ = evalgate(shop, "suite.yaml", "--json")
    found = json.loads(out)
    assert (
        found["gated"] == 6
    )  # two calls dropped, two made twice, one added, a run cut in half: the scenario is MISSING
    operators = {each["name"]: each["score"] for each in found["operators"]}
    assert (operators["drop_call"], operators["duplicate_call"], operators["swap_calls"]) == (1, 1, 0)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("suite.yaml", "--max", "0"), "--max must be at least 1"),
        (("suite.yaml", "--traces", "traces/none*.json"), "no trace passes, of 0 read"),
        (("other.yaml",), "no suite file at 'other.yaml'"),
        (("suite.yaml", "--jobs", "0"), "must be auto or a number from 1 to 256"),
    ],
)
def test_wrong_input_ends_with_2_and_one_line(shop: Path, words: tuple[str, ...], error: str):
    code, out, err = evalgate(shop, *words)
    assert (code, out) == (2, "")
    assert error in err
    assert err.count("\n") == 1


def test_untrusted_names_are_escaped_and_secrets_redacted(shop: Path):
    trace = json.dumps(make_trace(1)).replace("lookup_order", "x\\u001b[31m ghp_" + "a1B2" * 9)
    (shop / "traces/all.jsonl").write_text(trace)
    (shop / "suite.yaml").write_text(
        SUITE.split("    assertions:", maxsplit=1)[0] + "    assertions: [{type: not_empty}]\n"
    )
    for words in ((), ("-v",), ("--json",)):
        _, out, _ = evalgate(shop, "suite.yaml", *words)
        assert "\x1b" not in out
        assert "ghp_" not in out


def test_the_refusal_is_one_that_is_refusal_knows():
    from evalgate.features.learn.application.mutation.operators import REFUSAL

    assert is_refusal(REFUSAL)


def test_init_names_one_scenario_without_a_check_of_its_own(tmp_path: Path):
    (tmp_path / "traces").mkdir()
    for trial, (scenario, tool) in enumerate([("refund", "a"), ("refund", "b"), ("refund", "c"), ("other", "a")]):
        trace = make_trace(trial, scenario=scenario)
        trace["messages"] = [*trace["messages"][:3], trace["messages"][-1]]
        del trace["cost_usd"], trace["latency_seconds"]
        (tmp_path / f"traces/{trial}.json").write_text(json.dumps(trace).replace("lookup_order", tool))
    err = io.StringIO()
    assert main(("init", "traces", "--yes", "--out", "learnt.yaml"), Shell(io.StringIO(), err, {}, str(tmp_path))) == 0
    assert "1 scenario without a check of its own: refund\n" in err.getvalue()
