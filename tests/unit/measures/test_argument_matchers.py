import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.sequences.argument_matchers import (
    ABSENT,
    MatcherError,
    build_arguments_matcher,
    count_values,
)
from evalgate.measures.values.json_values import json_equal

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=6,
)


def fits(wanted, actual):
    given = {} if actual is ABSENT else {"x": actual}
    return build_arguments_matcher({"x": wanted}, "subset")(given) is None


def describe_mismatch(args, actual, mode="subset"):
    return build_arguments_matcher(args, mode)(actual).describe()


@pytest.mark.parametrize(
    ("args", "actual", "subset", "exact", "superset"),
    [
        ({"a": 1}, {"a": 1}, True, True, True),
        ({"a": 1}, {"a": 1, "b": 2}, True, False, False),
        ({"a": 1, "b": 2}, {"a": 1}, False, False, True),
        ({"a": 1}, {"a": 2}, False, False, False),
        ({"a": 1}, {}, False, False, True),
        ({}, {}, True, True, True),
        ({}, {"a": 1}, True, False, False),
        ({"a": 1}, "a", False, False, False),
        ({"a": 1}, ["a"], False, False, False),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, False, False, False),
        ({"$filter": "x"}, {"$filter": "x"}, True, True, True),
    ],
)
def test_mode(args, actual, subset, exact, superset):
    for mode, expected in (("subset", subset), ("exact", exact), ("superset", superset)):
        assert (build_arguments_matcher(args, mode)(actual) is None) is expected, mode


@pytest.mark.parametrize(
    ("wanted", "right", "wrong"),
    [
        (1, [1, 1.0], [True, "1", 2, None, ABSENT]),
        (None, [None], [ABSENT, 0, ""]),
        ([1, {"$any": True}], [[1, 2], [1, None]], [[1], [1, 2, 3], [2, 1], "1"]),
        ({"a": {"$regex": "^b"}}, [{"a": "bc"}], [{"a": "cb"}, {"a": "b", "c": 1}, {}]),
        ({"a": {"$absent": True}, "b": 1}, [{"b": 1}], [{"a": None, "b": 1}]),
        ({"$regex": "b+"}, ["abc"], ["ac", 5, None, ABSENT]),
        ({"$approx": 5, "$tol": 0.1}, [5, 4.9, 5.1, 5.05], [5.11, 4.89, "5", True, None, ABSENT]),
        ({"$approx": 0.3}, [0.1 + 0.2], [0.30001]),
        ({"$approx": 0.5, "$tol": 1}, [1], [10**400]),
        ({"$any": True}, [None, 0, "", [], {}], [ABSENT]),
        ({"$absent": True}, [ABSENT], [None, 0]),
        ({"$in": [1, "a", {"$regex": "x"}]}, [1.0, "a", {"$regex": "x"}], [True, "x", ABSENT]),
        ({"$len": 2}, ["ab", [1, 2], {"a": 1, "b": 2}], ["a", 2, None, ABSENT]),
        ({"$len": {"gte": 1, "lt": 3}}, ["a", "ab"], ["", "abc"]),
        ({"$unordered": [1, 2, 2]}, [[2, 1, 2]], [[1, 1, 2], [1, 2], [1, 2, 2, 2], "122", ABSENT]),
        ({"$unordered": [{"$any": True}, "a"]}, [["a", "b"], ["b", "a"]], [["b", "c"]]),
        ({"$unordered": []}, [[]], [[1]]),
    ],
)  # fmt: skip
def test_matcher(wanted, right, wrong):
    assert [value for value in right if not fits(wanted, value)] == []
    assert [value for value in wrong if fits(wanted, value)] == []


@pytest.mark.parametrize(
    ("args", "path"),
    [
        ({"a": {"$regx": "b"}}, ("a", "$regx")),
        ({"a": {"$regex": "("}}, ("a", "$regex")),
        ({"a": {"$regex": 5}}, ("a", "$regex")),
        ({"a": {"$any": True, "b": 1}}, ("a", "b")),
        ({"a": {"$any": True, "$absent": True}}, ("a",)),
        ({"a": {"$any": False}}, ("a", "$any")),
        ({"a": {"$absent": 1}}, ("a", "$absent")),
        ({"a": {"$tol": 1}}, ("a", "$tol")),
        ({"a": {"$any": True, "$tol": 1}}, ("a",)),
        ({"a": {"$approx": True}}, ("a", "$approx")),
        ({"a": {"$approx": float("nan")}}, ("a", "$approx")),
        ({"a": {"$approx": "5"}}, ("a", "$approx")),
        ({"a": {"$approx": 5, "$tol": -1}}, ("a", "$tol")),
        ({"a": {"$in": []}}, ("a", "$in")),
        ({"a": {"$in": "abc"}}, ("a", "$in")),
        ({"a": {"$len": {}}}, ("a", "$len")),
        ({"a": {"$len": {"atleast": 1}}}, ("a", "$len")),
        ({"a": {"$len": True}}, ("a", "$len")),
        ({"a": {"$unordered": 5}}, ("a", "$unordered")),
        ({"a": [{"b": {"$unordered": [{"$no": 1}]}}]}, ("a", 0, "b", "$unordered", 0, "$no")),
        ({"$regex": "a"}, ("$regex",)),
    ],
)
def test_invalid_matcher__is_refused_with_its_path(args, path):
    with pytest.raises(MatcherError) as caught:
        build_arguments_matcher(args, "subset")
    assert caught.value.path == path


def test_matcher__nested_too_deep_is_refused():
    value = 1
    for _ in range(100):
        value = [value]
    with pytest.raises(MatcherError):
        build_arguments_matcher({"a": value}, "subset")


def test_mismatch__is_reported_with_its_path():
    assert describe_mismatch({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}) == "`arguments.a.b[1]`: expected `2`, got `3`"
    assert describe_mismatch({"a": 1}, {}) == "`arguments.a`: expected `1`, got nothing"
    assert describe_mismatch({}, {"b": 1}, "exact") == "`arguments.b`: expected no such key, got `1`"
    assert (
        describe_mismatch({"a": {"$regex": "^x"}}, {"a": "y"}) == '`arguments.a`: expected a match of /^x/, got `"y"`'
    )
    assert describe_mismatch({"a": 1}, "text") == '`arguments`: expected an object, got `"text"`'


@given(VALUES, VALUES)
def test_plain_value__fits_what_is_equal_to_it_and_nothing_else(wanted, actual):
    assert fits(wanted, actual) == json_equal(wanted, actual)
    assert fits(wanted, wanted)


@given(st.lists(VALUES, max_size=4), st.randoms())
def test_unordered__fits_its_values_in_any_order(values, random):
    assert fits({"$unordered": values}, random.sample(values, len(values)))


@given(st.lists(VALUES, max_size=4), st.lists(VALUES, max_size=4))
def test_unordered__fits_nothing_but_its_values(values, others):
    same = [[sum(json_equal(value, each) for each in several) for several in (values, others)] for value in values]
    expected = len(values) == len(others) and all(here == there for here, there in same)
    assert fits({"$unordered": values}, others) == expected


def test_unordered__gives_plain_values_what_matchers_could_do_without():
    wanted = {"$unordered": [{"$any": True}, "a", {"$regex": "b"}]}
    assert fits(wanted, ["a", "b", "c"])
    assert fits(wanted, ["a", "a", "b"])
    assert not fits(wanted, ["b", "b", "c"])
    assert not fits(wanted, ["a", "c", "c"])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x", 1),
        ({"a": [1, 2]}, 4),
        ({"$regex": "x"}, 2),
        ({"$unordered": list(range(100))}, 101),
        ({"$unordered": [{"$any": True}] * 100}, 201 + 100 * 200),
    ],
)
def test_size__is_what_a_comparison_may_take(value, expected):
    assert count_values(value) == expected
