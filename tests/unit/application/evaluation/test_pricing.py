"""Recorded cost, computed cost, unknown cost, and two runs priced by the same rules."""

import json

import pytest
from builders import make_trace
from fakes.core import MemoryBaselines, make_tools
from request_builder import make_request

from evalgate.application.evaluation.pricing import MAX_ROWS, Pricer
from evalgate.application.judge.judge import judge
from evalgate.measures.prices import Rates
from evalgate.models.comparison.comparison import BaselineInfo
from evalgate.models.trace.trace import unknown_usage
from evalgate.reporting.results.load_results import load_results
from evalgate.reporting.results.results_json import dump_results
from evalgate.suite.models import SuitePrices

LIMITED = "suite: s\ntraces: [t]\nscenarios: [{id: s1, assertions: [{type: cost_limit, max_usd: 5, required: true}]}]\n"
PRICED = LIMITED + "prices: {mine: {input: 1, output: 4}}\n"
GROWTH = "policy: {fail_on: [regression], regression: {cost: {max_increase: 0.1}}}\n"


class Table:
    """Every model that begins with `gpt` costs 2 in and 8 out, times `factor`; long requests twice that."""

    def __init__(self, factor=1.0):
        self.factor = factor

    @property
    def label(self):
        return f"table {self.factor:g}"

    def rates(self, model, provider, request_tokens):
        if not model.startswith("gpt"):
            return None
        factor = self.factor * (2 if request_tokens > 200_000 else 1)
        return Rates(2 * factor, 8 * factor, 0.5 * factor, 2 * factor)


def calls(*given):
    return [
        {
            "index": index, "turn": 1, "step": index + 1, "provider": None, "model": model, "response_id": None,
            "usage": {**unknown_usage(), "input_tokens": tokens, "output_tokens": 0, "total_tokens": tokens},
            "cost_usd": cost, "duration_ms": None, "finish_reason": None,
        }
        for index, (model, tokens, cost) in enumerate(given)
    ]  # fmt: skip


def metered(model="gpt-x", tokens_in=1_000_000, tokens_out=0, **given):
    return make_trace(model=model, input_tokens=tokens_in, output_tokens=tokens_out, **given)


def priced(trace, suite_prices=(), table=None):
    Pricer(SuitePrices(list(suite_prices)), table).price(trace)
    return trace.cost


def run(suite, *traces, table=None, request=None, **given):
    from msgspec.structs import replace

    tools = replace(make_tools(suite, traces=traces, **given), prices=table)
    return judge(request or make_request(), tools).results


def against(base, suite, *traces, table=None):
    request = make_request(baseline=BaselineInfo("given", path="base"), baseline_required=True)
    return run(suite, *traces, table=table, request=request, baselines=MemoryBaselines(base=base))


def reason(results):
    return results["suites"][0]["scenarios"][0]["trials"][0].assertions[0].reason


def increases(results):
    return results["suites"][0]["scenarios"][0]["change"]["increases"]


def test_a_recorded_cost_is_never_changed():
    assert priced(metered(cost_usd=0.7), table=Table()) == {"usd": 0.7, "source": "recorded"}


def test_a_cost_that_was_not_recorded_is_tokens_times_prices():
    cost = priced(metered(tokens_out=500_000), table=Table())
    assert cost == {"usd": 6.0, "source": "computed", "price_table": "table 1"}


def test_prices_of_the_suite_override_the_table_and_null_leaves_a_model_unpriced():
    suite_prices = [("gpt-x", Rates(1.0, 1.0, 1.0, 1.0)), ("gpt-secret*", None)]
    assert priced(metered(), suite_prices, Table())["usd"] == 1.0
    assert priced(metered("gpt-secret-2"), suite_prices, Table())["usd"] is None
    assert priced(metered("gpt-y"), suite_prices, Table())["usd"] == 2.0


def test_unknown_models_or_unknown_tokens_have_an_unknown_cost():
    assert priced(metered("llama"), table=Table())["source"] == "unknown"
    assert priced(make_trace(model="gpt-x"), table=Table()) == {"usd": None, "source": "unknown"}
    assert priced(metered(None), table=Table()) == {"usd": None, "source": "unknown"}


def test_calls_of_several_models_cost_the_sum_of_theirs_and_a_recorded_one_what_was_recorded():
    trace = metered(llm_calls=calls(("gpt-x", 400_000, None), ("mine", 500_000, None), ("gpt-x", 100_000, 9.0)))
    cost = priced(trace, [("mine", Rates(10.0, 0.0, 10.0, 10.0))], Table())
    assert cost["usd"] == pytest.approx(0.8 * 2 + 5 + 9)  # a request of 400,000 costs twice


def test_a_call_whose_model_has_no_price_makes_the_cost_partial():
    trace = metered(llm_calls=calls(("gpt-x", 100_000, None), ("llama", 900_000, None)))
    cost = priced(trace, table=Table())
    assert (cost["usd"], cost["source"], cost["known_usd"]) == (None, "partial", 0.2)
    assert (
        cost["note"] == "no price is known for llama; set `prices` in evalgate.yaml or a suite; the rest costs 0.2 USD"
    )


def test_many_short_requests_are_not_priced_as_one_long_one():
    trace = metered(llm_calls=calls(*[("gpt-x", 100_000, None)] * 10))
    assert priced(trace, table=Table())["usd"] == 2.0
    assert len(trace.pricing["usage"]) == 1


def test_calls_that_do_not_add_up_to_the_run_are_not_used_for_its_cost():
    trace = metered(llm_calls=calls(("gpt-x", 10, None)))
    assert priced(trace, table=Table())["usd"] == 2.0
    two = metered(llm_calls=calls(("gpt-x", 10, None), ("gpt-y", 10, None)))
    assert priced(two, table=Table())["usd"] is None


@pytest.mark.parametrize("how", ["a call without tokens", "a call that has no record"])
def test_calls_that_are_only_a_part_of_the_run_are_not_priced(how):
    trace = make_trace(model="gpt-x", llm_calls=calls(("gpt-x", 100_000, None), ("gpt-x", 100_000, None)))
    assert priced(trace, table=Table())["usd"] == 0.4
    trace = make_trace(model="gpt-x", llm_calls=calls(("gpt-x", 100_000, None), ("gpt-x", 100_000, None)))
    if how == "a call without tokens":
        trace.llm_calls[0]["usage"] = None
    else:
        trace.warnings.append({"code": "tokens_incomplete", "message": "1 of 3", "where": "usage"})
    assert priced(trace, table=Table())["usd"] is None


def test_without_prices_the_message_of_a_cost_limit_is_actionable():
    results = run(LIMITED, metered())
    assert reason(results) == (
        "cost unknown: tokens are recorded, but prices are missing: install evalgate-action[prices] (without internet: docs/enterprise.md) or set `prices`"
    )
    assert results["warnings"] == []


def test_models_without_a_price_are_reported_once_per_run():
    results = run(LIMITED, metered("llama", trial=0), metered("llama", trial=1), metered("phi"), table=Table())
    warnings = [each for each in results["warnings"] if each["code"] == "unknown_price"]
    assert len(warnings) == 1
    assert "`llama`, `phi`" in warnings[0]["message"]


def test_prices_of_a_suite_are_used_in_its_checks_and_its_results():
    results = run(PRICED, metered("mine", tokens_out=500_000))
    trial = results["suites"][0]["scenarios"][0]["trials"][0]
    assert (trial.cost_usd, trial.status) == (3.0, "passed")
    assert trial.pricing["table"].startswith("prices ")
    assert results["summary"]["cost_computed"] == 1
    assert load_results(dump_results(results)) == results


def test_a_report_marks_a_computed_cost():
    comment = judge(make_request(), make_tools(PRICED, traces=[metered("mine")])).files["comment.md"].decode()
    assert "1.00 USD (computed)" in comment
    recorded = judge(make_request(), make_tools(PRICED, traces=[metered("mine", cost_usd=1.0)])).files
    assert "computed" not in recorded["comment.md"].decode()


def test_a_baseline_computed_with_other_prices_is_computed_again():
    base = run(LIMITED, metered(), table=Table(1.0))
    now = against(base, LIMITED + GROWTH, metered(), table=Table(2.0))
    assert increases(now) == []
    assert now["baseline"]["summary"]["cost_usd"] == now["summary"]["cost_usd"] == 4.0
    expensive = against(base, LIMITED + GROWTH, metered(tokens_in=2_000_000), table=Table(2.0))
    assert increases(expensive) == ["cost +100% (limit +10%)"]


def test_a_price_added_later_is_used_for_the_baseline_too():
    base = run(LIMITED, metered("mine"))
    now = against(base, PRICED + GROWTH, metered("mine", tokens_in=1_500_000))
    assert increases(now) == ["cost +50% (limit +10%)"]


@pytest.mark.parametrize("recorded_first", [True, False])
@pytest.mark.parametrize("policy", ["", GROWTH])
def test_a_recorded_cost_is_not_compared_with_a_computed_one_and_exceeds_a_limit(recorded_first, policy):
    recorded, computed = metered(cost_usd=0.1), metered()
    first, second = (recorded, computed) if recorded_first else (computed, recorded)
    base = run(LIMITED, first, table=Table())
    now = against(base, LIMITED + policy, second, table=Table())
    reason = ["cost recorded on one side and computed on the other (limit +10%)"]
    assert (increases(now), now["verdict"]) == ((reason, "fail") if policy else ([], "pass"))
    assert now["baseline"]["summary"]["cost_usd"] is None
    assert [each["code"] for each in now["warnings"]] == ["cost_not_compared"]


def trials(*costs):
    """Traces with recorded costs, or with ones that are computed from so many million tokens, as `2 MTok`."""
    return [
        metered(tokens_in=int(cost.split()[0]) * 1_000_000, trial=number, trace_id=f"t{number}")
        if isinstance(cost, str)
        else metered(cost_usd=cost, trial=number, trace_id=f"t{number}")
        for number, cost in enumerate(costs)
    ]


MIXED = {
    "some are computed now": ([1.0, 1.0], [5.0, "1 MTok"], "cost +400% (limit +10%)", (1, 2)),
    "some are computed now, the others cost the same": ([1.0, 1.0], [1.0, "9 MTok"], None, (1, 2)),
    "all but one are computed now": ([1.0, 1.0, 1.0], [1.5, "1 MTok", "1 MTok"], "cost +50% (limit +10%)", (2, 3)),
    "some were computed": ([1.0, "1 MTok"], [5.0, 5.0], "cost +400% (limit +10%)", None),
    "some were computed, the others cost the same": ([1.0, "1 MTok"], [1.0, 1.0], None, None),
    "some are recorded now": (["1 MTok", "1 MTok"], ["3 MTok", 0.001], "cost +200% (limit +10%)", None),
    "some were recorded": (["1 MTok", 0.001], ["3 MTok", "3 MTok"], "cost +200% (limit +10%)", None),
    "both in both": ([1.0, "1 MTok"], [1.0, "1 MTok"], None, None),
    "both in both, and the computed one grew": ([1.0, "1 MTok"], [0.1, "2 MTok"], "cost +100% (limit +10%)", None),
    "fewer are recorded": ([1.0, 1.0, "1 MTok"], [2.0, "1 MTok", "1 MTok"], "cost +100% (limit +10%)", (2, 3)),
}


@pytest.mark.parametrize("name", MIXED)
def test_costs_of_which_some_are_recorded_are_compared_with_those_obtained_alike(name):
    before, after, increase, lost = MIXED[name]
    base = run(LIMITED, *trials(*before), table=Table())
    now = against(base, LIMITED + GROWTH, *trials(*after), table=Table())
    change = now["suites"][0]["scenarios"][0]["change"]
    assert change["increases"] == ([increase] if increase else [])
    found = [(each["missing"], each["trials"]) for each in change.get("lost", ()) if each["figure"] == "cost"]
    assert found == ([lost] if lost else [])
    is_alike = len({*map(type, before)}) == len({*map(type, after)})
    assert ("cost_not_compared" in {each["code"] for each in now["warnings"]}) is not is_alike
    assert now["summary"]["cost_usd"] is not None


def test_without_the_prices_of_the_baseline_its_cost_is_unknown():
    base = run(LIMITED, metered(), table=Table())
    now = against(base, LIMITED + GROWTH, metered(tokens_in=9_000_000))
    assert increases(now) == []
    assert now["baseline"]["summary"]["cost_usd"] is None


def test_usage_of_very_many_models_is_not_kept_and_can_not_be_priced_again():
    many = [(f"gpt-{number}", 10_000, None) for number in range(MAX_ROWS + 1)]
    trace = metered(tokens_in=10_000 * len(many), llm_calls=calls(*many))
    assert priced(trace, table=Table())["usd"] is not None
    assert trace.pricing["usage"] is None
    assert Pricer(SuitePrices(), Table(2)).reprice(trace.pricing)["usd"] is None


@pytest.mark.parametrize(
    "damage", [5, {}, {"usage": 3}, {"missing_models": [1]}, {"known_usd": -1}, {"usage": [{"model": 1}]}]
)
def test_damaged_price_data_is_refused(damage):
    document = json.loads(dump_results(run(PRICED, metered("mine"))))
    trial = document["suites"][0]["scenarios"][0]["trials"][0]
    whole = trial["pricing"]
    trial["pricing"] = {**whole, **damage} if isinstance(damage, dict) and damage else damage
    with pytest.raises(Exception, match="pricing"):
        load_results(json.dumps(document).encode())
