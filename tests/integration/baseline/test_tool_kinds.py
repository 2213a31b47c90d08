"""What a suite says of its tools decides what is compared with the baseline, on both sides by the same list."""

import json

import pytest
from command import evalgate
from in_process_command import evalgate as command

ZIP = ".evalgate/baseline.zip"
GROUNDED = {"type": "grounded_arguments", "tools": ["pay"]}


def write(tmp_path, *checks, **more):
    scenarios = [{"id": "a", "assertions": [{"contains": "ok"}, *checks]}]
    suite = {"version": 1, "suite": "s", "traces": ["traces/*.json"], "scenarios": scenarios, **more}
    (tmp_path / "s.yaml").write_text(json.dumps(suite))


def call(tool, **arguments):
    asked = {"id": tool, "name": tool, "arguments": arguments}
    answer = {"role": "tool", "tool_call_id": tool, "content": "{}"}
    return [{"role": "assistant", "content": None, "tool_calls": [asked]}, answer]


def record(tmp_path, *calls):
    (tmp_path / "traces").mkdir(exist_ok=True)
    messages = [{"role": "user", "content": "hi"}, *(each for found in calls for each in found)]
    messages += [{"role": "assistant", "content": "ok"}]
    trace = {"schema": "evalgate.trace/1", "scenario_id": "a", "trial": 0, "messages": messages}
    (tmp_path / "traces/a.json").write_text(json.dumps(trace))


def keep(tmp_path, *more):
    assert evalgate(tmp_path, ["s.yaml", *more]).code == 0
    (tmp_path / ZIP).rename(tmp_path / "base.zip")


def compare(tmp_path, *more):
    return evalgate(tmp_path, ["s.yaml", "--baseline", "base.zip", *more])


def differences(ran):
    [scenario] = ran.results["suites"][0]["scenarios"]
    return [(each["kind"], each["what"]) for each in scenario.get("differences", [])]


def weakenings(ran):
    return [(each["kind"], each["after"]) for each in ran.results.get("weakenings", [])]


def test_another_argument_of_a_listed_look_up_is_no_difference(tmp_path):
    write(tmp_path, tools={"lookups": ["berth_reading"]})
    record(tmp_path, call("berth_reading", berth="B7"))
    keep(tmp_path)
    record(tmp_path, call("berth_reading", berth="B4"))
    assert differences(compare(tmp_path)) == []


@pytest.mark.parametrize("tools", [None, {"changing": ["berth_reading"]}, {"lookups": ["other"]}])
def test_without_the_list_it_is_one(tmp_path, tools):
    write(tmp_path, **({} if tools is None else {"tools": tools}))
    record(tmp_path, call("berth_reading", berth="B7"))
    keep(tmp_path)
    record(tmp_path, call("berth_reading", berth="B4"))
    assert differences(compare(tmp_path)) == [("argument", "berth_reading.berth")]


def test_another_argument_of_a_listed_tool_that_changes_something_is_a_difference(tmp_path):
    write(tmp_path, tools={"changing": ["sync_view", "get_*"]})
    record(tmp_path, call("get_ticket", seat="B7"))
    keep(tmp_path)
    record(tmp_path, call("get_ticket", seat="B4"))
    assert differences(compare(tmp_path)) == [("argument", "get_ticket.seat")]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_edit_of_the_list_alone_is_a_weakening_and_no_difference(tmp_path, jobs):
    write(tmp_path)
    record(tmp_path, call("berth_reading", berth="B7"), call("get_ticket", seat="A1"))
    keep(tmp_path)
    record(tmp_path, call("berth_reading", berth="B7"), call("get_ticket", seat="A1"), call("get_info"))
    for tools, weaker in (
        ({"lookups": ["berth_reading"]}, [("lookup_added", "tools.lookups: berth_reading")]),
        ({"changing": ["get_ticket"]}, []),
    ):
        write(tmp_path, tools=tools)
        ran = compare(tmp_path, "--jobs", jobs)
        assert differences(ran) == []
        assert weakenings(ran) == weaker
    assert ran.code == 0


def test_a_call_that_the_list_hides_is_hidden_on_both_sides_and_said(tmp_path):
    write(tmp_path)
    record(tmp_path, call("reserve_berth", berth="B7"))
    keep(tmp_path)
    write(tmp_path, tools={"lookups": ["reserve_berth"]})
    record(tmp_path)
    ran = compare(tmp_path)
    assert differences(ran) == []
    assert weakenings(ran) == [("lookup_added", "tools.lookups: reserve_berth")]
    assert (
        "a tool now counts as a look-up, which changes nothing: tools.lookups: not listed -> reserve_berth"
        in ran.stdout
    )


def test_the_results_keep_the_list_and_two_finished_runs_are_compared_by_that_of_the_later(tmp_path):
    write(tmp_path)
    record(tmp_path, call("berth_reading", berth="B7"))
    keep(tmp_path)
    write(tmp_path, tools={"lookups": ["berth_reading"]})
    record(tmp_path, call("berth_reading", berth="B4"))
    ran = evalgate(tmp_path, ["s.yaml"])
    assert ran.results["suites"][0]["tools"] == {"lookups": ["berth_reading"], "changing": []}
    (tmp_path / ZIP).rename(tmp_path / "now.zip")
    for later, what in (("now.zip", []), ("base.zip", [("argument", "berth_reading.berth")])):
        sides = ["now.zip", "base.zip"] if later == "base.zip" else ["base.zip", "now.zip"]
        found = command("compare", *sides, "--json", cwd=str(tmp_path))
        assert found.exit_code == 0, found
        [scenario] = json.loads(found.out)["suites"][0]["scenarios"]
        assert [(each["kind"], each["what"]) for each in scenario.get("differences", [])] == what


def test_two_suites_that_judge_one_trace_each_compare_it_by_a_list_of_its_own(tmp_path):
    write(tmp_path, tools={"lookups": ["berth_reading"]})
    other = {**json.loads((tmp_path / "s.yaml").read_text()), "suite": "t", "tools": {}}
    (tmp_path / "t.yaml").write_text(json.dumps(other))
    record(tmp_path, call("berth_reading", berth="B7"))
    keep(tmp_path, "t.yaml")
    record(tmp_path, call("berth_reading", berth="B4"))
    ran = compare(tmp_path, "t.yaml")
    found = {suite["suite"]: suite["scenarios"][0].get("differences", []) for suite in ran.results["suites"]}
    assert [(name, [each["what"] for each in of]) for name, of in found.items()] == [
        ("s", []),
        ("t", ["berth_reading.berth"]),
    ]


def test_a_list_of_the_project_is_that_of_suites_without_one(tmp_path):
    write(tmp_path)
    defaults = {"tools": {"lookups": ["berth_reading"]}}
    project = {"version": 1, "suites": ["s.yaml"], "defaults": defaults}
    (tmp_path / "evalgate.yaml").write_text(json.dumps(project))
    record(tmp_path, call("berth_reading", berth="B7"))
    assert evalgate(tmp_path, []).code == 0
    (tmp_path / ZIP).rename(tmp_path / "base.zip")
    record(tmp_path, call("berth_reading", berth="B4"))
    assert differences(evalgate(tmp_path, ["--baseline", "base.zip"])) == []
    (tmp_path / "evalgate.yaml").write_text(json.dumps({**project, "defaults": {}}))
    ran = evalgate(tmp_path, ["--baseline", "base.zip"])
    assert differences(ran) == [("argument", "berth_reading.berth")]
    assert weakenings(ran) == []


def test_an_id_that_the_agent_passed_to_a_listed_look_up_may_come_from_a_later_result(tmp_path):
    """What a later call finds may only be what the agent wrote, unless the call that passed it changes nothing."""
    found = call("get_berths")
    found[1]["content"] = '{"berth": "BX-4711"}'
    record(tmp_path, call("berth_reading", berth="BX-4711"), found, call("pay", berth="BX-4711"))
    outcomes = {}
    for name, tools in (("unknown", {}), ("look-up", {"lookups": ["berth_reading"]})):
        write(tmp_path, GROUNDED, tools=tools)
        [scenario] = evalgate(tmp_path, ["s.yaml"]).results["suites"][0]["scenarios"]
        outcomes[name] = [each["outcome"] for each in scenario["trials"][0]["assertions"]][-1]
    assert outcomes == {"unknown": "failed", "look-up": "passed"}


def test_of_a_listed_tool_that_no_trace_calls_validate_says_which_was_meant(tmp_path):
    write(tmp_path, tools={"lookups": ["berth_readin"], "changing": ["get_tickets", "*_x"]})
    record(tmp_path, call("berth_reading", berth="B7"))
    found = command("validate", "s.yaml", cwd=str(tmp_path))
    assert found.exit_code == 0
    said = "no trace calls or defines the tool `berth_readin` (listed in `tools`), did you mean `berth_reading`?"
    assert said in found.out + found.err
    assert "get_tickets" not in found.out + found.err


def test_explain_shows_the_arguments_of_the_calls_that_the_suite_lists_as_changing_something(tmp_path):
    write(tmp_path, {"contains": "never", "required": True}, GROUNDED, tools={"changing": ["get_ticket"]})
    record(tmp_path, call("get_ticket", seat="QX-4711"), call("check_seat", seat="QX-4712"))
    assert evalgate(tmp_path, ["s.yaml"]).code == 1
    found = command("explain", "a", cwd=str(tmp_path))
    assert "call 1 get_ticket: " in found.out
    assert "QX-4712" not in found.out
