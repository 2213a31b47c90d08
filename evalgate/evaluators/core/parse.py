"""Compiles the assertions of a suite; collects every problem instead of stopping at the first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from evalgate.declarations import refusal
from evalgate.evaluators.core import groups
from evalgate.evaluators.core.assertion import Assertion
from evalgate.evaluators.core.evaluator import EvaluatorSettings
from evalgate.evaluators.core.field_problems import (
    MOST_TOLD,
    FieldProblem,
    FieldProblemError,
    Path,
    flaws_of,
    suggest,
)
from evalgate.evaluators.core.registry import KINDS, evaluator_class, known_kinds
from evalgate.evaluators.core.shorthands import GROUPS, Canonical, ShorthandError, canonical
from evalgate.measures.values.json_values import kind, show

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.errors import Location
    from evalgate.evaluators.core.evaluator import Check, Evaluator

MAX_DEPTH = 16
"""Levels of groups within groups."""


class Parser:
    """Parses assertions; `problems` collects what is wrong, `locate` finds the line of a path."""

    def __init__(self, place: Callable[[Path], Location | None]) -> None:
        self.flaws: list[FieldProblem] = []
        self._place = place
        self._is_required = False  # true if the current assertion, or a group around it, is required

    def assertions(self, raw: Any, path: Path) -> list[Assertion]:
        """Parses a list of assertions at `path`; invalid ones are left out and listed in `problems`."""
        if not isinstance(raw, list):
            self.flaws.append(FieldProblem(path, f"a list of assertions is due here, not {kind(raw)}"))
            return []
        parsed = []
        for index, each in enumerate(raw):
            if len(self.flaws) >= MOST_TOLD:
                self.flaws.append(
                    FieldProblem(path, f"and what is wrong with {len(raw) - index:,} more assertions")
                )
                break
            parsed.append(self.assertion(each, (*path, index)))
        return [each for each in parsed if each is not None]

    def assertion(self, raw: Any, path: Path) -> Assertion | None:
        """Parses one assertion at `path`; None if it is invalid, with its problems in `problems`."""
        return self._assertion(raw, path, 0)

    def _assertion(self, raw: Any, path: Path, depth: int) -> Assertion | None:
        if depth > MAX_DEPTH:
            self.flaws.append(FieldProblem(path, f"groups may be nested {MAX_DEPTH} deep"))
            return None
        told = len(self.flaws)
        try:
            form = canonical(raw)
        except ShorthandError as error:
            self.flaws.append(error.flaw._replace(path=(*path, *error.flaw.path)))
            return None
        above, self._is_required = self._is_required, self._is_required or form.fields.get("required") is True
        settings = self._settings(form, path)
        check = self._check(settings, form, path, depth) if settings is not None else None
        self._is_required = above
        if depth:
            self._refuse_in_member(form, path)
        if settings is None or check is None or len(self.flaws) > told:
            return None
        warning = getattr(settings, "warning", None)
        label = settings.label() if _is_evaluator(settings) else None
        if settings.negate:
            from evalgate.evaluators.core.negation import negated

            check = negated(check, label)
        return Assertion(
            name=settings.name or label or settings.type,
            type=settings.type,
            weight=settings.weight,
            required=settings.required,
            on_missing_skip=settings.on_missing == "skip",
            check=check,
            location=self._place(path),
            warning=warning() if warning else None,
            written=raw,
            dimension=settings.dimension,
        )

    def _settings(self, form: Canonical, path: Path) -> EvaluatorSettings | None:
        """Parses the settings of the assertion itself, without a group's members."""
        kind_ = form.fields["type"]
        is_group = kind_ in GROUPS and kind_ in form.fields
        model = EvaluatorSettings if is_group else evaluator_class(kind_) if isinstance(kind_, str) else None
        if model is None:
            is_form = kind_ in GROUPS
            hint = (
                f"write it as a key: `{kind_}: ...`" if is_form else suggest(kind_, [*known_kinds(), *GROUPS])
            )
            self._flaw(form, path, FieldProblem(("type",), f"unknown evaluator {show(kind_, 60)}", hint))
            return None
        fields = form.fields
        if is_group:
            fields = {name: value for name, value in fields.items() if name not in {*GROUPS, "then"}}
        try:
            settings = model.model_validate(fields)
        except refusal() as error:
            for flaw in flaws_of(error, model):
                self._flaw(form, path, flaw)
            return None
        if self._is_required and settings.on_missing == "skip":
            self._flaw(
                form,
                path,
                FieldProblem(("on_missing",), "what is required can't be skipped", "drop on_missing: skip"),
            )
        return settings

    def _check(self, settings: EvaluatorSettings, form: Canonical, path: Path, depth: int) -> Check | None:
        if not _is_evaluator(settings):
            return self._group(form, path, depth)
        try:
            if settings.type in KINDS:
                return settings.compile()
            from evalgate.evaluators.core.plugin_evaluator import compiled

            return compiled(settings)
        except FieldProblemError as error:
            self._flaw(form, path, error.flaw)
            return None

    def _group(self, form: Canonical, path: Path, depth: int) -> Check | None:
        kind_ = form.fields["type"]
        at = (*path, *form.written_at((kind_,)))
        value = form.fields[kind_]
        if kind_ == "when":
            return self._when(form, path, depth)
        if kind_ == "at_least":
            return self._at_least(value, at, depth)
        members = self._members(value, at, depth)
        if members is None:
            return None
        return groups.all_of(members) if kind_ == "all_of" else groups.any_of(members)

    def _when(self, form: Canonical, path: Path, depth: int) -> Check | None:
        condition = self._assertion(form.fields["when"], (*path, *form.written_at(("when",))), depth + 1)
        if "then" not in form.fields:
            self._flaw(form, path, FieldProblem(("when",), "`when` needs `then`: what holds in that case"))
            return None
        members = self._members(form.fields["then"], (*path, *form.written_at(("then",))), depth)
        return groups.when(condition, members) if condition and members else None

    def _at_least(self, value: Any, at: Path, depth: int) -> Check | None:
        if not isinstance(value, dict) or set(value) != {"k", "of"}:
            self.flaws.append(
                FieldProblem(at, "`at_least` takes exactly `k` and `of`", "for example {k: 2, of: [...]}")
            )
            return None
        members = self._members(value["of"], (*at, "of"), depth)
        k = value["k"]
        if members is None:
            return None
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= len(members):
            self.flaws.append(
                FieldProblem((*at, "k"), f"`k` is a whole number from 1 to {len(members)}, not {show(k)}")
            )
            return None
        return groups.at_least(k, members)

    def _members(self, raw: Any, at: Path, depth: int) -> list[Assertion] | None:
        """Parses the members of a group; None if the list is invalid or empty, or a member is invalid."""
        if not isinstance(raw, list) or not raw:
            self.flaws.append(FieldProblem(at, "a list of at least one assertion is due here"))
            return None
        members = [self._assertion(each, (*at, index), depth + 1) for index, each in enumerate(raw)]
        whole = [each for each in members if each is not None]
        return whole if len(whole) == len(members) else None

    def _refuse_in_member(self, form: Canonical, path: Path) -> None:
        for name in ("weight", "required", "dimension"):
            if name in form.fields:
                message = f"a member of a group has no `{name}` of its own"
                self._flaw(form, path, FieldProblem((name,), message, "give it to the group"))

    def _flaw(self, form: Canonical, path: Path, flaw: FieldProblem) -> None:
        self.flaws.append(flaw._replace(path=(*path, *form.written_at(flaw.path))))


def _is_evaluator(settings: EvaluatorSettings) -> TypeGuard[Evaluator]:
    """Returns whether the settings are not those of a group; plugin evaluators have another base."""
    return type(settings) is not EvaluatorSettings
