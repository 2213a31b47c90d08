"""The trials that were recorded after a run: refused unless they are those planned, of the same commit and rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.errors import RulesMissing
from evalgate.features.evidence.application.migrate import require_same_rules
from evalgate.features.evidence.application.plan_trials import load_finished
from evalgate.gate.common.wording import format_count
from evalgate.models.run.trials import count_unmeasured, identify_recording

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalgate.features.evidence.application.plan_trials import FinishedRun, Scenarios
    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.run.run import Trial
    from evalgate.ports import BaselineFiles


class RecordedSide(NamedTuple):
    """A side: the first run, that of the trials added to its scenarios, and these."""

    first: FinishedRun
    more: FinishedRun
    added: Mapping[ScenarioKey, Sequence[Trial]]


def load_added(
    files: BaselineFiles, first: FinishedRun, path: str, keys: Sequence[ScenarioKey], trials: int
) -> RecordedSide:
    """The added trials of a side; raises RulesMissing, naming what is wrong with them."""
    require_same_rules(files, first.path, path)
    more = load_finished(files, path)
    scenarios = more.scenarios
    _require_complete(scenarios, keys, trials, path)
    _require_same_commit(first, more, keys)
    return RecordedSide(first, more, {key: scenarios[key].trials for key in keys})


def _require_complete(scenarios: Scenarios, keys: Sequence[ScenarioKey], trials: int, path: str) -> None:
    for key in keys:
        found = scenarios[key].trials if key in scenarios else ()
        if not found:
            raise RulesMissing(f"{path}: the scenario {key.id!r} is left out (record all that `confirm --plan` lists)")
        if lost := count_unmeasured(found):
            raise RulesMissing(f"{path}: {format_count(lost, 'trial')} of {key.id!r} not measured (record them again)")
        if len(found) != trials:
            hint = "the plan decides how many, not their results"
            raise RulesMissing(f"{path}: {key.id!r} has {format_count(len(found), 'trial')}, {trials} planned ({hint})")


def _require_same_commit(first: FinishedRun, more: FinishedRun, keys: Sequence[ScenarioKey]) -> None:
    """The commit of the recordings; where they don't name one, that of the run. Unknown ones are refused."""
    before, now = (_list_commits(each, keys) for each in (first, more))
    if None in before | now:
        path = first.path if None in before else more.path
        raise RulesMissing(f"{path}: the commit of the recordings is not known (`evalgate record` notes it)")
    if len(before | now) > 1:
        names = " and ".join(sorted(str(each)[:12] for each in before | now))
        raise RulesMissing(f"{more.path}: recorded on another commit than {first.path}: {names}")


def require_two_commits(sides: Sequence[RecordedSide], keys: Sequence[ScenarioKey]) -> None:
    """Raises RulesMissing if the recordings of both sides are of one commit, so that nothing is compared."""
    base, head = (_list_commits(each.first, keys) for each in sides)
    if base & head:
        hint = "`GITHUB_SHA` is noted before the checkout's own commit: unset it to record another checkout"
        raise RulesMissing(f"the recordings of both sides are of the commit {min(map(str, base))[:12]} ({hint})")


def _list_commits(run: FinishedRun, keys: Iterable[ScenarioKey]) -> set[str | None]:
    scenarios, own = run.scenarios, run.document["commit"]
    return {trial.trace.commit or own for key in keys for trial in scenarios[key].trials}


def require_new(sides: Sequence[RecordedSide], keys: Sequence[ScenarioKey]) -> None:
    """Raises RulesMissing for an added trial that was replayed, or whose recording is there already."""
    seen = {
        identify_recording(trial) for side in sides for each in side.first.scenarios.values() for trial in each.trials
    }
    for side in sides:
        for key in keys:
            for trial in side.added[key]:
                recording = identify_recording(trial)
                if recording is None:
                    raise RulesMissing(f"{key.id!r}: {trial.trace.path} was replayed (record it with `--cache off`)")
                if recording in seen:
                    raise RulesMissing(f"{key.id!r}: {trial.trace.path} is a recording that counts already")
                seen.add(recording)
