"""Regressions that come with another model, other tools or another prompt: the third cause, and its word of fail_on."""

import json
import zipfile

import pytest
from command import evalgate

ZIP = ".evalgate/baseline.zip"
TOOL = {"name": "lookup", "description": "Finds an order.", "parameters": {"type": "object"}}
OTHER_TOOL = {**TOOL, "description": "Finds an order by its number."}


def written(tmp_path, ids="abc", **more):
    scenarios = [{"id": id_, "assertions": [{"contains": "ok"}]} for id_ in ids]
    suite = {"version": 1, "suite": "s", "traces": ["traces/*.json"], "scenarios": scenarios, **more}
    (tmp_path / "s.yaml").write_text(json.dumps(suite))


def says(tmp_path, scenario, answer, trial=0, prompt="You help.", **more):
    folder = tmp_path / "traces"
    folder.mkdir(exist_ok=True)
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": answer}]
    if prompt:
        messages = [{"role": "system", "content": prompt}, *messages]
    trace = {"schema": "evalgate.trace/1", "scenario_id": scenario, "trial": trial, "messages": messages, **more}
    (folder / f"{scenario}{trial}.json").write_text(json.dumps(trace))


def main(tmp_path, **recorded):
    """The run of the base branch, in which a, b and c pass; its baseline is kept as base.zip."""
    written(tmp_path)
    for id_ in "abc":
        says(tmp_path, id_, "ok", **recorded)
    assert evalgate(tmp_path, ["s.yaml"]).code == 0
    (tmp_path / ZIP).rename(tmp_path / "base.zip")


def run(tmp_path, *arguments):
    return evalgate(tmp_path, ["s.yaml", "--baseline", "base.zip", *arguments])


def changes(ran):
    return [each["change"] for each in ran.results["suites"][0]["scenarios"]]


def causes(ran):
    return [found and (found["kind"], found["message"]) for found in (each.get("cause") for each in changes(ran))]


def codes(ran):
    return [(each["code"], each["scenario"]) for each in ran.results["reasons"]]


def test_two_of_three_regressions_come_with_another_model(tmp_path):
    main(tmp_path, model="gpt-4.1")
    says(tmp_path, "a", "no", model="gpt-5")
    says(tmp_path, "b", "no", model="gpt-5")
    says(tmp_path, "c", "no", model="gpt-4.1")
    ran = run(tmp_path)
    comes = ("model_or_tools", "comes with model gpt-4.1 -> gpt-5")
    assert causes(ran) == [comes, comes, None]
    assert [each.get("comes_with") for each in changes(ran)] == [["model gpt-4.1 -> gpt-5"]] * 2 + [None]
    assert "2 of 3 scenarios that broke or regressed come with model gpt-4.1 -> gpt-5." in ran.stdout
    for name in ("comment.md", "summary.md"):
        assert "2 of 3 scenarios that broke or regressed come with model ` gpt-4.1 -> gpt-5 `." in ran.text(name)


def test_other_tool_definitions_are_a_cause_and_their_order_is_not(tmp_path):
    main(tmp_path, tool_definitions=[TOOL, {"name": "refund"}])
    says(tmp_path, "a", "no", tool_definitions=[{"name": "refund"}, TOOL])
    says(tmp_path, "b", "no", tool_definitions=[OTHER_TOOL, {"name": "refund"}])
    says(tmp_path, "c", "ok", tool_definitions=[OTHER_TOOL])
    ran = run(tmp_path)
    comes = "comes with the changed definition of tool lookup"
    assert causes(ran) == [None, ("model_or_tools", comes), None]
    assert f"1 of 2 scenarios that broke or regressed {comes}." in ran.stdout


BY_OPENAI = [{"type": "function", "function": TOOL}, {"type": "function", "function": {"name": "refund"}}]


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ([TOOL], [OTHER_TOOL], "tool ` lookup ` has another definition (one trial)"),
        ([TOOL], [TOOL, {"name": "pay"}], "tool ` pay ` is new (one trial)"),
        (
            [TOOL, {"name": "a"}],
            [OTHER_TOOL, {"name": "b"}],
            "another definition, tool ` b ` is new, tool ` a ` is gone",
        ),
        (BY_OPENAI, BY_OPENAI[:1], "tool ` refund ` is gone (one trial)"),
        ([TOOL], [TOOL, {"name": "two words"}], "other tool definitions (one trial)"),
        ([TOOL], [{"description": "no name"}], "other tool definitions (one trial)"),
        ([TOOL], [{"name": f"tool{number}"} for number in range(101)], "other tool definitions (one trial)"),
        (
            [{"name": "x"}],
            [{"name": f"t{number}"} for number in range(9)],
            "tool ` x ` is gone, others differ (one trial)",
        ),
    ],
)
def test_the_tools_whose_definitions_changed_are_named(tmp_path, jobs, before, now, said):
    main(tmp_path, tool_definitions=before)
    for id_ in "abc":
        says(tmp_path, id_, "ok", tool_definitions=now)
    ran = run(tmp_path, "--jobs", jobs)
    assert said in ran.text("comment.md")
    [digests] = ran.results["suites"][0].get("tool_digests", {"": ""}).values()
    assert len(digests.split()) in (0, len(now))


def test_a_baseline_without_digests_names_no_tool(tmp_path):
    main(tmp_path, tool_definitions=[TOOL])
    with zipfile.ZipFile(tmp_path / "base.zip") as old:
        kept = {name: old.read(name) for name in old.namelist()}
    document = json.loads(kept["results.json"])
    assert next(iter(document["suites"][0].pop("tool_digests").values())).startswith("lookup=")
    kept["results.json"] = json.dumps(document).encode()
    with zipfile.ZipFile(tmp_path / "base.zip", "w") as new:
        for name, content in kept.items():
            new.writestr(name, content)
    for id_ in "abc":
        says(tmp_path, id_, "ok", tool_definitions=[OTHER_TOOL])
    assert "other tool definitions (one trial)" in run(tmp_path).text("comment.md")


def test_another_system_prompt_stays_the_agents_and_is_named(tmp_path):
    main(tmp_path, model="m", prompt="You help. Today is 2026-01-01.")
    says(tmp_path, "a", "no", model="m", prompt="You help. Today is 2026-02-03.")
    says(tmp_path, "b", "no", model="m", prompt="You help a lot. Today is 2026-01-01.")
    ran = run(tmp_path, "--fail-on", "model_changed")
    assert causes(ran) == [None, ("agent", "the agent changed: it comes with a changed system prompt"), None]
    assert "1 of 2 scenarios that broke or regressed comes with a changed system prompt." in ran.stdout
    assert (ran.code, codes(ran)) == (0, [])


def test_a_prompt_made_for_each_run_is_no_cause(tmp_path):
    written(tmp_path)
    for number, id_ in enumerate("abc"):
        says(tmp_path, id_, "ok", prompt=f"You help. It is {number} o'clock.")
    assert evalgate(tmp_path, ["s.yaml"]).code == 0
    (tmp_path / ZIP).rename(tmp_path / "base.zip")
    says(tmp_path, "a", "no", prompt="You help. It is 9 o'clock.")
    ran = run(tmp_path)
    assert (causes(ran)[0], changes(ran)[0].get("comes_with")) == (None, None)
    assert "system prompt" not in ran.stdout + ran.text("comment.md")


def test_all_that_changed_is_named_together(tmp_path):
    main(tmp_path, model="a", tool_definitions=[TOOL])
    says(tmp_path, "a", "no", model="b", tool_definitions=[OTHER_TOOL], prompt="Be brief.")
    ran = run(tmp_path)
    message = "comes with model a -> b, the changed definition of tool lookup and a changed system prompt"
    assert causes(ran)[0] == ("model_or_tools", message)
    assert f"The scenario that got worse {message}." in ran.stdout


def test_model_changed_gates_only_what_got_worse(tmp_path):
    main(tmp_path, model="old")
    says(tmp_path, "a", "no", model="new")
    says(tmp_path, "b", "no", model="old")
    says(tmp_path, "c", "ok", model="new")
    ran = run(tmp_path, "--fail-on", "model_changed")
    assert (ran.code, codes(ran)) == (1, [("model_changed", "a")])
    assert "comes with model old -> new" in ran.results["reasons"][0]["message"]
    assert (
        "failed: 2 scenarios broke (1 of them with a changed model or changed tools): "
        'expected the answer to contain "ok", got "no"; c runs with another model' in ran.stdout
    )


@pytest.mark.parametrize("recorded", [{}, {"model": "old"}], ids=["nothing recorded", "recorded on one side"])
@pytest.mark.parametrize("is_now", [True, False])
def test_what_is_not_recorded_on_both_sides_is_never_a_cause(tmp_path, recorded, is_now):
    main(tmp_path, prompt="", **({} if is_now else recorded))
    says(tmp_path, "a", "no", prompt="", **(recorded if is_now else {}))
    ran = run(tmp_path, "--fail-on", "model_changed")
    is_lost = bool(recorded) and not is_now  # a model that is no longer recorded counts as changed
    expected = (1, [("model_changed", "a")]) if is_lost else (0, [])
    assert (ran.code, codes(ran), causes(ran)[0]) == (*expected, None)
    assert "come with" not in ran.stdout


def test_a_baseline_of_before_has_no_such_fields_and_names_no_cause(tmp_path):
    main(tmp_path, model="old", tool_definitions=[TOOL])
    with zipfile.ZipFile(tmp_path / "base.zip") as archive:
        results = json.loads(archive.read("results.json"))
    for scenario in results["suites"][0]["scenarios"]:
        for name in ("model", "tools_hash", "prompt_hash"):
            assert scenario["trials"][0]["trace"].pop(name)
    (tmp_path / "base.json").write_text(json.dumps(results))
    says(tmp_path, "a", "no", model="new", tool_definitions=[OTHER_TOOL])
    ran = evalgate(tmp_path, ["s.yaml", "--baseline", "base.json", "--fail-on", "model_changed"])
    assert (ran.code, codes(ran), causes(ran)[0]) == (0, [], None)


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ("pdf=0123456789ab", "pdf=ba9876543210", "the changed text of skill pdf"),
        ("pdf=0123456789ab", "docx=0123456789ab pdf=0123456789ab", "the added skill docx"),
        ("docx=0123456789ab pdf=0123456789ab", "pdf=0123456789ab", "the removed skill docx"),
        ("pdf=0123456789ab", "pdf=0123456789ab", None),
        ("pdf=0123456789ab", None, None),
        (None, "pdf=0123456789ab", None),
        ("pdf=0123456789ab", "pdf=xyz", None),
    ],
)
def test_a_regression_comes_with_a_changed_skill(tmp_path, before, now, expected):
    main(tmp_path, metadata={"evalgate.skills": before})
    says(tmp_path, "a", "no", metadata={"evalgate.skills": now})
    ran = run(tmp_path)
    assert causes(ran)[0] == (expected and ("agent", f"the agent changed: it comes with {expected}"))
    assert (f"comes with {expected}." in ran.stdout) is (expected is not None)


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        (
            {"model": "m", "tool_definitions": [TOOL]},
            {},
            "Model, tool definitions and system prompt are the same as in the baseline.",
        ),
        ({"model": "m", "prompt": ""}, {}, "Model is the same as in the baseline."),
        ({"model": "m"}, {"model": "other"}, "come with model"),
        ({"model": "m", "prompt": "One."}, {"prompt": "Two."}, "come with a changed system prompt"),
        ({"prompt": ""}, {}, None),
    ],
)
def test_what_is_the_same_of_the_agent_is_said_where_nothing_differs(tmp_path, before, now, words):
    main(tmp_path, **before)
    says(tmp_path, "a", "no", **{**before, **now})
    says(tmp_path, "b", "no", **{**before, **now})
    ran = run(tmp_path)
    assert "same_parts" not in changes(ran)[2]  # it passes as before
    if words is None:
        assert "as in the baseline." not in ran.text("comment.md")
        assert "same_parts" not in changes(ran)[0]
    else:
        assert words in ran.text("comment.md")
        assert words in ran.stdout


def test_a_part_that_a_trial_does_not_record_is_not_called_the_same(tmp_path):
    main(tmp_path, model="m")
    says(tmp_path, "a", "no", model="m")
    says(tmp_path, "a", "no", 1)
    assert changes(run(tmp_path))[0]["same_parts"] == ["system prompt"]


def test_without_a_baseline_nothing_gates(tmp_path):
    written(tmp_path, "a")
    says(tmp_path, "a", "no", model="new")
    assert evalgate(tmp_path, ["s.yaml", "--fail-on", "model_changed"]).code == 0


def test_trials_of_models_that_the_baseline_had_too_are_no_change(tmp_path):
    written(tmp_path, "a")
    for trial, model in enumerate(("x", "y", "x", "y")):
        says(tmp_path, "a", "ok", trial, model=model)
    assert evalgate(tmp_path, ["s.yaml"]).code == 0
    (tmp_path / ZIP).rename(tmp_path / "base.zip")
    for trial in range(4):
        says(tmp_path, "a", "no", trial, model="y")
    assert causes(run(tmp_path)) == [None]
    says(tmp_path, "a", "no", 3, model="z")
    assert causes(run(tmp_path)) == [("model_or_tools", "comes with model x, y -> y, z")]


def test_beside_changed_rules_the_cause_keeps_what_both_rules_say(tmp_path):
    main(tmp_path, model="old")
    written(tmp_path, threshold=0.9)
    says(tmp_path, "a", "no", model="new")
    ran = run(tmp_path)
    assert causes(ran)[0] == ("model_or_tools", "comes with model old -> new")
    assert changes(ran)[0]["cause"]["now_by_old_rules"] == "FAIL"
    strict = [{"id": "a", "assertions": [{"contains": "ok"}, {"contains": "thanks"}]}]
    written(tmp_path, scenarios=strict)
    says(tmp_path, "a", "ok", model="new")
    kind, message = causes(run(tmp_path))[0]
    assert (kind, "new" in message) == ("rules_stricter", False)


def test_dropping_the_word_is_a_weakening_unless_regression_covers_it(tmp_path):
    written(tmp_path, policy={"fail_on": ["model_changed"]})
    says(tmp_path, "a", "ok", model="m")
    evalgate(tmp_path, ["s.yaml"])
    (tmp_path / ZIP).rename(tmp_path / "base.zip")
    written(tmp_path, policy={"fail_on": ["hard_fail"]})
    dropped = [(each["kind"], each["before"]) for each in run(tmp_path).results["weakenings"]]
    assert dropped == [("fail_on_dropped", "fail_on: model_changed")]
    written(tmp_path, policy={"fail_on": ["regression"]})
    assert run(tmp_path).results["weakenings"] == []


def test_an_approved_or_quarantined_scenario_does_not_block(tmp_path):
    main(tmp_path, model="old")
    written(tmp_path, quarantine=[{"scenario": "a", "reason": "flaky", "until": "2027-01-20"}])
    says(tmp_path, "a", "no", model="new")
    assert run(tmp_path, "--fail-on", "model_changed").code == 0


def test_model_names_are_untrusted_and_bounded(tmp_path):
    main(tmp_path, model="old")
    says(tmp_path, "a", "no", model="@everyone](http://x) `" + "y" * 5_000)
    comment = run(tmp_path).text("comment.md")
    assert "@everyone" not in comment
    assert "y" * 700 not in comment


def test_several_processes_and_compare_find_the_same(tmp_path):
    main(tmp_path, model="old", tool_definitions=[TOOL])
    says(tmp_path, "a", "no", model="new", tool_definitions=[OTHER_TOOL])
    alone = run(tmp_path)
    assert run(tmp_path, "--jobs", "2").results == alone.results


TOLD, NO_CHANGE = "have another system prompt", ("no change since the baseline", "nothing new was recorded")


def names_prompt(tmp_path, before, now, trials=1):
    """Whether a run in which all pass says that the prompts of its scenarios a, b and c changed."""
    written(tmp_path)
    for prompt_of in (before, now):
        for id_ in "abc":
            for trial in range(trials):
                says(tmp_path, id_, "ok", trial, prompt=prompt_of(id_, trial))
        if prompt_of is before:
            assert evalgate(tmp_path, ["s.yaml"]).code == 0
            (tmp_path / ZIP).rename(tmp_path / "base.zip")
    ran = run(tmp_path)
    assert ran.code == 0
    is_named = f"3 scenarios {TOLD}" in ran.text("comment.md")
    assert is_named is (f"3 scenarios {TOLD}" in ran.stdout)
    assert is_named is not any(each in ran.text("comment.md") for each in NO_CHANGE)
    kinds = [each["kind"] for found in ran.results["suites"][0]["scenarios"] for each in found.get("differences", ())]
    assert kinds == ["prompt"] * (3 if is_named else 0)
    return is_named


@pytest.mark.parametrize(
    ("before", "now", "trials", "is_named"),
    [
        ("You help.", "You help a lot.", 1, True),
        ("You help.", "You help.", 1, False),
        ("You help. Today is 2026-01-01.", "You help. Today is 2026-02-03.", 1, False),
        ("You help {0}{1} in run 1.", "You help {0}{1} in run 2.", 1, False),  # one of its own in each run
        ("You help {0}{1}.", "You help {0}{1} a lot.", 2, False),
        ("You help {0}.", "You help {0} a lot.", 2, True),  # the scenario's text, the same in all its trials
        ("You help.", "You help {1}.", 2, False),
        ("", "You help.", 1, False),
        ("You help.", "", 1, False),
    ],
)
def test_a_changed_system_prompt_is_named_where_it_is_the_agents_and_not_the_runs(
    tmp_path, before, now, trials, is_named
):
    assert names_prompt(tmp_path, before.format, now.format, trials) is is_named


def test_the_only_trial_of_a_baseline_has_the_agents_prompt(tmp_path):
    written(tmp_path, "a")
    says(tmp_path, "a", "ok")
    assert evalgate(tmp_path, ["s.yaml"]).code == 0
    (tmp_path / ZIP).rename(tmp_path / "base.zip")
    says(tmp_path, "a", "ok", prompt="You help a lot.")
    ran = run(tmp_path)
    assert "scenario ` a ` has another system prompt" in ran.text("comment.md")
    assert "another system prompt (one trial)" in ran.text("comment.md")
    assert run(tmp_path, "--fail-on", "behaviour_changed").code == 0
