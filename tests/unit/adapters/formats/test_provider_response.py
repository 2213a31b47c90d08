from __future__ import annotations

import pytest
from damage import ANYTHING, damage_document
from hypothesis import given

from evalgate.adapters.formats.core.provider_response import ProviderResponse, read_provider_response

CHAT = {
    "id": "chatcmpl-1",
    "model": "gpt-4o-mini-2024-07-18",
    "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}],
    "usage": {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 8},
    },
}
RESPONSES = {
    "id": "resp_1",
    "model": "gpt-5",
    "output": [],
    "usage": {
        "input_tokens": 100,
        "output_tokens": 20,
        "total_tokens": 120,
        "input_tokens_details": {"cached_tokens": 64},
        "output_tokens_details": {"reasoning_tokens": 8},
    },
}
ANTHROPIC = {
    "id": "msg_1",
    "model": "claude",
    "content": [{"type": "text", "text": "hi"}],
    "stop_reason": "end_turn",
    "usage": {
        "input_tokens": 6,
        "output_tokens": 20,
        "cache_read_input_tokens": 64,
        "cache_creation_input_tokens": 30,
    },
}
LANGCHAIN = {
    "id": "chatcmpl-1",
    "model": "o1",
    "choices": [{"finish_reason": "stop"}],
    "usage_metadata": {
        "input_tokens": 100,
        "output_tokens": 20,
        "total_tokens": 120,
        "input_token_details": {"cache_read": 64},
        "output_token_details": {"reasoning": 8},
    },
}


def gemini(**usage):
    return {"candidates": [{"finish_reason": "STOP"}], "model_version": "gemini-2.5", "usage_metadata": usage}


def figures(usage):
    keys = (
        "input_tokens",
        "output_tokens",
        "total_tokens",
        "cache_read_input_tokens",
        "reasoning_output_tokens",
    )
    return tuple(usage[key] for key in keys)


@pytest.mark.parametrize("answer", [CHAT, RESPONSES, LANGCHAIN], ids=["chat", "responses", "langchain"])
def test_tokens_of_a_provider_that_counts_cache_within_input(answer):
    assert figures(read_provider_response(answer).usage) == (100, 20, 120, 64, 8)


def test_tokens_of_a_provider_that_counts_cache_beside_input():
    usage = read_provider_response(ANTHROPIC).usage
    assert figures(usage) == (100, 20, 120, 64, None)
    assert usage["cache_write_input_tokens"] == 30


def test_an_answer_has_its_id_model_and_finish_reason():
    assert read_provider_response(CHAT)._replace(usage=None) == ProviderResponse(
        "chatcmpl-1", "gpt-4o-mini-2024-07-18", None, "stop"
    )
    assert read_provider_response(ANTHROPIC)._replace(usage=None) == ProviderResponse(
        "msg_1", "claude", None, "end_turn"
    )
    assert read_provider_response(gemini())._replace(usage=None) == ProviderResponse(None, "gemini-2.5", None, "STOP")


def test_thoughts_that_gemini_counts_beside_its_candidates_are_output():
    response = gemini(prompt_token_count=5, candidates_token_count=845, thoughts_token_count=100, total_token_count=950)
    assert figures(read_provider_response(response).usage) == (5, 945, 950, None, 100)


def test_thoughts_that_gemini_does_not_count_are_what_is_left_of_its_total():
    response = gemini(prompt_token_count=5, candidates_token_count=845, total_token_count=2023)
    assert figures(read_provider_response(response).usage) == (5, 2018, 2023, None, 1173)


def test_camel_case_reads_as_snake_case():
    response = {
        "responseId": "r",
        "modelVersion": "m",
        "candidates": [{"finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 39, "candidatesTokenCount": 6, "totalTokenCount": 45},
    }
    answer = read_provider_response(response)
    assert answer._replace(usage=None) == ProviderResponse("r", "m", None, "STOP")
    assert figures(answer.usage) == (39, 6, 45, None, None)


@pytest.mark.parametrize("usage", [None, {}, [], {"prompt_tokens": -1}, {"prompt_tokens": "9"}])
def test_figures_that_cannot_be_read_are_unknown(usage):
    answer = read_provider_response({**CHAT, "usage": usage})
    assert answer.usage is None
    assert answer.id == "chatcmpl-1"


@given(ANYTHING | damage_document(CHAT) | damage_document(gemini(prompt_token_count=5)))
def test_any_value_is_read_without_a_crash(value):
    read_provider_response(value)
