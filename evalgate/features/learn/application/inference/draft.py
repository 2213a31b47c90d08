"""A suite that is inferred but not written yet: its checks can be dropped or required one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import asdict

from evalgate.features.learn.application.inference.suite_text import (
    FieldText,
    ScenarioText,
    format_check,
    format_scenario,
)
from evalgate.models.trace.trace import NO_KINDS, ToolKinds
from evalgate.reporting.text.flow_style import format_comment, format_value
from evalgate.reporting.text.wording import pluralize
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from evalgate.features.learn.application.inference.checks import InferredCheck, Strictness
    from evalgate.features.learn.application.inference.variants import Variants

FAIL_ON = ["hard_fail", "broken", "below_threshold"]
HOLLOW = "an agent that does nothing passes this"
REQUIRED_ONLY = "only required checks fail a trial; one that is `always` required fails the scenario"
SCORES_ONLY = "only required checks block: too few trials passed to demand the others"
OFFERED = "not checked, since another run may use another code or number; remove the # if none may:"
NO_CHECK = "no check of its own: only what all scenarios share is checked here"


class SuiteHead(Struct, frozen=True):
    """The head of a suite: its name, where its traces are (relative to it), and their format."""

    name: str
    traces: Sequence[str]
    form: str | None = None
    schema: str | None = None
    """The path or URL of the schema for editors, None without one."""
    kinds: ToolKinds = NO_KINDS
    """What a person says of tools."""


class CheckPlace(NamedTuple):
    """Where a check is: the index of its scenario, None if all share it, and its number; None for all of them."""

    scenario: int | None
    number: int | None


class DraftScenario(Struct):
    """A scenario of a draft, learnt from so many passing trials of all that were recorded."""

    id: str
    checks: list[InferredCheck]
    passing: int
    recorded: int
    fields: list[FieldText] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    offers: list[str] = field(default_factory=list)
    prompt: str | None = None
    """The request of all trials, if they have one in common."""

    is_hollow: bool = False
    """Whether an agent that does nothing passes it."""

    is_left_out: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether it has no check of its own."""
        return not self.checks

    def set_pass_rate(self, rate: float, reason: str, broken: Collection[int]) -> None:
        """Lets trials fail by the checks with these numbers: only this share must pass all that is required."""
        self.fields = [
            FieldText("threshold", 0, REQUIRED_ONLY),
            FieldText("trials", {"min_pass_rate": rate}, reason),
        ]
        self.checks = [check.require(always=at not in broken) for at, check in enumerate(self.checks)]

    def score_only(self, broken: Collection[int]) -> None:
        """Lets trials fail the checks with these numbers: they only lower the score."""
        self.fields = [FieldText("threshold", 0, SCORES_ONLY)]
        self.checks = [check.score_only() if at in broken else check.require() for at, check in enumerate(self.checks)]

    def describe(self) -> ScenarioText:
        """The scenario as it is written."""
        trials = pluralize(self.recorded, "trial")
        reason = trials if self.passing == self.recorded else f"{self.passing:,} of {trials} passed"
        notes = [*([NO_CHECK] if self.is_empty else [HOLLOW] if self.is_hollow else []), *self.notes]
        offers = [OFFERED, *self.offers] if self.offers else []
        asked = [] if self.prompt is None else [FieldText("prompt", self.prompt)]
        return ScenarioText(self.id, reason, [*asked, *self.fields], self.checks, notes, offers)


class DraftSuite(Struct):
    """An inferred suite that is not written yet; `notes` are comments in its head."""

    head: SuiteHead
    strictness: Strictness
    shared: list[InferredCheck]
    scenarios: list[DraftScenario]
    passing: int
    notes: list[str] = field(default_factory=list)
    omitted: list[str] = field(default_factory=list)
    """Kinds of scenarios that the suite leaves out, with their number."""
    variants: Variants | None = None
    mixed: list[str] = field(default_factory=list)
    """The ids of scenarios whose trials were recorded for several tasks."""

    @property
    def written(self) -> list[DraftScenario]:
        """The scenarios that check something: what all share is enough."""
        return [scenario for scenario in self.scenarios if self._is_written(scenario)]

    @property
    def hollow(self) -> list[str]:
        """The ids of the scenarios that an agent passes that does nothing."""
        return [scenario.id for scenario in self.written if scenario.is_hollow]

    @property
    def unchecked(self) -> list[str]:
        """The ids of the scenarios that only what all share checks."""
        return [scenario.id for scenario in self.written if scenario.is_empty]

    def count_names(self) -> int:
        """The number of checks, and of names that they list, which judge a trace at most."""
        own = (sum(map(_count_names, scenario.checks)) for scenario in self.written)
        return sum(map(_count_names, self.shared)) + max(own, default=0)

    def _is_written(self, scenario: DraftScenario) -> bool:
        return not scenario.is_left_out and not (scenario.is_empty and not self.shared)

    def render(self) -> tuple[str, dict[int, CheckPlace]]:
        """The text, and the place of each check by its line, from 1; a scenario's first line is the place of all."""
        lines: list[str] = list(self._render_head())
        places: dict[int, CheckPlace] = {}
        if self.shared:
            lines += ["defaults:", "  assertions:  # of every scenario"]
            for number, check in enumerate(self.shared):
                lines.append(format_check(check, 4))
                places[len(lines)] = CheckPlace(None, number)
        lines.append("scenarios:")
        for index, scenario in enumerate(self.scenarios):
            if not self._is_written(scenario):
                continue
            written, at = format_scenario(scenario.describe(), 2)
            places[len(lines) + 1] = CheckPlace(index, None)
            places |= {len(lines) + line + 1: CheckPlace(index, number) for line, number in at.items()}
            lines += written
        return "\n".join(lines) + "\n", places

    def _render_head(self) -> Iterator[str]:
        head = self.head
        if head.schema is not None:
            yield format_comment(f"yaml-language-server: $schema={head.schema}")
        count = pluralize(self.passing, "trace")
        yield format_comment(f"generated by evalgate {__version__} from {count} that passed; edit freely")
        yield from map(format_comment, [*(f"left out: {each}" for each in self.omitted), *self.notes])
        yield "version: 1"
        yield f"suite: {format_value(head.name)}"
        yield from _format_patterns(head.traces)
        if head.form is not None:
            yield f"format: {format_value(head.form)}"
        if head.kinds != NO_KINDS:
            yield f"tools: {format_value({key: list(names) for key, names in asdict(head.kinds).items() if names})}"
        if self.strictness != "loose":
            yield "threshold: 1.0  # a trial passes if every check does"
        yield f"policy: {{fail_on: {format_value(FAIL_ON)}}}"
        if self.variants is not None:
            yield f"variants: {format_value(self.variants.describe())}"

    def drop(self, place: CheckPlace) -> None:
        """Drops a check that does not hold, or all of a scenario."""
        if place.scenario is not None and place.number is None:
            self.scenarios[place.scenario].is_left_out = True
        elif place.number is not None:
            del (self.shared if place.scenario is None else self.scenarios[place.scenario].checks)[place.number]

    def require_shared(self, scored: Collection[int], broken: Collection[int]) -> None:
        """Requires what all scenarios share: always, or in as many trials as must pass for those that are `broken`.

        Those in `scored` only lower the score. Limits are never required.
        """
        self.shared = [
            check.score_only() if at in scored else check.require(always=at not in broken)
            for at, check in enumerate(self.shared)
        ]


def _format_patterns(patterns: Sequence[str]) -> Iterator[str]:
    """The patterns of traces: one on the line of the key, several below it."""
    if len(patterns) == 1:
        yield f"traces: {format_value(list(patterns))}"
        return
    yield "traces:"
    yield from (f"  - {format_value(pattern)}" for pattern in patterns)


def _count_names(check: InferredCheck) -> int:
    """How much work a check is: 1, and 1 for each text in its lists."""
    count = 1
    values: list[Any] = [check.entry]
    while values:
        value = values.pop()
        values += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        count += sum(isinstance(each, str) for each in value) if isinstance(value, list) else 0
    return count
