"""What a scenario that passes does otherwise has the words of the comment's heading in terminal and page."""

from __future__ import annotations

import re

import pytest
from page_builders import a_page
from results_builder import a_baseline, a_change, a_scenario, a_suite, results

from evalgate.models.comparison.behaviour import BehaviourDifference
from evalgate.reporting.markdown.heading import build_heading
from evalgate.reporting.markdown.render import render_comment
from evalgate.reporting.terminal.run_table import render_table

WHAT = {"prompt": "system prompt"}


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        (["argument"], ["acts differently"]),
        (["all_calls"], ["acts differently"]),
        (["model"], ["runs with another model"]),
        (["tools"], ["has other tool definitions"]),
        (["prompt"], ["has another system prompt"]),
        (["wording"], ["answers with other words"]),
        (["argument", "model"], ["acts differently", "runs with another model"]),
    ],
)
def test_each_line_has_the_words_of_the_heading(kinds: list[str], words: list[str]) -> None:
    change = a_change("unchanged", previous_verdict="PASS")
    scenario = {
        **a_scenario("a", change=change),
        "differences": [BehaviourDifference(each, WHAT.get(each, "x"), "1", "2", 3, 3) for each in kinds],
    }
    document = results([a_suite("s", [scenario])], baseline=a_baseline())
    assert re.search(f"scenario a {words[0]}[;:]", build_heading(document).text)
    lines = [line.partition(": a") for line in render_table(document).split("\n") if re.search(": a[: ]", line)]
    assert [line[0] for line in lines] == words
    assert not [line[2] for line in lines if re.search("another|other words", line[2])]  # which the words say
    page = re.sub("<[^>]*>", "\n", a_page(document, {}))
    assert (
        re.findall(f"^({'|'.join(words)})$", page, re.MULTILINE) == words[:1] * 2
    )  # in the list of scenarios, and where it is shown
    assert [bool(re.search(f"{word}(: | in )", page)) for word in words] == [True] * len(words)


@pytest.mark.parametrize(
    ("differing", "who"), [("abcde", "all 5 scenarios"), ("abcd", "4 scenarios (a, b, c and 1 more)")]
)
def test_what_differs_of_the_agent_in_several_scenarios_is_one_line(differing: str, who: str) -> None:
    change = a_change("unchanged", previous_verdict="PASS")
    found = [
        BehaviourDifference("prompt", "system prompt", "", "", 3, 3),
        BehaviourDifference("model", "model", "1", "2", 3, 3),
    ]
    scenarios = [
        {**a_scenario(id_, change=change), **({"differences": found} if id_ in differing else {})} for id_ in "abcde"
    ]
    document = results([a_suite("s", scenarios)], baseline=a_baseline())
    text = render_table(document)
    assert text.count(f"have another system prompt: {who} in 3 of 3\n") == text.count("system prompt") == 1
    assert text.count(f"run with another model: {who}: 1 -> 2 in 3 of 3\n") == 1
    comment = render_comment(document, key="k")
    assert "acting differently (2)</summary>" in comment
    assert comment.replace("` ", "").replace(" `", "").count(f"- {who}: another system prompt in 3 of 3\n") == 1


def test_the_terminal_says_once_that_an_answer_has_other_words() -> None:
    change = a_change("unchanged", previous_verdict="PASS")
    differences = [BehaviourDifference("wording", "answer", "Yes 5", "No 5", 3, 3)]
    scenario = {**a_scenario("a", change=change), "differences": differences}
    text = render_table(results([a_suite("s", [scenario])], baseline=a_baseline()))
    assert "answers with other words: a: Yes 5 -> No 5 in 3 of 3\n" in text
