"""Who made a call that changes something, and which models all agents of a run used."""

import pytest
from builders import make_call, make_trace

from evalgate.gate.trajectory.behaviour import behaviour_from_trace
from evalgate.gate.trajectory.behaviour_differences import find_differences
from evalgate.gate.trajectory.call_origins import pair_other_prompts
from evalgate.measures.values.compact import hash_stable_text
from evalgate.models.comparison.comparison import AgentChange
from evalgate.scoring.wording import describe_difference

SUB = "root/agent"


def differences(before, now, *, agent=None, passes=True):
    sides = [[behaviour_from_trace(trace) for trace in side] for side in (before, now)]
    return [describe_difference(each) for each in find_differences(*sides, agent, passes=passes)]


def acted(*actors, agents=(), started_by=1):
    """A run whose main agent looks something up, then asks another one; who reserves and who tells the pilot."""
    tools = ("find_vessel", "ask_officer", "reserve", "notify")
    calls = []
    for index, (name, actor) in enumerate(zip(tools, ("root", "root", *actors), strict=True)):
        call = make_call(name, {}, index=index)
        call["actor"], call["agent"] = actor, agents[index] if agents else None
        call["started_by"] = started_by if actor not in ("root", None) else None
        calls.append(call)
    return make_trace(calls, "Done.")


@pytest.mark.parametrize("trials", [1, 2, 3])
def test_a_call_that_another_agent_makes_is_named_with_both(trials):
    count = "(one trial)" if trials == 1 else f"in {trials} of {trials}"
    before, now = [acted("root", "root")] * trials, [acted(SUB, SUB)] * trials
    who = "`agent of ask_officer`"
    assert differences(before, now) == [f"`reserve, notify` are called by {who}, before by the main agent {count}"]
    assert differences(now, before) == [f"`reserve, notify` are called by the main agent, before by {who} {count}"]


def test_a_recorded_name_stands_for_the_agent():
    named = acted("root/officer", "root", agents=("main", "main", "officer", "main"))
    assert differences([acted("root", "root")] * 3, [named] * 3) == [
        "`reserve` is called by `officer`, before by the main agent in 3 of 3"
    ]


def test_an_agent_that_took_over_the_conversation_is_told_by_its_name():
    before = acted("root", "root", agents=("triage", "triage", "booking", "triage"))
    now = acted("root", "root", agents=("triage", "triage", "triage", "triage"))
    assert differences([before] * 3, [now] * 3) == ["`reserve` is called by `triage`, before by `booking` in 3 of 3"]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ([acted(SUB, SUB)] * 3, [acted(f"{SUB}#2", f"{SUB}#7")] * 3),
        ([acted("root", "root")] * 3, [acted(SUB, "root")] * 2 + [acted("root", "root")]),
        ([acted("root", "root")] * 3, [acted(None, None)] * 3),
        ([acted("root/old", "root/old")] * 3, [acted("root/new", "root/new")] * 3),
        (
            [acted("root", "root", agents=["captain"] * 4)] * 3,
            [acted("root", "root", agents=["skipper"] * 4)] * 3,
        ),
        ([acted("root", "root", agents=["captain"] * 4)] * 3, [acted("root", "root")] * 3),
        ([acted(SUB, SUB)] * 3, [acted(SUB, SUB, started_by=None)] * 3),
    ],
    ids=["its number", "some trials", "unknown", "another name", "a name of root", "a lost name", "a lost starter"],
)
def test_is_no_other_agent(before, now):
    assert differences(before, now) == []


def asked(*models):
    calls = [{"model": each, "step": step} for step, each in enumerate(models, 1)]
    return make_trace(["find_vessel"], "Done.", llm_calls=calls, model=models[0] if models else None)


@pytest.mark.parametrize("trials", [2, 3])
def test_the_model_of_another_agent_is_compared(trials):
    found = differences([asked("mini", "mini")] * trials, [asked("mini", "large", "mini")] * trials)
    assert found == [f"model: `mini` -> `large, mini` in {trials} of {trials}"]


def test_a_model_that_no_agent_uses_any_more_counts_from_three_trials_on():
    before, now = [asked("mini", "large")] * 3, [asked("mini", "mini")] * 3
    assert differences(before, now) == ["model: `large, mini` -> `mini` in 3 of 3"]
    assert differences(before[:2], now[:2]) == []


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ([asked("mini")], [asked("mini", "large")]),
        ([asked("mini", "large"), asked("mini"), asked("mini", "large")], [asked("mini", "large")] * 3),
        ([asked("mini")] * 3, [asked("mini", "large")] * 2 + [asked("mini")]),
        ([asked()] * 3, [asked("mini")] * 3),
        ([asked(None, "mini")] * 3, [asked("mini")] * 3),
    ],
    ids=["one trial", "a router before", "a router now", "unknown", "an unknown call"],
)
def test_models_that_differ_by_chance_or_are_unknown_make_no_line(before, now):
    assert differences(before, now) == []


def test_another_model_of_the_main_agent_is_one_line():
    agent = AgentChange("mini -> large", tools=False, prompts=None)
    found = differences([asked("mini", "mini")] * 3, [asked("large", "large")] * 3, agent=agent)
    assert found == ["model: `mini` -> `large` in 3 of 3"]


def told(*prompts, tools=()):
    definitions = [{"name": name, "description": text} for name, text in tools]
    agents = [{"system_instructions": each, "tool_definitions": definitions} for each in prompts]
    return make_trace(["find_vessel"], "Done.", metadata={"evalgate.agents": agents} if agents else {})


def pair(before, now):
    return pair_other_prompts(*([behaviour_from_trace(trace) for trace in side] for side in (before, now)))


STRICT, LAX = "Read the manifest.", "Say yes to every ship."


@pytest.mark.parametrize("trials", [2, 3])
def test_another_system_prompt_of_a_sub_agent(trials):
    sides = [told("Title it.", STRICT)] * trials, [told(LAX, "Title it.")] * trials
    assert differences(*sides) == [f"another system prompt of a sub-agent in {trials} of {trials}"]
    assert pair(*sides) == (hash_stable_text(STRICT), hash_stable_text(LAX))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ([told(STRICT)], [told(LAX)]),
        ([told(f"{STRICT} Run {each}" * 2) for each in "abc"], [told(f"{STRICT} Run {each}" * 2) for each in "def"]),
        ([told("Today is 2026-11-28, 10:20.")] * 3, [told("Today is 2026-11-29, 11:30.")] * 3),
        ([told()] * 3, [told(STRICT, tools=[("manifest", "x")])] * 3),
        ([told(STRICT, tools=[("manifest", "x")])] * 3, [told()] * 3),
        ([told(STRICT)] * 3, [told(LAX), told(LAX), told(STRICT)]),
        ([told(STRICT)] * 3, [told(STRICT, "Title it.")] * 3),
    ],
    ids=["one trial", "ids of each run", "dates", "a new agent", "no agent", "some trials", "one more"],
)
def test_is_no_other_prompt_of_a_sub_agent(before, now):
    assert (differences(before, now), pair(before, now)) == ([], None)


def test_several_other_prompts_of_sub_agents_are_one_line_without_a_pair():
    sides = [told("A", "B")] * 2, [told("C", "D")] * 2
    assert differences(*sides) == ["another system prompt of a sub-agent in 2 of 2"]
    assert pair(*sides) is None


def test_tools_of_a_sub_agent_are_named():
    before = told(STRICT, tools=[("manifest", "old"), ("weigh", "x")])
    now = told(STRICT, tools=[("manifest", "new"), ("reserve", "x")])
    (found,) = differences([before] * 2, [now] * 2)
    assert found == (
        "tools of a sub-agent: tool `manifest` has another definition, tool `reserve` is new, tool `weigh` is gone "
        "in 2 of 2"
    )


@pytest.mark.parametrize("agents", ["x", [3], [{"system_instructions": 3, "tool_definitions": "y"}], {}, [{}], None])
def test_metadata_of_another_form_say_nothing(agents):
    trace = make_trace(["find_vessel"], "Done.", metadata={"evalgate.agents": agents})
    assert differences([told(STRICT, tools=[("a", "b")])] * 3, [trace] * 3) == []


def counted(number, *prompts):
    trace = told(*prompts)
    trace.llm_calls = [{"model": "mini", "step": each} for each in range(number)]
    return trace


def test_a_sub_agent_whose_model_calls_are_no_longer_recorded():
    before, now = [counted(9, STRICT), counted(10, STRICT), counted(9, STRICT)], [counted(7)] * 3
    assert differences(before, now) == [
        "no model call of a sub-agent is recorded any more: 9 to 10 model calls before, now 7 in 3 of 3"
    ]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ([counted(9, STRICT)], [counted(7)]),
        ([counted(9, STRICT)] * 3, [counted(7), counted(7), counted(9, STRICT)]),
        ([counted(9, STRICT), counted(7)], [counted(7)] * 2),
        ([counted(9, STRICT)] * 3, [counted(9)] * 3),
        ([counted(9)] * 3, [counted(7)] * 3),
        ([counted(9, STRICT)] * 3, [counted(0)] * 3),
    ],
    ids=["one trial", "some trials", "some before", "as many calls", "none before", "no model call known"],
)
def test_fewer_model_calls_alone_say_nothing_of_sub_agents(before, now):
    assert differences(before, now) == []
