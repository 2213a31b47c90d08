"""User templates: what they can do, and that recorded text always stays in code."""

from __future__ import annotations

import time
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_check import HOSTILE, find_flaws
from results_builder import (
    a_baseline,
    a_change,
    a_reason,
    a_scenario,
    a_suite,
    a_trial,
    a_variant,
    an_assertion,
    results,
    some_calls,
)

from evalgate.errors import InvalidTemplate
from evalgate.models.github import TemplateFile
from evalgate.reporting.markdown.render import render_comment

MARKER = "<!-- evalgate:sticky v1 key=gate -->"
HEAD = '{% extends "comment.md.j2" %}\n'


def failing(text="refund"):
    check = an_assertion(text, "failed", reason=text, required=True, evidence={text: text})
    change = a_change("broken", reason=text, calls=some_calls([text, "a"], ["a"]))
    bad = a_scenario(text, "HARD_FAIL", change, trials=[a_trial(0, "hard_fail", assertions=[check])], variant=text)
    soft = a_scenario(f"b{text}", "PASS", a_change("regressed", reason=text))
    suite = {**a_suite(text, [bad, soft], "fail"), "variants": [a_variant(text)]}
    reasons = [a_reason("hard_fail", text, suite=text, scenario=text, variant=text), a_reason("x", text)]
    warnings = [{"code": text, "message": text, "where": text}]
    return results(
        [suite], "fail", baseline=a_baseline("given", sha=None, path=text), reasons=reasons, warnings=warnings,
        evalgate_version=text, commit=text, command=text,
    )  # fmt: skip


def comment(template, document=None, *, head=HEAD, **changes):
    file = TemplateFile(".github/comment.md.j2", head + template)
    return render_comment(document or failing(), key="gate", template=file, **changes)


def block(body, name="footer"):
    return f"{{% block {name} %}}\n{body}\n{{% endblock %}}\n"


def body_of(text):
    return text.split("\n\n", 1)[1]


def test_a_block_replaces_the_built_in_one_and_the_rest_is_unchanged():
    customised = comment(block("Ask **#agents** for help."))
    built_in = render_comment(failing(), key="gate")
    assert customised.endswith("Ask **#agents** for help.\n")
    assert customised.split("Ask")[0] == built_in.split("<details><summary>Reproduce")[0]


def test_an_empty_template_gives_the_built_in_comment():
    assert comment("") == render_comment(failing(), key="gate")


def test_marker_and_verdict_can_not_be_replaced():
    emptied = "".join(block("", name) for name in ("alert", "baseline", "suites", "failures", "changes", "reasons"))
    lines = comment(emptied).split("\n")
    assert lines[:2] == [
        MARKER,
        "## \u274c EvalGate failed: scenario ` refund ` ` refund ` broke and ` brefund ` regressed",
    ]


def test_super_and_the_built_in_macros_can_be_used():
    text = comment(
        block("Before.\n{{ super() }}\nAfter.", "baseline")
        + block('{{ table(report.regressed) }}{{ folded("Worse", report.regressed) }}', "changes")
    )
    assert "Before.\n\n**Blocks merging: yes**" in text
    assert text.count("| ` brefund ` |") == 2
    assert "<details><summary>Worse (1)</summary>" in text


def test_loops_conditions_names_and_filters():
    text = comment(
        block(
            "{% set all = report.failures.shown %}"
            "{% for failure in all %}{{ loop.index }}: {{ failure.name }} {{ failure.facts | join(', ') }}"
            "{% if loop.last and failure.verdict != 'x' %} end{% endif %}\n{% endfor %}"
            "{{ report.failures.total | thousands }} of {{ all | length }}, {{ (all | first).checks_left }}"
        )
    )
    assert (
        "1: ` refund ` ` refund ` broke: refund, ` evals/support.yaml:7 `, trace\u00a0` traces/0.json ` end1 of 1, 0"
        in text
    )


@pytest.mark.parametrize(
    ("template", "line", "words"),
    [
        (block("{% include 'summary.md.j2' %}"), 3, "`include` is not allowed in a template"),
        (block("{% import 'comment.md.j2' as x %}"), 3, "`import` is not allowed in a template"),
        (block("{% macro a() %}{{ a() }}{% endmacro %}"), 3, "`macro` is not allowed in a template"),
        (block("{{ ''.__class__ }}"), 3, "unknown field `__class__`"),
        (block("{{ report.__init__ }}"), 3, "unknown field `__init__`"),
        (block("{{ report.falures }}"), 3, "unknown field `falures` (did you mean `failures`?)"),
        (block("{{ report.heading.format() }}"), 3, "unknown part `call`"),
        (block("{{ range(9) }}"), 3, "unknown part `range`"),
        (block("{{ report.heading | upper }}"), 3, "unknown filter `upper`"),
        (block("{{ report.heading | _value }}"), 3, "unknown filter `_value`"),
        (block("{{ 'a' * 999999999 }}"), 3, "`mul` is not allowed in a template"),
        (block("{{ 2 ** 999999999 }}"), 3, "`pow` is not allowed in a template"),
        (block("{{ 'a' ~ 'b' }}"), 3, "`concat` is not allowed in a template"),
        (block("{{ '%999999999d' % 1 }}"), 3, "`mod` is not allowed in a template"),
        (block("{{ report.heading[0] }}"), 3, "`getitem` is not allowed in a template"),
        (block("{% if super() %}x{% endif %}"), 3, "`call` is not allowed in a template"),
        (block("{% for a in report.facts recursive %}{% endfor %}"), 3, "a loop must have one variable and not be recursive"),
        (block("{% for a, b in report.figures %}{% endfor %}"), 3, "a loop must have one variable"),
        (block("{% set a %}x{% endset %}"), 3, "`assignblock` is not allowed in a template"),
        (block("{% filter join %}x{% endfilter %}"), 3, "`filterblock` is not allowed in a template"),
        (block("x", "foter"), 2, "unknown block `foter` (did you mean `footer`?)"),
        ("words\n", 2, "text outside of blocks is not allowed"),
        (block("<img src=x>"), 3, "only complete HTML tags without attributes are allowed"),
        (block("<b title={{ report.version }}>"), 3, "only complete HTML tags without attributes are allowed"),
        (block("<!-- hidden -->"), 3, "only complete HTML tags without attributes are allowed"),
        (block("{{ '<script>' }}"), 3, "only complete HTML tags without attributes are allowed"),
        (block("<details><summary>x</summary>"), 3, "<details> is not closed in the same part"),
        (block("{% if report.skipped %}</details>{% endif %}"), 3, "</details> has no opening tag in the same part"),
        (block("` {{ report.version }}"), 3, "a code span must end on the line it starts on"),
        (block("```\n{{ report.version }}\n```"), 3, "a code span must end on the line it starts on, and fences are not allowed"),
        (block("~~~\n{{ report.version }}\n~~~"), 3, "a code span must end on the line it starts on, and fences are not allowed"),
        (block("{{ range }}"), 3, "it uses a value that does not exist"),
        (block("{{ lipsum }}"), 3, "it uses a value that does not exist"),
        (block("$$ {{ report.version }}"), 3, "a dollar sign"),
        (block("{% for x in report.figures %}"), 4, "invalid Jinja syntax"),
        (block("{{ "), 4, "invalid Jinja syntax"),
        (block("{{ report.figures }}"), 3, "only text and numbers can be printed"),
        (block("{{ report.is_compared }}"), 3, "only text and numbers can be printed"),
        (block("\n\n{{ report.name }}"), 5, "it uses a value that does not exist"),
        (block("{{ nothing }}"), 3, "it uses a value that does not exist"),
        (block("{% for c in report.heading %}{{ c }}{% endfor %}"), 3, "a loop or filter needs a list"),
        (block("{{ report.heading | first }}"), 3, "a loop or filter needs a list"),
        (block("{{ report.heading | thousands }}"), 3, "`thousands` needs a whole number"),
        (block("<details>{{ report.version }}</details>"), None, "recorded text is inside an HTML block"),
        (block("- <details><summary>\n{{ report.version }}</summary></details>"), None, "inside an HTML block"),
        (block("x" * 60_000), None, "even without any rows"),
        (block("{{ " + "9" * 5_000 + " }}"), None, "it contains an invalid number"),
        (block("{{ 1e400 }}"), 3, "it uses a value that does not exist"),
    ],
)  # fmt: skip
def test_forbidden_syntax_is_reported_with_its_location(template, line, words):
    with pytest.raises(InvalidTemplate) as refusal:
        comment(template)
    [problem] = refusal.value.problems
    assert (problem.location.file, problem.location.line) == (".github/comment.md.j2", line)
    assert words in str(problem)


def test_a_template_that_extends_nothing_is_refused():
    with pytest.raises(InvalidTemplate, match="a template must begin with"):
        comment("Hello.", head="")
    with pytest.raises(InvalidTemplate, match="a template must begin with"):
        comment("", head='{% extends "summary.md.j2" %}')
    with pytest.raises(InvalidTemplate, match="a template must begin with"):
        comment("", head="")


NESTED = "".join(f"{{% for a{n} in report.figures %}}" for n in range(10))
ENDLESS = [
    block(f"{NESTED}x{'{% endfor %}' * 10}"),
    block(f"{NESTED}{'{% endfor %}' * 10}"),
    block("{% for a in report.figures %}{% for b in report.figures %}{% for c in report.figures %}"
          + "{{ super() }}" * 900 + "{% endfor %}" * 3, "failures"),
    block("{{ " + "(" * 3_000 + "1" + ")" * 3_000 + " }}"),
    block("{{ " + "not " * 3_000 + "1 }}"),
    block("{% if 1 %}" * 500 + "{% endif %}" * 500),
    block("{% for a in report.figures %}" * 30 + "{% endfor %}" * 30),
    block("{{ super() }}" * 1_500, "failures"),
    block("{% for a in report.figures %}" * 4 + "{{ super() }}" * 1_000 + "{% endfor %}" * 4, "reasons"),
    block("{% for a in report.figures %}" * 5 + "{% if a %}{% endif %}" * 1_000 + "{% endfor %}" * 5),
    block("{% for a in report.figures %}" * 5 + "{{ report.origin }}" * 1_000 + "{% endfor %}" * 5),
]  # fmt: skip


@pytest.mark.parametrize("template", ENDLESS, ids=range(len(ENDLESS)))
def test_an_endless_template_is_aborted_soon(template):
    started = time.thread_time()
    with pytest.raises(InvalidTemplate):
        comment(template)
    assert time.thread_time() - started < 2


ALL_FIELDS = (
    block("> {{ report.baseline }}\n- {{ report.version }}\n1. {{ report.command }}x\n", "baseline")
    + block(
        "{% for f in report.failures.shown %}\n"
        "### {{ f.name }}{{ f.verdict }}{{ f.name }}\n"
        "see https://x.example/{{ f.name }} or \\{{ f.name }} [a]({{ f.name }}) *{{ f.name }}* `code`{{ f.name }}`x`\n"
        "> {{ f.evidence }}\n- {{ f.behaviour }}\n{{ f.facts | join }}\n{{ f.facts | join('`x`') }}\n"
        "{% for c in f.checks %}{{ c.name }}{{ c.reason }}\n[x]: {{ c.reason }}\n    {{ c.reason }}\n"
        "www.{{ c.name }} a@b.example{{ c.name }} ![x]({{ c.reason }})\n{% endfor %}"
        "\n| a | b |\n|--|--|\n| {{ f.name }} | {{ f.facts | first }} |\n{% for c in f.checks %}"
        "| {{ c.name }} | {{ c.reason }} |\n{% endfor %}\n{% endfor %}",
        "failures",
    )
    + block("<details><summary>More</summary>\n\n{{ report.alert.text }}{{ super() }}\n</details>", "notes")
    + block("> {{ table(report.regressed) }} <b>x</b>{{ super() }}", "changes")
)


@pytest.mark.parametrize("text", HOSTILE)
def test_recorded_text_stays_in_code_anywhere_in_a_template(text):
    assert is_harmless(comment(ALL_FIELDS, failing(text)))


@given(st.text(st.characters(exclude_categories=()), max_size=30) | st.sampled_from(HOSTILE))
def test_any_recorded_text_stays_in_code(text):
    assert is_harmless(comment(ALL_FIELDS, failing(text)))


@pytest.mark.parametrize("text", [")", ") @octocat", '") @octocat', "> ) @octocat"])
@pytest.mark.parametrize("opened", ["[a](", "![a](", "[a]( ", '[a](x "', "[a](x\n'"])
def test_recorded_text_does_not_close_a_link_that_the_template_opens(opened, text):
    template = block("{% for f in report.failures.shown %}" + opened + "{{ f.name }}\n{% endfor %}")
    assert list_flaws(comment(template, failing(text))) <= list_flaws(comment(template, failing("plain")))


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize(
    "template",
    [
        block("{% for f in report.failures.shown %}https://x.example/{{ f.verdict }}({{ f.name }}\n{% endfor %}"),
        block("x<summary>y\n{{ super() }}</summary>", "baseline"),
        block("{% for f in report.failures.shown %}{{ f.name }}{{ f.facts | join }}`x`{% endfor %}"),
    ],
)
def test_recorded_text_stays_in_code_next_to_template_text(template, text):
    assert list_flaws(comment(template, failing(text))) <= list_flaws(comment(template, failing("plain")))


def list_flaws(text):
    return set(find_flaws(text, comments=[MARKER[4:-3].strip()]))


@cache
def flaws_of_the_template():
    return list_flaws(comment(ALL_FIELDS, failing("plain")))


def is_harmless(text):
    return list_flaws(text) <= flaws_of_the_template()


def test_space_is_divided_as_in_the_built_in_template():
    scenarios = [a_scenario(f"s{n}", "HARD_FAIL") for n in range(300)]
    reasons = [a_reason("hard_fail", "m", suite="s", scenario=f"s{n}", variant=None) for n in range(300)]
    document = results([a_suite("s", scenarios, "fail")], "fail", reasons=reasons)
    text = comment(block("Bye."), document, max_chars=5_000)
    assert len(text) <= 5_000
    assert text.endswith("Bye.\n")
