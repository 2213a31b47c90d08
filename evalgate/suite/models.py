"""Suites ready to run: expressions and patterns compiled, defaults applied, locations kept."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from evalgate.measures.prices import Rates
from evalgate.measures.text.globs import matches_id
from evalgate.models.trace.trace import NO_KINDS

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping, Sequence

    from evalgate.errors import Location, Problem
    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.measures.jmespath.query import Query
    from evalgate.models.comparison.weakening import Quarantine
    from evalgate.models.trace.trace import Role, ToolKinds
    from evalgate.scoring.golden.rules import GoldenRules
    from evalgate.scoring.scenario import TrialRules
    from evalgate.suite.custom_file import EntryKind
    from evalgate.suite.suite_file import PolicyEntry, PriceEntry

Found = TypeVar("Found")


class SuitePrices(Struct, frozen=True):
    """Prices by model, the nearest first; None means that a model's price stays unknown."""

    entries: Sequence[tuple[str, Rates | None]] = ()

    def find(self, model: str) -> tuple[bool, Rates | None]:
        """Whether an entry matches the model, and its rates."""
        found = next((entry for entry in self.entries if matches_id(entry[0], model)), None)
        return (False, None) if found is None else (True, found[1])

    @property
    def label(self) -> str | None:
        """A name that changes with the prices; None without any."""
        if not self.entries:
            return None
        return f"prices {hashlib.sha256(repr(list(self.entries)).encode()).hexdigest()[:12]}"


def merge_prices(*tables: Mapping[str, PriceEntry | None]) -> SuitePrices:
    """Merges the prices of several files; the first that names a model wins."""
    return SuitePrices([(model, _build_rates(entry)) for table in tables for model, entry in table.items()])


def _build_rates(entry: PriceEntry | None) -> Rates | None:
    """Cached tokens cost the same as others unless the entry sets a price."""
    if entry is None:
        return None
    cache_prices: Any = (entry.cache_read, entry.cache_write)
    read, write = (entry.input if each is None else each for each in cache_prices)
    return Rates(entry.input, entry.output, read, write)


CUSTOM = "custom"


class EntryMapping(Struct, frozen=True):
    """What the entries of a run are.

    `items` finds them in the run, None if the run is their list; `type_field` finds the type of one. `types` are the
    kinds by type, in which `*` is any text. `has_calls`: the suite says where calls are.
    """

    items: Query | None
    type_field: Query
    types: Mapping[str, EntryKind]
    has_calls: bool

    def find_kind(self, name: str) -> EntryKind | None:
        """What an entry of this type is: by its name, else by the first that matches; None for an unknown type."""
        return self.types.get(name) or find_match(self.types, name)


def find_match(entries: Mapping[str, Found], name: str) -> Found | None:
    """The value of the first key with `*` that matches the name."""
    return next((found for key, found in entries.items() if "*" in key and matches_id(key, name)), None)


class Ignored(Struct, frozen=True):
    """Fields that hold no calls, as a suite says: `a[].b`, from a record or from each entry of one that is a list.

    A field with what has the shape of a call is refused without `even_calls`.
    """

    paths: tuple[str, ...] = ()
    even_calls: bool = False


NOTHING_IGNORED = Ignored()


class CustomMapping(Struct, frozen=True):
    """Compiled expressions by field name: of the run, of a message in it, of a tool call.

    `joins_lines`: the lines of a file are one list, and one run unless `run_id` finds different values in them.
    `calls` leads from the run to a list of all its calls, `records` from a document to its runs; None if the
    suite does not set it. `entries` says what each entry of a run is, None where `messages` lists messages;
    `join` finds the id of a call in its entry, and in that of its result. Keys of `roles` may have `*`.
    `has_no_tools`: the suite states that the agent makes no calls. `ignored` are fields without calls.
    """

    joins_lines: bool
    run_id: Query | None
    records: Query | None
    entries: EntryMapping | None
    join: Mapping[str, Query]
    run: Mapping[str, Query]
    message: Mapping[str, Query]
    call: Mapping[str, Query]
    calls: Query | None
    roles: Mapping[str, Role]
    has_no_tools: bool = False
    ignored: Ignored = NOTHING_IGNORED


class FilteredForm(Struct, frozen=True):
    """A format, by its name or as a suite declares it, and fields that are left out of what is read."""

    form: str | CustomMapping
    ignored: Ignored


Form = str | CustomMapping | FilteredForm
"""How traces are read."""


def leave_out(form: str | CustomMapping, ignored: Ignored) -> Form:
    """The form, without the ignored fields if there are any."""
    return FilteredForm(form, ignored) if ignored.paths else form


NO_PRICES = SuitePrices()


class Match(Struct, frozen=True):
    """Which traces a scenario selects. `scenario_id` may contain `*`; None if other criteria decide."""

    scenario_id: str | None
    path: re.Pattern[str] | None = None
    tags: frozenset[str] = frozenset()
    where: Query | None = None

    @property
    def is_exact(self) -> bool:
        """True if it names one id: such scenarios claim their traces before any glob."""
        return self.scenario_id is not None and "*" not in self.scenario_id


class Variant(Struct, frozen=True):
    """One of several ways the scenarios of a suite were run.

    A trace belongs to it if `match` holds in addition to the scenario's. `tool` and `action` select the calls
    that scheduling checks look at, None if the scenario decides.
    """

    name: str
    match: Match
    tool: str | None
    action: str | None
    location: Location | None


class Scenario(Struct, frozen=True):
    """One situation to judge, in one variant if the suite has any.

    An id with `*` makes one scenario of every id it matches. Scenarios of one entry are adjacent: they differ
    in `variant` and `assertions` only.
    """

    id: str
    match: Match
    threshold: float
    rules: TrialRules
    assertions: Sequence[Assertion]
    location: Location | None
    variant: Variant | None = None
    golden: GoldenRules | None = None  # if set, `assertions` begins with the dimensions

    @property
    def is_glob(self) -> bool:
        """True if one entry makes many scenarios."""
        return "*" in self.id


class Suite(Struct, frozen=True):
    """One suite file. `folder` contains it; paths of `match` are relative to `folder`.

    `traces` are relative to `traces_folder`, which is the project's if the globs are; None if neither file
    has any. `custom` is how traces are read if `format_name` is `custom`; None otherwise. `format_location`
    is where the file sets its format; None if it does not. `ignored` are fields of records without calls.
    """

    name: str
    path: str
    folder: str
    traces: Sequence[str] | None
    traces_folder: str
    format_name: str
    custom: CustomMapping | None
    scenario_from: Query | None
    scenarios: Sequence[Scenario]
    policy: PolicyEntry
    content: dict[str, Any]  # the file's content, for the baseline
    prices: SuitePrices = NO_PRICES  # the suite's before its project's
    format_location: Location | None = None
    quarantine: Sequence[Quarantine] = ()
    ignored: Ignored = NOTHING_IGNORED
    tool_kinds: ToolKinds = NO_KINDS
    listed_tools: Mapping[str, Location] = {}  # in `tool_kinds`, where the suite itself lists them

    @property
    def form(self) -> Form:
        """How its traces are read."""
        return leave_out(self.custom or self.format_name, self.ignored)


class Configuration(Struct, frozen=True):
    """All suites of a run, the policy and prices of their project, and warnings about them.

    `project_path` is the path of the project file, None without one.
    """

    suites: Sequence[Suite]
    policy: PolicyEntry
    warnings: Sequence[Problem]
    project_content: dict[str, Any]  # the project file's content, {} without one
    prices: SuitePrices = NO_PRICES
    project_path: str | None = None
