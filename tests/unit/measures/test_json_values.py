import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.values.json_values import as_number, json_equal, json_type, show, truncate

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (False, 0, False),
        ("1", 1, False),
        (None, False, False),
        ([1, True], [1.0, True], True),
        ([1, True], [1, 1], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1.0}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ([], {}, False),
        (0, [], False),
    ],
)
def test_equal__is_json_equality(a, b, same):
    assert json_equal(a, b) is same
    assert json_equal(b, a) is same


@given(JSON)
def test_equal__every_value_equals_itself(value):
    assert json_equal(value, value)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (1, 1),
        (1.5, 1.5),
        ("2.5", 2.5),
        (" 3 ", 3.0),
        (True, None),
        ("x", None),
        ("1_000", None),
        ("nan", None),
        ("inf", None),
        (None, None),
        ([], None),
        (float("nan"), None),
    ],
)
def test_as_number__reads_numbers_and_numeric_text_only(value, number):
    assert as_number(value) == number


def test_show__counts_the_entries_it_leaves_out():
    assert show("x" * 100, 10) == '"xxxxxxxxx… (92 more characters)'
    assert show({"b": 1, "a": 2}) == '{"a":2,"b":1}'


@pytest.mark.parametrize("length", range(20, 80))
def test_show__cuts_only_what_its_mark_makes_shorter(length):
    found = show("x" * length, 20)
    assert found == f'"{"x" * length}"' or (len(found) < length + 2 and f"({length - 18} more characters)" in found)


def test_show__of_a_huge_text_stays_short():
    assert len(show("x" * 1_000_000)) < 120


@pytest.mark.parametrize(
    ("value", "name"),
    [(None, "null"), (True, "boolean"), (1, "number"), ("", "text"), ([], "list"), ({}, "object")],
)
def test_kind__uses_the_words_of_json(value, name):
    assert json_type(value) == name


@pytest.mark.parametrize("shown", [10, 20, 30])
def test_cut__secret_that_ends_where_nothing_was_looked_at__is_not_shown_in_part(shown):
    secret = "ghp_" + "a1B2" * 9
    before = secret + "a" * (2_080 - len(secret) - len(" and ") - shown) + " and "
    text = before + secret + " and more"
    assert secret[:6] not in truncate(text, 80)


def test_cut__long_text_without_a_secret__is_its_beginning():
    assert truncate("ab" * 5_000, 80) == "ab" * 40


def test_cut__of_a_text_full_of_secrets__still_shows_the_redaction_marks():
    token = "ghp_" + "a1B2" * 9
    shown = truncate(f"{token} " * 200, 160)
    assert len(shown) > 100
    assert "ghp_" not in shown


def test_cut__invisible_characters_at_the_end__show_no_beginning_of_a_secret():
    seen = f"{'ghp_' + 'a1B2' * 9} " * 140
    seen += "SECRET".rjust(6_000 - 100 - len(seen), "x") + "\u200b" * 100
    assert "SECRET" not in truncate(seen + "-GOES-ON" * 400, 4_000)
