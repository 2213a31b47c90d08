import pytest
from fakes.core import SuiteTexts

from evalgate.errors import SuiteError
from evalgate.measures.prices import Rates
from evalgate.suite.models import merge_prices
from evalgate.suite.suite_file import PriceEntry

SUITE = "suite: s\nscenarios: [{id: a, assertions: [{contains: x}]}]\nprices:\n"


def problems(prices):
    with pytest.raises(SuiteError) as caught:
        SuiteTexts(SUITE + prices).load([])
    return [str(problem) for problem in caught.value.problems]


def entry(**given):
    return PriceEntry(**{"input": 1.0, "output": 2.0, **given})


def test_cached_tokens_have_the_input_price_by_default():
    prices = merge_prices({"a": entry(), "b": entry(cache_read=0.1, cache_write=0.0)})
    assert prices.find("a") == (True, Rates(1.0, 2.0, 1.0, 1.0))
    assert prices.find("b") == (True, Rates(1.0, 2.0, 0.1, 0.0))


def test_the_first_match_is_used_and_the_suite_overrides_the_project():
    prices = merge_prices({"ft:*": entry(input=3.0)}, {"ft:x": entry(input=9.0), "y": None})
    assert prices.find("ft:x")[1].input == 3.0
    assert prices.find("y") == (True, None)
    assert prices.find("z") == (False, None)


def test_the_label_changes_with_the_prices():
    one, other = merge_prices({"a": entry()}), merge_prices({"a": entry(input=1.5)})
    assert one.label != other.label
    assert merge_prices({"a": entry()}).label == one.label
    assert merge_prices({}).label is None


def test_errors_are_reported_with_their_location():
    assert problems("  gpt-4o: {input: 1, outputs: 2}\n") == [
        "suite0.yaml:4:3: `output` is missing",
        'suite0.yaml:4:22: unknown key "outputs" (did you mean `output`?)',
    ]
    assert problems("  Qwen: {input: -1, output: cheap}\n") == [
        "suite0.yaml:4:10: `input` must be at least 0, not number -1",
        'suite0.yaml:4:21: `output` must be a number, not text "cheap"',
    ]
    assert "must be a mapping" in problems("  gpt-4o: 3\n")[0]
