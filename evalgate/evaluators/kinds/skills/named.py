"""Compares the skills that a suite forbids with those that its traces use, and list with `evalgate.skills`.

A forbidden skill that no trace uses is the rule, so that only a name that is like a known one is a likely typo; where
traces list the skills that there are, a glob that fits none of them is named, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.evaluators.core.registry import evaluator_class
from evalgate.evaluators.core.shorthands import iter_checks
from evalgate.evaluators.kinds.skills.checks import NoSkill, SkillUsed, is_skill
from evalgate.evaluators.kinds.skills.digests import ENTRY, MOST_LISTED
from evalgate.evaluators.kinds.skills.uses import find_skills
from evalgate.measures.text.similar_names import find_similar_name, is_denied
from evalgate.measures.values.json_values import mark_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.errors import Location
    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.models.trace.trace import Trace, Warning_

SKILLS = "evalgate.skills"
"""Where a recording lists the skills of its working directory."""
ALL = "*"
"""Stands beside the names of skills where all that there are are listed."""
MAX_NAMES = 1_000
MAX_SHOWN = 5


class NamedSkills:
    """The skills without which a check of the suite passes or is skipped, and those that its traces know."""

    def __init__(self, assertions: Iterable[Assertion], suite: str, path: str) -> None:
        """Takes the assertions of a suite, its name and its path."""
        self._suite, self._path = suite, path
        self._places: dict[str, Location | None] = {}
        for assertion in assertions:
            for name in _iter_unseen(assertion.written):
                if name != ALL and len(self._places) < MAX_NAMES:
                    self._places.setdefault(name, assertion.location)
        self._known: set[str] = set()
        self._is_listed = False

    def find_known(self, trace: Trace) -> list[str]:
        """The names of the skills that a trace uses or lists; with ALL, if it lists all that there are."""
        used = {each.skill for each in find_skills(trace).uses if each.skill is not None}
        text = trace.metadata.get(SKILLS)
        listed = [name for name, _ in ENTRY.findall(text)] if isinstance(text, str) else []
        return sorted({*used, *listed, *([ALL] if 0 < len(listed) < MOST_LISTED else [])})[:MAX_NAMES]

    def add(self, known: Iterable[str]) -> None:
        """Adds what a trace knows."""
        if len(self._known) < MAX_NAMES:
            self._known.update(known)

    def list_warnings(self) -> Iterator[Warning_]:
        """Warns of each named skill that is likely a typo, and of each glob that fits none of those listed."""
        known = sorted(self._known - {ALL})
        for name, location in self._places.items():
            if any(is_skill(name, each, is_denied) for each in known):
                continue
            similar = None if "*" in name else find_similar_name(name.rpartition(":")[2], known)
            if similar is not None and similar not in self._places:
                yield self._build_warning(name, f"did you mean {mark_name(similar)}?", location)
            elif "*" in name and ALL in self._known:
                yield self._build_warning(name, f"those that there are: {_list_names(known)}", location)

    def _build_warning(self, name: str, others: str, location: Location | None) -> Warning_:
        message = (
            f"suite {self._suite}: no skill {mark_name(name)} is known from any trace (a check passes or is"
            f" skipped without it), {others}"
        )
        where = self._path if location is None else f"{location.file}:{location.line}"
        return {"code": "unknown_skill", "message": message, "where": where}


def _iter_unseen(written: object) -> Iterator[str]:
    """Yields the skills of an entry of a suite, also inside groups, whose misspelling goes unseen."""
    for fields, is_negated in iter_checks(written):
        kind = evaluator_class(str(fields.get("type")))
        if kind is (SkillUsed if is_negated else NoSkill):
            named = fields.get("skill", [])
            yield from [named] if isinstance(named, str) else named


def _list_names(names: list[str]) -> str:
    left = len(names) - MAX_SHOWN
    return ", ".join(map(mark_name, names[:MAX_SHOWN])) + (f" and {left:,} more" if left > 0 else "")
