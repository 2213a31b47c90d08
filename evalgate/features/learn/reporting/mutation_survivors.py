"""Changes that no suite would notice, in words, with the checks that would."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.reporting.text.flow_style import format_value
from evalgate.reporting.text.wording import pluralize, scenario_name, scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evalgate.models.mutation import OperatorName, Survivor
    from evalgate.reporting.terminal.terminal_page import TerminalPage

MAX_LINES = 20
NOTHING = "nothing would notice"
SENTENCES: dict[OperatorName, str] = {
    "drop_call": "`{tool}` were not called",
    "duplicate_call": "`{tool}` were called twice",
    "swap_calls": "`{other}` were called before `{tool}`",
    "change_argument": "`{other}` of `{tool}` had another value",
    "other_tool": "`{other}` were called instead of `{tool}`",
    "ignored_error": "`{tool}` failed and the agent went on",
    "empty_answer": "the answer were empty",
    "triple_cost": "the run cost three times as much",
    "triple_latency": "the run took three times as long",
    "refusal": "the agent refused",
    "truncated_run": "the run ended halfway",
    "extra_destructive_call": "`{tool}` were called as well",
    "invented_argument": "`{other}` of `{tool}` were invented",
    "steered_recipient": "a result chose `{other}` of `{tool}`",
    "known_argument": "`{other}` of `{tool}` had another value that the run knows",
    "second_record": "`{other}` of the state changed as well",
    "failed_run": "the run ended in an error",
    "other_skill": "skill `{other}` were used in its place",
}


class SurvivorLine(NamedTuple):
    """One sentence, the survivors that it stands for, and the check that notices them, empty if none was found."""

    sentence: str
    check: str
    members: Sequence[Survivor]

    @property
    def harm(self) -> int:
        """That of the most harmful survivor: the lower the worse."""
        return min(each.harm for each in self.members)


def add_all_survivors(page: TerminalPage, survivors: Sequence[Survivor]) -> None:
    """Every survivor of each scenario, with its first trace."""
    scenarios: dict[object, list[Survivor]] = {}
    for each in survivors:
        scenarios.setdefault(each.scenario, []).append(each)
    for members in scenarios.values():
        key = members[0].scenario
        heading = f"{scope(key.suite, scenario_name(key.id, key.variant))}: {NOTHING}"
        lines = [SurvivorLine(_complete(each), format_survivor_check(each) or "", [each]) for each in members]
        _add_lines(page, heading, sorted(lines, key=lambda line: line.harm), _locate_first)


def add_main_survivors(page: TerminalPage, survivors: Sequence[Survivor]) -> None:
    """The most harmful survivors over all scenarios, each sentence once for each check that notices it."""
    found: dict[tuple[str, str], list[Survivor]] = {}
    for each in survivors:
        found.setdefault((_complete(each), format_survivor_check(each) or ""), []).append(each)
    lines = [SurvivorLine(*key, members) for key, members in found.items()]
    ranked = sorted(lines, key=lambda line: (line.harm, -len(line.members)))
    _add_lines(page, NOTHING, _choose_lines(ranked), _name_scenarios)
    if len(ranked) > MAX_LINES:
        page.add_text(f"and {len(ranked) - MAX_LINES:,} more (-v prints all)", indent=0)


def _choose_lines(ranked: Sequence[SurvivorLine]) -> list[SurvivorLine]:
    """At most MAX_LINES in their order: the first of each operator, then the others from the first."""
    firsts: dict[OperatorName, int] = {}
    for number, line in enumerate(ranked):
        firsts.setdefault(line.members[0].operator, number)
    others = [number for number in range(len(ranked)) if number not in firsts.values()]
    return [ranked[number] for number in sorted([*firsts.values(), *others][:MAX_LINES])]


def _add_lines(
    page: TerminalPage, heading: str, lines: Sequence[SurvivorLine], describe: Callable[[SurvivorLine], str]
) -> None:
    """The lines by the check that notices them, and at last those without one."""
    groups: dict[str, list[SurvivorLine]] = {}
    for line in lines:
        groups.setdefault(line.check, []).append(line)
    without = groups.pop("", [])
    if groups:
        page.add_text(heading, indent=0)
    for check, members in groups.items():
        for line in members:
            page.add_text(f"if {line.sentence} ({describe(line)})", indent=2)
        page.add_text(_invite([each for line in members for each in line.members]), indent=4)
        page.add_command(f"- {check}", indent=6)
    if without:
        page.add_text(f"{heading}, and no single check that was tried distinguishes it from passing traces", indent=0)
    for line in without:
        page.add_text(f"if {line.sentence} ({describe(line)})", indent=2)
    if any(each.operator == "change_argument" for line in without for each in line.members):
        page.add_text("to notice another value of an argument, edit `args` of a `tool_sequence`", indent=2)


def _invite(survivors: Sequence[Survivor]) -> str:
    """How many of the changes a check notices, and where to add it."""
    noticed, count = sum(each.noticed for each in survivors), sum(each.count for each in survivors)
    share = {1: "it", 2: "both"}.get(count, f"all {count:,}")
    share = share if noticed == count else f"{noticed:,} of these {count:,} changes"
    entries = list(dict.fromkeys((each.scenario.suite, each.entry) for each in survivors))
    if len(entries) > 1:
        return f"to notice {share}, add to each of these {len(entries):,} scenarios"
    is_pattern = entries[0][1] != survivors[0].scenario.id
    return f"to notice {share}, add" + (f" to scenario {entries[0][1]}" if is_pattern else "")


def _name_scenarios(line: SurvivorLine) -> str:
    keys = list(dict.fromkeys(each.scenario for each in line.members))
    more = f" and {pluralize(len(keys) - 1, 'more scenario')}" if len(keys) > 1 else ""
    return f"{scenario_name(keys[0].id, keys[0].variant)}{more}"


def _locate_first(line: SurvivorLine) -> str:
    survivor = line.members[0]
    return f"{survivor.count:,} of {survivor.tried:,}: {survivor.example}"


def describe_survivor(survivor: Survivor) -> str:
    """The change in words: what would not be noticed."""
    return f"{NOTHING} if {_complete(survivor)}"


def _complete(survivor: Survivor) -> str:
    return SENTENCES[survivor.operator].format(tool=survivor.tool, other=survivor.other)


def format_survivor_check(survivor: Survivor) -> str | None:
    """The check that notices a survivor, as in a suite."""
    return None if survivor.check is None else format_value(survivor.check)


def list_suggestions(survivors: Iterable[Survivor]) -> Iterator[tuple[str, Sequence[Survivor]]]:
    """Each suggested check of an entry of a suite, with the survivors that it is for."""
    found: dict[tuple[str, str, str], list[Survivor]] = {}
    for each in survivors:
        check = format_survivor_check(each)
        if check is not None:
            found.setdefault((each.scenario.suite, each.entry, check), []).append(each)
    for (_, _, check), members in found.items():
        yield check, members
