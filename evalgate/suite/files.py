"""What a project file and a suite file may say, as written: the source of their JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from evalgate.models.trace import MAX_ID_LENGTH
from evalgate.suite.policy import Closed, FailOnList, RegressionPolicy, Share


def _number_as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _one_as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Id = Annotated[str, BeforeValidator(_number_as_text), Field(min_length=1, max_length=MAX_ID_LENGTH)]
Text = Annotated[str, Field(max_length=10_000)]
Tag = Annotated[str, BeforeValidator(_number_as_text), Field(min_length=1, max_length=200)]
Globs = Annotated[
    list[Annotated[str, Field(min_length=1)]], BeforeValidator(_one_as_list), Field(min_length=1)
]
Assertions = list[Any]
"""Checked by the evaluators' own parser, which knows the short forms."""


class MatchEntry(Closed):
    """Which traces a scenario asks for; all that is given must hold."""

    path: Annotated[str, Field(min_length=1)] | None = None
    scenario_id: Id | None = None
    tags: list[Tag] = Field(default_factory=list)
    where: str | None = None


class PassK(Closed):
    """At least `k` of `of` trials pass."""

    k: Annotated[int, Field(ge=1)]
    of: Annotated[int, Field(ge=1)]


class TrialsEntry(Closed):
    """What a scenario demands of its trials together."""

    min: Annotated[int, Field(ge=1)] = 1
    min_pass_rate: Share | None = None
    min_pass_k: PassK | None = None


class PolicyEntry(Closed):
    """A policy as written: what is not said comes from the project and then the defaults."""

    fail_on: FailOnList | None = None
    regression: RegressionPolicy | None = None
    min_evaluated: Share | None = None


class Defaults(Closed):
    """What every scenario gets: assertions come first, scalars where nothing nearer says otherwise."""

    assertions: Assertions = Field(default_factory=list)
    threshold: Share | None = None
    format: str | None = None
    scenario_from: str | None = None


class SuiteDefaults(Closed):
    """What every scenario of the suite gets."""

    assertions: Assertions = Field(default_factory=list)


class ScenarioEntry(Closed):
    """One scenario as written.

    `prompt` and `category` are for people. `expected_tool` asks for at least `min_calls` calls of a tool;
    null asks for none.
    """

    id: Id
    description: Text | None = None
    prompt: Text | None = None
    category: Tag | None = None
    expected_tool: Annotated[str, Field(min_length=1, max_length=512)] | None = None
    min_calls: Annotated[int, Field(ge=0)] | None = None
    tags: list[Tag] = Field(default_factory=list)
    match: MatchEntry | None = None
    threshold: Share | None = None
    optional: bool = False
    allow_errors: bool = False
    trials: TrialsEntry = TrialsEntry()
    assertions: Assertions = Field(default_factory=list)


class SuiteFile(Closed):
    """One suite as written."""

    version: Literal[1]
    suite: Annotated[str, Field(min_length=1, max_length=200)]
    description: Text | None = None
    traces: Globs | None = None
    format: str | None = None
    scenario_from: str | None = None
    threshold: Share | None = None
    defaults: SuiteDefaults = SuiteDefaults()
    scenarios: Annotated[list[ScenarioEntry], Field(min_length=1)]
    policy: PolicyEntry = PolicyEntry()


class ProjectFile(Closed):
    """`evalgate.yaml` as written."""

    version: Literal[1]
    suites: Globs
    defaults: Defaults = Defaults()
    policy: PolicyEntry = PolicyEntry()
