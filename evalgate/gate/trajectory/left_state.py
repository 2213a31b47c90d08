"""What trials left behind, as far as two sides of a scenario are compared in it: values and files that they changed.

Only what a run changed counts, so that other data before it are no difference of the agent; of a state without one
before the run, all values do. Ids of one run, times and free text are left out.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

from evalgate.measures.redaction.redact import redact, redact_value
from evalgate.measures.sequences.differences import ABSENT, PlaceChange, format_path, list_changes
from evalgate.measures.values.json_values import is_of_one_run, is_steady, show
from evalgate.models.comparison.behaviour import ADDED, CHANGED, DIGEST, NOT_TOUCHED, REMOVED, LeftPart, LeftState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalgate.models.comparison.behaviour import DifferenceKind, FoundDifference
    from evalgate.models.trace.trace import FileState, RunState, Trace

    Pair = tuple[str, str, str]

MOST_PLACES, MOST_LEVELS = 200, 16
"""Values, and files, that are compared one by one; of more only a digest is. Levels below a value that was added."""
MOST_LINES, LONGEST_PLACE = 5, 200
SEVERAL, ENOUGH = 2, 3
"""Trials of a side from which contents are compared, and from which values may differ among the trials of a side."""
VARIES = ""
"""What a place has that all trials of a side changed, but not all to the same."""
_RECORD = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^."\[]+)(?:\.(?:"(?:[^"\\]|\\.)*"|[^."\[]+)|\[\d+\])')


def read_left_state(trace: Trace) -> LeftState:
    """What a trial left behind."""
    state: RunState = trace.state or {}
    return LeftState(
        _read_values(state, trace) if state.keys() & {"after", "diff"} else None,
        _read_files(state["files"]) if "files" in state else None,
    )


def _read_values(state: RunState, trace: Trace) -> LeftPart:
    """The value of each place that the run changed, as JSON or as one of our words."""
    changes = list_changes(state, MOST_PLACES + 1)
    if changes is None:
        changes = [PlaceChange((), ABSENT, state["after"])]
    found = [*islice(_iterate_leaves(changes), MOST_PLACES + 1)]
    if len(found) > MOST_PLACES:
        return LeftPart({"": CHANGED}, {"": _compute_digest(state["after"] if "after" in state else state["diff"])})
    return LeftPart(_number((_name_place(each.path), _show_value(each, trace)) for each in found), {})


def _iterate_leaves(changes: Iterable[PlaceChange]) -> Iterator[PlaceChange]:
    """The changes, each value that was added or replaced followed by those below it."""
    for change in changes:
        yield change
        if change.after is not ABSENT:
            yield from _iterate_below(change.after, change.path, MOST_LEVELS)


def _iterate_below(value: Any, path: tuple[str | int, ...], levels: int) -> Iterator[PlaceChange]:
    """The values below a value that hold no others."""
    if levels and isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            if not _holds_others(each):
                yield PlaceChange((*path, key), ABSENT, each)
            yield from _iterate_below(each, (*path, key), levels - 1)


def _holds_others(value: Any) -> bool:
    return isinstance(value, dict | list) and len(value) > 0


def _name_place(path: Sequence[str | int]) -> str:
    """The path, with `*` for an id of one run or a time."""
    masked = ["*" if isinstance(key, str) and is_of_one_run(key, None) else key for key in path]
    return redact(format_path(masked).replace('"*"', "*"))[:LONGEST_PLACE]


def _show_value(change: PlaceChange, trace: Trace) -> str:
    value = change.after
    if value is ABSENT:
        return REMOVED
    days = [each[:10] for each in (trace.started_at, trace.ended_at) if each]
    if _holds_others(value) or not is_steady(value, trace.started_at) or (isinstance(value, str) and value in days):
        return ADDED if change.before is ABSENT else CHANGED
    (clean,) = redact_value({str(change.path[-1]) if change.path else "": value}).values()
    return show(clean, LONGEST_PLACE)


def _number(places: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The places by name; of several of one name, which differ in an id, the second one is `name (2)`."""
    seen: Counter[str] = Counter()
    found = {}
    for name, value in sorted(places):
        seen[name] += 1
        found[name if seen[name] == 1 else f"{name} ({seen[name]})"] = value
    return found


def _read_files(files: Mapping[str, FileState]) -> LeftPart:
    """What happened to each file that changed, and its content."""
    changed = {path: each for path, each in files.items() if "change" in each}
    if len(changed) > MOST_PLACES:
        return LeftPart({"": CHANGED}, {"": _compute_digest(changed)})
    named = {_name_file(path): each for path, each in sorted(changed.items())}
    contents = {name: found for name, each in named.items() if (found := _show_content(each))}
    return LeftPart({name: str(each["change"]) for name, each in named.items()}, contents)


def _name_file(path: str) -> str:
    return redact("/".join("*" if is_of_one_run(part, None) else part for part in path.split("/")))[:LONGEST_PLACE]


def _show_content(file: FileState) -> str:
    """A short text as it is, else the beginning of a digest."""
    text, digest = file.get("text", "").strip(), file.get("sha256")
    if text and is_steady(text, None):
        return show(redact(text), LONGEST_PLACE)
    return f"{DIGEST}{digest[:12]}" if digest else _compute_digest(file["diff"]) if "diff" in file else ""


def _compute_digest(value: Any) -> str:
    document = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return f"{DIGEST}{hashlib.sha256(document).hexdigest()[:12]}"


def compare_left_states(before: Sequence[LeftState], now: Sequence[LeftState]) -> Iterator[FoundDifference]:
    """Yields kind, place, and both sides of each difference, at most five of a kind and how many more.

    Contents are words of a model, so that they are compared only between several trials.
    """
    fewest = min(len(before), len(now))
    kinds: tuple[DifferenceKind, ...] = ("state", "file")
    for field, kind in enumerate(kinds):
        sides = [[part for each in side if (part := each[field]) is not None] for side in (before, now)]
        if len(sides[0]) < len(before) or len(sides[1]) < len(now):
            continue  # a trial does not record it
        first, second = ([each.places for each in side] for side in sides)
        found = [*_compare_places(first, second, kind, fewest)]
        if fewest >= SEVERAL and not found:
            found = [*_compare_values(*(_merge([each.contents for each in side]) for side in sides))]
        yield from ((kind, *each) for each in sorted(found)[:MOST_LINES])
        if len(found) > MOST_LINES:
            yield kind, "", "", f"{len(found) - MOST_LINES} more"


def _compare_places(
    before: Sequence[Mapping[str, str]], now: Sequence[Mapping[str, str]], kind: DifferenceKind, fewest: int
) -> Iterator[Pair]:
    """Nothing, if the trials of a side touched different places, or one of only two left another value."""
    if any(each.keys() != side[0].keys() for side in (before, now) for each in side):
        return
    first, second = _merge(before), _merge(now)
    if fewest < ENOUGH and VARIES in {*first.values(), *second.values()}:
        return
    yield from _compare_values(first, second)
    list_untouched = _list_untouched if kind == "state" else _list_untouched_files
    for place, here, there in list_untouched(first, second):
        yield place, here or CHANGED, there
    for place, here, there in list_untouched(second, first):
        yield place, there, here or CHANGED


def _merge(side: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The places that all trials have, with the value that is the same in all."""
    common = set(side[0]).intersection(*side[1:])
    return {place: side[0][place] if len({each[place] for each in side}) == 1 else VARIES for place in common}


def _compare_values(first: Mapping[str, str], second: Mapping[str, str]) -> Iterator[Pair]:
    for place in first.keys() & second.keys():
        if VARIES not in (first[place], second[place]) and first[place] != second[place]:
            yield place, first[place], second[place]


def _list_untouched_files(places: Mapping[str, str], other: Mapping[str, str]) -> Iterator[Pair]:
    yield from ((place, places[place], NOT_TOUCHED) for place in places.keys() - other.keys())


def _list_untouched(places: Mapping[str, str], other: Mapping[str, str]) -> Iterator[Pair]:
    """The places that the other side lacks, with what happened on this side and there: nothing, or a change below.

    A record of which the other side touches nothing is one place. What is below one that is listed is not listed, nor
    what is below a change of the other side.
    """
    records, others = Counter(map(_find_record, places)), set(map(_find_record, other))
    above_others = {each for name in other for each in _list_above(name)}
    missing, listed = other.keys() - places.keys(), set[str]()
    for place in sorted(places.keys() - other.keys(), key=lambda each: (len(each), each)):
        if any(each in missing or each in listed for each in _list_above(place)):
            continue
        record = _find_record(place)
        is_one = place != record and record not in others and records[record] > 1
        shown, value = (record, CHANGED) if is_one else (place, places[place])
        listed.add(shown)
        if shown not in above_others or value not in (CHANGED, VARIES):
            yield shown, value, CHANGED if shown in above_others else NOT_TOUCHED


def _find_record(place: str) -> str:
    """The first two names of a path, such as `orders.A7`."""
    found = _RECORD.match(place)
    return found[0] if found else place


def _list_above(place: str) -> Iterator[str]:
    """The places that a place is below, as far as their names say so."""
    if place:
        yield ""
    yield from (place[:at] for at, sign in enumerate(place) if sign in ".[" and at)
