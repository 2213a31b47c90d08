"""Each source of a value, each normal form, and what stands nowhere."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from builders import make_call, make_message, make_trace

from evalgate.measures.provenance.leaves import Leaf, is_free_text, list_leaves
from evalgate.measures.provenance.trace_sources import ArgumentSources

ORDER = {"order_id": "#W2378156", "to": "ann.lee@example.com", "items": [{"price": 120.5}, {"price": 79.5}]}


def build(
    value: Any, user: str | None = "Please help me.", result: Any = "done", system: str | None = None, **more: Any
):
    """A trace with a message of the user, a call with a result, and a later call that passes the value."""
    calls = [
        make_call("lookup", {}, index=0, result=result),
        make_call("send", {"value": value}, index=1),
    ]
    trace = make_trace(calls)
    trace.messages = [] if user is None else [make_message(content=user)]
    trace.system_instructions = system
    for name, found in more.items():
        setattr(trace, name, found)
    return trace


def find(value: Any, **texts: Any) -> set[str]:
    """The kinds of the sources of a value."""
    found = ArgumentSources(build(value, **texts)).find(2, Leaf("value", value))
    assert found.is_nowhere == (not found.sources and not found.unknown)
    return {"unknown"} if found.unknown else {each.kind for each in found.sources} or {"nowhere"}


@pytest.mark.parametrize(
    ("value", "texts", "kinds"),
    [
        ("W2378156", {"user": "cancel #W2378156."}, {"user"}),
        ("#W2378156", {"user": "cancel order w2378156, please"}, {"user"}),
        ("#W2378156", {"result": ORDER}, {"result"}),
        ("#W2378156", {"result": json.dumps(ORDER), "user": "W2378156"}, {"result", "user"}),
        ("premium", {"system": "Customers are standard or premium."}, {"system"}),
        ("W2378157", {"result": ORDER}, {"nowhere"}),
        ("W237815", {"result": ORDER}, {"nowhere"}),
        ("2378156", {"result": ORDER}, {"nowhere"}),
        ("credit_card_7334", {"user": "the credit card ending in 7334"}, {"nowhere"}),
        ("credit_card_7334", {"result": {"credit_card_7334": {"brand": "visa"}}}, {"result"}),
        ("ann.lee@example.com", {"result": ORDER}, {"result"}),
        ("ann.lee@example.org", {"result": ORDER}, {"nowhere"}),
        ("ann.lee", {"user": "I am ann.lee@example.com"}, {"user"}),
        ("example.com", {"user": "I am ann.lee@example.com"}, {"nowhere"}),
        ("basic_economy", {"user": "In basic economy"}, {"user"}),
        ("Ann Lee", {"result": {"first": "Ann", "last": "Lee"}}, {"result"}),
        ("Ann Lee", {"user": "It is Lee, Ann Lee"}, {"user"}),
        ("Ann Poe", {"user": "It is Lee, Ann Lee"}, {"nowhere"}),
        ("Suite 901", {"user": "suite 901"}, {"user"}),
        ("Suite 902", {"user": "suite 901 or 902"}, {"nowhere"}),
        (
            "12 Elm St, Boston, MA 02134",
            {"result": {"a": "12 Elm St", "c": "Boston", "s": "MA", "z": "02134"}},
            {"result"},
        ),
        ("a@x.org, b@x.org", {"user": "to b@x.org", "system": "cc a@x.org"}, {"user", "system"}),
        ("a@x.org, c@x.org", {"user": "to b@x.org and a@x.org"}, {"nowhere"}),
    ],
)
def test_whole_tokens(value: str, texts: dict[str, Any], kinds: set[str]) -> None:
    assert find(value, **texts) == kinds


@pytest.mark.parametrize(
    ("value", "user"),
    [
        (1000.5, "it cost $1,000.50"),
        (1000.5, "it cost 1.000,50 \u20ac"),
        (480, "480.00 please"),
        (480.0, "480, please"),
        (-480, "480"),
        (480, "\u0664\u0668\u0660 \u0631\u064a\u0627\u0644"),
        (480, "\uff14\uff18\uff10\u5186"),
        (480, "\u0968\u0967 \u096a\u096e\u0966"),
        (12500, "12 500"),
        (2525, "twenty five hundred and twenty five"),
        ("$1,000.50", "1000.5"),
        ("480.00", "480"),
        ("15551234567", "call +1 (555) 123-4567"),
        ("+1 555-123-4567", "call 5551234567 or 15551234567"),
        ("HAT023", "flight HAT 023"),
        ("HAT-023", "flight hat023"),
        ("\uff37\uff11\uff12\uff13", "w123"),
        ("W12\u200b3", "w123"),
        ("w123", "\u8ba2\u5355w123\u8bf7\u53d6\u6d88"),
        ("w123", "\uc8fc\ubb38w123\uc744 \ucde8\uc18c"),
        ("\u53d6\u6d88", "\u8ba2\u5355w123\u8bf7\u53d6\u6d88"),
        ("next", "It is W123.Next"),
        ("USD", "it cost $5"),
        ("caf\u00e9", "cafe\u0301"),
    ],
)
def test_normal_forms(value: Any, user: str) -> None:
    assert find(value, user=user) == {"user"}


@pytest.mark.parametrize(
    ("value", "user"),
    [
        (480.5, "480"),
        (4800, "480"),
        ("0000000", "0"),
        ("gift_card_0000000", "my gift card"),
        ("W\u0417123", "w3123"),
        ("2024-05-21", "may 20"),
        ("14:30", "2:35 pm"),
    ],
)
def test_what_is_not_the_same(value: Any, user: str) -> None:
    assert find(value, user=user) == {"nowhere"}


@pytest.mark.parametrize(
    ("value", "user"),
    [
        *(
            ("2024-05-20", f"on {each}")
            for each in ("May 20", "May 20th", "20 May", "the 20th of may", "may twentieth")
        ),
        *(("2024-05-20", f"on {each}") for each in ("2024-05-20", "5/20/2024", "20.05.2024", "20/5", "20240520")),
        *(("2024-05-20", f"on {each}") for each in ("May 19 and 20", "the 20th", "May 18, 19, or 20", "May 18-20")),
        *(
            ("2024-05-20", f"{each}")
            for each in ("el 20 de mayo", "20 mai", "20. Mai", "5\u670820\u65e5", "5\uc6d4 20\uc77c")
        ),
        ("May 20, 2024", "2024-05-20"),
        ("05/20/2024", "May 20"),
        ("14:30", "2:30 pm"),
        ("14:30:00", "at half past, 2.30pm"),
        ("2 PM", "14:00"),
        ("2024-05-20T14:30:00Z", "May 20, 2:30 p.m."),
        ("2024-05-20T00:00:00", "May 20"),
    ],
)
def test_dates_and_times(value: str, user: str) -> None:
    assert find(value, user=user) == {"user"}


@pytest.mark.parametrize(
    ("value", "user", "kinds"),
    [
        ("2024-05-16", "tomorrow", {"calendar"}),
        ("2024-05-17", "the day after tomorrow", {"calendar"}),
        ("2024-05-18", "tomorrow", {"nowhere"}),
        ("2024-05-16", "soon", {"nowhere"}),
        ("2024-05-24", "next Friday", {"calendar"}),
        ("2024-05-23", "next Friday", {"nowhere"}),
        ("2024-05-25", "in ten days", {"calendar"}),
        ("2024-05-29", "in two weeks", {"calendar"}),
        ("2024-05-16T09:00", "tomorrow at 9", {"calendar", "user"}),
        ("2024-05-16T10:00", "tomorrow at 9", {"nowhere"}),
    ],
)
def test_relative_days(value: str, user: str, kinds: set[str]) -> None:
    assert find(value, user=user, started_at="2024-05-15T10:00:00Z") == kinds


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        (200, {"sum"}),
        (41, {"sum"}),
        (241, {"sum"}),
        ("$200.00", {"sum"}),
        (120.5, {"result"}),
        (199, {"nowhere"}),
        (843.5, {"nowhere"}),
    ],
)
def test_sums(value: Any, kinds: set[str]) -> None:
    assert find(value, result=ORDER) == kinds


def opened() -> list[tuple[str, str]]:
    """Texts that hold W2378156 in another form."""
    return [
        ("url", "https://example.com/find?q=order%3AW2378156"),
        ("base64", base64.b64encode(b"order: W2378156").decode()),
        ("base64 of URLs", base64.urlsafe_b64encode("\u00ff\u00fe order: W2378156".encode()).decode().rstrip("=")),
        ("JSON in JSON", json.dumps({"text": json.dumps({"id": "W2378156"})})),
        ("escapes", "order:\\nW2378156\\tsent"),
        ("escaped characters", "order \\u00573237".replace("3237", "2378156")),
        ("HTML", "<td>W2378156</td>&nbsp;"),
    ]


@pytest.mark.parametrize("text", [text for _, text in opened()], ids=[name for name, _ in opened()])
def test_what_a_text_holds_in_another_form(text: str) -> None:
    assert find("W2378156", result=text) == {"result"}
    assert find("W2378157", result=text) == {"nowhere"}


@pytest.mark.parametrize(
    "schema",
    [
        {"name": "send", "parameters": {"properties": {"value": {"enum": ["one_way", "round_trip"]}}}},
        {
            "type": "function",
            "function": {"name": "send", "parameters": {"properties": {"value": {"const": "one_way"}}}},
        },
        {"name": "send", "input_schema": {"properties": {"value": {"default": "one_way"}}}},
        {"name": "send", "description": "Sends it `one_way`, or not."},
    ],
)
def test_schema(schema: dict[str, Any]) -> None:
    assert find("one_way", tool_definitions=[schema]) == {"schema"}
    assert find("value", tool_definitions=[schema]) in ({"nowhere"}, {"schema"})
    assert find("one_way", tool_definitions=[{**schema, "name": "other", "function": {"name": "other"}}]) == {"nowhere"}


def test_names_of_arguments_are_no_source() -> None:
    schema = {"name": "send", "parameters": {"properties": {"card_7334": {"type": "string"}}}}
    assert find("card_7334", tool_definitions=[schema]) == {"nowhere"}


def test_the_answer_to_an_invented_id_is_no_source() -> None:
    calls = [
        make_call("lookup", {"id": "W999"}, index=0, result={"id": "W999", "status": "sent"}),
        make_call("cancel", {"id": "W999"}, index=1),
    ]
    trace = make_trace(calls)
    trace.messages = [make_message(content="Cancel it")]
    found = ArgumentSources(trace).find(2, Leaf("id", "W999"))
    assert [each.describe() for each in found.sources] == ["argument of call 1 (lookup)"]
    assert found.is_nowhere
    trace.messages = [make_message(content="Cancel w999")]
    assert not ArgumentSources(trace).find(2, Leaf("id", "W999")).is_nowhere


def test_what_the_agent_wrote_and_reads_again_is_no_source() -> None:
    calls = [
        make_call("write_file", {"content": "cancel W999 now"}, index=0),
        make_call("read_file", {}, index=1, result="cancel W999 now"),
        make_call("cancel", {"id": "W999"}, index=2),
    ]
    trace = make_trace(calls)
    trace.messages = [make_message(content="Cancel it")]
    assert ArgumentSources(trace).find(3, Leaf("id", "W999")).is_nowhere
    trace = make_trace([make_call("get_order", {"id": "W999"}, index=0), *calls[1:]], user="Cancel it")
    assert not ArgumentSources(trace).find(3, Leaf("id", "W999")).is_nowhere


def test_the_error_of_an_invented_word_is_no_source() -> None:
    calls = [
        make_call("lookup", {"city": "Atlantis"}, index=0, result="no city Atlantis", status="error"),
        make_call("book", {"city": "Atlantis"}, index=1),
    ]
    trace = make_trace(calls)
    trace.messages = [make_message(content="Book a flight")]
    assert ArgumentSources(trace).find(2, Leaf("city", "Atlantis")).is_nowhere


def test_results_of_parallel_calls_and_later_messages_come_too_late() -> None:
    calls = [
        make_call("lookup", {}, index=0, step=1, result="W999"),
        make_call("cancel", {"id": "W999"}, index=1, step=1),
        make_call("cancel", {"id": "W999"}, index=2, step=2),
    ]
    trace = make_trace(calls)
    trace.messages = [make_message(content="Cancel it"), make_message(1, content="W777", turn=2)]
    provenance = ArgumentSources(trace)
    assert provenance.find(2, Leaf("id", "W999")).is_nowhere
    assert not provenance.find(3, Leaf("id", "W999")).is_nowhere
    assert provenance.find(3, Leaf("id", "W777")).is_nowhere


def test_what_the_agent_says_is_no_source() -> None:
    trace = build("W999", user="Cancel it")
    trace.messages.append(make_message(1, "assistant", "I cancel W999"))
    assert ArgumentSources(trace).find(2, Leaf("value", "W999")).is_nowhere


def test_a_long_list_of_ids_is_no_free_text() -> None:
    assert not is_free_text(", ".join(f"W{1000000 + at}" for at in range(20)))
    assert not is_free_text("; ".join(f"ann{at}@example.com" for at in range(9)))
    assert is_free_text("Order W1000001 was late, so we refund it to the card")


def test_leaves() -> None:
    arguments = {
        "id": "W1",
        "items": '[{"sku": "A-10", "count": 2}]',
        "address": {"address1": "12 Elm St"},
        "amounts": {"card_5634230": 480},
        "express": True,
    }
    assert [(each.path, each.value, each.argument) for each in list_leaves(arguments)] == [
        ("id", "W1", "id"),
        ("items[0].sku", "A-10", "items"),
        ("address.address1", "12 Elm St", "address"),
        ("amounts.card_5634230", "card_5634230", "amounts"),
        ("amounts.card_5634230", 480, "amounts"),
    ]


def test_calculations_and_split_payments() -> None:
    assert find("(120.5 + 79.5) * 2", result=ORDER) == {"result"}
    assert find("(120.5 + 78.5) * 2", result=ORDER) == {"nowhere"}
    shares = {"payments": [{"id": "a", "amount": 150}, {"id": "b", "amount": 61.25}]}
    trace = make_trace([make_call("lookup", {}, result={"total": 211.25}), make_call("pay", shares, index=1)])
    trace.messages = [make_message(content="Pay")]
    sources = ArgumentSources(trace)
    assert [each.kind for each in sources.find(2, Leaf("payments[1].amount", 61.25)).sources] == ["sum"]
    assert sources.find(2, Leaf("payments[1].amount", 61.3)).is_nowhere


def test_what_a_sub_agent_is_asked_is_no_text_of_the_user() -> None:
    trace = build("W999", user="Cancel it")
    trace.messages.append(make_message(1, "user", "Cancel order W999"))
    assert not ArgumentSources(trace).find(2, Leaf("value", "W999")).is_nowhere
    trace.messages[-1]["actor"] = "root/cleaner"
    assert ArgumentSources(trace).find(2, Leaf("value", "W999")).is_nowhere
