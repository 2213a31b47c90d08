import pytest
from builders import make_call, make_trace
from msgspec.structs import astuple

from evalgate.gate.trajectory.answers import find_literals
from evalgate.gate.trajectory.behaviour import behaviour_from_trace
from evalgate.gate.trajectory.behaviour_differences import find_differences
from evalgate.models.comparison.comparison import AgentChange
from evalgate.scoring.wording import describe_difference

BOOK = {"flight_id": "TP533", "passenger": "Ada"}


def differences(before, now, *, agent=None, passes=True):
    sides = [[behaviour_from_trace(trace) for trace in side] for side in (before, now)]
    return [(each.kind, each.what, each.before, each.now) for each in find_differences(*sides, agent, passes=passes)]


def booked(count=3, response="Done.", **arguments):
    return [make_trace([("search", {}), ("book_flight", {**BOOK, **arguments})], response) for _ in range(count)]


@pytest.mark.parametrize("trials", [1, 2, 3])
def test_another_argument_of_a_call_that_changes_something(trials):
    found = differences(booked(trials), booked(trials, flight_id="TP534"))
    assert found == [("argument", "book_flight.flight_id", "TP533", "TP534")]


@pytest.mark.parametrize("trials", [1, 2, 3])
@pytest.mark.parametrize(("value", "shown"), [(True, "true"), ("a text " * 9, "\u2026"), ({"by": "mail"}, "mail")])
def test_a_new_argument_of_a_call_and_one_that_is_gone(trials, value, shown):
    path = "book_flight.force.by" if isinstance(value, dict) else "book_flight.force"
    without, with_ = booked(trials), booked(trials, force=value)
    assert differences(without, with_) == [("argument", path, "", shown)]
    assert differences(with_, without) == [("argument", path, shown, "")]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ([{}, {}, {}], [{"force": True}, {"force": True}, {}]),
        ([{}, {"force": False}, {}], [{"force": True}] * 3),
        ([{}, {}, {}], [{"force": None}] * 3),
        ([{"note": "a text " * 9}] * 3, [{"note": "short"}] * 3),
        ([{"in": {"note": "a text " * 9}}] * 3, [{"in": {"note": "short"}}] * 3),
    ],
)
def test_an_argument_that_some_trial_of_the_other_side_has_or_that_is_null_is_not_new(before, now):
    sides = [[make_trace([("book_flight", {**BOOK, **each})], "Done.") for each in side] for side in (before, now)]
    assert differences(*sides) == []


def test_arguments_of_a_baseline_that_does_not_name_them_all_are_not_new():
    before = [behaviour_from_trace(each) for each in booked()]
    for each in before:
        each.calls = [call._replace(others=None) for call in each.calls]
    now = [behaviour_from_trace(each) for each in booked(force=True)]
    assert find_differences(before, now, None, passes=True) == []


def test_differences_have_the_order_of_the_arguments_whatever_the_seed_of_hashes():
    names = [f"field_{letter}" for letter in "tgxacmrbqzfe"]
    sides = [[make_trace([("book_flight", dict.fromkeys(names, value))], "Done.")] for value in ("old", "new")]
    assert [each[1] for each in differences(*sides)] == [f"book_flight.{name}" for name in names]


def test_with_one_trial_only_what_passes_on_both_sides_is_compared():
    assert differences(booked(1), booked(1, flight_id="TP534"), passes=False) == []


@pytest.mark.parametrize(
    "value",
    [
        "3f1c2a94-1111-4222-8333-444455556666",
        "2026-11-27T20:00:00Z",
        "a text of more than eight words is worded differently each time",
        "x" * 81,
        1764273600,
    ],
)
def test_free_texts_ids_of_one_run_and_times_are_no_difference(value):
    assert differences(booked(flight_id="2026-01-01T10:00:00Z"), booked(flight_id=value)) == []


STARTED = "2026-02-20T10:00:00Z"


def booked_at(slot, answer="Booked.", started=STARTED):
    calls = [("book_slot", {"slot": slot})]
    return [make_trace(calls, answer, started_at=started) for _ in range(3)]


@pytest.mark.parametrize(
    ("before", "now"),
    [("2026-03-05T09:00", "2026-03-05T10:30"), (1764273600, 1764277200), ("5551230000", "5551230001")],
)
def test_a_time_far_from_the_run_is_content(before, now):
    assert [each[0] for each in differences(booked_at(before), booked_at(now))] == ["argument"]


@pytest.mark.parametrize("now", ["2026-02-20T12:30:00+14:00", 1771582000, "1771582000"])
def test_a_time_about_when_the_run_started_is_none(now):
    assert differences(booked_at("2026-02-20T10:00"), booked_at(now)) == []


def test_another_time_in_all_answers_is_a_difference_unless_it_is_that_of_the_run():
    sides = [
        [make_trace(["a"], f"Run {word}, slot {slot}.", started_at=STARTED) for word in ("one", "two")]
        for slot in ("2026-03-05T09:00Z", "2026-03-05T16:00Z")
    ]
    assert differences(*sides) == [("literals", "answer", "2026-03-05T09:00Z", "2026-03-05T16:00Z")]
    sides = [
        [make_trace(["a"], f"Run {word}, at {slot}.", started_at=STARTED) for word in ("one", "two")]
        for slot in ("2026-02-20T09:07Z", "2026-02-20T16:13Z")
    ]
    assert differences(*sides) == []


@pytest.mark.parametrize(
    ("before", "now", "kind"),
    [
        ("Free: 14:00.", "These are free: 14:00.", "wording"),
        ("Free: 14:00.", "Free: 15:00.", "answer"),
        ("It is booked.", "It can't be booked.", "answer"),
        ("Booked: 1234.", "Booked.", "answer"),
        ("Refund of 42 USD.", "Refund of $42.", "wording"),
        ("Refund of 42 USD.", "Refund of US$42.00.", "wording"),
        ("Refund of 1234.50 dollars.", "Refund of $1234.50.", "wording"),
        ("Refund of EUR 42.", "Refund of 42 euros.", "wording"),
        ("Off by 5 percent.", "Off by 5%.", "wording"),
        ("Refund of 42 USD.", "Refund of 42 EUR.", "answer"),
        ("Refund of $1234.", "Refund of \u20ac1234.", "answer"),
        ("Refund of 42 CAD.", "Refund of $42.", "answer"),
    ],
)
def test_answers_that_tell_the_same_values_differ_in_wording_only(before, now, kind):
    assert [each[0] for each in differences(booked(response=before), booked(response=now))] == [kind]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("80 EUR", "99 EUR"),
        ("EUR 8", "EUR 9"),
        ("\u00a380", "\u00a399"),
        ("80\u20ac", "99\u20ac"),
        ("$5", "$9"),
        ("5%", "9%"),
        ("5 %", "9 %"),
        ("80 euros", "99 euros"),
    ],
)
def test_a_short_amount_is_a_literal(before, now):
    assert [each[0] for each in differences(booked(response=f"At {before}."), booked(response=f"At {now}."))] == [
        "answer"
    ]
    sides = [[*booked(1, response=f"At {each}."), *booked(2, response=f"It is {each}.")] for each in (before, now)]
    assert [each[0] for each in differences(*sides)] == ["literals"]


@pytest.mark.parametrize(
    "answer",
    [
        "In 12 days.",
        "% 12 days",
        "Room 2. EUR only.",
        "12 Europeans",
        "5 eggs, EUR",
        "For 2 or 3",
        "12 EUROPE",
        "AUSD 12",
        "12 of them",
    ],
)
def test_other_short_numbers_are_no_literals(answer):
    assert find_literals(answer) == set()


def told(*answers, **arguments):
    return [make_trace([("reserve_berth", {"berth": "B7", **arguments})], each) for each in answers]


@pytest.mark.parametrize(
    ("before", "now", "sides"),
    [
        (("Berth B7 it is.", "Done: B7.", "I reserved B7."), ("Berth B4.", "Done: B4.", "It is B4."), ("B7", "B4")),
        (("Seat 4A.", "It is 4A.", "You have 4A."), ("Seat 4C.", "It is 4C.", "You have 4C."), ("4A", "4C")),
        (("Berth B7.", "Done: B7.", "I took B7."), ("Nothing was done.", "No.", "Nobody was told."), ("B7", "")),
    ],
)
def test_a_code_of_a_letter_and_a_digit_is_a_literal(before, now, sides):
    assert differences(told(*before), told(*now)) == [("literals", "answer", *sides)]
    assert differences(told(*before), told(*now[:2], before[2])) == []


def test_answers_that_are_always_the_same_with_another_short_code_differ_in_more_than_words():
    sides = [told(*[f"Berth {berth} on 2026-11-30."] * 2) for berth in ("B7", "B4")]
    assert [each[0] for each in differences(*sides)] == ["answer"]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (("Gate 7.", "It is gate 7.", "You leave from 7."), ("Gate 9.", "It is gate 9.", "From 9 you leave.")),
        (("Gate 7.", "It is gate 7.", "You leave from 7."), ("From no gate.", "There is none.", "Sorry.")),
    ],
)
def test_a_short_number_that_a_call_was_given_is_a_literal(before, now):
    assert differences(told(*before, gate=7), told(*now, gate=7)) == [("literals", "answer", "7", "")]
    assert differences(told(*before), told(*now)) == []
    looked = [[make_trace([("get_gate", {"gate": 7})], each) for each in side] for side in (before, now)]
    assert differences(*looked) == []


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (("1. Booked.\n2. Paid.", "So:\n1. It is booked."), ("I booked it.", "A berth is yours.")),
        (("1) Booked.\n2) Paid.", "  1) It is booked."), ("I booked it.", "A berth is yours.")),
        (("2 tugs come.", "So 2 tugs come."), ("3 tugs come.", "So 3 tugs come.")),
        (("A berth.", "I have A for you."), ("I booked B.", "You are in B.")),
    ],
)
def test_numbers_of_a_list_and_words_are_no_literals(before, now):
    assert differences(told(*before, before[0], places=1), told(*now, now[0], places=1)) == []


def test_a_short_amount_is_the_same_however_its_currency_is_written():
    sides = [booked(response=each) for each in ("At 80 EUR: 120 in all.", "At EUR 80: 120 in all.")]
    assert [each[0] for each in differences(*sides)] == ["wording"]


@pytest.mark.parametrize(
    "answer",
    [
        "Refund of **42 USD** for order `1234` is done. Bye",
        "Refund of 42 USD for\norder 1234 is done.\n\n__Bye__",
        "Refund of 42.00 USD for order 1234 is done. Bye",
        "Refund of 42.00 USD for order *1234*  is done. Bye",
    ],
)
def test_blanks_and_emphasis_and_cents_of_a_whole_amount_make_no_other_answer(answer):
    before = "Refund of 42 USD for order 1234 is done. Bye"
    assert differences(booked(response=before), booked(response=answer)) == []
    sides = [[*booked(1, response=each), *booked(2, response=f"Yes. {each}")] for each in (before, answer)]
    assert differences(*sides) == []


@pytest.mark.parametrize(
    "answer",
    [
        "Refund of 42.50 USD for order 1234 is done.",
        "Refund of 420 USD for order 1234 is done.",
        "Refund of 42 USD for order 12.34 is done.",
    ],
)
def test_another_amount_is_another_answer(answer):
    before = "Refund of 42 USD for order 1234 is done."
    assert [each[0] for each in differences(booked(response=before), booked(response=answer))] == ["answer"]


def test_equal_numbers_in_arguments_are_no_difference():
    assert differences(booked(amount=42), booked(amount=42.0)) == []
    assert differences(booked(amount=42), booked(amount=42.5)) == [("argument", "book_flight.amount", "42", "42.5")]
    assert differences(booked(amount=42), booked(amount=4200)) == [("argument", "book_flight.amount", "42", "4200")]


@pytest.mark.parametrize(
    ("before", "now", "line"),
    [
        (42, "42", ("42", '"42"')),
        ("42", 42, ('"42"', "42")),
        (True, "true", ("true", '"true"')),
        (42, "43", ("42", '"43"')),
        ("42", "43", ("42", "43")),
        ("economy", "42", ("economy", "42")),
    ],
)
def test_a_text_that_was_a_number_is_a_difference_of_an_argument(before, now, line):
    assert differences(booked(seat=before), booked(seat=now)) == [("argument", "book_flight.seat", *line)]
    assert differences(booked(seat=before), [*booked(2, seat=now), *booked(1, seat=before)]) == []


def test_a_baseline_that_does_not_say_which_values_are_texts_makes_no_line():
    sides = [[behaviour_from_trace(trace) for trace in booked(seat=seat)] for seat in (42, "42")]
    for each in sides[0]:
        each.calls = [call._replace(texts=None) for call in each.calls]
    assert find_differences(*sides, None, passes=True) == []


def answered(*results, tool="issue_refund", **fields):
    return [make_trace([{**make_call(tool, {"id": 1}), "result": each, **fields}]) for each in results]


WORD = '{"status": "refunded", "ref": "R-77"}'


@pytest.mark.parametrize(
    "result",
    [
        {"status": "declined", "ref": "R-78"},
        '{"status": "declined"}',
        {"id": 7, "status": "declined", "state": "refunded"},
    ],
)
def test_the_word_in_which_a_result_says_how_a_call_that_changes_something_ended_is_compared(result):
    line = ("outcome", "issue_refund.result.status", "refunded", "declined")
    assert differences(answered(*[WORD] * 3), answered(*[result] * 3)) == [line]
    assert differences(answered(WORD), answered(result)) == [line]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ([WORD] * 3, [WORD, WORD, '{"status": "declined"}']),
        ([WORD] * 3, ['{"status": "declined"}', '{"status": "pending"}', '{"status": "declined"}']),
        ([WORD] * 3, ['{"ref": "R-77"}'] * 3),
        ([WORD] * 3, ["refunded"] * 3),
        (['{"status": "A-77"}'] * 3, ['{"status": "A-78"}'] * 3),
        (['{"status": 1}'] * 3, ['{"status": 2}'] * 3),
        ([f'{{"status": "{"a " * 20}a"}}'] * 3, [f'{{"status": "{"a " * 20}b"}}'] * 3),
        (['{"order": {"status": "open"}}'] * 3, ['{"order": {"status": "closed"}}'] * 3),
    ],
)
def test_other_words_in_results_are_no_difference(before, now):
    assert differences(answered(*before), answered(*now)) == []


@pytest.mark.parametrize("key", ["ok", "success", "approved", "isRefunded", "was_sent", "result", "order_cancelled"])
def test_a_flag_of_how_a_call_that_changes_something_ended_is_compared(key):
    before, now = ([f'{{"{key}": {value}, "ref": "R-77"}}'] * 3 for value in ("true", "false"))
    found = differences(answered(*before), answered(*now))
    assert found in (
        [("outcome", f"issue_refund.result.{key}", "true", "false")],
        [("outcome", "issue_refund", "no error", "error")],
    )
    assert differences(answered(*before), answered(*before)) == []
    assert differences(answered(*before), answered(*before[1:], now[0])) == []
    assert differences(answered(*before, tool="get_order"), answered(*now, tool="get_order")) == []


@pytest.mark.parametrize(
    "key", ["cached", "is_cached", "truncated", "retried", "has_more", "red", "first_order", "feed"]
)
def test_another_flag_of_a_result_is_no_difference(key):
    before, now = ([f'{{"{key}": {value}, "ref": "R-77"}}'] * 3 for value in ("true", "false"))
    assert differences(answered(*before), answered(*now)) == []


def test_the_word_of_a_look_up_and_of_a_failed_call_make_no_line_of_their_own():
    now = '{"status": "declined"}'
    assert differences(answered(*[WORD] * 3, tool="get_order"), answered(*[now] * 3, tool="get_order")) == []
    failed = answered(*['{"status": "failed", "error": "no money"}'] * 3, status="unknown")
    assert differences(answered(*[WORD] * 3), failed) == [("outcome", "issue_refund", "no error", "error")]


def test_what_is_not_one_and_the_same_in_all_trials_of_a_side_is_no_difference():
    mixed = [*booked(1), *booked(2, flight_id="TP534")]
    assert differences(booked(), mixed) == []
    assert differences(mixed, booked(3, flight_id="TP535")) == []


def test_other_calls_that_change_something_are_one_line():
    now = [make_trace(["search", "cancel_flight", "send_mail"]) for _ in range(2)]
    found = differences(booked(2), now)
    assert found == [("calls", "calls that change something", "book_flight", "cancel_flight, send_mail")]


def in_messages(*steps, turned=False):
    """Trials that book and mail, with the message of each call; `turned`: they mail first."""
    calls = [make_call("book_flight", BOOK, step=steps[0]), make_call("send_mail", {"to": "ada"}, step=steps[1])]
    return [make_trace(calls[::-1] if turned else calls) for _ in range(3)]


def test_another_order_of_calls_is_no_difference_within_one_message():
    assert differences(in_messages(1, 1), in_messages(1, 1, turned=True)) == []
    assert [each[0] for each in differences(in_messages(1, 2), in_messages(2, 1, turned=True))] == ["calls"]
    assert [each[0] for each in differences(in_messages(0, 0), in_messages(0, 0, turned=True))] == ["calls"]


def test_another_argument_of_calls_in_one_message_is_a_difference():
    now = [
        make_trace(
            [{**call, "step": 1} for call in (make_call("send_mail", {"to": "bob"}), make_call("book_flight", BOOK))]
        )
    ] * 3
    assert differences(in_messages(1, 1), now) == [("argument", "send_mail.to", "ada", "bob")]


def searching(*orders):
    """Trials that look for several things in one message, in these orders."""
    return [make_trace([make_call("search", {"title": title}, step=1) for title in order]) for order in orders]


def test_calls_of_one_tool_in_one_message_are_a_set():
    assert differences(searching("ab", "ba", "ab"), searching("ba", "ba", "ab")) == []
    found = differences(searching("ab", "ba", "ab"), searching("bc", "cb", "cb"))
    assert found == [("argument", "search.title", "a", "c")]


def test_another_call_of_a_message_is_found_in_whatever_order_it_stands():
    trials = [[make_call(name, {}, step=1) for name in names] for names in (("search", "pay"), ("pay", "search"))]
    other = [[make_call(name, {}, step=1) for name in names] for names in (("search", "mail"), ("mail", "search"))]
    sides = ([make_trace(trials[at % 2]) for at in range(3)], [make_trace(other[at % 2]) for at in range(3)])
    assert differences(*sides) == [("calls", "calls that change something", "pay", "mail")]


def test_calls_that_read_count_from_three_trials_on():
    def reading(count):
        return [make_trace(["get_weather", ("book_flight", BOOK)]) for _ in range(count)]

    assert differences(booked(2), reading(2)) == []
    assert differences(booked(3), reading(3)) == [
        ("all_calls", "calls", "search, book_flight", "get_weather, book_flight")
    ]


def looking_up(*titles):
    """Trials that look up titles, by a number of their own, then lend a book."""
    calls = [("search", {"title": title, "limit": 5}) for title in titles]
    return [make_trace([*((name, given | {"call": f"c{at}"}) for name, given in calls), "lend"]) for at in range(3)]


@pytest.mark.parametrize(
    ("before", "now", "sides"),
    [
        (["Dune"], ["Dune", "Emma"], ("search(title: Dune), lend", "search(title: Dune), search(title: Emma), lend")),
        (["Dune", "Emma"], ["Emma"], ("search(title: Dune), search(title: Emma), lend", "search(title: Emma), lend")),
        (  # no argument distinguishes them
            ["Dune"],
            ["Dune", "Dune"],
            (
                "search(title: Dune, limit: 5), lend",
                "search(title: Dune, limit: 5), search(title: Dune, limit: 5), lend",
            ),
        ),
        (["Dune"], [], ("search, lend", "lend")),
        (
            ["a", "b " * 30],
            ["a"],
            ("search(title: a), search, lend", "search(title: a), lend"),
        ),  # free text is not compared
    ],
)
def test_calls_of_one_tool_are_told_apart_by_their_arguments(before, now, sides):
    assert differences(looking_up(*before), looking_up(*now))[0] == ("all_calls", "calls", *sides)


def test_calls_that_change_something_twice_are_told_apart_by_their_arguments():
    now = [make_trace([("book_flight", BOOK), "search", ("book_flight", BOOK | {"passenger": "Bob"})])] * 2
    [found] = differences(booked(2), now)
    assert found == (
        "calls",
        "calls that change something",
        "book_flight(passenger: Ada)",
        "book_flight(passenger: Ada), book_flight(passenger: Bob)",
    )


def test_an_outcome_is_compared():
    failed = [make_trace([make_call("book_flight", BOOK, status="error")]) for _ in range(2)]
    good = [make_trace([make_call("book_flight", BOOK)]) for _ in range(2)]
    assert differences(good, failed) == [("outcome", "book_flight", "no error", "error")]


def test_a_result_that_tells_an_error_is_compared_whatever_the_status_of_the_other_side():
    def sending(status, result):
        return [make_trace([make_call("send_mail", {"to": "a"}, status=status, result=result)]) for _ in range(2)]

    sent, failed = ("unknown", '{"sent": true}'), ("unknown", '{"error": "connection refused"}')
    found = [("outcome", "send_mail", "no error", "error")]
    assert (
        differences(sending(*sent), sending(*failed)) == differences(sending("ok", "sent"), sending(*failed)) == found
    )
    assert differences(sending(*sent), sending("ok", "sent")) == []


def test_literals_of_answers_that_are_worded_differently():
    before = [*booked(1, "Booked TP533 for you, on 2026-11-27."), *booked(1, "You fly with TP533 (2026-11-27T10:00Z).")]
    now = [*booked(1, "Booked LH1172 for you, on 2026-11-27."), *booked(1, "LH1172 it is, 2026-11-27.")]
    assert differences(before, now) == [("literals", "answer", "TP533", "LH1172")]
    assert differences(before, [*now[:1], *before[:1]]) == []


def test_a_literal_that_leaves_or_enters_all_answers():
    one_by_one = [
        make_trace([("refund", {"id": 7})], text) for text in ("48.00 is back.", "I sent 48.00.", "48.00 sent.")
    ]
    without = [make_trace([("refund", {"id": 7})], text) for text in ("It is back.", "I sent it.", "Money sent.")]
    assert differences(one_by_one, without) == [("literals", "answer", "48.00", "")]
    assert differences(without, one_by_one) == [("literals", "answer", "", "48.00")]
    assert differences(one_by_one, [*without[:2], *one_by_one[:1]]) == []
    assert differences(one_by_one[:2], without[:2]) == []
    looked_only = [make_trace([("get_order", {"id": 7})], text) for text in ("Wait.", "A moment.", "Please wait.")]
    assert [each[0] for each in differences(one_by_one, looked_only)] == ["calls"]


def compare_answers(before, now):
    """The only difference between trials with these answers that call nothing."""
    sides = ([make_trace((), text) for text in side] for side in (before, now))
    [found] = find_differences(*([behaviour_from_trace(each) for each in side] for side in sides), None, passes=True)
    return found


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        (
            "48.00 is back.",
            "It is back.",
            "no longer in the answer: `48.00` in 3 of 3; for example: `48.00 is back.` -> `It is back.`",
        ),
        (
            "It is back.",
            "48.00 is back.",
            "new in the answer: `48.00` in 3 of 3; for example: `It is back.` -> `48.00 is back.`",
        ),
    ],
)
def test_such_a_literal_in_words_shows_the_first_answer_of_each_side(before, now, words):
    found = compare_answers(
        *([text.replace("is", verb) for verb in ("is", "was", "will be")] for text in (before, now))
    )
    assert describe_difference(found).replace(" ` ", "`") == words


def test_the_answers_of_an_example_are_cut_to_where_they_differ():
    found = compare_answers(
        *([f"{'same ' * 60}{literal} {word} {'more ' * 60}" for word in "ab"] for literal in ("TP533", "LH1172"))
    )
    assert (found.before, found.now) == ("TP533", "LH1172")
    for text, literal in ((found.example.baseline, "TP533 a"), (found.example.current, "LH1172 a")):
        assert text.startswith("\u2026")
        assert literal in text[:40]
        assert len(text) < 230


def test_an_example_of_no_answer_says_so_and_shows_no_secret():
    token = "ghp_" + "a1B2" * 9
    found = compare_answers([f"48.00, {token}", f"48.00 it is, {token}", "48.00"], [None] * 3)
    assert found.example.current is None
    assert describe_difference(found).endswith("-> nothing")
    assert token not in describe_difference(found)


def test_another_currency_in_all_answers_is_a_difference():
    before, now = (
        [f"Refund of 1234.50 {unit} for {name} is done." for name in ("Ann", "Ben", "Cy")] for unit in ("USD", "EUR")
    )
    found = compare_answers(before, now)
    assert (found.kind, found.before, found.now) == ("literals", "$1234.50", "\u20ac1234.50")
    dollars = [f"{name}, $1234.50 is back." for name in ("Ann", "Ben", "Cy")]
    assert differences(*[[make_trace(response=each) for each in side] for side in (before, dollars)]) == []


def test_answers_that_are_always_the_same_are_compared_as_texts():
    assert differences(booked(2, "Yes, done."), booked(2, "No, sorry.")) == [
        ("answer", "answer", "Yes, done.", "No, sorry.")
    ]
    assert differences(booked(1, "Yes, done."), booked(1, "No, sorry.")) == []


def test_model_tools_and_status_are_compared_with_one_trial_too():
    agent = AgentChange("a -> b", tools=True, prompts=("a", "b"))
    now = booked(1)
    now[0].status = "error"
    assert [each[0] for each in differences(booked(1), now, agent=agent, passes=False)] == ["model", "tools", "status"]


def test_another_prompt_is_one_line_with_other_tools_or_alone():
    for tools, found in ((True, ("tools", "tool definitions and system prompt")), (False, ("prompt", "system prompt"))):
        agent = AgentChange(None, tools=tools, prompts=("a", "b"))
        assert differences(booked(1), booked(1), agent=agent) == [(*found, "", "")]


@pytest.mark.parametrize(
    ("sides", "prompt", "words"),
    [
        (("", ""), True, "other tool definitions and system prompt (one trial)"),
        (("a", "a"), True, "tool `a` has another definition, another system prompt (one trial)"),
        (("a b +2", "a c"), False, "tool `a` has another definition, tool `c` is new, tool `b` is gone, others differ"),
    ],
)
def test_the_tools_that_differ_are_named(sides, prompt, words):
    agent = AgentChange(None, tools=True, prompts=("a", "b") if prompt else None, tool_sides=sides)
    [found] = find_differences(*([behaviour_from_trace(booked(1)[0])] for _ in "ab"), agent, passes=True)
    assert describe_difference(found).startswith(words)


def test_calls_that_may_be_missing_are_not_compared():
    now = booked(2, flight_id="TP534")
    for trace in now:
        trace.gaps = {"calls": "cut"}
    assert differences(booked(2), now) == []


def test_a_secret_of_this_run_equals_the_redacted_one_of_the_baseline():
    token = "ghp_" + "a1B2" * 9
    redacted = behaviour_from_trace(booked(1, token=token)[0]).calls[1].values["token"]
    assert token not in redacted
    assert differences(booked(2, token=redacted), booked(2, token=token)) == []


def refunded(amount_from, *, count=3, with_sources=True):
    """Trials that refund 48.20, an amount that is found in one text only."""
    texts = {"lookup_order": "ok", "lookup_mail": "ok", "user": "Refund my order."} | {amount_from: "It cost 48.20."}
    traces = [
        make_trace(
            [
                make_call("lookup_order", result=texts["lookup_order"]),
                make_call("lookup_mail", index=1, result=texts["lookup_mail"]),
                make_call("issue_refund", {"amount": 48.2, "id": f"x{number}"}, index=2),
            ],
            user=texts["user"],
        )
        for number in range(count)
    ]
    return [behaviour_from_trace(trace, with_sources=with_sources) for trace in traces]


@pytest.mark.parametrize(
    ("before", "now", "named"),
    [
        ("lookup_order", "user", ("the result of lookup_order", "the user")),
        ("lookup_order", "lookup_mail", ("the result of lookup_order", "the result of lookup_mail")),
        ("user", "nothing", ("the user", "nowhere")),
    ],
)
def test_an_argument_from_another_source_is_a_difference(before, now, named):
    found = find_differences(refunded(before), refunded(now), None, passes=True)
    assert [each[:4] for each in map(astuple, found)] == [("source", "issue_refund.amount", *named)]
    sentence = describe_difference(found[0])
    assert sentence == (
        f"`issue_refund.amount` came from `{named[0]}` in all trials of the baseline, now from `{named[1]}` in 3 of 3"
    )


def test_sources_are_compared_from_three_trials_on_and_only_where_they_are_asked_for():
    few = [refunded(source, count=2) for source in ("user", "lookup_order")]
    unasked = [refunded(source, with_sources=False) for source in ("user", "lookup_order")]
    assert [find_differences(*sides, None, passes=True) for sides in (few, unasked)] == [[], []]


def test_sources_that_both_sides_share_in_some_trial_are_no_difference():
    mixed = [*refunded("lookup_order", count=2), *refunded("user", count=1)]
    assert find_differences(mixed, refunded("user"), None, passes=True) == []


LOOKED, ACTED = ["find_vessel"], ["find_vessel", "reserve_berth"]


def some_calls(before, now, *, passes=True):
    """The tools that only some trials call: what a person reads of them."""
    sides = [[behaviour_from_trace(make_trace(calls)) for calls in side] for side in (before, now)]
    found = find_differences(*sides, None, passes=passes)
    return [describe_difference(each) for each in found if each.kind == "some_calls"]


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        ([LOOKED] * 3, [ACTED, LOOKED, ACTED], "calls `reserve_berth` in 2 of 3, before in 0 of 3"),
        ([LOOKED] * 3, [ACTED, LOOKED, ACTED, LOOKED], "calls `reserve_berth` in 2 of 4, before in 0 of 3"),
        ([LOOKED] * 10, [LOOKED] * 8 + [ACTED] * 2, "calls `reserve_berth` in 2 of 10, before in 0 of 10"),
        (
            [["ask"], ["ask", "ask"]],
            [["ask", "pay"], ["pay"]],
            "calls `pay` in 2 of 2, before in 0 of 2",
        ),
        (
            [["pay", "tell"], ["pay", "pay", "tell"]],
            [["pay"], ["pay", "pay"]],
            "no longer calls `tell`, before in 2 of 2",
        ),
    ],
)
def test_a_call_that_changes_something_and_that_only_trials_of_one_side_make(before, now, words):
    assert some_calls(before, now) == [words]
    assert some_calls(before, now, passes=False) == []


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ([LOOKED] * 3, [ACTED, LOOKED, LOOKED]),
        ([LOOKED] * 2, [ACTED, LOOKED]),
        ([LOOKED] * 2, [ACTED, ACTED, LOOKED]),
        ([LOOKED] * 3, [ACTED] * 2 + [LOOKED] * 6),
        ([LOOKED, LOOKED, ACTED], [ACTED, ACTED, LOOKED]),
        ([ACTED, LOOKED, ACTED], [LOOKED] * 3),
        ([LOOKED] * 3, [[*LOOKED, "get_tide"], LOOKED, [*LOOKED, "get_tide"]]),
        ([LOOKED] * 3, [[*LOOKED, "think"], LOOKED, [*LOOKED, "think"]]),
        ([LOOKED], [ACTED]),
    ],
)
def test_a_call_that_may_be_chance_is_no_difference(before, now):
    assert some_calls(before, now) == []


def test_calls_that_all_trials_make_are_one_line():
    assert some_calls([LOOKED] * 3, [ACTED] * 3) == []


def test_a_trial_whose_calls_are_not_known_makes_no_call_new():
    sides = [[behaviour_from_trace(make_trace(calls)) for calls in side] for side in ([LOOKED] * 3, [ACTED] * 3)]
    sides[1][0].calls = None
    assert find_differences(*sides, None, passes=True) == []


def notified(*results, tool="notify_pilot", to="pilots@port.example", status="ok"):
    return [
        make_trace([make_call(tool, {"address": to}, result=each, status=status)], f"Told {number}")
        for number, each in enumerate(results)
    ]


SENT = '{"sent_to": "pilots@port.example"}'


@pytest.mark.parametrize(
    ("before", "now", "line"),
    [
        (SENT, '{"sent_to": "all@ships.example"}', ("pilots@port.example", "all@ships.example")),
        ("Sent to pilots@port.example.", "Sent to All@Ships.example.", ("pilots@port.example", "all@ships.example")),
        (SENT, '{"to": ["pilots@port.example", "bcc@evil.example"]}', ("", "bcc@evil.example")),
        (
            '{"url": "https://api.port.example/7"}',
            '{"url": "https://u@evil.example:81/7"}',
            ("port.example", "evil.example"),
        ),
        ("posted to http://a.port.co.uk/x", "posted to http://a.ships.co.uk/x", ("port.co.uk", "ships.co.uk")),
    ],
)
def test_another_address_in_the_result_of_a_call_that_changes_something(before, now, line):
    found = [("outcome", "notify_pilot.result", *line)]
    for trials in (2, 3):
        assert differences(notified(*[before] * trials), notified(*[now] * trials)) == found
    assert differences(notified(*[before] * 3), notified(now, now, before)) == []
    assert differences(notified(before), notified(now)) == []
    for fields in ({"tool": "get_notice"}, {"status": "error"}):
        assert differences(notified(*[before] * 2, **fields), notified(*[now] * 2, **fields)) == []


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ([SENT] * 3, ['{"ok": "yes"}'] * 3),
        (
            [f"id <{number}.a@mail.example>, {SENT}" for number in "12"],
            [f"<{number}.b@mail.example>" for number in "34"],
        ),
        (["https://pr-1.app.example/9"] * 3, ["https://pr-2.app.example/9"] * 3),
        (["http://127.0.0.1:8912/9"] * 3, ["http://10.0.0.7:41233/9"] * 3),
        (["http://localhost/9"] * 3, ["http://stub:80/9"] * 3),
        ([f"{SENT} {'x' * 20_000}"] * 3, [f"all@ships.example {'x' * 20_000}"] * 3),
    ],
)
def test_addresses_that_each_run_may_have_for_itself_are_no_difference(before, now):
    assert differences(notified(*before), notified(*now)) == []


def test_an_address_that_a_call_was_given_is_one_line():
    sides = notified(*[SENT] * 3), notified(*['{"sent_to": "all@ships.example"}'] * 3, to="all@ships.example")
    line = ("argument", "notify_pilot.address", "pilots@port.example", "all@ships.example")
    assert differences(*sides) == [line]


TOMORROW, NEXT_DAY = ("2026-02-20T10:07:00Z", "2026-02-21"), ("2026-02-21T10:13:00Z", "2026-02-22")


def dated(started, day, answer="Booked for {}.", *, prompt=None, tool="book_slot", trials=3):
    """Trials that book something for a day."""
    answers = [answer.format(day) + " " * number for number in range(trials)]
    return [
        make_trace([(tool, {"day": day})], each, started_at=started, system_instructions=prompt) for each in answers
    ]


@pytest.mark.parametrize("trials", [1, 2, 3])
@pytest.mark.parametrize("hour", ["", "T16:00:00Z", " 09:30", " for Ada"])
@pytest.mark.parametrize("answer", ["Booked for {}.", "{}: done. See you!"])
def test_the_same_day_after_the_run_is_no_difference_on_another_day(hour, answer, trials):
    before, now = (dated(started, day + hour, answer, trials=trials) for started, day in (TOMORROW, NEXT_DAY))
    assert differences(before, now) == []


@pytest.mark.parametrize("trials", [1, 3])
@pytest.mark.parametrize("hour", ["", "T16:00:00Z"])
def test_a_date_that_is_the_same_in_both_runs_is_no_difference(hour, trials):
    before, now = (dated(started, f"2026-03-05{hour}", trials=trials) for started, _ in (TOMORROW, NEXT_DAY))
    assert differences(before, now) == []


@pytest.mark.parametrize(
    ("before", "now", "started"),
    [
        ("2026-02-21", "2026-02-20", TOMORROW[0]),
        ("2026-02-21", "2026-02-21", NEXT_DAY[0]),
        ("2026-02-21T16:00:00Z", "2026-02-21T04:00:00Z", TOMORROW[0]),
        ("2026-02-21T16:00", "2026-02-22T04:00", NEXT_DAY[0]),
        ("2026-02-21T16:00:00Z", "2026-02-22T16:00:00Z", TOMORROW[0]),
        ("2026-02-21T16:30:00Z", "2026-03-02T16:30:00Z", TOMORROW[0]),
        ("2026-02-21 for Ada", "2026-02-23 for Ada", NEXT_DAY[0]),
    ],
)
def test_another_day_or_hour_is_shown_with_both_values(before, now, started):
    is_same = before == now  # by its date, and so no difference although it is another day after the run
    sides = dated(TOMORROW[0], before, "Done."), dated(started, now, "Done.")
    assert differences(*sides) == ([] if is_same else [("argument", "book_slot.day", before, now)])
    sides = (dated(*each, "Booked for {}, you see.") for each in ((TOMORROW[0], before), (started, now)))
    assert ("answer" in [each[0] for each in differences(*sides, passes=False)]) is not is_same


def test_another_day_in_answers_that_are_worded_differently():
    def say(started, *answers):
        return [make_trace(["ask"], each, started_at=started) for each in answers]

    before = say(TOMORROW[0], "On 2026-02-21.", "It is 2026-02-21.", "2026-02-21 then.")
    assert differences(before, say(NEXT_DAY[0], "I say 2026-02-22.", "2026-02-22!", "So 2026-02-22.")) == []
    later = say(NEXT_DAY[0], "I say 2026-02-24.", "2026-02-24!", "So 2026-02-24.")
    assert differences(before, later) == [("literals", "answer", "2026-02-21", "2026-02-24")]
    across = [*before[:2], *say(NEXT_DAY[0], "2026-02-22 then.")]
    assert differences(across, later) == [("literals", "answer", "2026-02-21", "2026-02-24")]
    assert differences(across, before) == []


def test_a_day_is_the_same_across_midnight():
    across = [*dated(*TOMORROW, "Done.", trials=2), *dated(*NEXT_DAY, "Done.", trials=1)]
    assert differences(across, dated(*NEXT_DAY, "Done.")) == []
    found = [("argument", "book_slot.day", "2026-02-21", "2026-02-24")]
    assert differences(across, dated(NEXT_DAY[0], "2026-02-24", "Done.")) == found


def test_the_day_of_the_run_is_that_which_the_system_prompt_names():
    before = dated(
        "2026-02-20T23:30:00Z", "2026-02-22", "Done.", prompt="Today is 2026-02-21. Orders since 2026-02-01."
    )
    now = dated("2026-02-21T09:30:00Z", "2026-02-22", "Done.", prompt="Today is 2026-02-21.")
    assert differences(before, now) == []
    other = dated("2026-02-22T09:30:00Z", "2026-02-23", "Done.", prompt="Since 2026-02-01. Today is 2026-02-22.")
    assert differences(before, other) == []
    assert differences(before, dated("2026-02-22T09:30:00Z", "2026-02-24", "Done.")) != []


def test_days_of_several_calls_in_one_message_are_compared_in_their_order():
    def look(started, *days):
        calls = [make_call("search", {"day": day}, step=1) for day in days]
        return [make_trace(calls, "Done.", started_at=started) for _ in range(3)]

    before = look(TOMORROW[0], "2026-02-21", "2026-02-22")
    assert differences(before, look(NEXT_DAY[0], "2026-02-22", "2026-02-23")) == []
    assert differences(before, look(NEXT_DAY[0], "2026-02-23", "2026-02-22")) == []
    assert differences(before, look(NEXT_DAY[0], "2026-02-22", "2026-02-21")) == []


@pytest.mark.parametrize("value", ["2026-02-20T10:07:00Z", "2026-02-20T09:00:00Z", "2026-02-20T11:30+01:00"])
def test_a_time_about_now_is_left_out(value):
    other = "2026-02-20T10:13:00Z"
    assert differences(dated(TOMORROW[0], other, "Done."), dated(TOMORROW[0], value, "Done.")) == []


def test_a_date_without_a_start_of_the_run_is_a_text():
    found = [("argument", "book_slot.day", "2026-02-21", "2026-02-22")]
    assert differences(dated(None, "2026-02-21", "Done."), dated(None, "2026-02-22", "Done.")) == found
    assert differences(dated(None, "2026-02-21T16:00", "Done."), dated(None, "2026-02-22T04:00", "Done.")) == []
    assert differences(dated(TOMORROW[0], "2026-13-45", "x"), dated(NEXT_DAY[0], "2026-13-45", "x")) == []
