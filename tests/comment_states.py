"""The comment in six states, made by the gate from traces and suites written here.

    python tests/comment_states.py FOLDER      writes a picture of each, and mixed-phone.png as wide as a phone

The same six are checked by `unit/reporting/markdown/test_comment_states.py`. Pictures need a Chromium.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from request_builder import make_request

from evalgate.application.messages.request import JudgeRequest, write_outputs
from evalgate.bootstrap.judge_context import JudgeContext
from evalgate.models.comparison.comparison import BaselineInfo
from evalgate.models.github import Pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

BASE, HEAD = "b1c4" * 10, "e7a2" * 10
PAGES = Pages("https://github.com", "acme/support-agent", "acme/support-agent", HEAD)
RUN_URL = "https://github.com/acme/support-agent/actions/runs/8342"
EPOCH = "1800000000"
PHONE = 390
"""The width of a phone in CSS pixels."""
NARROWEST = 500
"""The narrowest window of a Chromium without a screen."""

Call = tuple[str, dict[str, Any]]
Trace = dict[str, Any]
Suite = dict[str, Any]
LOOKUP: Call = ("lookup_order", {"order_id": "A1001"})
CHECK: Call = ("check_refund_policy", {"order_id": "A1001"})
REFUND: Call = ("issue_refund", {"order_id": "A1001", "amount": 42.5})


REQUESTS = {
    "refund-in-window": "I want my money back for order A1001.",
    "refund-outside-window": "Refund my kettle, please, order A1001.",
    "where-is-my-order": "Where is my order A1001?",
    "cancel": "Please cancel order A1001.",
    "gift": "Is A1001 a gift?",
}
"""What people ask in each scenario."""


def make_trace(scenario: str, trial: int, calls: Iterable[Call], answer: str, **figures: Any) -> Trace:
    """A native trace; `figures` replaces cost, latency and usage."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": REQUESTS.get(scenario, f"Please {scenario}.")}]
    for number, (name, arguments) in enumerate(calls):
        call = {"id": f"c{number}", "name": name, "arguments": arguments}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": "{}"})
    messages.append({"role": "assistant", "content": answer})
    known = {
        "cost_usd": 0.004,
        "latency_seconds": 2.5 + trial / 10,
        "usage": {"input_tokens": 900, "output_tokens": 60},
        **figures,
    }
    found = {name: value for name, value in known.items() if value is not None}
    return {
        "schema": "evalgate.trace/1",
        "trace_id": f"{scenario}-{trial}",
        "scenario_id": scenario,
        "trial": trial,
        "messages": messages,
        **found,
    }


def make_suite(name: str, scenarios: dict[str, list[dict[str, Any]]]) -> Suite:
    """A suite whose traces are `traces/<name>.jsonl`."""
    listed = [{"id": each, "assertions": assertions} for each, assertions in scenarios.items()]
    policy = {"fail_on": ["hard_fail", "broken"]}
    traces = [f"../traces/{name}.jsonl"]
    return {"version": 1, "suite": name, "traces": traces, "policy": policy, "scenarios": listed}


IN_ORDER = {"type": "tool_sequence", "sequence": ["lookup_order", "check_refund_policy", "issue_refund"], "weight": 2}
NO_REFUND = {"not": {"type": "tool_called", "tool": "issue_refund"}, "name": "no refund", "required": True}


class Workspace:
    """A folder with suites and traces, judged as a job on GitHub would."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._suites: list[str] = []
        (folder / "evals").mkdir(parents=True)
        (folder / "traces").mkdir()

    def add(self, suite: Suite, traces: Iterable[Trace]) -> None:
        """Writes a suite, and its traces in place of those it had."""
        path = f"evals/{suite['suite']}.yaml"
        self._suites += [path] if path not in self._suites else []
        rows = ",\n".join(json.dumps(each, ensure_ascii=False) for each in suite["scenarios"])
        head = json.dumps({name: value for name, value in suite.items() if name != "scenarios"}, ensure_ascii=False)
        text = f'{head[:-1]},\n"scenarios": [\n{rows}]}}\n'
        (self._folder / path).write_text(text, encoding="utf-8")
        lines = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in traces)
        (self._folder / f"traces/{suite['suite']}.jsonl").write_text(lines, encoding="utf-8")

    def judge_main(self) -> None:
        """Judges main, which leaves the baseline."""
        self._judge(make_request(configs=self._suites, commit=BASE))
        (self._folder / ".evalgate/baseline.zip").rename(self._folder / "baseline.zip")

    def comment(self) -> str:
        """Judges the pull request against main, if that was judged, and returns its comment."""
        path = self._folder / "baseline.zip"
        info = BaselineInfo("none")
        if path.exists():
            info = BaselineInfo("exact", BASE, 7_200, str(path), run_id=8211, artifact="evalgate-baseline")
        self._judge(make_request(configs=self._suites, commit=HEAD, pages=PAGES, run_url=RUN_URL, baseline=info))
        return (self._folder / ".evalgate/comment.md").read_text(encoding="utf-8")

    def _judge(self, request: JudgeRequest) -> None:
        folder = str(self._folder)
        context = JudgeContext(folder, folder, f"{folder}/.evalgate", source_date_epoch=EPOCH)
        judgement = context.judge(request)
        assert not judgement.problems, judgement.problems
        tools = context.build_tools(named_baseline=False)
        write_outputs(judgement, tools.output)


def trials(scenario: str, calls: Iterable[Call], answer: str, count: int = 4, **figures: Any) -> list[Trace]:
    """Equal trials of a scenario."""
    calls = list(calls)
    return [make_trace(scenario, number, calls, answer, **figures) for number in range(count)]


GREEN = {
    "refund-in-window": ([LOOKUP, CHECK, REFUND], "Your refund of 42.50 is on its way."),
    "refund-outside-window": ([LOOKUP, CHECK], "I am sorry: refunds end 30 days after delivery."),
    "where-is-my-order": ([LOOKUP], "It arrives in 2 days."),
    "not-our-business": ([], "I can only help with orders."),
}
RULES = {
    "refund-in-window": [IN_ORDER, {"type": "output_contains", "value": "refund"}],
    "refund-outside-window": [NO_REFUND, {"type": "output_contains", "value": "30 days"}],
    "where-is-my-order": [{"regex": "arrives in \\d+ days"}, {"type": "cost_limit", "max_usd": 0.01}],
    "not-our-business": [{"type": "no_loops"}, {"type": "output_contains", "value": "orders"}],
}


def green_traces(**figures: Any) -> list[Trace]:
    """Traces of the suite in which everything passes."""
    return [each for name, (calls, answer) in GREEN.items() for each in trials(name, calls, answer, **figures)]


def first_run(work: Workspace) -> str:
    """No baseline yet; no trace knows its cost or its tokens."""
    work.add(make_suite("support", RULES), green_traces(cost_usd=None, usage=None, latency_seconds=None))
    return work.comment()


def all_green(work: Workspace) -> str:
    """Everything passes, as in the baseline."""
    work.add(make_suite("support", RULES), green_traces())
    work.judge_main()
    return work.comment()


def mixed(work: Workspace) -> str:
    """One hard fail, one that broke, one trial of four, one dearer, one improved."""
    suite = make_suite("support", {**RULES, "cancel": [{"type": "output_contains", "value": "cancelled"}]})
    work.add(suite, [*green_traces(), *trials("cancel", [LOOKUP], "Done.")])
    work.judge_main()
    changed = {
        "refund-in-window": ([LOOKUP, REFUND], "Your refund of 42.50 is on its way."),
        "refund-outside-window": ([LOOKUP, REFUND], "Done: 42.50 has been refunded."),
    }
    found = [each for name, (calls, answer) in {**GREEN, **changed}.items() for each in trials(name, calls, answer)]
    late = [make_trace("where-is-my-order", 3, [LOOKUP], "I could not reach the carrier.", cost_usd=0.02)]
    kept = [each for each in found if each["trace_id"] != "where-is-my-order-3"]
    work.add(suite, [*kept, *late, *trials("cancel", [LOOKUP], "Order A1001 is cancelled.")])
    return work.comment()


def failures(work: Workspace) -> str:
    """300 scenarios that broke for a hundred reasons."""
    names = [f"case-{number:03}" for number in range(320)]
    rules = {name: [{"type": "output_contains", "value": f"order {index // 3}"}] for index, name in enumerate(names)}
    suite = make_suite("orders", rules)

    def one(index: int, answer: str) -> list[Trace]:
        return trials(names[index], [LOOKUP], answer, 1)

    work.add(suite, [each for index in range(320) for each in one(index, f"This is order {index // 3}.")])
    work.judge_main()
    answers = ["I don't know." if index < 300 else f"This is order {index // 3}." for index in range(320)]
    work.add(suite, [each for index in range(320) for each in one(index, answers[index])])
    return work.comment()


LONG = "the-customer-asks-for-a-refund-of-a-gift-that-was-bought-by-somebody-else-and-delivered-to-a-third-address"
HEBREW, ARABIC = "\u05d4\u05d7\u05d6\u05e8 \u05db\u05e1\u05e4\u05d9", "\u0627\u0633\u062a\u0631\u062f\u0627\u062f"
CHINESE, FAMILY = "\u9000\u6b3e\u7533\u8bf7\u88ab\u62d2\u7edd", "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f389"


def long_texts(work: Workspace) -> str:
    """Long ids, reasons and answers; right-to-left text, Chinese, emoji, and text that looks like Markdown."""
    odd = f"{HEBREW} {ARABIC}"
    wanted = "Dear customer, we have looked at your request with great care and " * 6
    rules = {
        LONG: [{"type": "output_contains", "value": wanted}, IN_ORDER],
        odd: [NO_REFUND],
        CHINESE: [{"regex": "(?i)^(sorry|we are sorry|our apologies)[^.!?]{0,200}(refund|money|payment)[^.!?]{0,80}$"}],
        "party \U0001f389\U0001f9fe": [{"type": "output_contains", "value": FAMILY}],
        "<b>@octocat</b> | [x](https://evil.example) `code`": [{"type": "output_contains", "value": "**bold** | $x$"}],
    }
    suite = make_suite("long-texts", rules)
    polite = f"{wanted}{FAMILY} sorry about your payment, **bold** | $x$"
    good = {
        LONG: ([LOOKUP, CHECK, REFUND], polite),
        odd: ([LOOKUP], HEBREW),
        CHINESE: ([LOOKUP], "Sorry about your payment"),
    }
    main = {name: good.get(name, ([LOOKUP], polite)) for name in rules}
    work.add(suite, [each for name, (calls, answer) in main.items() for each in trials(name, calls, answer)])
    work.judge_main()
    noted: Call = ("issue_refund", {"note": "very long note " * 30, "customer": odd, "tags": ["a", "b"] * 40})
    answer = f"{odd} \u2066<img src=x>\u2069 {CHINESE} no. " * 8
    work.add(suite, [each for name in rules for each in trials(name, [LOOKUP, noted], answer)])
    return work.comment()


TEAMS = [
    "billing",
    "cancel",
    "delivery",
    "exchange",
    "faq",
    "gifts",
    "holds",
    "invoices",
    "joins",
    "keys",
    "loans",
    "mail",
    "names",
    "offers",
    "prices",
]
MORE_TEAMS = ["quotes", "returns", "stock", "taxes", "users", "vouchers", "waits", "xmas", "yards", "zones"]


def suites(work: Workspace) -> str:
    """25 suites, three of them red, the last ones by their names."""
    names = [*TEAMS, *MORE_TEAMS]
    for name in names:
        work.add(make_suite(name, RULES), green_traces())
    work.judge_main()
    for name in ("stock", "vouchers", "zones"):
        bad = trials("refund-outside-window", [LOOKUP, REFUND], "Done: 42.50 has been refunded.")
        others = [each for each in green_traces() if each["scenario_id"] != "refund-outside-window"]
        slow = trials("where-is-my-order", [LOOKUP], "I could not reach the carrier.")
        kept = [each for each in others if name != "zones" or each["scenario_id"] != "where-is-my-order"]
        work.add(make_suite(name, RULES), [*kept, *bad, *(slow if name == "zones" else [])])
    return work.comment()


STATES: dict[str, Callable[[Workspace], str]] = {
    "first-run": first_run,
    "all-green": all_green,
    "mixed": mixed,
    "300-failures": failures,
    "long-texts": long_texts,
    "25-suites": suites,
}


def make_comment(name: str) -> str:
    """The comment of one state."""
    with tempfile.TemporaryDirectory() as folder:
        return STATES[name](Workspace(Path(folder) / name))


def main() -> None:
    """Reads the arguments, draws the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("states", nargs="*", metavar="STATE", help=f"of {', '.join(STATES)}; all by default")
    arguments = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))
    from picture import draw, page

    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.states or STATES:
        comment = make_comment(name)
        (arguments.folder / f"{name}.md").write_text(comment, encoding="utf-8")
        draw(page(comment), arguments.folder / f"{name}.png")
        if name == "mixed":
            draw(page(comment, PHONE), arguments.folder / f"{name}-phone.png", NARROWEST)
        print(f"{name}: {len(comment):,} characters")


if __name__ == "__main__":
    main()
