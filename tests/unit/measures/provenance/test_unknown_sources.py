"""A value without a source is unknown, never from nowhere, where a text is missing or not read."""

from __future__ import annotations

from typing import Any

import pytest
from builders import make_call, make_message, make_trace

from evalgate.measures.provenance.leaves import Leaf
from evalgate.measures.provenance.trace_sources import FOREIGN, ArgumentSources
from evalgate.measures.provenance.trace_texts import MAX_RESULT


def find(value: Any, user: str | None, *calls: Any, gaps: dict[Any, str] | None = None) -> str | None:
    """Why the value of a last call is unknown; `nowhere` if it stands nowhere."""
    trace = make_trace([*calls, make_call("send", {"value": value}, index=len(calls))])
    trace.messages = [] if user is None else [make_message(content=user)]
    trace.gaps = gaps or {}
    found = ArgumentSources(trace).find(len(calls) + 1, Leaf("value", value))
    return "nowhere" if found.is_nowhere else found.unknown


def test_missing_texts() -> None:
    assert find("W1234", None) == "the trace has no message of a user"
    assert find("W1234", "Help me") == "nowhere"
    for kind in ("messages", "calls", "results"):
        assert find("W1234", "Help me", gaps={kind: "cut"}) == f"missing evidence ({kind}): cut"
    assert find("W1234", "Help me", gaps={"cost": "cut"}) == "nowhere"


def test_missing_and_long_results() -> None:
    missing = make_call("lookup", {}, result=None, status="missing")
    assert find("W1234", "Help me", missing) == "the result of call 1 is not recorded"
    assert find("W1234", "Help me", make_call("lookup", {}, result="x " * (MAX_RESULT // 2))) == "nowhere"
    assert find("W1234", "Help me", make_call("lookup", {}, result="x " * MAX_RESULT)) == (
        "the result of call 1 is too long to be searched"
    )


def test_a_later_result_is_not_missed() -> None:
    trace = make_trace([make_call("send", {"value": "W1234"}), make_call("lookup", {}, index=1, status="missing")])
    trace.messages = [make_message(content="Help me")]
    assert ArgumentSources(trace).find(1, Leaf("value", "W1234")).is_nowhere


def test_a_picture_may_hold_it() -> None:
    trace = make_trace([make_call("send", {"value": "W1234"})])
    trace.messages = [make_message(content="See the picture")]
    trace.messages[0]["parts"] = [{"type": "text", "text": "See the picture"}, {"type": "image_url"}]
    assert ArgumentSources(trace).find(1, Leaf("value", "W1234")).unknown == "a user's message holds more than text"


@pytest.mark.parametrize(
    "user",
    [
        "\u0627\u062d\u062c\u0632 \u0644\u064a \u0631\u062d\u0644\u0629 \u063a\u062f\u0627",
        "\u8ba2\u4e8c\u5341\u53f7\u7684\u673a\u7968",
        "\u0417\u0430\u043a\u0430\u0436\u0438 \u0431\u0438\u043b\u0435\u0442 \u043d\u0430 \u0437\u0430\u0432\u0442\u0440\u0430",
        "Quiero un vuelo para pasado ma\u00f1ana, por favor",
        "Ich m\u00f6chte bitte \u00fcbermorgen fliegen und nicht heute",
        "Je voudrais un vol pour apr\u00e8s-demain avec ma femme",
    ],
)
def test_languages(user: str) -> None:
    for value in ("2024-05-20", 200, "economy", "14:30"):
        assert find(value, user) == FOREIGN
    assert find("W2378156", user) == "nowhere"
    assert find("eve@example.com", user) == "nowhere"


def test_english_is_not_foreign() -> None:
    for user in (
        "Refund order W1, gift card",
        "cancel la la land for Ann",
        "I want to fly to El Paso and Las Vegas on a Friday",
    ):
        assert find("economy", user) == "nowhere"
