"""Prices of the real package, because its names and prices may change."""

import pytest

from evalgate.adapters.price_list import find_price_list
from evalgate.measures.prices import Rates


@pytest.fixture(scope="module")
def prices():
    return find_price_list()


def test_the_label_names_package_and_version(prices):
    assert prices.label.startswith("genai-prices 0.2.")


@pytest.mark.parametrize(
    ("model", "provider", "rates"),
    [
        ("gpt-4o", "openai", Rates(2.5, 10.0, 1.25, 2.5)),
        ("gpt-4o", None, Rates(2.5, 10.0, 1.25, 2.5)),
        ("openai/gpt-4o", None, Rates(2.5, 10.0, 1.25, 2.5)),
        ("azure/gpt-4o", None, Rates(2.5, 10.0, 1.25, 2.5)),
        ("gpt-4o", "azure.ai.openai", Rates(2.5, 10.0, 1.25, 2.5)),
        ("gpt-4o", "a-private-proxy", Rates(2.5, 10.0, 1.25, 2.5)),
        ("claude-sonnet-4-5-20250929", "anthropic", Rates(3.0, 15.0, 0.3, 3.75)),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "aws.bedrock", Rates(3.3, 16.5, 0.33, 4.125)),
        ("us.anthropic.claude-sonnet-4-6", None, Rates(3.3, 16.5, 0.33, 4.125)),
        ("grok-4", "x_ai", Rates(3.0, 15.0, 0.75, 3.0)),
    ],
)
def test_a_listed_model_has_its_price_however_it_is_named(prices, model, provider, rates):
    assert prices.rates(model, provider, 1) == rates


@pytest.mark.parametrize(
    ("model", "provider"),
    [("ft:gpt-4.1:acme:x", "openai"), ("llama3.2", None), ("gpt-4o", "ollama"), ("ollama/gpt-4o", None),
     ("", None), ("o" * 10_000, None), ("gpt-4o", "o" * 10_000), ("/", None), ("gpt-4o/", "/")],
)  # fmt: skip
def test_a_model_that_is_not_listed_has_no_price(prices, model, provider):
    assert prices.rates(model, provider, 1) is None


def test_a_long_request_has_the_price_of_long_requests(prices):
    short, long = (prices.rates("gemini-2.5-pro", "google", size) for size in (1, 200_001))
    assert (short.input, short.output) == (1.25, 10.0)
    assert (long.input, long.output) == (2.5, 15.0)
