"""The HTML page of a run: its policy, and that no text of a run becomes a part of it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import pytest
from builders import make_call, make_trace
from results_builder import a_change, a_reason, a_scenario, a_suite, a_trial, an_assertion, results

from evalgate.reporting.html.build_page import build_page, order_scenarios, place_of
from evalgate.reporting.html.render_page import render_page
from evalgate.reporting.html.trace_block import build_trace_block, encode_trace_block

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]><img src=x onerror=alert(1)>",
    '"><b onclick=x>',
    "' onfocus=x '",
    "\u202etxet\u2066 z\u200be \ufeff \U000e0041",
    "\ud800 \x00\x1b]8;;https://evil.example\x07",
    "javascript:alert(1)",
    "{{ 7 * 7 }} {% raw %}",
    "s0",
    "x" * 5_000_000,
]


class _Elements(HTMLParser):
    """Start tags with their attributes, text of script elements, and comments."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[Any] = []
        self.comments: list[str] = []
        self.content: dict[str, list[str]] = {"script": [], "style": []}
        self._inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))
        self._inside = tag
        if tag in self.content:
            self.content[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in self.content:
            self.content[self._inside][-1] += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def a_run(text: str = "text") -> Any:
    behaviour = {
        "trial_before": 0,
        "trial": 0,
        "first": {"turn": 1, "what": "calls", "before": 1, "now": None},
        "steps": [
            {
                "kind": "removed",
                "name": text,
                "before": {"turn": 1, "call": 1},
                "now": None,
                "arguments": text,
                "changes": [{"path": text, "before": text, "now": None}],
                "changes_left": 1,
            }
        ],
        "steps_left": 1,
        "said": [{"turn": 1, "who": "user", "before": text, "now": text}],
        "response": [{"kind": "gone", "text": text}, {"kind": "come", "text": text}],
        "figures": [{"name": "score", "before": 1.0, "now": 0.0}],
        "status": {"before": text, "now": text},
    }
    change = a_change("broken", behaviour=behaviour, cause={"kind": "agent", "message": text})
    check = an_assertion(text, "failed", reason=text, evidence={text: text})
    trial = a_trial(0, "failed", assertions=[check, an_assertion("other")], reason=text)
    scenario = a_scenario(text, "FAIL", change, trials=[trial], n=1, reason=text)
    reason = a_reason("no_baseline", text)
    warning = {"code": "w", "message": text, "where": None}
    return results([a_suite(text, [scenario], "fail")], "fail", warnings=[warning], command=text, reasons=[reason])


def a_page(document: Any, traces: Any) -> str:
    places = [place_of(trial["trace"]) for item in order_scenarios(document) for trial in item.scenario["trials"]]
    blocks = [(place, encode_trace_block(trace)) for place, trace in zip(places, traces, strict=True)]
    return render_page(build_page(document, blocks, has_traces=True))


def a_trace(text: str = "text") -> Any:
    return make_trace([make_call(text, {text: text}, result=text)], text, user=text, trace_id=text, model=text)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_of_a_run_changes_the_elements_of_its_page(text):
    harmless = _Elements(a_page(a_run(), [a_trace()]))
    page = a_page(a_run(text), [a_trace(text)])
    hostile = _Elements(page)

    assert hostile.tags == harmless.tags
    assert hostile.comments == []
    assert len(page) < 1_000_000
    page.encode("utf-8")
    assert not re.search("[\u200b\u202e\u2066\ufeff\U000e0041\x00\x1b\u2028]", page)


def test_policy_names_the_only_script_and_style_by_their_hashes():
    page = _Elements(a_page(a_run(), [a_trace()]))
    policy = next(
        dict(attributes)["content"] for tag, attributes in page.tags if tag == "meta" and len(attributes) == 2
    )
    run = [
        content
        for content, (_, attributes) in zip(
            page.content["script"], [each for each in page.tags if each[0] == "script"], strict=True
        )
        if not attributes
    ]

    def name(content: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"

    assert len(run) == len(page.content["style"]) == 1
    assert policy == (
        f"default-src 'none'; script-src {name(run[0])}; style-src {name(page.content['style'][0])}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert not [each for each in page.tags if {"style", "src", "srcset", "action"} & dict(each[1]).keys()]
    assert all(value.startswith("#") for _, each in page.tags for key, value in each if key == "href")


def test_block_of_a_trace_reads_back_as_it_was():
    text = "</script> & \u2028 \u2029 \u00e9"
    trace = a_trace(text)
    page = _Elements(a_page(a_run(), [trace]))

    assert json.loads(page.content["script"][0]) == build_trace_block(trace)
    assert "<" not in page.content["script"][0]


def test_script_is_small_and_builds_no_markup_from_text():
    script = files("evalgate.reporting").joinpath("templates", "report.js").read_text("utf-8")

    assert len(script.encode()) <= 40_000
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch("):
        assert word not in script
    for word in ("localStorage", "sessionStorage", "XMLHttpRequest", ".src", ".href"):
        assert word not in script


def test_secret_between_invisible_characters_is_redacted():
    key = "ghp_" + "a1B2" * 9
    page = a_page(a_run(), [a_trace(f"key {key[:10]}\u200b{key[10:]}")])

    assert key[12:] not in page


def test_same_run_gives_the_same_bytes():
    assert a_page(a_run(), [a_trace()]) == a_page(a_run(), [a_trace()])


def test_unknown_duration_is_null_and_not_zero():
    block = build_trace_block(make_trace(["lookup"]))

    assert [bar["seconds"] for bar in block["bars"]] == [None]
    assert block["total_seconds"] is None
