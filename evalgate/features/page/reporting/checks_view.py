"""The checks of a scenario over all its trials: what failed with the call it is about, what could not be judged."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from evalgate.features.page.reporting.cells import build_cell, split_marks
from evalgate.features.page.reporting.leading_call import merge_moved_calls
from evalgate.features.page.reporting.page_view import CellView, CheckReason, TrialCheckRow
from evalgate.models.run.run import RUN_FAILED
from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import clean_page_text
from evalgate.reporting.text.wording import list_reasons

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.models.results.results import ChangeDoc
    from evalgate.models.run.trial_doc import AssertionDoc, TrialDoc

MAX_CHECKS, MAX_TEXT, MAX_EVIDENCE = 200, 2_000, 4_000
"""Checks of a scenario, characters of a text, and of evidence."""
MAX_REASONS, MAX_NAMES = 10, 8
"""Failed checks that the reasons name, and names in the line of those that could not be evaluated."""
_GOOD = ("passed", "skipped")
_SEVERITY = {"failed": 0, "error": 1, "not_evaluable": 2, "skipped": 3, "passed": 3}
_CALL = re.compile(r"\bcall ([1-9][0-9]{0,3})\b")


class CheckSections(NamedTuple):
    """The checks of a scenario; `reasons` explain the first ones of `failed`, `names` those of `not_evaluable`."""

    reasons: list[CheckReason]
    failed: list[TrialCheckRow]
    not_evaluable: list[TrialCheckRow]
    names: str
    passed: list[TrialCheckRow]


def build_checks(trials: Sequence[TrialDoc], change: ChangeDoc | None, columns: int) -> CheckSections:
    """Sorts the checks: failed ones, required first; those that could not be evaluated; those without a failure.

    The first trials, as many as there are `columns`, are shown side by side.
    """
    found = [_Check(cells, change, columns) for cells in _group_checks(trials)[:MAX_CHECKS]]
    failed = sorted((each for each in found if each.is_failed), key=lambda each: each.rank)
    unknown = sorted((each for each in found if each.is_unknown), key=lambda each: each.rank)
    return CheckSections(
        [each.build_reason() for each in failed[:MAX_REASONS]],
        [each.build_row(columns, is_explained=at < MAX_REASONS) for at, each in enumerate(failed)],
        [each.build_row(columns, is_explained=False) for each in unknown],
        _name_checks(unknown),
        [each.build_row(columns, is_explained=False) for each in found if not (each.is_failed or each.is_unknown)],
    )


def _group_checks(trials: Sequence[TrialDoc]) -> list[Mapping[int, AssertionDoc]]:
    """The same check of all trials, by the number of the trial's column, in the order of the suite."""
    found: dict[tuple[str, str, int], dict[int, AssertionDoc]] = {}
    for column, trial in enumerate(trials):
        seen: dict[tuple[str, str], int] = {}
        for check in trial.assertions:
            key = check.name, check.type
            seen[key] = repeat = seen.get(key, -1) + 1
            found.setdefault((*key, repeat), {})[column] = check
    return list(found.values())


def _name_checks(checks: Sequence[_Check]) -> str:
    names = [each.name for each in checks[:MAX_NAMES]]
    left = len(checks) - len(names)
    return ", ".join([*names, *([f"{left:,} more"] if left > 0 else [])])


class _Check:
    """One check over all trials, described by its worst outcome."""

    def __init__(self, cells: Mapping[int, AssertionDoc], change: ChangeDoc | None, columns: int) -> None:
        self._cells, self._change, self._columns = cells, change, columns
        self._column, self._worst = min(
            cells.items(), key=lambda cell: (_SEVERITY.get(cell[1].outcome, 1), cell[1].score)
        )
        self.is_failed = self._worst.outcome not in (*_GOOD, "not_evaluable")
        self.is_unknown = self._worst.outcome == "not_evaluable"
        self.name = clean_page_text(self._worst.name, MAX_TEXT)

    @property
    def rank(self) -> tuple[bool, bool, bool, float]:
        """How the run ended first, then required ones that failed, then by lost weight."""
        lost = sum(check.weight * (1 - check.score) for check in self._cells.values() if not _is_judged_well(check))
        return self._worst.type != RUN_FAILED, not self._worst.required, self._worst.outcome != "failed", -lost

    def build_reason(self) -> CheckReason:
        """The failure in a sentence, with the suite's line and the call that it is about."""
        failed = sum(check.outcome == self._worst.outcome for check in self._cells.values())
        trials = f"in {failed} of {wording.pluralize(len(self._cells), 'trial')}" if len(self._cells) > 1 else ""
        notes = ", ".join(filter(None, (self._notes, trials)))
        parts = self._sentence
        call = self._find_call(split_marks(self._worst.reason))
        return CheckReason(self.name, parts, notes, self._place, *call)

    def build_row(self, columns: int, *, is_explained: bool) -> TrialCheckRow:
        """The check as a row of outcomes; a reason that is shown elsewhere is left out."""
        evidence = None if _is_judged_well(self._worst) else self._worst.evidence
        return TrialCheckRow(
            self.name,
            self._notes,
            [] if is_explained else self._sentence,
            "" if is_explained else self._place,
            clean_page_text(json.dumps(evidence, ensure_ascii=False, indent=1), MAX_EVIDENCE) if evidence else "",
            [_build_outcome(self._cells.get(column)) for column in range(columns)],
        )

    @property
    def _notes(self) -> str:
        notes = ["required"] if self._worst.required else []
        return ", ".join([*notes, *([f"weight {self._worst.weight:g}"] if self._worst.weight != 1 else [])])

    @property
    def _place(self) -> str:
        return clean_page_text(wording.location(self._worst.location), MAX_TEXT)

    @property
    def _sentence(self) -> Sequence[str]:
        """The reason of the worst trial, with those of the others where they differ."""
        alike = [each.reason for each in self._cells.values() if each.outcome == self._worst.outcome]
        alike.remove(self._worst.reason)
        reasons = [self._worst.reason, *alike]
        reason = "; ".join(list_reasons(reasons, len(reasons), len(self._cells))) if self.is_failed else reasons[0]
        return [] if reason == self._worst.name else split_marks(reason)

    def _find_call(self, parts: Sequence[str]) -> tuple[str, str]:
        """The call that the reason names, as the end of an anchor and in words; both empty if it names none.

        Without a number it is the first call of a tool that the reason names which the baseline makes otherwise.
        A trial that the page does not show has no anchors.
        """
        if self._column >= self._columns:
            return "", ""
        numbers = [int(number) for part in parts[::2] for number in _CALL.findall(part)]
        if numbers:
            return f"t{self._column}c{numbers[0]}", f"call {numbers[0]}"
        differing = {name: call for name, *call in _iter_differing_calls(self._change) if self._column == 0}
        anchor, text = next((differing[part] for part in parts[1::2] if part in differing), ("", ""))
        return anchor, text


def _iter_differing_calls(change: ChangeDoc | None) -> Iterator[tuple[str, str, str]]:
    """Calls that only one side makes, or with other arguments: tool, end of the anchor, and words; first ones last."""
    behaviour = change.get("behaviour") if change else None
    for step in reversed(merge_moved_calls(behaviour.steps) if behaviour else ()):
        name = clean_page_text(step.name)
        if step.kind == "removed" and step.baseline is not None:
            number = step.baseline.call
            yield name, f"bc{number}", f"call {number} of the baseline, which is missing"
        elif step.kind != "same" and step.current is not None:
            yield name, f"t0c{step.current.call}", f"call {step.current.call}"


def _is_judged_well(check: AssertionDoc) -> bool:
    return check.outcome in _GOOD


def _build_outcome(check: AssertionDoc | None) -> CellView:
    if check is None:
        return CellView("\u2013", "plain")
    cell = build_cell(check.outcome)
    is_partial = check.outcome == "failed" and 0 < check.score < 1
    return cell._replace(text=f"{cell.text} ({wording.score(check.score)})") if is_partial else cell
