"""Compiles the assertions of a suite; collects every problem instead of stopping at the first."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, TypeGuard, cast, get_args

import orjson
from pydantic import ValidationError

from evalgate.evaluators.core.agents import ANY, judge_agent
from evalgate.evaluators.core.assertion import Assertion, all_of, any_of, at_least, name_conditional, negate_check, when
from evalgate.evaluators.core.evaluator import Check, Evaluator, EvaluatorSettings, Finding, careful_form, plain_form
from evalgate.evaluators.core.field_problems import (
    MAX_PROBLEMS,
    FieldProblem,
    FieldProblemError,
    Path,
    problems_from_error,
    suggest,
)
from evalgate.evaluators.core.other_tools import find_equivalent, find_key
from evalgate.evaluators.core.registry import BUILT_IN_TYPES, evaluator_class, evaluator_types
from evalgate.evaluators.core.shorthands import GROUPS, CanonicalForm, ShorthandError, expand_shorthand
from evalgate.measures.values.json_values import json_type, shorten, show
from evalgate.models.run.run import NEGATED, WHEN, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.errors import Location
    from evalgate.models.trace.trace import Trace

MAX_DEPTH = 16
"""Levels of groups within groups."""


class Parser:
    """Parses assertions; `problems` collects what is wrong, `locate` finds the line of a path."""

    def __init__(self, locate: Callable[[Path], Location | None]) -> None:
        self.problems: list[FieldProblem] = []
        self._locate = locate
        self._versions: dict[str, int] = {}  # of the evaluators of the current assertion, by type
        self._is_required = False  # true if the current assertion, or a group around it, is required
        self._must_not_pass = False  # true if the current assertion is negated, also by the groups around it
        self._members: list[Assertion] = []  # of the current group

    def parse_assertions(self, raw: Any, path: Path) -> list[Assertion]:
        """Parses a list of assertions at `path`; invalid ones are left out and listed in `problems`."""
        if not isinstance(raw, list):
            self.problems.append(FieldProblem(path, f"expected a list of assertions, got {json_type(raw)}"))
            return []
        parsed = []
        for index, each in enumerate(raw):
            if len(self.problems) >= MAX_PROBLEMS:
                self.problems.append(FieldProblem(path, f"{len(raw) - index:,} more assertions were not checked"))
                break
            parsed.append(self.parse_assertion(each, (*path, index)))
        return [each for each in parsed if each is not None]

    def parse_assertion(self, raw: Any, path: Path) -> Assertion | None:
        """Parses one assertion at `path`; None if it is invalid, with its problems in `problems`."""
        self._versions = {}
        return self._parse_assertion(raw, path, 0)

    def _parse_assertion(self, raw: Any, path: Path, depth: int) -> Assertion | None:
        if depth > MAX_DEPTH:
            self.problems.append(FieldProblem(path, f"groups may be nested at most {MAX_DEPTH} levels deep"))
            return None
        problem_count = len(self.problems)
        try:
            form = expand_shorthand(raw)
        except ShorthandError as error:
            self.problems.append(error.problem._replace(path=(*path, *error.problem.path)))
            return None
        outer = self._is_required, self._must_not_pass, self._members
        self._members = []
        self._is_required |= form.fields.get("required") in (True, "always")
        self._must_not_pass ^= form.fields.get("negate") is True
        settings = self._parse_settings(form, path)
        check = self._compile_check(settings, form, path, depth) if settings is not None else None
        members = self._members
        self._is_required, self._must_not_pass, self._members = outer
        if depth:
            self._refuse_member_fields(form, path)
        if settings is None or check is None or len(self.problems) > problem_count:
            return None
        warning = getattr(settings, "warning", None)
        label, kind = None, settings.type
        if _is_evaluator(settings):
            label = settings.label()
            self._versions[settings.type] = settings.version
        elif kind == WHEN:
            kind = name_conditional(members[0], members[1:])
        if settings.negate:
            describe = getattr(settings, "describe_unwanted", None) if settings.type in BUILT_IN_TYPES else None
            check = negate_check(check, label, describe, name=settings.name)
        if settings.agent != ANY:
            check = judge_agent(plain_form(check), careful_form(check), settings.agent)
            label = f"{label or kind} (agent {settings.agent})"
        shown = f"{NEGATED if settings.negate else ''}{label or kind}"
        return Assertion(
            name=settings.name or shown,
            type=settings.type,
            weight=settings.weight,
            required=settings.required,
            on_missing_skip=settings.on_missing == "skip",
            check=plain_form(check),
            location=self._locate(path),
            warning=warning() if warning else None,
            written=raw,
            dimension=settings.dimension,
            careful_check=careful_form(check),
            is_read_later=_is_evaluator(settings) and settings.reads_baseline,
            versions=self._versions,
            members=members,
        )

    def _parse_settings(self, form: CanonicalForm, path: Path) -> EvaluatorSettings | None:
        """Parses the settings of the assertion itself, without a group's members."""
        type_name = form.fields["type"]
        is_group = type_name in GROUPS and type_name in form.fields
        model = EvaluatorSettings if is_group else evaluator_class(type_name) if isinstance(type_name, str) else None
        if model is None:
            is_form = type_name in GROUPS
            hint = (
                f"write it as a key: `{type_name}: ...`"
                if is_form
                else find_equivalent(type_name) or suggest(type_name, [*evaluator_types(), *GROUPS])
            )
            self._report(form, path, FieldProblem(("type",), f"unknown evaluator {show(type_name, 60)}", hint))
            return None
        fields = form.fields
        if is_group:
            fields = {name: value for name, value in fields.items() if name not in {*GROUPS, "then"}}
        try:
            settings = model.model_validate(fields)
        except ValidationError as error:
            known = [field.alias or name for name, field in model.model_fields.items()]
            for problem in problems_from_error(error, model):
                key = problem.path[0] if len(problem.path) == 1 else None
                hint = None if key in known else find_key(type_name, key, known)
                self._report(form, path, problem._replace(hint=hint) if hint else problem)
            return None
        if self._is_required and settings.on_missing == "skip":
            self._report(
                form,
                path,
                FieldProblem(("on_missing",), "a required assertion can't be skipped", "remove `on_missing: skip`"),
            )
        return settings

    def _compile_check(self, settings: EvaluatorSettings, form: CanonicalForm, path: Path, depth: int) -> Check | None:
        if not _is_evaluator(settings):
            return self._compile_group(form, path, depth)
        try:
            if settings.type in BUILT_IN_TYPES:
                return settings.compile_opposite() if self._must_not_pass else settings.compile()
            return compile_plugin(settings)
        except FieldProblemError as error:
            self._report(form, path, error.problem)
            return None

    def _compile_group(self, form: CanonicalForm, path: Path, depth: int) -> Check | None:
        group_type = form.fields["type"]
        at = (*path, *form.source_path((group_type,)))
        value = form.fields[group_type]
        if group_type == "when":
            return self._compile_when(form, path, depth)
        if group_type == "at_least":
            return self._compile_at_least(value, at, depth)
        members = self._parse_members(value, at, depth)
        if members is None:
            return None
        return all_of(members) if group_type == "all_of" else any_of(members)

    def _compile_when(self, form: CanonicalForm, path: Path, depth: int) -> Check | None:
        self._must_not_pass ^= True  # a condition that does not hold leaves the members out
        condition = self._parse_assertion(form.fields["when"], (*path, *form.source_path(("when",))), depth + 1)
        self._must_not_pass ^= True
        if "then" not in form.fields:
            self._report(
                form, path, FieldProblem(("when",), "`when` needs `then`: the assertions to check in that case")
            )
            return None
        members = self._parse_members(form.fields["then"], (*path, *form.source_path(("then",))), depth)
        if condition is None or members is None:
            return None
        self._members = [condition, *members]
        return when(condition, members, is_named="name" in form.fields)

    def _compile_at_least(self, value: Any, at: Path, depth: int) -> Check | None:
        if not isinstance(value, dict) or set(value) != {"k", "of"}:
            self.problems.append(
                FieldProblem(at, "`at_least` needs `k` and `of`, and nothing else", "for example {k: 2, of: [...]}")
            )
            return None
        members = self._parse_members(value["of"], (*at, "of"), depth)
        k = value["k"]
        if members is None:
            return None
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= len(members):
            self.problems.append(
                FieldProblem((*at, "k"), f"`k` must be a whole number from 1 to {len(members)}, not {show(k)}")
            )
            return None
        return at_least(k, members)

    def _parse_members(self, raw: Any, at: Path, depth: int) -> list[Assertion] | None:
        """Parses the members of a group; None if the list is invalid or empty, or a member is invalid."""
        if not isinstance(raw, list) or not raw:
            self.problems.append(FieldProblem(at, "expected a list of at least one assertion"))
            return None
        members = [self._parse_assertion(each, (*at, index), depth + 1) for index, each in enumerate(raw)]
        self._members = [each for each in members if each is not None]
        return self._members if len(self._members) == len(members) else None

    def _refuse_member_fields(self, form: CanonicalForm, path: Path) -> None:
        for name in ("weight", "required", "dimension"):
            if name in form.fields:
                message = f"a member of a group can't have `{name}`"
                self._report(form, path, FieldProblem((name,), message, "set it on the group"))

    def _report(self, form: CanonicalForm, path: Path, problem: FieldProblem) -> None:
        self.problems.append(problem._replace(path=(*path, *form.source_path(problem.path))))


def _is_evaluator(settings: EvaluatorSettings) -> TypeGuard[Evaluator]:
    """Returns whether the settings are not those of a group; plugin evaluators have another base."""
    return type(settings) is not EvaluatorSettings


MAX_REASON = 1_000
"""Characters of a reason; the rest is cut."""
MAX_EVIDENCE = 20_000
"""Bytes of evidence as JSON; larger evidence is left out."""


def compile_plugin(settings: Evaluator) -> Check:
    """Compiles the check and validates its findings. Raises FieldProblemError, also if compiling crashes."""
    try:
        made: tuple[Any, Any] = settings.label(), settings.compile()
    except FieldProblemError:
        raise
    except Exception as error:  # noqa: BLE001  (untrusted code: any exception is reported)
        raise FieldProblemError(
            "type", f"plugin evaluator {show(settings.type)} failed on these settings ({type(error).__name__})"
        ) from None
    label, check = made
    if not isinstance(label, str) or not callable(check):
        raise FieldProblemError("type", f"plugin evaluator {show(settings.type)} returned an invalid label or check")
    return lambda trace: _run_check(check, trace)


def _run_check(check: Check, trace: Trace) -> Finding:
    """Runs the check and cuts its finding to the bounds; an invalid finding is an error."""
    found = check(trace)
    wrong = _describe_invalid(found)
    if wrong:
        return Finding("error", f"the check returned an invalid finding: {wrong}")
    evidence = found.evidence
    if evidence is not None:
        encoded = orjson.dumps(evidence)
        evidence = orjson.loads(encoded)  # a copy: the check may change its own for the next trace
        if len(encoded) > MAX_EVIDENCE:
            evidence = {"left_out": f"more than {MAX_EVIDENCE} bytes"}
    reason = shorten(" ".join(found.reason.split()), MAX_REASON)
    score = None if found.score is None else found.score + 0  # 0.0 and -0.0 are equal, and one row
    return found._replace(reason=reason, evidence=evidence, score=score)


def _describe_invalid(found: object) -> str | None:
    if not isinstance(found, Finding):
        return f"expected a Finding, got {type(found).__name__}"
    outcome, reason, evidence, score = cast("tuple[Any, ...]", found)
    if outcome not in get_args(Outcome):
        return f"unknown outcome {show(outcome, 40)}"
    if not isinstance(reason, str):
        return f"expected text as reason, got {type(reason).__name__}"
    if score is not None and not (type(score) in (int, float) and isfinite(score) and 0 <= score <= 1):
        return f"expected a score from 0 to 1, got {show(score, 40)}"
    if not isinstance(evidence, dict | None):
        return f"expected a dict as evidence, got {type(evidence).__name__}"
    return None
