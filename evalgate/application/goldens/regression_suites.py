"""Checks and stores regression suites, and finds the goldens they name."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from evalgate.application.goldens.stored_goldens import can_be_seen, unknown_golden
from evalgate.errors import Problem, SettingError
from evalgate.evaluators.core.field_problems import suggest
from evalgate.measures.redaction.redact import redact
from evalgate.models.goldens.regression_suite import RegressionSuite
from evalgate.ports.store import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.run.golden import Golden
    from evalgate.ports.store import Goldens, RegressionSuites, Store

MAX_NAME, MAX_TEXT, MOST_ITEMS = 200, 10_000, 1_000
MOST_ISSUES = 1_000_000


def check_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a suite, checked; raises SettingError for invalid values."""
    for name, value in fields.items():
        texts = value if isinstance(value, tuple) else (value,) if isinstance(value, str) else ()
        most = MAX_TEXT if name == "description" else MAX_NAME
        if len(texts) > MOST_ITEMS or any(len(text) > most for text in texts):
            raise SettingError(f"the {name.replace('_', ' ')} of a suite may have at most {most:,} characters")
        if any(not text.strip() for text in texts) and name != "description":
            raise SettingError(f"the {name.replace('_', ' ')} must not be empty")
    score, issues = fields.get("passing_score", 0.0), fields.get("critical_issue_threshold", 0)
    if not (isfinite(score) and 0 <= score <= 1):
        raise SettingError(f"--passing-score must be a number from 0 to 1, not {score:g}")
    if not 0 <= issues <= MOST_ISSUES:
        raise SettingError(f"--critical-issues must be a whole number of at least 0, not {issues}")
    return dict(fields)


def add_suite(name: str, fields: Mapping[str, Any], store: Store) -> RegressionSuite:
    """Stores a new suite; raises SettingError if it names no goldens, or one that is not stored."""
    if not 0 < len(name.strip()) <= MAX_NAME:
        raise SettingError(f"the name of a suite must have 1 to {MAX_NAME} characters")
    if not can_be_seen(name):
        raise SettingError(f"the name {name!a} contains invisible characters")
    return store.suites.create(_validate_suite(RegressionSuite(name, **fields), store.goldens))


def change_suite(name: str, fields: Mapping[str, Any], store: Store) -> RegressionSuite:
    """Replaces the given fields; raises SettingError like `add_suite`."""
    if not fields:
        hint = "see evalgate goldens suite update --help"
        raise SettingError(Problem("no change was given", None, hint))
    return store.suites.update(_validate_suite(replace(stored_suite(name, store.suites), **fields), store.goldens))


def stored_suite(name: str, store: RegressionSuites) -> RegressionSuite:
    """The regression suite of that name; raises SettingError, suggesting a similar name."""
    found = store.get(name)
    if found is None:
        raise SettingError(unknown_suite(name, store))
    return found


def unknown_suite(name: str, store: RegressionSuites) -> Problem:
    """The problem that no suite has that name, with a suggestion."""
    names = [suite.name for suite in store.list(EVERYTHING)]
    hint = suggest(name, names) if names else "it has no suites; `evalgate goldens suite add` stores one"
    return Problem(f"the store has no regression suite `{name}`", None, hint)


def goldens_of(suite: RegressionSuite, store: Goldens) -> Sequence[Golden]:
    """The goldens that a suite names, as stored now."""
    return store.select(suite.golden_ids, suite.golden_tags, suite.golden_intents)


def _validate_suite(suite: RegressionSuite, store: Goldens) -> RegressionSuite:
    if not (suite.golden_ids or suite.golden_tags or suite.golden_intents):
        hint = "use --golden, --tag or --intent"
        raise SettingError(Problem("a regression suite must select goldens", None, hint))
    known = set(store.ids()) if suite.golden_ids else set()
    lacking = [id_ for id_ in suite.golden_ids if id_ not in known]
    if lacking:
        raise SettingError(*(unknown_golden(id_, store) for id_ in lacking))
    return replace(suite, description=redact(suite.description), tags=tuple(map(redact, suite.tags)))
