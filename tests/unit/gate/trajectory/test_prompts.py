"""How two system prompts differ: lines, what each run writes anew, and the bounds."""

import time

import pytest

from evalgate.gate.trajectory.prompts import MOST_LINES, compare_prompts

HASHES = ("a", "b")


def compared(before, now):
    found = compare_prompts(HASHES, before, now)
    return found and (found.removed, found.added, found.lines, found.left)


def numbered(number):
    return [f"Rule {each}." for each in range(number)]


def test_the_lines_that_differ_are_shown_with_two_equal_ones_around_them():
    before = numbered(9)
    now = [*before[:4], "Be brief.", *before[5:], "Be kind."]
    lines = ["@@ -3 +3 @@", " Rule 2.", " Rule 3.", "-Rule 4.", "+Be brief.", " Rule 5.", " Rule 6."]
    lines += [" Rule 7.", " Rule 8.", "+Be kind."]
    assert compared("\n".join(before), "\n".join(now)) == (1, 2, lines, 0)


def test_differences_that_are_far_from_each_other_are_parts_with_their_own_numbers():
    before = numbered(30)
    now = ["First.", *before[1:29], "Last."]
    _, _, lines, _ = compared("\n".join(before), "\n".join(now))
    assert [each for each in lines if each.startswith("@@")] == ["@@ -1 +1 @@", "@@ -28 +28 @@"]


@pytest.mark.parametrize("changed", ["Today is 2026-01-01.", "Now: 12:31", "Run 0a1b2c3d-0000-4000-8000-0123456789ab"])
def test_what_each_run_writes_is_no_difference(changed):
    other = changed.translate(str.maketrans("1", "2"))
    assert compared(f"You help.\n{changed}", f"You help.\n{other}") is None
    assert compared(f"{changed}\nYou help.", f"{other}\nYou help a lot.")[:3] == (
        1,
        1,
        ["@@ -1 +1 @@", f" {other}", "-You help.", "+You help a lot."],
    )


def test_a_long_line_is_compared_sentence_by_sentence():
    sentences = [f"This is the sentence with number {each}." for each in range(20)]
    now = [*sentences[:9], "This one is another.", *sentences[10:]]
    removed, added, lines, _ = compared(" ".join(sentences), " ".join(now))
    assert (removed, added, lines[3:5]) == (1, 1, [f"-{sentences[9]}", "+This one is another."])


def test_of_a_long_line_without_sentences_the_difference_is_shown():
    _, _, lines, _ = compared("a" * 9_000 + "x" + "b" * 9_000, "a" * 9_000 + "y" + "b" * 9_000)
    assert [line[:23] for line in lines[1:]] == ["-\u2026" + "a" * 20 + "x", "+\u2026" + "a" * 20 + "y"]
    assert max(map(len, lines)) < 400


def test_a_secret_is_redacted():
    found = compare_prompts(HASHES, "You help.", "Use ghp_" + "a1B2" * 9)
    assert "a1B2" not in str(found)


def test_what_is_left_out_is_counted():
    removed, added, lines, left = compared("\n".join(numbered(500)), "")
    assert (removed, added, len(lines), left) == (500, 1, MOST_LINES, 501 - MOST_LINES + 1)


def test_two_changes_far_apart_in_a_long_prompt_are_found():
    before = numbered(3_000)
    now = [*before[:10], "New.", *before[10:2_900], *before[2_910:]]
    assert compared("\n".join(before), "\n".join(now))[:2] == (10, 1)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("x" * 50_000_000, "y" * 50_000_000),
        ("\n" * 1_000_000, "\n" * 999_999 + "x"),
        ("\n".join(numbered(100_000)), "\n".join(numbered(100_000)[::-1])),
        ("a\nb\n" * 50_000, "b\nb\na\n" * 40_000),
        ("\n".join(f"{each % 400}" for each in range(100_000)), "\n".join(f"{each % 399}" for each in range(100_000))),
        (". " * 200_000, "! " * 199_999),
    ],
    ids=["50 MB", "line ends", "reversed", "repeated", "nearly repeated", "sentences"],
)
def test_hostile_prompts_are_bounded(before, now):
    started = time.process_time()
    found = compare_prompts(HASHES, before, now)
    assert time.process_time() - started < 5
    assert found is None or (len(found.lines) <= MOST_LINES and sum(map(len, found.lines)) < 30_000)


def test_a_secret_that_the_bound_cuts_is_not_shown():
    now = "\n".join(["rule"] * 3) + "\n" + "x " * 249_985 + "ghp_" + "a1B2" * 9
    assert "ghp_a1B2" in now[:500_000]
    found = compare_prompts(HASHES, "rule", now)
    assert "a1B2" not in str(found)


def test_of_prompts_that_differ_only_in_dates_these_are_shown():
    found = compare_prompts(("a", "a"), "Be kind.\nRefunds from 2020-01-01.", "Be kind.\nRefunds from 2099-01-01.")
    assert found.lines[-2:] == ["-Refunds from 2020-01-01.", "+Refunds from 2099-01-01."]
