"""The story of one repository: 39 events on the stand-in for GitHub, as its people would cause them.

Each event changes what main or a pull request holds, and runs the Action as the runner would.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from comment_states import CHECK, GREEN, LOOKUP, REFUND, RULES, make_suite, make_trace, trials
from fakes.agent import FORK, current, next_run, on_main, own_comments, without_origin

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fakes.hub import FakeHub
    from fakes.runner import FakeRunner

OTHER_ORDER = ("lookup_order", {"order_id": "B2002"})
GIFT = [{"type": "output_contains", "value": "gift"}]
APPROVALS = """\
approvals:
  - {suite: support, scenario: gift, reason: the gift service is down, who: ann, until: 2999-01-01}
"""
RELEASE = "release/1"


@dataclass
class Branch:
    """What a branch holds: the rules, and the traces that its agent leaves."""

    rules: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: copy.deepcopy(RULES))
    traces: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    approvals: str = ""
    policy: dict[str, Any] = field(default_factory=dict)
    name: str = "support"
    broken_line: str = ""

    def record(self, scenario: str, calls: Any, answer: str, **figures: Any) -> None:
        """The agent is recorded again in a scenario."""
        self.traces[scenario] = trials(scenario, calls, answer, **figures)

    def record_all(self, **figures: Any) -> None:
        """The agent is recorded again as it is."""
        for found in self.traces.values():
            for trace in found:
                trace.update(figures)

    def write(self, folder: Path) -> None:
        """Writes suite and traces."""
        suite = {**make_suite(self.name, self.rules), **self.policy}
        text = json.dumps(suite, indent=1) if not self.broken_line else self.broken_line
        (folder / "evals/support.yaml").write_text(text)
        lines = [json.dumps(each) + "\n" for found in self.traces.values() for each in found]
        path = folder / f"traces/{self.name}.jsonl"
        path.write_text("".join(lines))
        if not lines:
            path.unlink()


@dataclass
class Story:
    """The repository; `shown` is what the last event showed: the comment's text, else the job's summary."""

    hub: FakeHub
    runner: FakeRunner
    folder: Path
    main: Branch = field(default_factory=Branch)
    pull: Branch = field(default_factory=Branch)
    shown: str = ""
    moment: int = 0
    commits: int = 0

    def __post_init__(self) -> None:
        for path in self.folder.glob("traces/*"):
            path.unlink()
        for name, (calls, answer) in GREEN.items():
            self.main.record(name, calls, answer)

    def begin(self) -> Branch:
        """A new pull request: main as it is, recorded again by a later run."""
        self.hub.state["comments"].clear()
        self.pull = copy.deepcopy(self.main)
        self.moment += 1
        self.pull.record_all(metadata={"recorded": self.moment})
        pull = self.hub.state["pulls"]["7"]
        pull["base"]["sha"] = self.hub.state["refs"][f"refs/heads/{pull['base']['ref']}"]
        return self.pull

    def commit(self, *parents: str) -> str:
        """A new commit."""
        self.commits += 1
        return self.hub.commit(f"{self.commits:07x}".ljust(40, "c"), *parents)

    def push_to_pull(self, **options: Any) -> None:
        """A push to the pull request: the gate judges it."""
        next_run(self.hub, "success")
        pull = self.hub.state["pulls"]["7"]
        pull["head"]["sha"] = self.commit(pull["base"]["sha"])
        pull["merge_commit_sha"] = self.commit(pull["base"]["sha"], pull["head"]["sha"])
        current(self.hub).update(head_sha=pull["head"]["sha"])
        self.pull.write(self.folder)
        step = self.runner.act(**options)
        comments = own_comments(self.hub)
        self.shown = without_origin(comments[-1]) if comments else step.summary

    def push_to_main(self, branch: str = "main", **options: Any) -> None:
        """Merges the pull request; the gate judges main, which leaves a baseline."""
        next_run(self.hub, "success")
        self.main = copy.deepcopy(self.pull)
        refs, ref = self.hub.state["refs"], f"refs/heads/{branch}"
        refs[ref] = self.commit(refs[ref], self.hub.state["pulls"]["7"]["head"]["sha"])
        on_main(self.hub)
        current(self.hub).update(head_branch=branch, head_sha=refs[ref])
        self.main.write(self.folder)
        if self.main.approvals:
            self.hub.write("evalgate-approvals.yaml", self.main.approvals.encode(), refs[ref])
        self.shown = self.runner.act("push", **options).summary


def brings_evalgate(story: Story) -> None:
    story.begin()
    story.push_to_pull()


def merges(story: Story) -> None:
    story.push_to_main()


def changes_a_text_only(story: Story) -> None:
    story.begin()
    story.pull = copy.deepcopy(story.main)
    story.push_to_pull()


def records_again(story: Story) -> None:
    story.begin()
    story.push_to_pull()


def refunds_too_much(story: Story) -> None:
    story.begin().record("refund-outside-window", [LOOKUP, REFUND], "Done: 42.50 has been refunded.")
    story.push_to_pull()


def takes_it_back(story: Story) -> None:
    story.pull.record("refund-outside-window", [LOOKUP, CHECK], "I am sorry: refunds end 30 days after delivery.")
    story.pull.record_all(metadata={"recorded": 99})
    story.push_to_pull()


def looks_up_another_order(story: Story) -> None:
    story.begin().record("refund-in-window", [LOOKUP, CHECK, ("issue_refund", {"order_id": "B2002", "amount": 42.5})],
                         "Your refund of 42.50 is on its way.")  # fmt: skip
    story.push_to_pull()


def adds_a_scenario(story: Story) -> None:
    pull = story.begin()
    pull.rules["cancel"] = [{"type": "output_contains", "value": "cancelled"}]
    pull.record("cancel", [LOOKUP], "Order A1001 is cancelled.")
    story.push_to_pull()


def adds_a_scenario_that_fails(story: Story) -> None:
    pull = story.begin()
    pull.rules["gift"] = [{**GIFT[0], "required": True}]
    pull.record("gift", [LOOKUP], "It is a gift.")
    pull.traces["gift"][3] = make_trace("gift", 3, [LOOKUP], "I do not know.")
    story.push_to_pull()


def proposes_an_approval(story: Story) -> None:
    story.begin().approvals = APPROVALS
    (story.folder / "evalgate-approvals.yaml").write_text(APPROVALS)
    story.push_to_pull()


def makes_a_known_failure_worse(story: Story) -> None:
    story.begin().record("gift", [LOOKUP], "I do not know.")
    story.push_to_pull()


def fails_another_check(story: Story) -> None:
    pull = story.begin()
    pull.rules["gift"] = [*pull.rules["gift"], {"type": "no_loops", "required": True, "max_repeats": 1}]
    pull.traces["gift"] = [make_trace("gift", n, [LOOKUP] * 4, "I do not know.") for n in range(4)]
    story.push_to_pull()


def fixes_the_known_failure(story: Story) -> None:
    story.begin().record("gift", [LOOKUP], "It is a gift.")
    story.push_to_pull()


def drops_a_check(story: Story) -> None:
    pull = story.begin()
    pull.rules["refund-in-window"] = pull.rules["refund-in-window"][:1]
    story.push_to_pull()


def removes_a_scenario(story: Story) -> None:
    pull = story.begin()
    del pull.rules["cancel"], pull.traces["cancel"]
    story.push_to_pull()


def costs_more(story: Story) -> None:
    story.begin().record_all(cost_usd=0.009, usage={"input_tokens": 2_100, "output_tokens": 60})
    story.push_to_pull()


def records_no_cost(story: Story) -> None:
    for found in story.begin().traces.values():
        for trace in found:
            del trace["cost_usd"]
    story.push_to_pull()


def fails_once_in_four(story: Story) -> None:
    story.begin().traces["where-is-my-order"][2] = make_trace("where-is-my-order", 2, [LOOKUP], "I do not know.")
    story.push_to_pull()


def adds_a_quarantine(story: Story) -> None:
    story.begin().policy = {
        "quarantine": [{"scenario": "where-is-my-order", "reason": "carrier", "who": "ann", "until": in_a_week()}]
    }
    story.push_to_main()


def in_a_week() -> str:
    from datetime import UTC, datetime, timedelta

    return f"{datetime.now(UTC) + timedelta(days=7):%Y-%m-%d}"


def breaks_what_is_in_quarantine(story: Story) -> None:
    story.begin().record("where-is-my-order", [LOOKUP], "I could not reach the carrier.")
    story.push_to_pull()


def has_an_invalid_suite(story: Story) -> None:
    story.begin().broken_line = "version: 1\nsuite: support\nbogus: 1\nscenarios: []\n"
    story.push_to_pull()


def repairs_it_and_runs_again(story: Story) -> None:
    story.pull.broken_line = ""
    story.push_to_pull(variables={"GITHUB_RUN_ATTEMPT": "2"})


def crashes(story: Story) -> None:
    for trace in story.begin().traces["refund-in-window"]:
        trace.update(status="error", error={"type": "exit code 1", "message": "KeyError: 'order_id'"})
        trace["messages"] = trace["messages"][:5]
    story.push_to_pull()


def records_one_scenario_less(story: Story) -> None:
    del story.begin().traces["cancel"]
    story.push_to_pull()


def records_nothing(story: Story) -> None:
    story.begin().traces.clear()
    story.push_to_pull()


def comes_from_a_fork(story: Story) -> None:
    story.begin().record("cancel", [LOOKUP], "I can't do that.")
    pull, main = story.hub.state["pulls"]["8"], story.hub.state["refs"]["refs/heads/main"]
    head, pull["base"]["sha"] = pull["head"], main
    pull["merge_commit_sha"] = story.commit(main, head["sha"])
    next_run(story.hub, "success")
    current(story.hub).update(head_branch="main", head_sha=head["sha"], head_repository_id=FORK, pulls=[])
    story.pull.write(story.folder)
    step = story.runner.act(pr=8, token="ghs_readonly", comment_key="evalgate")
    notices = "".join(f"- {each['type']}: {each['message']}\n" for each in step.annotations if "file" not in each)
    summary = step.summary[step.summary.index("## ") :]
    story.shown = f"(in the job's log, without a comment)\n\n{notices}\n(in the job's summary)\n\n{summary}\n"


def is_published(story: Story) -> None:
    judged = current(story.hub)["id"]
    next_run(story.hub, "failure", event="workflow_run", head_branch="main", head_repository_id=1001)
    story.runner.act("workflow_run", mode="publish", comment_key="evalgate", after_run=judged)
    story.shown = own_comments(story.hub)[-1]


def goes_into_a_release_branch(story: Story) -> None:
    main = story.hub.state["refs"]["refs/heads/main"]
    story.hub.state["refs"][f"refs/heads/{RELEASE}"] = main
    story.hub.state["pulls"]["7"]["base"] = {"ref": RELEASE, "sha": main}
    story.begin()
    story.push_to_pull()


def is_merged_into_the_release_branch(story: Story) -> None:
    story.push_to_main(RELEASE, ref=f"refs/heads/{RELEASE}", upload_baseline="true")


def fixes_the_release(story: Story) -> None:
    story.begin().record("cancel", [LOOKUP], "I can't do that.")
    story.push_to_pull()
    story.hub.state["pulls"]["7"]["base"] = {"ref": "main", "sha": story.hub.state["refs"]["refs/heads/main"]}


def finds_an_expired_baseline(story: Story) -> None:
    for artifact in story.hub.state["artifacts"]:
        artifact["expired"] = True
    story.begin()
    story.push_to_pull()


def may_not_read_artifacts(story: Story) -> None:
    story.begin()
    story.push_to_pull(token="ghs_noactions")


EVENTS: list[Callable[[Story], None]] = [
    brings_evalgate,
    merges,
    changes_a_text_only,
    records_again,
    refunds_too_much,
    takes_it_back,
    looks_up_another_order,
    merges,
    adds_a_scenario,
    merges,
    adds_a_scenario_that_fails,
    merges,
    records_again,
    proposes_an_approval,
    merges,
    records_again,
    makes_a_known_failure_worse,
    fails_another_check,
    fixes_the_known_failure,
    merges,
    drops_a_check,
    removes_a_scenario,
    costs_more,
    records_no_cost,
    fails_once_in_four,
    adds_a_quarantine,
    breaks_what_is_in_quarantine,
    has_an_invalid_suite,
    repairs_it_and_runs_again,
    crashes,
    records_one_scenario_less,
    records_nothing,
    comes_from_a_fork,
    is_published,
    goes_into_a_release_branch,
    is_merged_into_the_release_branch,
    fixes_the_release,
    may_not_read_artifacts,
    finds_an_expired_baseline,
]
"""In their order; each begins with what the ones before it left."""
