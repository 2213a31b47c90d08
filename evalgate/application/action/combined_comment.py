"""One comment for all legs of a matrix: each leg has a section, which it alone writes.

A marker begins each section at the start of a line, where no untrusted text can be: reports have that in code only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from evalgate.application.action.comment_origin import LAST_RUN_LEAD, RunCount

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MARKER = "<!-- evalgate:sticky v1 key={key} -->"
BEGIN = re.compile(
    r"^<!-- evalgate:section v1 leg=([A-Za-z0-9._-]{1,60}) run=([0-9]{1,18}) attempt=([0-9]{1,6})"
    r" passed=(yes|no) -->\n",
    re.MULTILINE,
)
END = "<!-- evalgate:sections-end -->"
LAST_RUN = re.compile(
    r"<!-- evalgate:last-run v1 failed=([0-9]{1,6}) legs=([0-9]{1,6})"
    r"(?: commit=([0-9a-f]{40,64}) failed=([0-9]{1,6}) runs=([0-9]{1,6}))? -->"
)
"""The second line of a comment, where no report is: how many legs failed in the last run, or in its last attempt.

Then which commit the legs judged, and how many runs of it failed before.
"""
ELSEWHERE = "The report of this leg is in the summary of its job: this comment has no room for it."
NO_HEADING = "EvalGate"
GREEN, NOTHING_NEW, YELLOW, RED = "\u2705", "\u26aa", "\U0001f7e1", "\u274c"
"""How a heading begins."""


class Leg(Struct, frozen=True):
    """The leg that writes, what it judged, and the comment that it shares: its key, and the most characters of it.

    `of` is how many legs the run has, 0 if that is unknown.
    """

    key: str
    name: str
    run: int
    attempt: int
    passed: bool
    max_chars: int
    commit: str = ""
    of: int = 0


class LegCount(Struct, frozen=True):
    """How many legs of a run did not pass, and of how many."""

    failed: int
    legs: int


class LastRun(Struct, frozen=True):
    """What a comment says of the last run, None before the second, and of earlier runs of the commit it judges."""

    legs: LegCount | None = None
    commit: str = ""
    before: RunCount = RunCount()


class Section(Struct, frozen=True):
    """What one leg reported: its heading, and the rest of its report."""

    leg: str
    run: int
    attempt: int
    passed: bool
    heading: str
    report: str

    @property
    def is_yellow(self) -> bool:
        """Whether it passed with something to look at, as a scenario that acts differently."""
        return self.passed and self.heading.startswith(YELLOW)

    @property
    def order(self) -> tuple[bool, bool, str]:
        """Those that did not pass come first, then yellow ones, then by name: in whatever order the legs end."""
        return self.passed, not self.is_yellow, self.leg

    def render(self, *, is_whole: bool) -> str:
        """The section as it is posted; without its report if there is no room."""
        passed = "yes" if self.passed else "no"
        marker = f"<!-- evalgate:section v1 leg={self.leg} run={self.run} attempt={self.attempt} passed={passed} -->"
        report = self.report if is_whole else ELSEWHERE
        if self.passed and is_whole:
            report = f"<details><summary>Report</summary>\n\n{report}\n\n</details>"
        return f"{marker}\n### {self.heading}\n\n{report}\n"


def merge_section(leg: Leg, body: str, posted: Sequence[str]) -> str | None:
    """The shared comment with the leg's own section in place of its earlier one.

    `body` is the leg's report as it would be posted by itself, `posted` are the comments of the key: several if two
    legs began one at once. Sections of older runs go, those of earlier attempts of this run stay: only what failed may
    run again. None if a newer run, or a later attempt of this leg, is there already.
    """
    sections: dict[str, Section] = {}
    for each in (section for text in posted for section in read_sections(text)):
        known = sections.get(each.leg)
        if known is None or (known.run, known.attempt) <= (each.run, each.attempt):
            sections[each.leg] = each
    own = sections.get(leg.name)
    is_late = own is not None and (own.run, own.attempt) > (leg.run, leg.attempt)
    if is_late or any(each.run > leg.run for each in sections.values()):
        return None
    kept = [each for each in sections.values() if each.run == leg.run and each.leg != leg.name]
    last = _find_last_run(leg, [*sections.values()], posted)
    return render_comment(leg, [*kept, _make_section(leg, body)], last)


def _find_last_run(leg: Leg, sections: Sequence[Section], posted: Sequence[str]) -> LastRun:
    """What the comment said before the first leg of this run or attempt wrote."""
    lines = (text.lstrip().partition("\n")[2].partition("\n")[0].rstrip() for text in posted)
    found = next(filter(None, map(_read_last_run, lines)), LastRun(commit=leg.commit))
    newest = max(((each.run, each.attempt) for each in sections), default=(leg.run, leg.attempt))
    if newest >= (leg.run, leg.attempt):
        return found
    legs = _count_legs([each for each in sections if each.run == newest[0]])
    is_same = leg.commit and leg.commit == found.commit
    return LastRun(legs, leg.commit, found.before.add(passed=not legs.failed) if is_same else RunCount())


def _read_last_run(line: str) -> LastRun | None:
    found = LAST_RUN.fullmatch(line)
    if found is None:
        return None
    failed, number, commit, *counts = found.groups()
    legs = LegCount(int(failed), int(number)) if number != "0" else None
    return LastRun(legs, commit or "", RunCount(*map(int, counts)) if commit else RunCount())


def _count_legs(sections: Sequence[Section]) -> LegCount:
    return LegCount(sum(not each.passed for each in sections), len(sections))


def read_sections(text: str) -> Iterable[Section]:
    """The sections of a posted comment."""
    text = text.replace("\r\n", "\n").partition(END)[0]
    found = list(BEGIN.finditer(text))
    for number, each in enumerate(found):
        end = found[number + 1].start() if number + 1 < len(found) else len(text)
        heading, _, report = text[each.end() : end].partition("\n")
        whole = report.strip("\n").removeprefix("<details><summary>Report</summary>\n\n")
        passed = each[4] == "yes"
        whole = whole.removesuffix("\n\n</details>") if passed and whole != report.strip("\n") else whole
        yield Section(each[1], int(each[2]), int(each[3]), passed, heading.removeprefix("### "), whole)


def _make_section(leg: Leg, body: str) -> Section:
    lines = [line for line in body.split("\n") if not line.startswith("<!-- evalgate:")]
    start = next((number for number, line in enumerate(lines) if line.startswith("## ")), None)
    heading = NO_HEADING if start is None else lines.pop(start).removeprefix("## ")
    lines = [f"#{line}" if line.startswith("### ") else line for line in lines]  # below the section's own heading
    return Section(leg.name, leg.run, leg.attempt, leg.passed, heading, "\n".join(lines).strip("\n"))


def render_comment(leg: Leg, sections: Sequence[Section], last: LastRun) -> str:
    """The comment: how many legs passed, then a section each; the longest reports go where there is no room."""
    ordered = sorted(sections, key=lambda each: each.order)
    long = [each for each in ordered if len(each.report) > len(ELSEWHERE)]
    by_size = sorted(long, key=lambda each: (not each.passed, each.is_yellow, -len(each.report), each.leg))
    head = _render_head(leg, sections, last)
    texts = (_render_all(head, ordered, {each.leg for each in by_size[:count]}) for count in range(len(long) + 1))
    text = ""
    for text in texts:
        if len(text) <= leg.max_chars:
            break
    return text


def _render_head(leg: Leg, sections: Sequence[Section], last: LastRun) -> list[str]:
    """The lines up to the heading, with one on earlier runs if some ended otherwise."""
    now, yellow = _count_legs(sections), sum(each.is_yellow for each in sections)
    missing = max(0, leg.of - now.legs)
    lines = [MARKER.format(key=leg.key)]
    legs, before = last.legs or LegCount(0, 0), last.before
    commit = f" commit={last.commit} failed={before.failed} runs={before.runs}" if last.commit else ""
    if last.legs or commit:
        lines.append(f"<!-- evalgate:last-run v1 failed={legs.failed} legs={legs.legs}{commit} -->")
    has_news = any(not each.heading.startswith(NOTHING_NEW) for each in sections)
    sign = RED if now.failed else YELLOW if yellow or missing else GREEN if has_news else NOTHING_NEW
    which = "it" if now.legs == 1 else f"{yellow:,} of them"
    look = f"; look at {which}" if yellow and not now.failed else ""
    late = f"; {missing:,} {'has' if missing == 1 else 'have'} not reported" if missing else ""
    lines += [f"## {sign} EvalGate {_describe_run(now, missing)}{look}{late}", ""]
    if of_commit := before.add(passed=not now.failed).describe():
        lines += [of_commit, ""]
    elif last.legs and bool(last.legs.failed) != bool(now.failed):
        lines += [f"{LAST_RUN_LEAD}{_describe_run(last.legs)}", ""]
    return lines


def _describe_run(run: LegCount, missing: int = 0) -> str:
    from evalgate.reporting.text.wording import pluralize  # what it loads, a job without legs has no use for

    number = pluralize(run.legs + missing, "leg")
    if run.failed or missing:
        return f"{'did not pass' if run.failed else 'passed'} in {run.failed or run.legs:,} of {number}"
    return f"passed in {'its only leg' if run.legs == 1 else f'all {number}'}"


def _render_all(head: Sequence[str], ordered: Sequence[Section], left_out: set[str]) -> str:
    rendered = [each.render(is_whole=each.leg not in left_out) for each in ordered]
    return "\n".join([*head, *rendered, END, ""])
