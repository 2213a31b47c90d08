"""YAML without surprising types, within limits, with locations."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.adapters.suites.yaml_tree import load
from evalgate.errors import SuiteError


def value(text):
    return load(text, "f.yaml").value


def refusal(text):
    with pytest.raises(SuiteError) as caught:
        load(text, "f.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True),
        ("false", False),
        ("yes", "yes"),
        ("no", "no"),
        ("off", "off"),
        ("NO", "NO"),
        ("No", "No"),
        ("True", "True"),
        ("null", None),
        ("~", None),
        ("42", 42),
        ("-1", -1),
        ("017", "017"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1.", 1.0),
        ("1:30", "1:30"),
        ("2026-01-01", "2026-01-01"),
        ("'1'", "1"),
        ('"true"', "true"),
        ("|\n  1\n", "1\n"),
    ],
)
def test_scalar(text, expected):
    found = value(f"k: {text}")["k"]
    assert (found, type(found)) == (expected, type(expected))


def test_key__is_always_text():
    assert value("1: a\ntrue: b\nnull: c\non: d\n") == {"1": "a", "true": "b", "null": "c", "on": "d"}


def test_at__finds_keys_items_and_the_nearest_part_that_exists():
    document = load("a:\n  - b: 1\n    c:\n      d: x\n", "f.yaml")
    assert str(document.locate(("a", 0, "c", "d"))) == "f.yaml:4:7"
    assert str(document.locate(("a", 0))) == "f.yaml:2:5"
    assert str(document.locate(("a", 0, "c", "nowhere", "deeper"))) == "f.yaml:3:5"
    assert str(document.locate(())) == "f.yaml:1:1"


@pytest.mark.parametrize("text", ["a: yes", "a: [on]", "a: {b: FALSE}"])
def test_text_that_looks_like_a_boolean__is_warned_about(text):
    assert "is text here" in load(text, "f.yaml").warnings[0].message


@pytest.mark.parametrize(
    ("text", "place", "part"),
    [
        ("a: 1\na: 2\n", "f.yaml:2:1", "the key `a` appears twice, first in line 1"),
        ("a: &x [1]\nb: {<<: *x}\n", "f.yaml:2:5", "merge keys"),
        ("a: !!python/object/apply:os.system ['true']\n", "f.yaml:1:4", "tags"),
        ("a: !x 1\n", "f.yaml:1:4", "tags"),
        ("!!str a: 1\n", "f.yaml:1:1", "tag"),
        ("? &x a\n: 1\n", "f.yaml:1:3", "anchor"),
        ("a: &x [*x]\n", "f.yaml:1:8", "this alias has no anchor, or is inside it"),
        ("a: .nan\n", "f.yaml:1:4", "finite"),
        ("a: -.INF\n", "f.yaml:1:4", "finite"),
        ("a: 1e999\n", "f.yaml:1:4", "too large"),
        (f"a: {'9' * 5000}\n", "f.yaml:1:4", "digits"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2:1", "one document"),
        ("? [a]\n: 1\n", "f.yaml:1:3", "plain text"),
        ("a: b: c\n", "f.yaml:1:5", "a `: ` is not allowed here"),
        ("a: [1\n", "f.yaml:1:4", "never closed (`,` or `]` expected by line 2, column 1)"),
        ("a: 'x\n", "f.yaml:1:4", "never closed (quotes expected by line 2, column 1)"),
        (
            "a:\n  - {b: 1\n  - {b: 2}\n",
            "f.yaml:2:5",
            "never closed (`,` or `}` expected by line 3, column 5)",
        ),
        ("\ta: 1\n", "f.yaml:1:1", "tab"),
        ("a: *x\n", "f.yaml:1:4", "no anchor"),
        ("a: \x00\n", "f.yaml", "does not allow"),
    ],
)
def test_refusal__names_the_place_and_says_why(text, place, part):
    message = refusal(text)
    assert message.startswith(place)
    assert part in message


def test_nesting__has_a_limit():
    assert "nested at most 64 levels deep" in refusal("a: " + "[" * 70 + "]" * 70)
    assert "nested at most 64 levels deep" in refusal("a: " + "{b: " * 70 + "}" * 70)


def test_aliases__are_counted_with_the_nodes_they_refer_to():
    many = "a: &x 1\nb: [" + ", ".join(["*x"] * 1_000)
    assert load(f"{many}]\n", "f.yaml").value["b"] == [1] * 1_000
    assert "1,000 aliases" in refusal(f"{many}, *x]\n")
    bomb = "a: &a [" + ", ".join("x" * 1000) + "]\n"
    names = "abcdefg"
    for before, name in itertools.pairwise(names):
        bomb += f"{name}: &{name} [*{before}, *{before}, *{before}]\n"
    start = time.monotonic()
    assert "200,000 values" in refusal(bomb)
    assert time.monotonic() - start < 2


def test_nesting__has_a_limit_that_aliases_do_not_pass():
    ten = "[" * 10, "]" * 10
    text = "a0: &a0 " + "1".join(ten) + "\n"
    for level in range(1, 6):
        text += f"a{level}: &a{level} " + f"*a{level - 1}".join(ten) + "\n"
    assert len(load(text, "f.yaml").value) == 6  # 61 levels
    deeper = "a6: " + "*a5".join(ten)
    assert "nested at most 64 levels deep" in refusal(text + deeper)
    assert "nested at most 64 levels deep" in refusal(text + "b: [[[[*a5]]]]")
    assert load(text + "b: [[[*a5]]]", "f.yaml").value["b"]


def test_values__have_a_limit():
    assert "200,000 values" in refusal("a: [" + ",".join("1" * 200_001) + "]")


def test_error__never_quotes_its_line():
    assert "::error::" not in refusal("a: b: ::error::\n")


@given(st.text(max_size=60))
def test_any_text__loads_or_is_refused(text):
    try:
        load(text, "f.yaml")
    except SuiteError as error:
        assert str(error).startswith("f.yaml")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_json__reads_as_itself(content):
    import json

    assert value(json.dumps(content, ensure_ascii=False)) == content
