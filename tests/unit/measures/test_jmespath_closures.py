import json
import operator
import time
import tracemalloc

import jmespath
import pytest
import query_cases as table
from hypothesis import given

from evalgate.measures.jmespath.query import Query, QueryError, QueryFailedError

COMPILED = [
    table.FIELDS,
    table.INDEXES,
    table.SLICES,
    table.PROJECTIONS,
    table.FLATTENS,
    table.FILTERS,
    table.COMPARISONS,
    table.LOGIC,
    table.SELECTIONS,
    table.REST,
    table.FUNCTIONS,
]
FAILED = object()


class Sections:
    """A view whose sections can be read by name, or all at once."""

    def __init__(self, sections):
        self._sections = sections

    def get(self, name, default=None):
        return self._sections.get(name, default)

    def field(self, section, name):
        found = self._sections.get(section)
        return found.get(name) if isinstance(found, dict) else None

    def whole(self):
        return dict(self._sections)


def encode_exactly(value):
    """The value as JSON, which distinguishes true from 1, and 1 from 1.0."""
    return json.dumps(value, default=lambda unknown: type(unknown).__name__)


def order_alike(compare):
    return lambda left, right: compare(left, right) if isinstance(left, str) is isinstance(right, str) else None


class Standard(jmespath.visitor.TreeInterpreter):
    """The library, but an order between a text and a number is null, where the library fails."""

    COMPARATOR_FUNC = {  # noqa: RUF012  (of the library's class)
        **jmespath.visitor.TreeInterpreter.COMPARATOR_FUNC,
        "lt": order_alike(operator.lt),
        "lte": order_alike(operator.le),
        "gt": order_alike(operator.gt),
        "gte": order_alike(operator.ge),
    }


def by_the_library(expression, value):
    try:
        return encode_exactly(Standard().visit(jmespath.compile(expression).parsed, value))
    except (jmespath.exceptions.JMESPathError, TypeError, ValueError, OverflowError):
        return FAILED


def by_us(expression, value):
    try:
        return encode_exactly(Query(expression, takes_numbers=False).search_value(value))
    except QueryFailedError:
        return FAILED


@pytest.mark.parametrize("expression", [each for kind in COMPILED for each in table.cases(kind)])
def test_query__compiled_finds_what_the_library_finds(expression):
    assert by_us(expression, table.SHOP) == by_the_library(expression, table.SHOP)


@pytest.mark.parametrize("expression", table.cases(table.UNCOMPILED))
def test_query__that_is_not_compiled_finds_what_the_library_finds(expression):
    assert by_us(expression, table.SHOP) == by_the_library(expression, table.SHOP)


@pytest.mark.parametrize("value", [None, True, 0, 1.5, "", "text", [], [None], [[1], {"name": 2}], {}, {"name": None}])
@pytest.mark.parametrize("kind", COMPILED)
def test_query__of_any_kind_of_value_agrees_with_the_library(kind, value):
    for expression in table.cases(kind):
        assert by_us(expression, value) == by_the_library(expression, value), expression


@given(table.EXPRESSIONS, table.VALUES)
def test_query__any_expression_on_any_value_agrees_with_the_library(expression, value):
    try:
        Query(expression)
    except QueryError:
        return  # too long, or a step of 0: what the library would take or refuse later
    assert by_us(expression, value) == by_the_library(expression, value)


@given(table.EXPRESSIONS, table.VALUES.filter(lambda value: isinstance(value, dict)))
def test_query__of_a_view_finds_what_it_finds_in_the_whole_of_it(expression, value):
    try:
        query = Query(expression, takes_numbers=False)
    except QueryError:
        return
    try:
        found = encode_exactly(query.search(Sections(value)))
    except QueryFailedError:
        found = FAILED
    assert found == by_us(expression, value)


def test_query__does_not_change_the_value_it_searches():
    before = json.dumps(table.SHOP)
    for kind in COMPILED:
        for expression in table.cases(kind):
            by_us(expression, table.SHOP)
    assert json.dumps(table.SHOP) == before


@pytest.mark.parametrize(
    "expression",
    [
        "[*].[*].x",
        "rows[*].rows[*].rows[*].rows[*].x",
        "rows[?rows[?rows[?rows[?x == `1`]]]]",
        "map(&map(&map(&map(&x, rows), rows), rows), rows)",
        "rows[].rows[].rows[].rows[]",
        "rows.*",
    ],
)
def test_query__of_a_million_members_ends_in_time(expression):
    rows = []
    for _ in range(4):
        rows = [{"rows": rows, "x": 1}] * 60
    start = time.monotonic()
    by_us(expression, {"rows": rows})
    assert time.monotonic() - start < 3


DOUBLED = "|".join(["[@,@,@,@]"] * 16)


@pytest.mark.parametrize(
    "expression",
    [
        f"to_string(({DOUBLED}))",
        f"({DOUBLED}) == ({DOUBLED})",
        f"({DOUBLED}) != ({DOUBLED})",
        f"contains([({DOUBLED})], ({DOUBLED}))",
        f"[&a, to_string(({DOUBLED}))]",
        f"[&a, ({DOUBLED}) == ({DOUBLED})]",
        DOUBLED,
        "|".join(["{a: @, b: @}"] * 20),
        "|".join(["[@,@]"] * 20) + "|to_array(@)",
    ],
)
def test_query__whose_value_is_endless_to_walk_through_fails_soon(expression):
    start = time.monotonic()
    with pytest.raises(QueryFailedError, match="more than 1,000,000 elements"):
        Query(expression).search_value({"a": 1})
    assert time.monotonic() - start < 3


@pytest.mark.parametrize(
    "expression",
    [
        "rows[?a == b]",
        "rows[?a < b]",
        "rows[?contains(a, 'y')]",
        "rows[?starts_with(a, b)]",
        "rows[*].reverse(a)",
        "sort_by(rows, &a)",
        "sort(rows[].a)",
        "join('', rows[].a)",
        "rows[?[a] == [b]]",
        "rows[?contains([a], b)]",
    ],
)
def test_query__of_long_texts_again_and_again_fails_soon(expression):
    rows = [{"a": "x" * 400_000, "b": "x" * 399_999 + "y"}] * 1_000
    start = time.monotonic()
    with pytest.raises(QueryFailedError, match="more than 1,000,000 elements"):
        Query(expression).search_value({"rows": rows})
    assert time.monotonic() - start < 3


def test_query__that_flattens_too_much_fails_before_it_has_built_it():
    query = Query("rows[]")
    rows = [[1] * 20_000] * 1_000
    tracemalloc.start()
    try:
        with pytest.raises(QueryFailedError, match="more than 1,000,000 elements"):
            query.search_value({"rows": rows})
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("length(zero)", r"function length\(\) can't take number \(0\)"),
        ("contains(zero, 'a')", r"function contains\(\) can't take number \(0\)"),
        ("contains(name, zero)", "TypeError"),
        ("starts_with(open, 'a')", r"function starts_with\(\) can't take boolean \(true\)"),
        ("ends_with(name, none)", r"function ends_with\(\) can't take array \(\[\]\)"),
        ("sort_by(items, &stock)", r"function sort_by\(\) can't take object"),
    ],
)
def test_query__with_a_value_of_the_wrong_type_names_the_type(expression, message):
    with pytest.raises(QueryFailedError, match=message):
        Query(expression).search_value(table.SHOP)


def test_query__that_used_up_its_budget_has_all_of_it_in_the_next_search():
    query = Query("rows[*].rows[*].x")
    with pytest.raises(QueryFailedError):
        query.search_value({"rows": [{"rows": [{"x": 1}] * 2_000}] * 2_000})
    assert query.search_value({"rows": [{"rows": [{"x": 1}]}]}) == [[1]]


def test_query__of_half_a_million_members_is_allowed():
    assert len(Query("rows[*].x").search_value({"rows": [{"x": 1}] * 500_000})) == 500_000


@pytest.mark.parametrize("literal", ["`1e999`", "`[1e999]`[0]", '`{"a": [-1e999]}`.a[0]'])
def test_query__with_a_literal_that_is_not_finite_fails(literal):
    with pytest.raises(QueryFailedError, match="not finite"):
        Query(literal).search_value({})


def test_query__with_a_deeply_nested_literal_compiles():
    assert Query(f"`{'[' * 450}{']' * 450}`[0]").search_value({}) is not None


def test_query__of_plain_names_needs_no_budget_for_a_value_that_is_not_an_object():
    assert [Query("a.b.c").search_value(value) for value in (None, 1, "a", [1], {"a": 1})] == [None] * 5


@pytest.mark.parametrize("expression", ["items[?price > `2`].price", "items[?price > @.limit].price"])
def test_query__leaves_out_rows_whose_value_has_another_type(expression):
    rows = [
        {"price": "9", "limit": 2},
        {"price": 11, "limit": 2},
        {"price": None, "limit": 2},
        {"price": 3, "limit": "2"},
    ]
    assert by_us(expression, {"items": rows}) == encode_exactly([11, 3] if "`" in expression else [11])
