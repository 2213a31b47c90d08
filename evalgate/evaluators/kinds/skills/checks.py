"""Checks of which skills an agent uses: one that it must, before a tool, with its files; those that it must not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from evalgate.evaluators.core.evaluator import (
    ARGUMENTS,
    FAILED,
    MAX_TOOLS,
    PASSED,
    Check,
    Evaluator,
    EvidenceCheck,
    Finding,
    Order,
    ToolName,
    careful_form,
    plain_form,
    require_evidence,
    wrap_in_list,
)
from evalgate.evaluators.kinds.calls.call_selection import Denial, format_names, mark_names, name_call
from evalgate.evaluators.kinds.skills.uses import find_skills
from evalgate.measures.text.globs import matches_id
from evalgate.measures.text.similar_names import is_denied
from evalgate.measures.values.json_values import mark_name
from evalgate.strict_model import described

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evalgate.evaluators.kinds.skills.uses import SkillTrace, SkillUse
    from evalgate.models.trace.trace import Trace

SkillName = Annotated[str, Field(min_length=1, max_length=512)]
SkillNames = Annotated[
    list[SkillName],
    BeforeValidator(wrap_in_list, json_schema_input_type=SkillName | list[SkillName]),
    Field(min_length=1, max_length=MAX_TOOLS),
]


class SkillUsed(Evaluator):
    """The agent used the skill `skill`: with the tool of its harness, or by reading its SKILL.md.

    `*` in the name matches any characters; the name of a plugin before it may be left out. With `before`, it did so
    before it asked for the first call of that tool; with `files`, it read or ran each of these files of the skill.
    """

    type: Literal["skill_used"]
    other_names = ("skill-invoked",)
    orders: ClassVar[dict[str, Order]] = {"skill": "unordered", "before": "equal_if_given", "files": "forbidden"}
    forbids = ("before",)
    forbids_only_some = True
    skill: Annotated[SkillName, described("The name of a skill; `*` matches any characters.", "pdf*")]
    before: Annotated[ToolName | None, described("A tool that it must not call before.", "fill_form")] = None
    files: Annotated[
        SkillNames | None, described("Files in its folder that it must have read or run.", ["references/*.md"])
    ] = None

    def label(self) -> str:
        """The check in words."""
        before = f" before {self.before}" if self.before else ""
        return f"skill {self.skill} used{before}" + (f", with {format_names(self.files)}" if self.files else "")

    def compile(self) -> Check:
        """Returns a check of the skills that were surely used."""
        final = PASSED if self.before is None else ()
        return require_evidence(lambda trace: self._judge(trace, matches_id), ARGUMENTS, final)

    def compile_opposite(self) -> Check:
        """Returns a check of every attempt, by names that are written alike."""

        def check(trace: Trace) -> Finding:
            tried = [each for each in find_skills(trace).uses if is_skill(self.skill, each.skill, is_denied)]
            return self._judge(trace, is_denied) if not tried or self.before or self.files else describe_used(tried)

        return require_evidence(check, ARGUMENTS, PASSED if self.before is None else ())

    def _judge(self, trace: Trace, matches: Callable[[str, str], bool]) -> Finding:
        found = find_skills(trace)
        own = [each for each in found.uses if is_skill(self.skill, each.skill, matches)]
        used = [each for each in own if each.state == "used"]
        if not used:
            return describe_unclear(found, own) or self._describe_unused(found, own)
        return self._judge_order(trace, used) or self._judge_files(found, used) or describe_used(used)

    def _describe_unused(self, found: SkillTrace, own: Sequence[SkillUse]) -> Finding:
        skill = mark_name(self.skill)
        if own:
            return Finding("failed", f"skill {skill} must be used, but loading it failed (call {own[0].number:,})")
        others = dict.fromkeys(each.skill for each in found.uses if each.skill is not None)
        instead = f"the agent used {mark_names(list(others))}" if others else "no skill was used"
        return Finding("failed", f"skill {skill} must be used, but {instead}")

    def _judge_order(self, trace: Trace, used: Sequence[SkillUse]) -> Finding | None:
        calls = [] if self.before is None else Denial((self.before,)).list_calls(trace)
        if not calls:
            return None
        first = calls[0].number
        if any(is_earlier(trace, each, first) for each in used):
            return None
        place = f"call {used[0].number:,}"
        return Finding(
            "failed",
            f"skill {mark_name(self.skill)} must be used before {mark_name(calls[0].name)} (call {first:,}),"
            f" but was used in {place}" + (", of the same answer" if used[0].number < first else ""),
        )

    def _judge_files(self, found: SkillTrace, used: Sequence[SkillUse]) -> Finding | None:
        skills = [each.skill for each in used if each.skill is not None]
        missing = [
            each for each in self.files or () if not any(found.has_file(skill, each, matches_id) for skill in skills)
        ]
        if not missing:
            return None
        if unclear := describe_unclear(found, ()):
            return unclear
        return Finding(
            "failed", f"of skill {mark_name(self.skill)} {mark_names(missing)} must be read or run, but was not"
        )


class NoSkill(Evaluator):
    """The agent used none of the skills in `skill`, by default no skill at all; an attempt that failed counts.

    `*` in a name matches any characters; names that are written alike are the same.
    """

    type: Literal["no_skill"]
    other_names = ("skill-not-used",)
    orders: ClassVar[dict[str, Order]] = {"skill": "forbidden"}
    skill: Annotated[SkillNames, described("Names of skills; `*` matches any characters.", ["deploy*"])] = ["*"]

    def label(self) -> str:
        """The check in words."""
        return "no skill" if self.skill == ["*"] else f"no skill {format_names(self.skill)}"

    def compile(self) -> Check:
        """Returns a check of every attempt, however the name is written."""
        return require_evidence(
            lambda trace: self._judge(trace, is_denied, ("used", "failed", "unclear")), ARGUMENTS, FAILED
        )

    def compile_opposite(self) -> Check:
        """Returns a check of the exact names that were surely used: that none was must not pass."""
        return require_evidence(lambda trace: self._judge(trace, matches_id, ("used",)), ARGUMENTS, FAILED)

    def _judge(self, trace: Trace, matches: Callable[[str, str], bool], states: Iterable[str]) -> Finding:
        found = find_skills(trace)
        own = [each for each in found.uses if any(is_skill(name, each.skill, matches) for name in self.skill)]
        counted = [each for each in own if each.state in states]
        if counted:
            skill, place = counted[0].skill, name_call(counted[0].number, counted[0].call["actor"])
            named = "a skill" if skill is None else f"skill {mark_name(skill)}"
            return Finding("failed", f"{named} must not be used, but was ({place})")
        return describe_unclear(found, own) or Finding("passed", "no such skill was used")


class ExpectedSkill(Evaluator):
    """The agent used the skill `expected_skill`; if that is null, no skill at all.

    It is what the `expected_skill` of a scenario demands. Reports make precision and recall of all of them.
    """

    type: Literal["expected_skill"]
    orders: ClassVar[dict[str, Order]] = {"expected_skill": "unordered"}
    expected_skill: Annotated[SkillName | None, described("The skill that must be used; null: none.", "pdf")]

    def label(self) -> str:
        """The check in words."""
        return "no skill" if self.expected_skill is None else f"skill {self.expected_skill} used"

    def compile(self) -> Check:
        """Returns a check that counts, in its evidence, which of the skills that were used are right."""
        skill = self.expected_skill
        inner = (NoSkill(type="no_skill") if skill is None else SkillUsed(type="skill_used", skill=skill)).compile()
        return EvidenceCheck(self._count(plain_form(inner)), self._count(careful_form(inner)))

    def _count(self, inner: Check) -> Check:
        expected = self.expected_skill

        def check(trace: Trace) -> Finding:
            found = inner(trace)
            if found.outcome not in ("passed", "failed"):
                return found
            used = dict.fromkeys(each.skill for each in find_skills(trace).uses if each.state == "used")
            right = [each for each in used if expected is not None and is_skill(expected, each, matches_id)]
            missed = int(expected is not None and not right)
            counts = {"right": int(bool(right)), "wrong": len(used) - len(right), "missed": missed}
            return found._replace(evidence={"expected": expected, "used": list(used), **counts})

        return check


def is_skill(pattern: str, skill: str | None, matches: Callable[[str, str], bool]) -> bool:
    """Whether a skill is meant, also without the name of the plugin before it; one of unknown name only by `*`."""
    if skill is None:
        return pattern == "*"
    return matches(pattern, skill) or matches(pattern, skill.rpartition(":")[2])


def is_earlier(trace: Trace, use: SkillUse, number: int) -> bool:
    """Whether a skill was loaded before a call was asked for: calls of one answer of the model are made at once."""
    step = use.call["step"]
    return use.number < number and (not step or step != trace.agent_calls[number - 1]["step"])


def describe_used(used: Sequence[SkillUse]) -> Finding:
    """That a skill was used, in a form that other runs share."""
    return Finding("passed", f"skill {mark_name(used[0].skill)} was used" if used[0].skill else "a skill was used")


def describe_unclear(found: SkillTrace, own: Sequence[SkillUse]) -> Finding | None:
    """The first call that may have loaded a skill of these, or of any name; None without one."""
    for each in found.uses:
        if (each.skill is None and each.state != "failed") or (each.state == "unclear" and each in own):
            tool = mark_name(each.call["name"])
            return Finding("not_evaluable", f"call {each.number:,} of {tool} may have loaded it: its text does not say")
    return None
