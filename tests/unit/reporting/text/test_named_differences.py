"""What a scenario that passes does otherwise has the words of the comment's heading in terminal and page."""

from __future__ import annotations

import re

import pytest
from page_builders import a_page
from results_builder import a_baseline, a_change, a_scenario, a_suite, results

from evalgate.models.comparison.behaviour import BehaviourDifference
from evalgate.reporting.markdown.heading import build_heading
from evalgate.reporting.terminal.run_table import render_table


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
        "differences": [BehaviourDifference(each, "x", "1", "2", 3, 3) for each in kinds],
    }
    document = results([a_suite("s", [scenario])], baseline=a_baseline())
    assert f"scenario a {words[0]};" in build_heading(document).text
    lines = [line for line in render_table(document).split("\n") if ": a: " in line]
    assert [line.partition(": a: ")[0] for line in lines] == words
    page = re.sub("<[^>]*>", "\n", a_page(document, {}))
    assert (
        re.findall(f"^({'|'.join(words)})$", page, re.MULTILINE) == words[:1] * 2
    )  # in the list of scenarios, and where it is shown
    assert [each in page for each in (f"{word}: " for word in words)] == [True] * len(words)


def test_the_terminal_says_once_that_an_answer_has_other_words() -> None:
    change = a_change("unchanged", previous_verdict="PASS")
    differences = [BehaviourDifference("wording", "answer", "Yes 5", "No 5", 3, 3)]
    scenario = {**a_scenario("a", change=change), "differences": differences}
    text = render_table(results([a_suite("s", [scenario])], baseline=a_baseline()))
    assert "answers with other words: a: Yes 5 -> No 5 in 3 of 3\n" in text
