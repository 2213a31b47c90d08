"""What recorded tokens count: by the numbers, then by the documented meaning of the field, else unknown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.adapters.formats.core.provider_response import ANTHROPIC_USAGE, LANGCHAIN_USAGE, RESPONSES_USAGE
from evalgate.adapters.formats.core.token_rules import RULES, TokenRule, settle_tokens
from evalgate.adapters.formats.core.usage import (
    TokenTable,
    build_usage,
    read_provider_usage,
    sum_usages,
    warn_of_doubts,
)
from evalgate.adapters.formats.core.vercel_tokens import read_vercel_usage
from evalgate.models.trace.trace import Trace, unknown_usage

COUNT = st.none() | st.integers(0, 40)


def parts(tokens_in, tokens_out, total=None, read=None, written=None, reasoning=None):
    return {
        **unknown_usage(),
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "total_tokens": total,
        "cache_read_input_tokens": read,
        "cache_write_input_tokens": written,
        "reasoning_output_tokens": reasoning,
    }


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(
    ("given", "right"),
    [
        (parts(5, 40, None, 128_955, 1_253), (130_213, 40, 130_253)),
        (parts(5, 40, 45, 128_955, 1_253), (130_213, 40, 130_253)),
        (parts(100, 10, 140, 20, 10), (130, 10, 140)),
        (parts(2_640, 182, 3_494, 473, None, 672), (2_640, 854, 3_494)),
        (parts(100, 10, 155, 20, 10, 15), (130, 25, 155)),
        (parts(7, 3), (7, 3, 10)),
        (parts(7, 3, 0), (7, 3, 10)),
        (parts(0, 0, 50), (None, None, 50)),
        (parts(0, 0, 0, 8), (None, None, None)),
        (parts(None, None), (None, None, None)),
    ],
    ids=[
        *("cache above input", "whatever the total", "total with cache", "total with reasoning", "total with both"),
        *("a sum", "a total of 0", "only a total", "0 is not counted", "unknown is never 0"),
    ],
)
def test_numbers_decide_first_for_every_reader(name, given, right):
    assert settle_tokens(given, RULES[name]) == (*right, None)


@pytest.mark.parametrize(
    ("name", "total", "right"),
    [
        ("openai-chat", 110, (100, 10, 110)),
        ("anthropic", None, (130, 10, 140)),
        ("bedrock", 110, (100, 10, 110)),
        ("bedrock", None, (130, 10, 140)),
        ("langchain", 110, (100, 10, 110)),
        ("vercel-inside", 110, (100, 10, 110)),
        ("vercel-outside", 110, (130, 10, 140)),
        ("vercel-details", 110, (100, 10, 110)),
        ("inspect", 140, (130, 10, 140)),
        ("langfuse", 140, (130, 10, 140)),
        ("langfuse", 110, (100, 10, 110)),
        ("native", None, (100, 10, 110)),
    ],
)
def test_a_reported_total_then_the_documented_meaning_decide(name, total, right):
    assert settle_tokens(parts(100, 10, total, 20, 10), RULES[name])[:3] == right


def test_a_total_that_the_sdk_added_up_decides_nothing_and_both_sums_are_named():
    settled = settle_tokens(parts(100, 10, 110, 20, 10), RULES["vercel"])
    assert settled[:3] == (None, 10, None)
    message = "input is 100 or 130 tokens: nothing says whether it includes 30 cached ones"
    assert settled.doubt == {"code": "tokens_ambiguous", "message": message}


@pytest.mark.parametrize(("total", "kept"), [(999, 999), (9, None)])
def test_a_total_that_fits_no_reading_leaves_what_it_counts_unknown(total, kept):
    settled = settle_tokens(parts(100, 10, total, 20), RULES["openai-chat"])
    assert settled[:3] == (None, None, kept)
    assert settled.doubt["code"] == "total_mismatch"


def test_reasoning_above_the_output_is_not_part_of_it():
    assert settle_tokens(parts(100, 10, None, None, None, 50), RULES["openai-chat"])[:3] == (100, 60, 160)


@pytest.mark.parametrize("name", RULES)
@given(given=st.builds(parts, COUNT, COUNT, COUNT, COUNT, COUNT, COUNT))
def test_no_figure_is_below_what_a_field_proves(name, given):
    settled = settle_tokens(given, RULES[name])
    cached = (given["cache_read_input_tokens"] or 0) + (given["cache_write_input_tokens"] or 0)
    if settled.input_tokens is not None:
        assert settled.input_tokens >= max(cached, given["input_tokens"])
    if settled.output_tokens is not None:
        assert settled.output_tokens >= max(given["reasoning_output_tokens"] or 0, given["output_tokens"])
    if None not in (settled.input_tokens, settled.output_tokens):
        assert settled.total_tokens == settled.input_tokens + settled.output_tokens
    again = settle_tokens({**given, **settled._asdict()}, RULES["native"])
    assert again[:3] == settled[:3]


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (
            lambda value: read_provider_usage(value, ""),
            {"prompt_tokens": 5, "completion_tokens": 40, "prompt_tokens_details": {"cached_tokens": 128_955}},
        ),
        (
            lambda value: read_provider_usage(value, ""),
            {"prompt_tokens": 5, "completion_tokens": 40, "cache_read_input_tokens": 128_955},
        ),
        (
            lambda value: read_provider_usage(value, ""),
            {"input_tokens": 5, "output_tokens": 40, "cache_read_input_tokens": 128_955},
        ),
        (
            lambda value: RESPONSES_USAGE.read(value, ""),
            {"input_tokens": 5, "output_tokens": 40, "input_tokens_details": {"cached_tokens": 128_955}},
        ),
        (
            lambda value: ANTHROPIC_USAGE.read(value, ""),
            {"input_tokens": 5, "output_tokens": 40, "cache_read_input_tokens": 128_955},
        ),
        (
            lambda value: LANGCHAIN_USAGE.read(value, ""),
            {
                "input_tokens": 5,
                "output_tokens": 40,
                "total_tokens": 45,
                "input_token_details": {"cache_read": 128_955},
            },
        ),
        (
            lambda value: read_vercel_usage(value, ""),
            {"inputTokens": 5, "outputTokens": 40, "totalTokens": 45, "cachedInputTokens": 128_955},
        ),
        (
            lambda value: read_vercel_usage(value, ""),
            {"inputTokens": {"total": 128_960, "cacheRead": 128_955}, "outputTokens": {"total": 40}},
        ),
    ],
)
def test_cached_tokens_count_in_every_spelling(read, value):
    assert read(value)["input_tokens"] == 128_960


@pytest.mark.parametrize(
    ("metadata", "right"),
    [
        ({"anthropic": {"cacheCreationInputTokens": 10}}, 130),
        ({"bedrock": {"usage": {"cacheWriteInputTokens": 10}}}, 130),
        ({"openai": {}}, 100),
        ({"gateway": {}}, None),
        (None, None),
    ],
)
def test_in_version_5_of_the_ai_sdk_the_package_that_converted_the_usage_decides(metadata, right):
    usage = {"inputTokens": 100, "outputTokens": 10, "totalTokens": 110, "cachedInputTokens": 20}
    assert read_vercel_usage(usage, "", metadata)["input_tokens"] == right


@pytest.mark.parametrize(("fresh", "right"), [(18, 2_302), (2_302, 2_302 + 2_284), (None, 2_302)])
def test_in_version_6_the_uncached_tokens_decide(fresh, right):
    details = {"noCacheTokens": fresh, "cacheReadTokens": 2_284, "cacheWriteTokens": 0}
    usage = {"inputTokens": 2_302, "outputTokens": 141, "totalTokens": 2_443, "inputTokenDetails": details}
    assert read_vercel_usage(usage, "")["input_tokens"] == right


def test_a_doubt_about_one_call_makes_the_sum_unknown_and_one_warning():
    doubtful = build_usage(parts(100, 10, 110, 20), RULES["vercel"])
    trace = Trace("", [], [], {"content": None, "finish_reason": None, "message_index": None})
    trace.usage = sum_usages([doubtful, doubtful, build_usage(parts(7, 3), RULES["vercel"])])
    warn_of_doubts(trace)
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (None, 23)
    assert [warning["code"] for warning in trace.warnings] == ["tokens_ambiguous"]
    assert "doubt" not in trace.usage


def test_a_reader_states_a_rule_of_its_own():
    fields = {"input_tokens": "in", "output_tokens": "out", "cache_read_input_tokens": "cached"}
    recorded = {"in": 10, "out": 1, "cached": 5}
    outside = TokenTable(TokenRule("the page of the program", cache="outside"), **fields)
    assert outside.read(recorded, "usage")["input_tokens"] == 15
    assert TokenTable(TokenRule("the page of the program"), **fields).read(recorded, "usage")["input_tokens"] == 10
