"""The HTML page in a real Chromium: requests, console, speed, accessibility by axe-core, and every function by keyboard."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from builders import make_call, make_trace
from chromium import chromium  # noqa: F401  a fixture
from documents import ROOT
from in_process_command import evalgate
from page_builders import HOSTILE, a_large_page, a_page, a_run, a_small_page

if TYPE_CHECKING:
    from pathlib import Path

    from chromium import Chromium

AXE = ROOT / ".sdks" / "node" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]
TAU2 = "traces/tau2-bench/{}_1trials.json"
RETAIL = """version: 1
suite: retail
traces: [nothing.json]
scenarios:
  - id: "*"
    assertions:
      - {type: recorded_score, name: reward, min: 1.0, required: true}
"""
A_MOMENT = "new Promise((done) => setTimeout(done, 200))"
"""A link is followed, and a conversation filled, after the key press has returned."""
ALL_OPEN = """(() => {
  for (let round = 0; round < 3; round++) for (const each of document.querySelectorAll("details")) each.open = true;
  for (const each of document.querySelectorAll(".scenario")) each.hidden = false;
  return new Promise((done) => setTimeout(() => {
    for (const each of document.querySelectorAll("details")) each.open = true;
    setTimeout(() => done(document.querySelectorAll(".parts > li").length), 50);
  }, 50));
})()"""


def write_report(folder: Path, suite: str, base: str, head: str) -> Path:
    """Runs a suite over both, compares them, and writes the page."""
    assert evalgate("run", suite, "--traces", base, "--output-dir", str(folder / "base")).exit_code in (0, 1)
    compared = ["--baseline", str(folder / "base/baseline.zip"), "--output-dir", str(folder / "head")]
    assert evalgate("run", suite, "--traces", head, *compared).exit_code == 1
    assert evalgate("view", str(folder / "head"), *compared[:2]).exit_code == 0
    return folder / "head/report.html"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    traces = "examples/support-agent/traces/{}/*.jsonl"
    suite = "examples/support-agent/evals/support.yaml"
    return write_report(tmp_path_factory.mktemp("demo"), suite, traces.format("main"), traces.format("pr"))


@pytest.fixture(scope="module")
def retail(tmp_path_factory, shared):
    folder = tmp_path_factory.mktemp("retail")
    (folder / "suite.yaml").write_text(RETAIL)
    base = str(shared / TAU2.format("gpt-4.1_retail_defautl_gpt-4.1"))
    head = str(shared / TAU2.format("ft_gpt-4.1-2025-04-14_sierra_tau2-full-sft_BzrYdMNm_retail_default_gpt-4.1"))
    return write_report(folder, str(folder / "suite.yaml"), base, head)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "report.html"
    path.write_text(a_large_page(1_000), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """A page that holds most scenarios in short."""
    path = tmp_path_factory.mktemp("short") / "report.html"
    path.write_text(a_large_page(40, 200_000), encoding="utf-8")
    return path


@pytest.fixture
def page(request):
    return request.getfixturevalue(request.param)


PAGES = pytest.mark.parametrize("page", ["demo", "retail", "large"], indirect=True)


@PAGES
def test_page_fits_the_window_asks_for_nothing_and_writes_nothing_to_the_console(chromium: Chromium, page):  # noqa: F811
    for width, script in ((360, True), (1440, True), (1440, False)):
        chromium.open(page, width=width, script=script)
        if script:
            chromium.press("o", "j", "o", "k", "/")
            assert chromium.evaluate("document.documentElement.scrollWidth") <= width
        assert chromium.requests == []
        assert chromium.complaints == []

    assert page.stat().st_size <= 10_000_000


def test_page_of_a_thousand_scenarios_is_painted_within_two_seconds(chromium: Chromium, large):  # noqa: F811
    times = []
    for _ in range(3):  # the machine may be busy once
        chromium.open(large)
        times.append(chromium.times)

    assert min(each["paint"] for each in times) < 2_000
    assert times[0]["elements"] < 40_000
    assert chromium.evaluate("document.querySelectorAll('.list tbody tr').length") == 1_000


@pytest.mark.parametrize(
    "page",
    ["demo", "short", *(pytest.param(name, marks=pytest.mark.matrix) for name in ("retail", "large"))],
    indirect=True,
)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_page_has_no_violation_of_wcag(chromium: Chromium, page, dark):  # noqa: F811
    if not AXE.is_file():
        pytest.skip("axe-core is not installed (make sdks, which needs npm)")
    is_short = page.parent.name.startswith("short")
    chromium.open(page, "#s39" if is_short else "", dark=dark)
    shown = chromium.evaluate("document.querySelector('.scenario:not([hidden])').textContent")
    assert ("explain" if is_short else "What the agent did instead") in shown
    chromium.evaluate(AXE.read_text(encoding="utf-8"))
    chromium.evaluate(
        "document.querySelectorAll('.scenario:not([hidden]) details').forEach((each) => { each.open = true; })"
    )
    options = {"runOnly": {"type": "tag", "values": RULES}, "resultTypes": ["violations"]}
    found = chromium.evaluate(f"axe.run(document, {json.dumps(options)}).then((all) => JSON.stringify(all))")
    violations = [
        (each["id"], each["help"], [node["html"][:200] for node in each["nodes"][:3]])
        for each in json.loads(found)["violations"]
    ]

    assert violations == []


def focused(browser: Chromium) -> str:
    return str(browser.evaluate("document.activeElement.textContent.trim() || document.activeElement.id"))


def state(browser: Chromium) -> Any:
    """The scenario that is shown, and the number of rows and of open conversations."""
    return json.loads(
        browser.evaluate("""JSON.stringify([
          [...document.querySelectorAll(".scenario:not([hidden])")].map((each) => each.id),
          document.querySelectorAll(".list tbody tr:not([hidden])").length,
          document.querySelectorAll(".trace[open]").length])""")
    )


def test_every_function_works_by_keyboard(chromium: Chromium, large):  # noqa: F811
    chromium.open(large)
    assert state(chromium) == [["s0"], 1_000, 0]

    chromium.press("j", "j", "k")
    assert state(chromium) == [["s1"], 1_000, 0]
    assert chromium.evaluate("location.hash") == "#s1"
    assert focused(chromium).startswith("task-")

    chromium.press("o")
    assert state(chromium) == [["s1"], 1_000, 1]
    assert chromium.evaluate("document.querySelectorAll('.trace[open] .parts li').length") == 14

    chromium.press("/")
    assert focused(chromium) == "text"
    chromium.press("9", "9")
    assert state(chromium)[1] == 19
    assert state(chromium)[0] == ["s99"]
    assert chromium.evaluate("location.hash") == "#s99?text=99"

    chromium.press("Enter", "j", "j")  # the second passing one, which the file holds in short
    assert "explain" in chromium.evaluate("document.querySelector('.scenario:not([hidden])').textContent")
    chromium.press("/", "z", "z")
    assert state(chromium)[1] == 0
    assert "No scenario fits these filters." in chromium.evaluate("document.querySelector('.filters').textContent")
    chromium.press("Escape")
    assert state(chromium)[1] == 1_000


def test_link_restores_filters_and_scenario(chromium: Chromium, large):  # noqa: F811
    chromium.open(large, "#s50?show=changed&text=task-00")

    assert state(chromium)[:2] == [["s50"], 100]
    assert chromium.evaluate("document.getElementById('show').value") == "changed"


def test_call_in_the_difference_opens_it_in_the_conversation(chromium: Chromium, demo):  # noqa: F811
    chromium.open(demo)
    chromium.evaluate("document.querySelector('.number a').focus()")
    chromium.press("Enter")
    chromium.evaluate(A_MOMENT)

    assert state(chromium)[2] == 1
    assert focused(chromium).startswith("call 1")
    assert chromium.evaluate("document.activeElement.dataset.number") == "1"


def test_missing_call_opens_in_the_conversation_of_the_baseline_beside_the_other(chromium: Chromium, demo):  # noqa: F811
    chromium.open(demo, "#s0t0c2")
    chromium.evaluate("location.hash = '#s0bc2', new Promise((done) => setTimeout(done, 100))")

    assert focused(chromium).startswith("call 2check_refund_policy")
    sides = "[...document.querySelectorAll('#s0 .pair .trace')].map((each) => each.getBoundingClientRect().y | 0)"
    assert len(set(chromium.evaluate(sides))) == 1


def test_failed_check_leads_to_its_call_which_names_it_and_back_returns(chromium: Chromium, demo):  # noqa: F811
    chromium.open(demo)
    chromium.evaluate("document.querySelector('.reasons a').focus()")
    chromium.press("Enter")
    chromium.evaluate(A_MOMENT)

    assert chromium.evaluate("document.activeElement.dataset.number") == "2"
    assert "\u2717 no refund" in focused(chromium)
    assert chromium.evaluate("document.querySelector('.come .mark').textContent") == "\u2717 no refund"
    chromium.evaluate("history.back(), new Promise((done) => setTimeout(done, 200))")
    assert chromium.evaluate("location.hash + scrollY") == "0"

    chromium.evaluate("document.querySelector('.about .back').click()")
    assert focused(chromium) == "Why"


def shown(browser: Chromium) -> str:
    return str(
        browser.evaluate("[...document.querySelectorAll('.scenario:not([hidden])')].map((each) => each.id).join()")
    )


def choose(browser: Chromium, group: str) -> None:
    """Chooses in the first filter as a click does."""
    browser.evaluate(
        "show.focus(), document.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true})),"
        f" show.value = '{group}',"
        " ['input', 'change'].forEach((name) => show.dispatchEvent(new Event(name, {bubbles: true})))"
    )


def test_filter_shows_the_first_scenario_that_fits_and_keys_work_after_a_choice(chromium: Chromium, demo):  # noqa: F811
    chromium.open(demo)
    first = "document.querySelector('.list tbody tr:not([hidden]) a').getAttribute('href')"
    choose(chromium, "fixed")
    rows = state(chromium)[1]
    assert f"fixed or better ({rows})" in chromium.evaluate("show.selectedOptions[0].textContent")
    assert f"#{shown(chromium)}" == chromium.evaluate(first)

    choose(chromium, "failing")
    before = shown(chromium)
    chromium.press("j")
    assert shown(chromium) != before

    chromium.press("Escape")  # the focus is in a scenario
    assert chromium.evaluate("show.value") == "all"


def test_without_a_match_nothing_is_shown_or_opened(chromium: Chromium, demo):  # noqa: F811
    chromium.open(demo)
    chromium.press("/", "z", "z", "z", "Enter", "o")
    assert state(chromium) == [[], 0, 0]
    assert "No scenario fits these filters." in chromium.evaluate("document.querySelector('main').innerText")

    chromium.press("Escape")
    assert state(chromium)[:2] == [["s0"], 8]


POSITION = """(() => {
  const { top, bottom } = document.activeElement.getBoundingClientRect();
  return JSON.stringify([top >= 0 && top < innerHeight && bottom > 0, document.querySelectorAll(".trace[open]").length]);
})()"""


def position(browser: Chromium) -> Any:
    """Whether what has the focus is in view, and how many conversations are open."""
    return json.loads(browser.evaluate(POSITION))


def marked(browser: Chromium) -> Any:
    """The marked calls and messages."""
    return json.loads(
        browser.evaluate(
            "JSON.stringify([...document.querySelectorAll('.at')].map((each) => each.firstChild.textContent))"
        )
    )


@pytest.mark.parametrize("width", [360, 1440])
def test_keys_open_both_conversations_at_the_leading_call(chromium: Chromium, retail, width):  # noqa: F811
    chromium.open(retail, "#s1", width=width)
    for number, (key, call) in enumerate((("o", "call 5"), ("b", "call 10")), 1):
        chromium.press(key)
        assert focused(chromium).startswith(call)
        assert "modify_pending_order_items" in focused(chromium)
        assert position(chromium) == [True, number]
    assert marked(chromium) == ["call 5", "call 10"]


def test_key_closes_a_conversation_only_if_its_call_is_in_view(chromium: Chromium, retail):  # noqa: F811
    chromium.open(retail, "#s1")
    chromium.press("o")
    chromium.evaluate(f"scrollTo(0, 0), {A_MOMENT}")
    chromium.press("o")
    assert position(chromium) == [True, 1]
    assert focused(chromium).startswith("call 5")

    chromium.press("o")
    assert position(chromium) == [True, 0]
    assert focused(chromium).startswith("This run, trial 0")


def test_opened_call_stays_in_view_if_the_window_gets_another_width(chromium: Chromium, retail):  # noqa: F811
    chromium.open(retail, "#s1", width=360)
    chromium.press("o")
    for width in (1440, 360):
        chromium.resize(width)
        chromium.evaluate(A_MOMENT)
        assert position(chromium) == [True, 1]


@pytest.mark.parametrize(
    ("number", "now", "before"),
    [("4", "call 11exchange_delivered_order_items", "call 11modify_pending"), ("5", "userturn 8Yes, please", "call 5")],
)
def test_missing_call_leads_to_what_this_run_did_instead(chromium: Chromium, retail, number, now, before):  # noqa: F811
    chromium.open(retail, f"#s{number}")
    chromium.press("o")
    assert focused(chromium).startswith(now)
    chromium.press("b")
    assert focused(chromium).startswith(before)
    assert position(chromium) == [True, 2]
    assert [now.startswith(marked(chromium)[0]), before.startswith(marked(chromium)[1])] == [True, True]


def test_heading_of_a_conversation_stays_in_view(chromium: Chromium, retail):  # noqa: F811
    chromium.open(retail, "#s1")
    chromium.press("o", "b")
    chromium.evaluate(A_MOMENT)
    heads = json.loads(
        chromium.evaluate("""JSON.stringify([...document.querySelectorAll("#s1 .pair .trace > summary")]
          .map((each) => [each.textContent, each.getBoundingClientRect().y]))""")
    )
    assert [y for _, y in heads] == [0, 0]
    assert heads[0][0].startswith("This run, trial 0 of scenario 71")
    assert heads[1][0].startswith("Baseline, trial 0 of scenario 71")


def test_search_for_a_phrase_starts_at_the_top_marks_hits_and_is_undone(chromium: Chromium, retail):  # noqa: F811
    chromium.open(retail, "#s2")
    chromium.press("o", "/", *"exchange the chair")
    assert state(chromium)[:2] == [["s5"], 1]
    assert chromium.evaluate("CSS.highlights.get('hit').size") > 0
    assert abs(chromium.evaluate("document.getElementById('s5').getBoundingClientRect().y")) < 2

    chromium.press("Escape")
    assert state(chromium)[:2] == [["s2"], 40]
    assert chromium.evaluate("CSS.highlights.has('hit')") is False


def test_message_that_differs_leads_to_its_turn(chromium: Chromium, retail):  # noqa: F811
    chromium.open(retail, "#s5")
    chromium.evaluate(
        "document.querySelector('#s5 a[href$=\"t0m2\"]').click(), new Promise((done) => setTimeout(done, 100))"
    )

    assert focused(chromium).startswith("userturn 2")


LEADING = {
    "18": "The agent no longer calls exchange_delivered_order_items (call 5 of the baseline, turn 9)"
    " and makes no further call. The recording ends with the user\u2019s message, which the agent did not answer.",
    "27": "The call of exchange_delivered_order_items (call 8 of the baseline, now call 7, turn 5) ended with an error,"
    " after return_delivered_order_items (call 6), which the baseline called later; in the baseline it ended ok.",
    "33": "The agent no longer calls modify_user_address (call 7 of the baseline, turn 7) and makes no further call.",
    "64": "The agent calls modify_pending_order_items with other arguments:"
    ' new_item_ids[0]: "6700049080" \u2192 "6117189161" (call 8, turn 7).',
    "71": "The agent calls modify_pending_order_items with other arguments:"
    ' order_id: "#W5270061" \u2192 "#W5782623" (call 5, turn 8).',
    "111": 'The agent no longer calls modify_pending_order_items with {"item_ids":["1355937109"],'
    '"new_item_ids":["9949163720"],"order_id":"#W9810810","payment_method_id":"gift_card_7252880"}'
    " (call 11 of the baseline, turn 4), but calls exchange_delivered_order_items (call 11, turn 8),"
    " which ended with an error.",
}


def test_real_regressions_are_explained_by_the_call_that_matters(chromium: Chromium, retail):  # noqa: F811
    chromium.open(retail)
    sentences = chromium.evaluate("""JSON.stringify(Object.fromEntries([...document.querySelectorAll(".scenario")]
      .filter((each) => each.querySelector("tr.leading"))
      .map((each) => [each.querySelector("h2").textContent, each.querySelector("h3 + p:not(.note)").textContent])))""")

    assert json.loads(sentences) == LEADING
    names = "[...document.querySelectorAll('.list a')].slice(0, 6).map((each) => each.textContent)"
    assert chromium.evaluate(names) == ["64", "71", "27", "33", "111", "18"]
    assert "missing; ends with the user" in chromium.evaluate("document.querySelectorAll('.list tr')[6].textContent")
    marked = "[...document.querySelectorAll('#s2 tr.leading, #s2 tr.before')].map((each) => each.cells[1].textContent)"
    assert chromium.evaluate(marked) == ["6", "7"]
    text = chromium.evaluate("document.querySelector('#s5').textContent")
    assert "Then the user wrote: \u201cYes, please exchange the chair" in text


def test_header_says_what_holds_for_all_and_no_scenario_repeats_it(chromium: Chromium, retail):  # noqa: F811
    chromium.open(retail)
    header = chromium.evaluate("document.querySelector('header').innerText")

    assert "All 6 scenarios that broke or regressed come with model gpt-4.1 \u2192 ft:gpt-4.1" in header
    assert (
        "Against the baseline: 6 broken and 6 fixed. 34 of 40 passed, 34 of 40 in the baseline.\n\n"
        "6 changes are based on a single trial and may be noise."
    ) in header
    assert "comes with model" not in chromium.evaluate("document.querySelector('main').textContent")


def test_fixed_scenarios_show_what_the_agent_does_otherwise(chromium: Chromium, retail):  # noqa: F811
    chromium.open(retail, "#s11")
    text = chromium.evaluate("document.querySelector('#s11').textContent")

    assert "PASS fixed" in text
    assert "Other calls than in the baseline" in text
    assert "The agent no longer calls cancel_pending_order (call 10 of the baseline, turn 8)" in text
    assert chromium.evaluate("document.querySelectorAll('#s11 tr.leading').length") == 0
    chromium.press("b")
    assert state(chromium)[2] == 1


def test_result_as_json_on_one_line_is_indented_and_keeps_its_tokens(chromium: Chromium, tmp_path):  # noqa: F811
    result = '{"id": 12345678901234567890, "text": "a, [b]: {c}", "list": [1.10, {}], "more": "' + "x" * 50 + '"}'
    path = tmp_path / "page.html"
    path.write_text(a_page(a_run("text"), {"traces/0.json": make_trace([make_call("pay", result=result)])}), "utf-8")
    chromium.open(path)
    chromium.press("o")
    chromium.evaluate(A_MOMENT)
    lines = chromium.evaluate("document.querySelector('.trace [data-number] code:last-child').textContent").split("\n")

    assert lines[:7] == [
        "{", '  "id": 12345678901234567890,', '  "text": "a, [b]: {c}",', '  "list": [', "    1.10,", "    {}", "  ],",
    ]  # fmt: skip
    assert "The durations of the calls are not recorded." in chromium.evaluate("document.body.textContent")


@pytest.mark.parametrize("text", ["issue_refund", "30  Days", '"30 days"', "\u2717 no refund"])
def test_search_finds_what_a_scenario_and_its_conversations_say(chromium: Chromium, demo, text):  # noqa: F811
    chromium.open(demo, f"#s0?text={text.replace(' ', '+')}")
    names = chromium.evaluate(
        "[...document.querySelectorAll('.list tbody tr:not([hidden]) a')].map((a) => a.textContent)"
    )

    assert "refund-outside-window" in names
    assert 0 < len(names) < 8


def test_words_that_are_no_phrase_of_a_scenario_find_nothing(chromium: Chromium, demo):  # noqa: F811
    chromium.open(demo, "#s0?text=kettle+issue_refund")
    assert state(chromium)[1] == 0


def test_everything_that_can_be_clicked_can_be_reached_by_tab(chromium: Chromium, demo):  # noqa: F811
    chromium.open(demo)
    count = chromium.evaluate("""(() => {
      window.wanted = [...document.querySelectorAll("a, button, input, select, summary")].filter((each) => each.checkVisibility());
      window.reached = new Set();
      document.addEventListener("focusin", (event) => window.reached.add(event.target));
      return window.wanted.length;
    })()""")
    chromium.press(*["Tab"] * (count + 20))

    assert count > 15
    assert (
        chromium.evaluate("window.wanted.filter((each) => !window.reached.has(each)).map((each) => each.outerHTML)")
        == []
    )


def test_without_script_scenarios_and_their_differences_can_be_read(chromium: Chromium, demo):  # noqa: F811
    chromium.open(demo, script=False)
    tree = chromium._call("DOM.getDocument", depth=-1)
    text = json.dumps(tree)

    assert "What the agent did instead" in text


def test_printed_page_shows_every_failing_or_changed_scenario(chromium: Chromium, demo):  # noqa: F811
    chromium.open(demo)
    shown = """[...document.querySelectorAll(".scenario")].filter((each) => !each.hidden && each.open).length"""
    assert chromium.evaluate(shown) == 1
    chromium.evaluate("dispatchEvent(new Event('beforeprint'))")
    wanted = "document.querySelectorAll('.list tr[data-failing], .list tr[data-changed]').length"
    assert chromium.evaluate(shown) == chromium.evaluate(wanted) == 8
    chromium.evaluate("dispatchEvent(new Event('afterprint'))")
    assert chromium.evaluate(shown) == 1


def test_hostile_text_stays_text_when_conversations_are_opened(chromium: Chromium, tmp_path):  # noqa: F811
    path = tmp_path / "page.html"
    found: list[set[str]] = []
    for text in ("text", " ".join(HOSTILE[:-1]), HOSTILE[-1]):
        path.write_text(a_small_page(text), encoding="utf-8")
        chromium.open(path)
        assert chromium.evaluate(ALL_OPEN) > 0
        names = (
            "[...document.querySelectorAll('*')].map((each) => each.tagName + [...each.attributes].map((a) => a.name))"
        )
        found.append(set(chromium.evaluate(names)))
        assert chromium.requests == []
        assert chromium.complaints == []

    assert found[1] | found[2] <= found[0] | {"DETAILS", "SUMMARY"}
