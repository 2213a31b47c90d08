from __future__ import annotations

from builders import make_message, make_trace

from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.salvo import reader as salvo
from evalgate.models.trace.trace_view import get_view


def view(**fields):
    return {
        "response": {"content": "It is 20 degrees.", "finish_reason": "stop"},
        "turns": [
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "name": "weather", "arguments": {"city": "Oslo"}}],
            },
            {"role": "tool_result", "content": "20", "tool_call_id": "c1", "tool_name": "weather"},
            {"role": "assistant", "content": "It is 20 degrees."},
        ],
        "tool_calls": [{"id": "c1", "name": "weather", "arguments": {"city": "Oslo"}}],
        "metadata": {
            "model": "gpt-4o",
            "provider": "openai",
            "cost_usd": 0.01,
            "latency_seconds": 1.5,
            "input_tokens": 100,
            "output_tokens": 10,
            "total_tokens": 110,
            "turn_count": 2,
            "finish_reason": "stop",
        },
        **fields,
    }


def stored(**fields):
    known = view()
    return {
        "messages": known["turns"],
        "tool_calls_made": known["tool_calls"],
        "final_content": "It is 20 degrees.",
        "timestamp": "2026-02-19T10:00:00+00:00",
        "scenario_hash": "abc",
        "max_turns_hit": False,
        **known["metadata"],
        **fields,
    }


def test_a_stored_run_has_its_start_time():
    assert salvo.build(stored()).started_at == "2026-02-19T10:00:00Z"


def test_content_identifies_the_format():
    assert detect.detect_format([view()]).name == detect.detect_format([stored()]).name == "salvo"
    whole = get_view(make_trace([], messages=[make_message()])).whole()
    assert detect.detect_format([whole]).name == "salvo"
