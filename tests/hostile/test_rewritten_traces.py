"""A call that was read is never lost without a sign when its recording is rewritten in a small way.

Every real trace with a call of ../shared/traces is rewritten many times, with each of its calls forbidden: none may
pass. `make matrix` judges them all. Nor may one pass a check that forbids calls once only its figures are left.
"""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from evalgate.models.trace.trace import Trace
from hostile.recorded_calls import Recording, find_passed, list_passed_denials, list_recordings, read
from hostile.rewriting import dump, load, rewrite
from hostile.stripping import strip_lines

pytestmark = [
    pytest.mark.shared,
]
EACH = 30
LEAST = 5_000
SAMPLE = 160
LEAST_STRIPPED = 60
GROUPS = 8
PREFERS_CALLS = 0.8


@cache
def find_recordings() -> tuple[Recording, ...]:
    return tuple(list_recordings())


def rewrite_file(recording: Recording, number: int) -> tuple[str, bytes] | None:
    """What was done, and the content; None if this rewriting does not fit the file."""
    random = Random(f"{recording.label}:{recording.name}:{number}")  # noqa: S311  the same in every run
    lines = list(recording.lines)
    index = random.randrange(len(lines))
    with_name = [at for at, line in enumerate(lines) if recording.name.encode() in line]
    if with_name and random.random() < PREFERS_CALLS:
        index = random.choice(with_name)
    document = load(lines[index], recording.name)
    done = rewrite(document, recording.name, random)
    if done is None:
        return None
    lines[index] = dump(document).strip()
    return done, b"\n".join(lines)


def list_passed(recordings: tuple[Recording, ...], numbers: range) -> tuple[int, list[str]]:
    """How many files were judged, and which passed."""
    judged, passed = 0, []
    for recording in recordings:
        for number in numbers:
            rewritten = rewrite_file(recording, number)
            if rewritten is None:
                continue
            judged += 1
            done, content = rewritten
            if found := find_passed(recording, content):
                passed.append(f"{recording.label} {recording.name} {number}: {done}: {found}")
    return judged, passed


def test_the_original_files_do_not_pass() -> None:
    recordings = find_recordings()
    assert len({recording.label.partition("/")[0] for recording in recordings}) > GROUPS
    assert [each.label for each in recordings if find_passed(each, b"\n".join(each.lines))] == []


def test_a_sample_of_rewritten_files_does_not_pass() -> None:
    recordings = find_recordings()
    judged, passed = list_passed(recordings[:: len(recordings) // SAMPLE + 1], range(2))
    assert judged >= SAMPLE
    assert passed == []


def test_no_file_without_its_messages_and_calls_passes() -> None:
    names = {each.label: frozenset[str]() for each in find_recordings()}
    lines = {each.label: each.lines for each in find_recordings()}
    for each in find_recordings():
        names[each.label] |= {each.name}
    stripped = {label: read(strip_lines(lines[label], names[label])) for label in names}
    judged = [
        (label, trace)
        for label, records in stripped.items()
        for trace in records
        if isinstance(trace, Trace) and not trace.tool_calls
    ]
    assert len(judged) >= LEAST_STRIPPED
    assert len({trace.source.format for _, trace in judged}) > GROUPS
    assert [(label, passed) for label, trace in judged if (passed := list_passed_denials(trace))] == []


@pytest.mark.matrix
def test_no_rewritten_file_passes() -> None:
    judged, passed = list_passed(find_recordings(), range(EACH))
    assert judged >= LEAST
    assert passed == []
