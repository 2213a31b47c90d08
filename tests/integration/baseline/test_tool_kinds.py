"""What a suite says of its tools decides what is compared with the baseline, on both sides by the same list."""

import json

import pytest
from command import evalgate
from in_process_command import evalgate as command

ZIP = ".evalgate/baseline.zip"
GROUNDED = {"type": "grounded_arguments", "tool": "pay"}


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
    assert "a tool now counts as a look-up, which changes nothing: tools.lookups: not listed -> reserve_berth" in ran.stdout


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
