"""Models of project and suite files as written: the source of their JSON Schema."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from evalgate.evaluators.core.evaluator import ToolName, ToolNames, wrap_in_list
from evalgate.models.comparison.weakening import OnWeakening
from evalgate.models.run.run import RunStatus
from evalgate.models.trace.trace import MAX_ID_LENGTH
from evalgate.strict_model import StrictModel
from evalgate.suite.policy import (
    FailOnList,
    FreshnessPolicy,
    OnDuplicates,
    OnEmptyGlobs,
    RegressionPolicy,
    Share,
    ValidityPolicy,
    VariantComparisons,
)


def _check_day(value: str) -> str:
    try:
        date.fromisoformat(value)
    except ValueError:
        raise ValueError("must be a valid date, such as 2026-12-31") from None
    return value


Day = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$"), AfterValidator(_check_day)]


def _number_as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _check_version_type(value: Any) -> Any:
    """`true` and `1.0` equal 1 in Python; as text they are refused like any other version."""
    return value if type(value) is int else str(value)


Version = Annotated[Literal[1], BeforeValidator(_check_version_type)]
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def _check_path(value: str) -> str:
    if _URL.match(value):
        raise ValueError("must be the path of a file")
    return value


_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


PATH = r"^(?:[A-Za-z_]+|\*)(?:\.(?:[A-Za-z_]+|\*))*$"


def _check_regex(value: str) -> str:
    from evalgate.measures.text.patterns import Pattern  # few suites have patterns

    Pattern(value)
    return value


def _check_visible(value: str) -> str:
    """Refuses names with invisible characters: two names that look the same are the same."""
    if not value.isprintable():
        from unicodedata import category

        if not _INVISIBLE.isdisjoint(map(category, value)):
            from pydantic_core import PydanticCustomError

            raise PydanticCustomError("unseen", "has invisible characters")
    return value


Id = Annotated[
    str,
    BeforeValidator(_number_as_text, json_schema_input_type=str | int),
    Field(min_length=1, max_length=MAX_ID_LENGTH),
    AfterValidator(_check_visible),
]
Text = Annotated[str, Field(max_length=10_000)]
Tag = Annotated[
    str, BeforeValidator(_number_as_text, json_schema_input_type=str | int), Field(min_length=1, max_length=200)
]
Opaque = Annotated[list[Tag], Field(max_length=100)]
_Glob = Annotated[str, Field(min_length=1)]
Globs = Annotated[
    list[_Glob], BeforeValidator(wrap_in_list, json_schema_input_type=_Glob | list[_Glob]), Field(min_length=1)
]
ToolList = Annotated[list[ToolName], Field(max_length=200)]
IgnoredPath = Annotated[str, Field(max_length=500, pattern=r"^(?:\[\]\.)?(?:[^.\[\]]+(?:\[\])*\.)*[^.\[\]]+$")]
IgnoredPaths = Annotated[list[IgnoredPath], Field(max_length=100)]
"""Fields as `messages[].extra`: where `[]` stands, in each entry of a list."""
MAX_NAME = 200
MAX_VARIANTS = 100
MAX_PRICES = 1_000
MAX_QUARANTINES = 200
Price = Annotated[float, Field(ge=0, le=1e6)]
Assertions = list[Any]
"""Checked by the evaluators' parser, which knows the short forms."""


class MatchEntry(StrictModel):
    """Which traces a scenario selects; all given criteria must hold."""

    path: Annotated[str, Field(min_length=1)] | None = None
    scenario_id: Id | None = None
    tags: list[Tag] = Field(default_factory=list)
    where: str | None = None


class ReadingEntry(StrictModel):
    """Fields of records that hold no calls, and are not read; one with what looks like a call needs `even_calls`."""

    ignore: IgnoredPaths = Field(default_factory=list)
    even_calls: bool = False


class ToolsEntry(StrictModel):
    """Tools that change nothing, and tools that change something, whatever their names say; with `*`."""

    lookups: ToolList = Field(default_factory=list)
    changing: ToolList = Field(default_factory=list)


class PassK(StrictModel):
    """At least `k` of `of` trials pass."""

    k: Annotated[int, Field(ge=1)]
    of: Annotated[int, Field(ge=1)]


class TrialsEntry(StrictModel):
    """What a scenario demands of its trials together."""

    min: Annotated[int, Field(ge=1)] = 1
    min_pass_rate: Annotated[float, Field(gt=0, le=1)] | None = None
    min_pass_k: PassK | None = None


class PolicyEntry(StrictModel):
    """A policy as written; keys that are not given come from the project, then from the defaults."""

    fail_on: FailOnList | None = None
    regression: RegressionPolicy | None = None
    min_evaluated: Share | None = None
    validity: ValidityPolicy | None = None
    freshness: FreshnessPolicy | None = None
    compare_variants: VariantComparisons | None = None
    on_weakening: OnWeakening | None = None
    critical_issue_threshold: Annotated[int, Field(ge=0)] | None = None
    max_false_alarm: Share | None = None
    duplicates: OnDuplicates | None = None
    empty_globs: OnEmptyGlobs | None = None


class SuiteDefaults(StrictModel):
    """Defaults of every scenario of the suite."""

    assertions: Assertions = Field(default_factory=list)


class VariantEntry(StrictModel):
    """One way the same scenarios were run: which traces belong to it, and its name of the scheduling tool.

    `match` must hold in addition to the scenario's. `tool` replaces the scenario's `expected_tool`, and
    `action` narrows it to calls whose argument `action` has this value.
    """

    match: MatchEntry = MatchEntry.from_defaults()
    tool: ToolName | None = None
    action: Annotated[str, Field(min_length=1, max_length=512)] | None = None


VariantName = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_check_visible)]
Variants = Annotated[dict[VariantName, VariantEntry], Field(max_length=MAX_VARIANTS)]


class Defaults(StrictModel):
    """Defaults of every scenario: assertions come first, the rest applies unless set closer to it.

    `traces` are relative to the project file. `custom` is checked only if there is one. `variants` are those of suites
    that set none; `tool` names the scheduling tools, which a scenario that expects no tool forbids. `tools` are those
    of suites that set none.
    """

    assertions: Assertions = Field(default_factory=list)
    traces: Globs | None = None
    threshold: Share | None = None
    format: str | None = None
    custom: Any = None
    reading: ReadingEntry | None = None
    tools: ToolsEntry | None = None
    scenario_from: str | None = None
    tool: ToolNames | None = None
    variants: Variants = Field(default_factory=dict)


class ScenarioEntry(StrictModel):
    """One scenario as written.

    `prompt` and `category` are for people. `expected_tool` demands at least `min_calls` calls of a tool;
    null demands none. `expected_skill` demands that a skill is used, null that none is. `variants` replace the
    suite's; empty: none.
    """

    id: Id
    description: Text | None = None
    prompt: Text | None = None
    category: Tag | None = None
    expected_tool: ToolName | None = None
    min_calls: Annotated[int, Field(ge=0)] | None = None
    expected_skill: Annotated[str, Field(min_length=1, max_length=512)] | None = None
    tags: list[Tag] = Field(default_factory=list)
    match: MatchEntry | None = None
    threshold: Share | None = None
    optional: bool = False
    allow_errors: bool = False
    run_status: RunStatus | None = None
    opaque: Opaque | None = None
    trials: TrialsEntry = TrialsEntry.from_defaults()
    variants: Variants | None = None
    assertions: Assertions = Field(default_factory=list)


class PriceEntry(StrictModel):
    """The prices of a model, in US dollars per million tokens.

    `input` is for uncached tokens; without `cache_read` or `cache_write` cached ones cost the same.
    """

    input: Price
    output: Price
    cache_read: Price | None = None
    cache_write: Price | None = None


ModelName = Annotated[str, Field(min_length=1, max_length=512)]
Prices = Annotated[dict[ModelName, PriceEntry | None], Field(max_length=MAX_PRICES)]


class QuarantineEntry(StrictModel):
    """Scenarios that are judged and shown but do not block, until a day at most 90 days ahead.

    `scenario` is an id, in which `*` matches anything; without `variant` all of its variants are included.
    """

    scenario: Id
    variant: VariantName | None = None
    reason: Annotated[str, Field(min_length=1, max_length=1_000)]
    until: Day
    who: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class NormaliseEntry(StrictModel):
    """What changes from run to run in the messages of requests, so that a cassette does not depend on it.

    Texts that `regex` matches, or the whole value at `path`, become `with`. `built_in: false` ends the masks that
    always hold otherwise: UUIDs, and times with date and hour.
    """

    regex: Annotated[str, Field(min_length=1), AfterValidator(_check_regex)] | None = None
    path: Annotated[str, Field(pattern=PATH)] | None = None
    with_: Annotated[str, Field(max_length=200)] | None = Field(default=None, alias="with")
    built_in: bool | None = None

    @model_validator(mode="after")
    def _is_one_rule(self) -> Self:
        rules = [self.regex, self.path, self.built_in]
        if sum(each is not None for each in rules) != 1 or (self.with_ is None) != (self.built_in is not None):
            raise ValueError("an entry has `with` and one of `regex` and `path`, or only `built_in`")
        return self


class SuiteFile(StrictModel):
    """One suite as written; without `suite` it is named after its file.

    It has scenarios or goldens, or both. `custom`, `goldens` and `golden` are checked only if a suite has any.
    """

    version: Version = 1
    suite: Annotated[str, Field(min_length=1, max_length=MAX_NAME), AfterValidator(_check_visible)] | None = None
    description: Text | None = None
    traces: Globs | None = None
    format: str | None = None
    custom: Any = None
    reading: ReadingEntry | None = None
    tools: ToolsEntry | None = None
    scenario_from: str | None = None
    threshold: Share | None = None
    run_status: RunStatus = "ok"
    opaque: Opaque = Field(default_factory=list)
    defaults: SuiteDefaults = SuiteDefaults.from_defaults()
    variants: Variants = Field(default_factory=dict)
    scenarios: Annotated[list[ScenarioEntry], Field(min_length=1)] = Field(default_factory=list)
    goldens: Annotated[list[Any], Field(min_length=1)] = Field(default_factory=list)
    golden: dict[str, Any] | None = None
    quarantine: Annotated[list[QuarantineEntry], Field(max_length=MAX_QUARANTINES)] = Field(default_factory=list)
    normalise: Annotated[list[NormaliseEntry], Field(max_length=100)] = Field(default_factory=list)
    prices: Prices = Field(default_factory=dict)
    policy: PolicyEntry = PolicyEntry.from_defaults()


class ProjectFile(StrictModel):
    """`evalgate.yaml` as written. `store` is a path: a repository may not choose hosts for the gate.

    `redact` is checked only if a project has it. Only editors read `schema_url`, never the gate.
    """

    version: Version
    suites: Globs
    defaults: Defaults = Defaults.from_defaults()
    store: Annotated[str, Field(min_length=1, max_length=1_000), AfterValidator(_check_path)] | None = None
    schema_url: Annotated[str, Field(max_length=1_000, pattern=r"^https?://[!-~]+$")] | None = None
    prices: Prices = Field(default_factory=dict)
    redact: Any = None
    policy: PolicyEntry = PolicyEntry.from_defaults()
