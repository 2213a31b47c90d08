"""Exchanges and cassettes made in the process of a test."""

from __future__ import annotations

import json
from typing import Any

from evalgate.features.record.application.trials import CacheRules, RecordedTrial
from evalgate.features.record.measures.canonical import RULES_VERSION
from evalgate.features.record.models.cassette import Cassette, CassetteHeader
from evalgate.features.record.models.exchange import Exchange, ProviderAnswer, ProviderRequest, TrialId

TRIAL = TrialId(None, "refund", None, 0)
HEADER = CassetteHeader(
    scenario="refund", trial=0, created="2026-01-01T00:00:00Z", evalgate="1", rules_version=RULES_VERSION
)
USER = {"role": "user", "content": "Hi"}


def chat(*messages: Any, **more: Any) -> ProviderRequest:
    body = {"model": "m", "messages": [*messages], **more}
    return ProviderRequest("openai", "POST", "/chat/completions", "application/json", json.dumps(body).encode())


def answer(text: str = "Hello", status: int = 200) -> ProviderAnswer:
    message = {"role": "assistant", "content": text}
    body = {"id": "c1", "model": "m-1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    return ProviderAnswer(status, "application/json", [(1.0, json.dumps(body).encode())])


def exchange(request: ProviderRequest, given: ProviderAnswer | None = None, at: float = 1_767_225_600.0) -> Exchange:
    return Exchange(request, given or answer(), at, 12.5, arrived_at=at)


def build_cassette(*exchanges: Exchange, old: Cassette | None = None) -> Cassette:
    recorded = RecordedTrial(TRIAL, CacheRules("write"), old)
    for each in exchanges or (exchange(chat(USER)),):
        recorded.add_exchange(each)
    found = recorded.build_cassette(HEADER)
    assert found is not None
    return found


def replay(cassette: Cassette, **rules: Any) -> RecordedTrial:
    return RecordedTrial(TRIAL, CacheRules("read", **rules), cassette)
