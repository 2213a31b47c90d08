"""What calls cost, and which of them a cap lets go to a provider."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from evalgate.application.evaluation.pricing import Pricer
from evalgate.features.record.adapters.exchanges.call_costs import measure_cost
from evalgate.features.record.application.caps import Cap, CapLimits
from evalgate.features.record.models.exchange import CallCost, Exchange, ProviderAnswer, ProviderRequest
from evalgate.measures.prices import Rates
from evalgate.suite.models import SuitePrices

PRICER = Pricer(SuitePrices([("gpt-x*", Rates(1e4, 1e5, 1e4, 1e4)), ("embed", Rates(1e4, 1e9, 0, 0))]), None)
CHAT = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}
USAGE = {"prompt_tokens": 30, "completion_tokens": 7, "total_tokens": 37}
ANSWER = {"id": "1", "model": "gpt-x-1", **CHAT, "usage": USAGE}
STREAMED = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}], "model": "gpt-x-1"}


def exchange(answer: Any, *, path: str = "/chat/completions", status: int = 200, **fields: Any) -> Exchange:
    method = fields.pop("method", "POST")
    request = ProviderRequest("openai", method, path, "application/json", json.dumps({"model": "gpt-x"}).encode())
    kind, body = "application/json", json.dumps(answer).encode()
    if isinstance(answer, list):
        kind, body = "text/event-stream", b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in answer)
        body += b"data: [DONE]\n\n"
    return Exchange(request, ProviderAnswer(status, kind, [(0.0, body)], **fields), 0.0, 1.0)


NOTHING = CallCost("list_price")
KNOWN = CallCost("list_price", 1.0)


@pytest.mark.parametrize(
    ("answered", "expected"),
    [
        (exchange(ANSWER), KNOWN),
        (exchange([STREAMED, {"choices": [], "usage": USAGE}]), KNOWN),
        (exchange({**ANSWER, "model": None}), KNOWN),
        (exchange({**ANSWER, "usage": {**USAGE, "cost": 0.25}}), CallCost("metered", 0.25)),
        (exchange({**ANSWER, "usage": {**USAGE, "cost": {"total_cost": 0.5}}}), CallCost("metered", 0.5)),
        (exchange({**ANSWER, "usage": {**USAGE, "cost": -1}}), KNOWN),
        (exchange({**ANSWER, "usage": {**USAGE, "cost": True}}), KNOWN),
        (exchange({"data": [{}], "model": "embed", "usage": {"prompt_tokens": 100}}, path="/embeddings"), KNOWN),
        (exchange({"error": {"message": "no"}}, status=500), NOTHING),
        (exchange({"data": []}, path="/models", method="GET"), NOTHING),
        (exchange({"input_tokens": 5}, path="/messages/count_tokens"), NOTHING),
    ],
)
def test_the_cost_of_a_call(answered: Exchange, expected: CallCost) -> None:
    assert measure_cost(answered, PRICER) == expected


@pytest.mark.parametrize(
    ("answered", "reason"),
    [
        (exchange({**ANSWER, "model": "other"}), "no price is known for other"),
        (exchange({**ANSWER, "usage": None}), "no token counts"),
        (exchange([STREAMED]), "no token counts"),
        (exchange({"data": [{}], "model": "embed"}, path="/embeddings"), "no token counts"),
        (exchange([STREAMED], is_broken=True), "broke off"),
        (exchange({"error": {}}, status=502, is_broken=True), "broke off"),
        (exchange("text"), "no token counts"),
    ],
)
def test_a_cost_that_is_unknown_says_why(answered: Exchange, reason: str) -> None:
    found = measure_cost(answered, PRICER)
    assert (found.kind, found.usd) == ("unknown", 0)
    assert reason in found.reason


async def send(cap: Cap, cost: CallCost, running: list[int]) -> bool:
    """One request, in whose answer others come."""
    if not await cap.take():
        return False
    running[0] += 1
    running[1] = max(running)
    await asyncio.sleep(0)
    cap.add(Exchange(ProviderRequest("openai", "POST", "/", "", b""), ProviderAnswer(200, "", []), cost.usd, 0))
    running[0] -= 1
    cap.release()
    return True


@pytest.mark.parametrize(
    ("limits", "cost", "sent", "reached"),
    [
        (CapLimits(usd=3), 1.0, 3, "the cap of 3 USD (--max-usd)"),
        (CapLimits(usd=3.5), 1.0, 4, "the cap of 3.5 USD (--max-usd)"),
        (CapLimits(usd=0.001), 1.0, 1, "the cap of 0.001 USD (--max-usd)"),
        (CapLimits(usd=0.3), 0.1, 3, "the cap of 0.3 USD (--max-usd)"),
        (CapLimits(2, 100), 1.0, 2, "the cap of 2 model calls (--max-calls)"),
        (CapLimits(1, 100, per_trial=True), 1.0, 1, "the cap of 1 model call of each trial (--max-calls)"),
        (CapLimits(usd=50), 1.0, 50, None),
        (CapLimits(usd=100), 0.0, 50, None),
    ],
)
def test_of_fifty_requests_at_once_at_most_one_goes_beyond(
    limits: CapLimits, cost: float, sent: int, reached: str | None
) -> None:
    cap = Cap(limits, lambda exchange: CallCost("list_price", exchange.started_at))
    running = [0, 0]

    async def all_at_once() -> list[bool]:
        return await asyncio.gather(*(send(cap, CallCost("list_price", cost), running) for _ in range(50)))

    assert (sum(asyncio.run(all_at_once())), cap.reached, running) == (sent, reached, [0, 1])


@pytest.mark.parametrize("first", ["metered", "list_price"])
def test_the_kinds_are_bounded_together_and_none_follows_an_unknown_cost(first: Any) -> None:
    costs = [CallCost(first, 0.6), CallCost("metered", 0.6)]
    cap = Cap(CapLimits(usd=1), lambda _: costs[len(cap.costs)])

    async def one_by_one(most: int) -> list[bool]:
        return [await send(cap, costs[0], [0, 0]) for _ in range(most)]

    assert asyncio.run(one_by_one(3)) == [True, True, False]
    costs[:] = [CallCost("unknown", reason="no price")]
    cap = Cap(CapLimits(usd=1), lambda _: costs[0])
    assert asyncio.run(one_by_one(2)) == [True, False]
    assert cap.reached == "a call that --max-usd can't bound: no price"
