from __future__ import annotations

import pytest
from builders import make_call, make_message, make_trace

from evalgate.scoring.outage import find_outage, is_outage


def error(kind=None, message=None, status=None):
    return {"type": kind, "message": message, "status_code": status}


def llm_call(failure=None, *, step=0):
    call = {
        "index": 0,
        "turn": 1,
        "step": step,
        "provider": None,
        "model": "m",
        "response_id": None,
        "usage": None,
        "cost_usd": None,
        "duration_ms": None,
        "finish_reason": None,
    }
    return call if failure is None else {**call, "error": failure}


LIMITED = error("RateLimitError", "Error code: 429 - slow down", 429)

OUTAGES = [
    *(error(status=code) for code in (402, 408, 409, 429, 500, 502, 503, 504, 529)),
    error("429"),
    error("RateLimitError"),
    error("openai.RateLimitError"),
    error("rate_limit_error"),
    error("openai.APITimeoutError", "Request timed out."),
    error("anthropic.APIConnectionError", "Connection error."),
    error("openai.InternalServerError"),
    error("overloaded_error", "Overloaded"),
    error("api_error", "Internal server error"),
    error("timeout"),
    error("httpx.ReadTimeout"),
    error("httpx.RemoteProtocolError", "peer closed connection without sending complete message body"),
    error("ConnectionResetError", "[Errno 104] Connection reset by peer"),
    error("aiohttp.client_exceptions.ServerDisconnectedError"),
    error("google.api_core.exceptions.ResourceExhausted"),
    error("google.genai.errors.ServerError", "503 UNAVAILABLE. {'error': {'code': 503}}"),
    error("ThrottlingException"),
    error("ServiceUnavailableException"),
    error("ModelTimeoutException"),
    error("insufficient_quota"),
    error("ECONNRESET"),
    error("Error", "connect ECONNREFUSED 10.0.0.1:443"),
    error(None, "exceeded retry limit, last status: 429 Too Many Requests"),
    error(None, "unexpected status 503 Service Unavailable"),
    error(None, 'API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}'),
    error(None, "stream disconnected before completion: error sending request"),
    error("_OTHER", "litellm.Timeout: APITimeoutError - Request timed out."),
    error("BadRequestError", "Error code: 400 - Your credit balance is too low to access the Anthropic API", 400),
    error("PermissionDenied", "You exceeded your current quota, please check your plan", 403),
]
NO_OUTAGES = [
    *(error(status=code) for code in (400, 401, 403, 404, 413, 422)),
    error(),
    error("BadRequestError", "Error code: 400 - context_length_exceeded: 128000 tokens, 500 over"),
    error("openai.BadRequestError", "the timeout parameter must be positive, rate limit unchanged"),
    error("AuthenticationError", "Incorrect API key"),
    error("ContextWindowExceededError", "This model's maximum context length is 500 tokens"),
    error("ContentPolicyViolationError"),
    error("ValidationError", "1 validation error for Answer: input timed out"),
    error("ValueError", "the answer is not JSON"),
    error("UsageLimitExceeded", "The next request would exceed the request_limit of 50"),
    error("MaxTurnsExceeded", "Max turns (10) exceeded"),
    error("RecursionError"),
    error("Error", "expected 503 items"),
    error("RateLimitError", "Error code: 400 - bad model", 400),
]


@pytest.mark.parametrize("failure", OUTAGES, ids=str)
def test_failure_of_the_provider_is_an_outage(failure):
    assert is_outage(failure)


@pytest.mark.parametrize("failure", NO_OUTAGES, ids=str)
def test_failure_of_the_request_itself_is_no_outage(failure):
    assert not is_outage(failure)


def test_long_message_is_searched_in_bounded_time():
    assert not is_outage(error("Error", "status " * 100_000 + "429"))


def test_run_that_ends_with_an_outage_measures_nothing():
    trace = make_trace(["lookup"], None, llm_calls=[llm_call(step=1), llm_call(LIMITED, step=2)])
    assert find_outage(trace) == "the last model call failed: 429 RateLimitError: Error code: 429 - slow down"


def test_run_of_nothing_but_a_failed_model_call_measures_nothing():
    trace = make_trace([], None, llm_calls=[llm_call(error(message="Connection error."))])
    trace.messages = []
    assert find_outage(trace) == "the last model call failed: Connection error."


def test_answers_to_earlier_inputs_are_not_the_final_answer():
    trace = make_trace([], None, turns=[("Hi", "Hello!")], llm_calls=[llm_call(LIMITED, step=2)])
    assert find_outage(trace) is not None


def test_run_whose_model_answered_in_the_end_is_measured():
    assert find_outage(make_trace(["lookup"], "Done.", llm_calls=[llm_call(LIMITED), llm_call()])) is None


def test_failed_call_after_the_final_answer_is_ignored():
    assert find_outage(make_trace(["lookup"], "Done.", llm_calls=[llm_call(LIMITED, step=3)])) is None


def test_answer_recorded_apart_from_the_messages_is_final():
    response = {"content": "Done.", "finish_reason": None, "message_index": None}
    assert find_outage(make_trace(["lookup"], None, llm_calls=[llm_call(LIMITED)])) is not None
    trace = make_trace(["lookup"], None, llm_calls=[llm_call(LIMITED)])
    trace.response = response
    assert find_outage(trace) is None


def test_tool_that_was_called_after_the_failure_shows_that_the_agent_went_on():
    calls = [make_call(index=0, step=1), make_call(index=1, step=2)]
    assert find_outage(make_trace(calls, None, llm_calls=[llm_call(LIMITED, step=2)])) is None
    assert find_outage(make_trace(calls, None, llm_calls=[llm_call(LIMITED, step=3)])) is not None


def test_error_of_a_tool_or_of_the_run_is_no_outage():
    failed = make_call(status="error", result="HTTP 500 from the shop")
    trace = make_trace([failed], None, llm_calls=[llm_call(step=1)], status="error", error=LIMITED)
    assert find_outage(trace) is None


def test_flag_in_the_metadata_alone_is_not_enough():
    assert find_outage(make_trace([], None, metadata={"evalgate.infra": True})) is None


def test_message_that_requests_a_call_is_no_answer():
    asked = make_message(1, "assistant", "Let me look.", tool_calls=[{"id": "c", "name": "lookup", "arguments": {}}])
    trace = make_trace([], None, llm_calls=[llm_call(LIMITED)])
    trace.messages.append(asked)
    assert find_outage(trace) is not None
