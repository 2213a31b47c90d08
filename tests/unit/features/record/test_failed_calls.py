"""Why the last model call failed: what the provider says, where it was asked, and what to set."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalgate.features.record.application.failed_calls import describe_failed_calls, find_failed_call
from evalgate.features.record.application.outcome import TrialOutcome
from evalgate.features.record.models.exchange import (
    GOT_NO_ANSWER,
    NO_ANSWER,
    Exchange,
    ProviderAnswer,
    ProviderRequest,
    TrialId,
)
from evalgate.reporting.text.escaping import escape_terminal

KEY = "sk-proj-" + "a1B2" * 9
DEFAULTS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com/v1"}
OWN = {"openai": "https://llm.example/team/v1", "anthropic": "https://llm.example/v1"}


def answer(status: int, body: Any, kind: str = "application/json", at: float = 0.0, **more: Any) -> Exchange:
    content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    request = ProviderRequest("openai", "POST", "/chat/completions", "application/json", b"{}")
    return Exchange(request, ProviderAnswer(status, kind, [(0.0, content)], **more), at, 1.0, arrived_at=at)


def describe(exchange: Exchange, upstreams: dict[str, str]) -> list[str]:
    outcome = TrialOutcome(TrialId(None, "refund"), 1, failed_call=find_failed_call([exchange]))
    return [escape_terminal(line, None) for line in describe_failed_calls([outcome], upstreams)]


GOOD = {"choices": [{"message": {"role": "assistant", "content": "hello"}}], "error": None}


@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        (401, {"error": {"message": f"Incorrect API key: {KEY}"}}, "application/json", "[redacted"),
        (404, {"error": "no model desk-1"}, "application/json", "answered 404: `no model desk-1`"),
        (404, {"detail": "Not\n  Found"}, "application/json", "answered 404: `Not Found`"),
        (503, "busy\n", "text/plain; charset=utf-8", "answered 503: `busy`"),
        (502, "<html><body>nginx</body></html>", "text/html", "answered 502"),
        (200, {"error": {"message": "credits used up"}}, "application/json", "answered 200: `credits used up`"),
        (400, {"error": {"message": "m" * 380}}, "application/json", "\u2026 (80 more characters)`"),
    ],
)
def test_the_provider_s_words_are_shown_without_secrets_and_bounded(status, body, kind, said):
    first, *_ = describe(answer(status, body, kind), OWN)
    assert first.startswith("the last model call failed: openai at llm.example answered ")
    assert said in first
    assert KEY not in first
    assert "team" not in first  # a path may hold a key
    assert "html" not in first


def test_an_answer_is_no_failure_and_a_later_one_counts():
    failed = answer(500, {"error": {"message": "down"}}, at=1.0)
    assert find_failed_call([]) is None
    assert find_failed_call([answer(200, GOOD)]) is None
    assert find_failed_call([failed, answer(200, GOOD, at=2.0)]) is None
    assert find_failed_call([answer(200, GOOD, at=2.0), answer(200, GOOD, at=0.5), failed]) is None


REFUSED = answer(NO_ANSWER, {"error": {"message": f"{GOT_NO_ANSWER}Connection refused"}}, is_broken=True)
DEFAULT = (
    "  requests went to the default address of openai: if yours is another, set OPENAI_BASE_URL or "
    "--provider openai=URL; else check "
)
HERE = "  check the address (OPENAI_BASE_URL or --provider openai=URL)"
SENT = "the key that the agent sends, mostly OPENAI_API_KEY"


@pytest.mark.parametrize(
    ("exchange", "upstreams", "hints"),
    [
        (REFUSED, DEFAULTS, [f"{DEFAULT}the network"]),
        (REFUSED, OWN, [f"{HERE} and the network"]),
        (answer(401, {}), DEFAULTS, [f"{DEFAULT}{SENT}"]),
        (answer(403, {}), OWN, [f"  check {SENT}"]),
        (answer(404, {}), DEFAULTS, [f"{DEFAULT}the name of the model"]),
        (answer(404, {}), OWN, [f"{HERE}, whose path mostly ends in /v1, and the name of the model"]),
        (answer(429, {}), DEFAULTS, []),
        (answer(502, {}), OWN, []),
        (answer(400, {}), DEFAULTS, []),
    ],
)
def test_what_to_set_follows_from_the_status_and_the_address(exchange, upstreams, hints):
    assert describe(exchange, upstreams)[1:] == hints


def test_trials_that_failed_alike_are_one_line():
    down = find_failed_call([answer(500, {"error": {"message": "down"}})])
    outcomes = [TrialOutcome(TrialId(None, "refund", None, n), 0, failed_call=down if n else None) for n in range(3)]
    assert list(describe_failed_calls(outcomes, OWN)) == [
        "2 of 3 trials: the last model call failed: openai at llm.example answered 500: `down`"
    ]
