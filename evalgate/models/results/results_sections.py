"""Sections of `results.json`: approvals, rules, quarantines, history, weakenings, causes, trajectory diffs."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from evalgate.models.run.bounds import Count, Days, Score, Sum  # noqa: TC001  the schema is made of these
from evalgate.models.run.trial_doc import LocationDoc  # noqa: TC001  the same


class ApprovalLimitDoc(TypedDict):
    """The lowest approved score."""

    score: Score


class ProvenanceDoc(TypedDict):
    """Where an approval was given: `source` is file, comment or shell.

    `head_commit` is the only commit that it is valid for, `permission` the person's permission in the
    repository then; `self_approved`: the person contributed to the change. `repository` is the one that an approval
    in a store names.
    """

    source: str
    pull_request: int | None
    comment_id: int | None
    comment_url: str | None
    head_commit: str | None
    permission: str | None
    self_approved: bool
    repository: NotRequired[str]


class ApprovalDoc(TypedDict):
    """One approval and its status.

    `status` is active, proposed (by a pull request; has no effect), void, expired or unused; `message` gives
    the reason, or the time left. `until` is the last valid day, `days_left` counts to it. `checks` are the
    only assertions that may fail, absent for any; `covers` are the digests of the checks that may fail, absent in
    approvals of earlier versions; `provenance` is absent for an approval from the file.
    """

    suite: str
    scenario: str
    variant: str | None
    assertion: str | None
    change: str | None
    limit: ApprovalLimitDoc | None
    trace: list[str]
    reason: str
    who: str
    until: str
    days_left: Days
    status: str
    message: str
    location: LocationDoc | None
    checks: NotRequired[list[str] | None]
    covers: NotRequired[list[str] | None]
    provenance: NotRequired[ProvenanceDoc | None]


class InputsDoc(TypedDict, total=False):
    """The inputs of a workflow that decide in place of suites and policies; absent where one was not given.

    In `traces` an id of the run and its commit are `*`.
    """

    traces: list[str]
    fail_on: list[str]
    on_weakening: str
    approvals_from: str


RulesDoc = TypedDict(
    "RulesDoc",
    {
        "from": str,  # base
        "config_hash": str,  # of the suites and the policy that decided
        "proposed_config_hash": str,  # of those of the judged commit
    },
)


class MutationScoreDoc(TypedDict):
    """How many small changes of the run's traces a changed suite notices, and how many its baseline's version does.

    A score is the share of `changes` that is noticed; null if there was nothing to change, or no such version.
    """

    suite: str
    score: Score | None
    changes: Count
    baseline_score: Score | None
    baseline_changes: Count


class QuarantineDoc(TypedDict):
    """One quarantine of a suite and its status.

    `scenario` is as written and may contain `*`; `scenarios` is the number of the run's scenarios it holds for.
    `status` is active, expired (its scenarios block again), void (the recordings were other scenarios' in the
    baseline) or unused (no scenario matches); `message` gives that in words, or the time left. `until` is the last
    valid day, `days_left` counts to it.
    """

    suite: str
    scenario: str
    variant: str | None
    scenarios: Count
    reason: str
    who: str | None
    until: str
    days_left: Days
    status: str
    message: str
    location: LocationDoc | None


class PastRunDoc(TypedDict):
    """One run; `cost_usd` is null if a part of it is unknown, `not_measured` (trials) absent if zero."""

    at: str
    commit: str | None
    verdict: str
    score: Score | None
    pass_rate: Score | None
    cost_usd: Sum | None
    not_measured: NotRequired[Count]


class FlakyDoc(TypedDict):
    """A flaky scenario: its outcome changed `flips` times in its last `runs` runs, first at `since`.

    `new` is true if it was not flaky in as many runs before.
    """

    suite: str
    scenario: str
    variant: str | None
    runs: Count
    passed: Count
    flips: Count
    since: str | None
    new: bool


class CalibrationDoc(TypedDict):
    """How often this gate is red without a change, by the trials of `runs` runs, with its 95 % interval.

    `noticed` is how often a scenario that falls to half is noticed, the mean over `scenarios`.
    """

    share: Score
    low: Score
    high: Score
    noticed: Score
    runs: Count
    scenarios: Count


class HistoryDoc(TypedDict):
    """The last runs of a branch (null: of any), oldest first, ending with this one; and flaky scenarios.

    `flaky_left` counts flaky scenarios that are not listed. `rules` identifies suites and evaluators of this run;
    `calibration` is present if ten or more of the runs have the same, and the same agent.
    """

    branch: str | None
    runs: list[PastRunDoc]
    flaky: list[FlakyDoc]
    flaky_left: int
    rules: NotRequired[str]
    calibration: NotRequired[CalibrationDoc]


class WeakeningDoc(TypedDict):
    """One demand that was weakened; see models.comparison.weakening for its kinds.

    `suite` is null for the project, `scenario` for a whole suite or if `scenarios` of them share the demand.
    `before` and `after` are the former and the present demand, in short. `gates` is true if it fails the
    gate; `message` is all of it in words, without the location.
    """

    kind: str
    suite: str | None
    scenario: str | None
    variant: str | None
    assertion: str | None
    before: str | None
    after: str | None
    location: LocationDoc | None
    scenarios: Count
    gates: bool
    message: str
