import json
import time

import jmespath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.jmespath.query import MAX_LENGTH, Query, QueryError, QueryFailedError


class PlainView(dict):
    def field(self, section, name):
        found = self.get(section)
        return found.get(name) if isinstance(found, dict) else None

    def whole(self):
        return dict(self)


class SectionsOnly:
    """A view whose sections can be read by name, but not as a whole."""

    def __init__(self, **sections):
        self._sections = sections

    def get(self, name, default=None):
        return self._sections.get(name, default)

    field = PlainView.field

    def whole(self):
        raise AssertionError("the whole view was built for a query that names its section")


DATA = {
    "tool_calls": [{"name": "a", "n": 1}, {"name": "b", "n": 2}],
    "response": {"content": "hi"},
    "empty": [],
}


@pytest.mark.parametrize(
    "expression",
    [
        "response.content",
        "tool_calls[].name",
        "tool_calls[?n > `1`].name | [0]",
        "tool_calls[-1].n",
        "length(tool_calls)",
        "{names: tool_calls[*].name, text: response.content}",
        "[response.content, empty]",
        "max_by(tool_calls, &n).name",
        "response.* | [0]",
        "tool_calls[::-1].name",
        "not_null(missing, response.content)",
        "!empty && response.content == 'hi'",
    ],
)
def test_query__agrees_with_the_library_without_building_the_whole_view(expression):
    assert Query(expression).search(SectionsOnly(**DATA)) == jmespath.search(expression, DATA)


NAMES = st.lists(st.sampled_from(["a", "b", "length", '"x y"']), min_size=1, max_size=4).map(".".join)
TREES = st.recursive(
    st.none() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2),
    lambda inner: st.dictionaries(st.sampled_from(["a", "b", "length", "x y"]), inner, max_size=3),
)


@given(NAMES, TREES)
def test_query__of_plain_names_agrees_with_the_library(expression, tree):
    assert Query(expression).search_value(tree) == jmespath.search(expression, tree)


@pytest.mark.parametrize("expression", ["@", "*", "keys(@)", "length(@)", "*.content", "@.response.content"])
def test_query__that_looks_at_the_view_itself_gets_all_of_it(expression):
    assert Query(expression).search(PlainView(DATA)) == jmespath.search(expression, DATA)


@pytest.mark.parametrize(
    ("expression", "part", "position"),
    [
        ("", "empty", None),
        ("a.[", "is incomplete", 4),
        ("a b", '"b"', 3),
        ("a ? b", "unexpected character", 3),
        ("lenght(a)", "did you mean length?", None),
        ("length()", "takes 1 argument, not 0", None),
        ("length(a, b)", "takes 1 argument, not 2", None),
        ("a[::0]", "step", None),
        ("a" * (MAX_LENGTH + 1), "1,000 characters", None),
        ("!" * 900 + "a", "", None),
        ("[" + ",".join("abcdefghij" * 25) + "]", "200 parts", None),
        ("!" * 60 + "a", "50 levels", None),
    ],
)
def test_query__that_can_never_work_is_refused_when_compiled(expression, part, position):
    with pytest.raises(QueryError) as caught:
        Query(expression)
    assert part in str(caught.value)
    assert caught.value.position == position or position is None


def test_query__wrong_type_for_a_function_fails_on_that_trace_only():
    query = Query("length(n)")
    with pytest.raises(QueryFailedError, match=r"length\(\) can't take number"):
        query.search(PlainView(n=5))
    assert query.search(PlainView(n=[1])) == 1


@pytest.mark.parametrize("expression", ["|".join(["[@,@][]"] * 24), "|".join(["[@,@]"] * 40)])
def test_query__that_doubles_its_value_again_and_again_ends_soon(expression):
    start = time.monotonic()
    value = None
    try:
        value = Query(expression).search(PlainView(a=1))
    except (QueryFailedError, QueryError) as error:
        assert "more than" in str(error)
    assert value is None or len(value) == 2
    assert time.monotonic() - start < 5


@given(st.text(max_size=40))
def test_query__any_text_compiles_or_is_refused(text):
    try:
        Query(text).search(PlainView(DATA))
    except (QueryError, QueryFailedError) as error:
        assert str(error)


@pytest.mark.parametrize("expression", ["to_number('NaN')", "to_number('inf')", "sum([`1e308`, `1e308`])"])
def test_search__of_a_number_that_is_not_finite_fails(expression):
    with pytest.raises(QueryFailedError, match="not finite"):
        Query(expression).search_value({})


@pytest.mark.parametrize("expression", ["to_number('NaN')", "!(to_number('NaN') > `5`)", "[to_number('inf')]"])
def test_query__whose_result_is_not_finite_fails(expression):
    with pytest.raises(QueryFailedError, match="not finite"):
        Query(expression).search_value({})


HITS = '{"hits": [{"id": 1, "price": 9.5}, {"id": 2}], "next": {"page": 2}}'
AS_TEXT = {"tool_calls": [{"result": HITS}, {"result": "ok {"}, {"result": "[3, 4]"}, {"result": None}]}
AS_VALUES = {"tool_calls": [{"result": json.loads(HITS)}, {"result": "ok {"}, {"result": [3, 4]}, {"result": None}]}


@pytest.mark.parametrize(
    "expression",
    [
        "length(tool_calls[0].result.hits)",
        "tool_calls[0].result.hits[?price > `9`].id | [0]",
        "tool_calls[].result.hits[]",
        "tool_calls[].result.next.page",
        "tool_calls[2].result[1]",
        "tool_calls[2].result[*]",
        "tool_calls[2].result[?@ > `3`]",
        "tool_calls[2].result[]",
        "tool_calls[0].result.*",
        "tool_calls[1].result.hits",
        "tool_calls[3].result.hits",
        "max_by(tool_calls[0].result.hits, &id).id",
    ],
)
def test_query__that_goes_on_into_json_text__finds_what_it_finds_in_its_value(expression):
    query = Query(expression, frozenset({"result"}))
    assert query.search_value(AS_TEXT) == Query(expression).search_value(AS_VALUES)


@pytest.mark.parametrize("expression", ["tool_calls[0].result", "tool_calls[].result", "tool_calls[0].{a: result}"])
def test_query__that_ends_in_json_text__finds_the_text(expression):
    query = Query(expression, frozenset({"result"}))
    assert query.search_value(AS_TEXT) == Query(expression).search_value(AS_TEXT)


def test_query__of_long_json_text__spends_its_characters():
    text = json.dumps({"hits": "x" * 1_700_000})
    with pytest.raises(QueryFailedError, match="needs more than"):
        Query("tool_calls[].result.hits", frozenset({"result"})).search_value({"tool_calls": [{"result": text}] * 10})
