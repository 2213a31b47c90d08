from itertools import permutations
from time import thread_time

import pytest
from builders import make_call, make_trace
from hypothesis import given
from hypothesis import strategies as st

from evalgate.errors import Location
from evalgate.evaluators.core.parse import Parser


def read(sequence, **settings):
    parser = Parser(lambda path: Location("suite.yaml", len(path)))
    raw = {"type": "tool_sequence", "sequence": sequence, **settings}
    return parser.parse_assertions([raw], ("assertions",)), parser.problems


def assess(sequence, calls, **settings):
    (assertion,), flaws = read(sequence, **settings)
    assert not flaws
    return assertion.assess(calls if not isinstance(calls, list) else make_trace(calls=calls))


def outcome(sequence, calls, **settings):
    return assess(sequence, calls, **settings).outcome


def flaw(sequence, **settings):
    assertions, flaws = read(sequence, **settings)
    assert assertions == [], "a flawed assertion must not be judged"
    assert len(flaws) == 1, flaws
    return flaws[0]


def uncaptured(name="search", **fields):
    call = make_call(name, **fields)
    call["arguments"] = None
    return call


A, B = ("search", {"q": "a"}), ("search", {"q": "b"})
SEARCH_A = {"tool": "search", "args": {"q": "a"}}
SEARCH_B = {"tool": "search", "args": {"q": "b"}}


@pytest.mark.parametrize("steps", list(permutations(["search", SEARCH_A])))
@pytest.mark.parametrize("calls", list(permutations([A, B])))
@pytest.mark.parametrize("bare", ["search", {"tool": "search"}, {"tool": "search", "args": {}}])
def test_unordered_steps__pass_in_every_listing_order(steps, calls, bare):
    steps = [bare if step == "search" else step for step in steps]
    assert outcome(steps, list(calls), mode="any_order", extra_calls="forbid") == "passed"
    assert outcome([steps], list(calls), mode="exact") == "passed"
    assert outcome([steps], list(calls)) == "passed"


@pytest.mark.parametrize(
    ("args_match", "args", "expected"),
    [
        (None, {"q": "a"}, "passed"),
        ("subset", {"q": "a"}, "passed"),
        ("subset", {"q": "b"}, "failed"),
        ("exact", {"q": "a"}, "failed"),
        ("exact", {"q": "a", "n": 5}, "passed"),
        ("superset", {"q": "a", "n": 5.0, "more": 1}, "passed"),
        ("superset", {"q": "a"}, "failed"),
        ("ignore", {"q": "b"}, "passed"),
    ],
)
def test_arguments(args_match, args, expected):
    step = {"tool": "search", "args": args} | ({"args_match": args_match} if args_match else {})
    for mode in ("exact", "in_order", "any_order"):
        assert outcome([step], [("search", {"q": "a", "n": 5})], mode=mode) == expected


@pytest.mark.parametrize(
    ("matcher", "right", "wrong"),
    [
        ({"$regex": "^a"}, "ab", "b"),
        ({"$approx": 5, "$tol": 0.1}, 5.1, 5.2),
        ({"$any": True}, None, None),
        ({"$in": ["a", "b"]}, "b", "c"),
        ({"$len": {"gte": 2}}, [1, 2], [1]),
        ({"$unordered": [1, 2]}, [2, 1], [2, 2]),
    ],
)
def test_argument_matcher(matcher, right, wrong):
    step = {"tool": "search", "args": {"q": matcher}}
    assert outcome([step], [("search", {"q": right})]) == "passed"
    assert outcome([step], [("search", {} if wrong is None else {"q": wrong})]) == "failed"


def test_argument_that_must_be_absent():
    step = {"tool": "search", "args": {"q": {"$absent": True}}}
    assert outcome([step], [("search", {"other": 1})]) == "passed"
    assert outcome([step], [A]) == "failed"


def test_glob__matches_names_and_nothing_in_it_but_the_star_is_special():
    assert outcome(["get_*", "issue_*"], ["get_order", "issue_refund"], mode="exact") == "passed"
    assert outcome(["get_*"], ["set_order"]) == "failed"
    assert outcome([{"tool": "sea*", "args": {"q": "a"}}], [B, A]) == "passed"
    assert outcome(["a[bc]"], ["ab"]) == "failed"


@pytest.mark.parametrize(
    ("wanted", "status", "expected"),
    [
        ("any", "error", "passed"),
        ("ok", "ok", "passed"),
        ("ok", "error", "failed"),
        ("error", "error", "passed"),
        ("error", "ok", "failed"),
        ("ok", "missing", "not_evaluable"),
        ("any", "missing", "passed"),
    ],
)
def test_status(wanted, status, expected):
    found = assess([{"tool": "pay", "status": wanted}], [make_call("pay", status=status)])
    assert found.outcome == expected
    if expected == "failed":
        assert f"expected status {wanted}, got {status}" in found.reason


@pytest.mark.parametrize(
    ("calls", "settings", "expected"),
    [
        (["a", "c"], {"mode": "exact"}, "passed"),
        (["a", "b", "c"], {"mode": "exact"}, "passed"),
        (["a", "b", "b", "c"], {"mode": "exact"}, "failed"),
        (["a", "c", "b"], {"mode": "exact"}, "failed"),
        (["a", "c", "b"], {}, "passed"),
        (["a", "c", "b"], {"extra_calls": "forbid"}, "failed"),
        (["a", "c", "b"], {"mode": "any_order", "extra_calls": "forbid"}, "passed"),
        (["b"], {"mode": "any_order"}, "failed"),
    ],
)
def test_optional_step(calls, settings, expected):
    assert outcome(["a", {"tool": "b", "optional": True}, "c"], calls, **settings) == expected


def test_optional_step__never_takes_the_call_of_a_required_one():
    steps = [{"tool": "a", "optional": True}, "a"]
    for mode in ("exact", "in_order", "any_order"):
        assert outcome(steps, ["a"], mode=mode) == "passed"


def test_one_of():
    steps = [{"one_of": ["get", {"tool": "search", "args": {"q": "a"}}]}, "end"]
    for mode in ("exact", "in_order", "any_order"):
        assert outcome(steps, ["get", "end"], mode=mode) == "passed"
        assert outcome(steps, [A, "end"], mode=mode) == "passed"
        assert outcome(steps, [B, "end"], mode=mode) == "failed"
    assert outcome([{"one_of": ["get"], "optional": True}, "end"], ["end"], mode="exact") == "passed"


@pytest.mark.parametrize(
    ("calls", "exact", "in_order"),
    [
        (["a", "b", "c", "d"], "passed", "passed"),
        (["a", "c", "b", "d"], "passed", "passed"),
        (["a", "c", "x", "b", "d"], "failed", "passed"),
        (["a", "c", "d", "b"], "failed", "failed"),
        (["b", "a", "c", "d"], "failed", "failed"),
    ],
)
def test_parallel_group__is_in_any_order_but_between_its_neighbours(calls, exact, in_order):
    steps = ["a", ["b", "c"], "d"]
    assert outcome(steps, calls, mode="exact") == exact
    assert outcome(steps, calls) == in_order
    assert outcome(steps, calls, mode="any_order") == "passed"


@pytest.mark.parametrize("mode", ["exact", "in_order", "any_order"])
@pytest.mark.parametrize(
    "step", [SEARCH_A, {"tool": "search", "args": {}, "args_match": "exact"}, {"tool": "search", "args": {"q": {"$absent": True}}}]
)  # fmt: skip
def test_arguments__that_were_not_captured_can_not_be_judged_negated_or_not(mode, step):
    trace = make_trace(calls=[uncaptured()])
    for negate in (False, True):
        found = assess([step], trace, mode=mode, negate=negate)
        assert (found.outcome, found.score) == ("not_evaluable", 0.0)
    assert found.reason == "call 1 `search`: no arguments were captured"


def test_arguments__not_captured_do_not_matter_where_the_verdict_is_clear_without_them():
    assert outcome([SEARCH_A], make_trace(calls=[uncaptured(), A])) == "passed"
    assert outcome([SEARCH_A], make_trace(calls=[uncaptured("other")])) == "failed"
    assert outcome([SEARCH_A, SEARCH_B], make_trace(calls=[uncaptured()])) == "failed"
    assert outcome(["search"], make_trace(calls=[uncaptured()])) == "passed"


def test_arguments__that_are_not_json_are_wrong_not_unknown():
    call = uncaptured()
    call.update(arguments_raw="{q:", arguments_error="no JSON")
    found = assess([SEARCH_A], make_trace(calls=[call]))
    assert (found.outcome, "arguments are not valid JSON" in found.reason) == ("failed", True)


@pytest.mark.parametrize("mode", ["exact", "in_order", "any_order"])
def test_text_that_can_not_be_searched__is_an_error_negated_or_not(mode):
    step = {"tool": "search", "args": {"q": {"$regex": "[b]"}}}
    long = ("search", {"q": "a" * 1_000_001})
    for negate in (False, True):
        found = assess([step], [long], mode=mode, negate=negate)
        assert found.outcome == "error"
        assert found.reason.startswith("call 1 `search`: texts of more than 1,000,000 characters")
    assert outcome([step, step], [long], mode=mode) == "failed"


def test_calls_of_the_user_simulator__are_not_the_agents():
    trace = make_trace(calls=[make_call("a", requestor="user"), make_call("b")])
    assert outcome(["a"], trace) == "failed"
    assert outcome(["b"], trace, mode="exact") == "passed"


def test_reason__names_the_argument_that_differs_by_its_path():
    step = {"tool": "book", "args": {"seat": {"row": [1, 2]}}}
    found = assess(["find", step], ["find", ("book", {"seat": {"row": [1, 3]}})])
    assert found.reason == (
        'expected `book{"seat":{"row":[1,2]}}` second, but in call 2 `arguments.seat.row[1]`: expected `2`, got `3`'
    )


def test_reason__names_missing_and_extra_calls_and_replacements():
    found = assess(["a", "b", "c"], ["a", "x", "c"], mode="exact")
    assert found.reason == ("expected `b` second, but it was not called (got `x`); not expected: `x`")
    assert found.evidence == {"alignment": [["a", "a"], ["b", None], [None, "x"], ["c", "c"]], "more": 0}


def test_reason__of_an_extra_call_alone():
    found = assess(["a"], ["a", "x"], extra_calls="forbid")
    assert found.reason == "`x` was not expected (call 2)"


def test_reason__of_a_step_after_the_last_call():
    assert assess(["a", "b"], ["a"]).reason == "expected `b` second, got no more calls"
    assert (
        assess(["a", "b"], ["c"], mode="any_order").reason
        == "expected `a`, but it was not called (other calls: `c`); also missing: `b`"
    )


def test_reason__of_a_step_that_was_never_called__says_so():
    assert assess(["a", "b"], ["a", "x"]).reason == "expected `b` second, but it was not called (got `x`)"
    assert assess(["a", "b", "c"], ["b", "c"]).reason == "expected `a` first, but it was not called (got `b`)"
    assert assess(["a", "b"], ["b", "a", "c"]).reason == "expected `a` first, got `b`; `a` was call 2"
    assert assess(["a", "a", "c"], ["a", "c"]).reason == "expected `a` second, got `c`"
    came_too_early = "expected `a` first, got `c`; `a` was call 3; called, but not there: `b`"
    assert assess(["a", "b", "c"], ["c", "b", "a"]).reason == came_too_early
    assert assess(["a", SEARCH_A], ["a", "x"]).reason == (
        'expected `search{"q":"a"}` second, but it was not called (got `x`)'
    )


def test_reason__without_any_call_says_what_was_expected():
    steps = [SEARCH_A, {"tool": "b", "optional": True}]
    assert assess(steps, []).reason == 'expected `search{"q":"a"}`, got no tool calls'


def test_reason__stays_short_whatever_was_called():
    found = assess(["a" * 500] * 500, [("x" * 100_000, {"q": "y" * 100_000})] * 500, mode="exact")
    assert len(found.reason) < 10_000
    assert "\n" not in found.reason
    assert len(found.evidence["alignment"]) == 24
    assert found.evidence["more"] == 976


@pytest.mark.parametrize(
    ("sequence", "path", "words"),
    [
        ([{"tool": "a", "agrs": {}}], (0, "agrs"), "unknown key"),
        ([{"args": {}}], (0,), "`tool` is missing"),
        ([{"tool": "a", "args": [1]}], (0, "args"), "must be a mapping"),
        ([{"tool": "a", "args": {}, "args_match": "some"}], (0, "args_match"), "must be one of"),
        ([{"tool": "a", "args_match": "exact"}], (0,), "needs `args`"),
        ([{"tool": "a", "status": "fine"}], (0, "status"), "must be one of"),
        ([{"tool": "a", "optional": 1}], (0, "optional"), "true or false"),
        ([{"tool": "a", "args": {"q": {"$regx": 1}}}], (0, "args", "q", "$regx"), 'unknown matcher "$regx"'),
        (["a", ["b", {"tool": "a", "args": {"q": {"$regex": "("}}}]], (1, 1, "args", "q", "$regex"), "not a regular expression"),
        ([{"one_of": []}], (0, "one_of"), "must have at least one entry"),
        ([{"one_of": ["a"], "tool": "b"}], (0, "tool"), "unknown key"),
        ([{"one_of": ["a", {"tool": "b", "optional": True}]}], (0, "one_of", 1, "optional"), "can't be optional"),
        ([[]], (0,), "must have at least one entry"),
        ([["a", ["b"]]], (0, 1), "must be text"),
        ([5], (0,), "must be text"),
        ([""], (0,), "must have 1 or more characters"),
        ([{"tool": "a", "optional": True}], (), "checks nothing"),
        ([], (), "checks nothing"),
    ],
)  # fmt: skip
def test_error_of_the_suite__is_reported_with_its_path(sequence, path, words):
    found = flaw(sequence)
    assert found.path == ("assertions", 0, "sequence", *path)
    assert words in found.message


def test_sequence_of_optional_steps__is_fine_where_others_are_forbidden():
    steps = [{"tool": "a", "optional": True}]
    assert outcome(steps, [], mode="exact") == "passed"
    assert outcome(steps, ["b"], extra_calls="forbid") == "failed"


JSON = st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from(["a", "b"])
ARGS = st.none() | st.dictionaries(st.sampled_from("pq"), JSON, max_size=2)
CALLS = st.lists(
    st.builds(
        lambda name, args, status: {**make_call(name, status=status), "arguments": args},
        st.sampled_from(["a", "b"]), ARGS, st.sampled_from(["ok", "error", "missing"]),
    ),
    max_size=4,
)  # fmt: skip
STEPS = st.sampled_from(["a", "b", "*"]) | st.builds(
    lambda tool, args, status, mode: {"tool": tool, "args": args, "status": status, "args_match": mode},
    st.sampled_from(["a", "b", "*"]),
    st.dictionaries(st.sampled_from("pq"), JSON | st.sampled_from([{"$any": True}, {"$absent": True}]), max_size=2),
    st.sampled_from(["ok", "any"]),
    st.sampled_from(["subset", "exact", "superset", "ignore"]),
)  # fmt: skip
GOODNESS = {"failed": 0, "not_evaluable": 1, "passed": 2}


@given(st.lists(STEPS, min_size=1, max_size=4), CALLS, st.randoms())
def test_order_of_unordered_steps__never_changes_the_outcome(steps, calls, random):
    mixed = random.sample(steps, len(steps))
    for settings in ({"mode": "any_order"}, {"mode": "any_order", "extra_calls": "forbid"}):
        assert outcome(steps, calls, **settings) == outcome(mixed, calls, **settings)
    for mode in ("exact", "in_order"):
        assert outcome([steps], calls, mode=mode) == outcome([mixed], calls, mode=mode)


@given(
    st.lists(st.sampled_from("abc"), max_size=4),
    st.lists(st.sampled_from("abc"), max_size=5),
    st.sampled_from(["exact", "in_order", "any_order"]),
    st.sampled_from(["allow", "forbid"]),
)
def test_sequence_of_names__is_judged_as_one_of_globs_that_only_they_match(names, called, mode, extra_calls):
    if not names and extra_calls == "allow":
        return
    settings = {"mode": mode, "extra_calls": extra_calls}
    calls = [(name, {}) for name in called]
    assert outcome(names, calls, **settings) == outcome([f"{name}*" for name in names], calls, **settings)


@given(st.lists(STEPS, min_size=1, max_size=4), CALLS)
def test_exact_implies_in_order_implies_any_order(steps, calls):
    found = [GOODNESS[outcome(steps, calls, mode=mode)] for mode in ("exact", "in_order", "any_order")]
    assert found == sorted(found)


MANY = [f"t{number % 50}" for number in range(3_000)]


def seconds(sequence, calls, expected, **settings):
    trace = make_trace(calls=calls)
    (assertion,), _ = read(sequence, **settings)
    start = thread_time()
    assert assertion.assess(trace).outcome == expected
    return thread_time() - start


@pytest.mark.parametrize("mode", ["in_order", "any_order", "exact"])
def test_thousands_of_calls_against_hundreds_of_names__do_not_hang(mode):
    expected = "failed" if mode == "exact" else "passed"
    assert seconds(MANY[:300], MANY, expected, mode=mode) < 5
    assert seconds(["t1"] * 300, ["t1"] * 299 + ["x"] * 2_701, "failed", mode=mode) < 5


ORDERS = [("search", {"q": f"order number {number} please"}) for number in range(3_000)]


def searching(patterns):
    return [{"tool": "search", "args": {"q": {"$regex": pattern}}} for pattern in patterns]


@pytest.mark.parametrize("mode", ["in_order", "any_order", "exact"])
def test_thousands_of_calls_against_hundreds_of_steps_with_arguments__do_not_hang(mode):
    fits = "failed" if mode == "exact" else "passed"
    calls = [("search", {"q": number, "in": [number, "en"]}) for number in range(3_000)]
    by_number = [{"tool": "search", "args": {"q": number * 9}} for number in range(300)]
    by_list = [{"tool": "search", "args": {"in": [number * 9, "en"]}} for number in range(300)]
    for steps in (by_number, by_list):
        assert seconds(steps, calls, fits, mode=mode) < 5
        assert seconds([*steps, SEARCH_A], calls, "failed", mode=mode) < 5
    anything = [{"tool": "search", "args": {"q": {"$any": True}}}] * 300
    assert seconds(anything, calls, fits, mode=mode) < 5


@pytest.mark.parametrize("mode", ["in_order", "any_order", "exact"])
def test_thousands_of_calls_against_hundreds_of_patterns__do_not_hang(mode):
    fits = "failed" if mode == "exact" else "passed"
    each = searching(f"number {number * 9} " for number in range(300))
    assert seconds(each, ORDERS, fits, mode=mode) < 5
    assert seconds([each], ORDERS, fits, mode=mode) < 5
    assert seconds(searching(f"[a-z]+ {n} .*!" for n in range(300)), ORDERS, "failed", mode=mode) < 5


def test_comparisons_beyond_the_limit__are_an_error_even_negated():
    longer = [{"tool": "search", "args": {"q": {"$len": {"gte": 100 - number}}}} for number in range(100)]
    calls = [("search", {"q": "a"})] * 2_000 + [("search", {"q": "a" * 100})] * 100
    found = assess(longer, calls, mode="any_order", negate=True)
    assert (found.outcome, found.score) == ("error", 0.0)
    assert found.reason == "too many steps and calls: the check stops after 150,000 comparisons"
    assert outcome(longer, calls[-110:], mode="any_order") == "passed"


def test_reason__reports_an_incomplete_comparison():
    steps = [{"tool": "search", "args": {"q": {"$len": 5 + number}}} for number in range(100)]
    found = assess(steps, ORDERS)
    assert (found.outcome, found.reason.endswith("too many steps and calls to compare them all")) == (
        "failed",
        True,
    )
    assert "compare them all" not in assess(steps, [("search", {"q": 1})]).reason


def test_an_unordered_step_that_is_made_too_seldom_says_how_often():
    found = assess(["a", "a"], ["a"], mode="any_order")
    assert found.reason == "expected `a`, but it was called once, expected twice"
    assert "called twice, expected 3 times" in assess(["a", "a", "a"], ["a", "a"], mode="any_order").reason
