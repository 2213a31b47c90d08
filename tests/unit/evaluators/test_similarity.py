"""`similarity`: the metrics, their properties, and the similarity as score."""

from __future__ import annotations

import pytest
from builders import make_trace
from hypothesis import given
from hypothesis import strategies as st

from evalgate.errors import Location
from evalgate.evaluators.core.parse import Parser
from evalgate.measures.text.text_similarity import MAX_TEXT, METRICS, TooLongError, words

TEXTS = st.one_of(
    st.text(max_size=30),
    st.lists(st.sampled_from(["the", "cat", "sat", "on", "mat", "."]), max_size=12).map(" ".join),
)
BY_METRIC = pytest.mark.parametrize("metric", METRICS)


def assess(metric, text, reference, least):
    raw = {"type": "similarity", "metric": metric, "reference": reference, "min_score": least}
    parser = Parser(lambda path: Location("suite.yaml", len(path)))
    (assertion,) = parser.parse_assertions([raw], ("assertions",))
    assert not parser.problems
    return assertion.assess(make_trace(response=text))


@pytest.mark.parametrize(
    ("metric", "text", "reference", "score"),
    [
        # Figures of rapidfuzz 3.14, rouge-score 0.1.2 and sacrebleu 2.6 for the same texts.
        ("levenshtein", "the cat sat on the mat", "the cat is on the mat", 0.8636363636363636),
        ("rouge_l", "the cat sat on the mat", "the cat is on the mat", 0.8333333333333334),
        ("bleu", "the cat sat on the mat", "the cat is on the mat", 0.3799178428257963),
        ("bleu", "the the the the", "the cat", 0.1597357760615681),
        ("bleu", "the cat sat on the mat today", "the cat sat on the mat", 0.8091067115702206),
        ("bleu", "the cat ran", "the cat sat on a mat", 0.2024518585186855),
        ("levenshtein", "kitten", "sitting", 1 - 3 / 7),
        ("levenshtein", "Kitten", "kitten", 1 - 1 / 6),
        ("jaccard", "the cat, the CAT", "cat dog", 1 / 3),
        ("rouge_l", "b a", "a b", 0.5),
        ("rouge_l", "The CAT!", "the cat", 1.0),
        ("bleu", "the", "the cat", 0.36787944117144233),
        ("bleu", "dog", "the cat", 0.0),
        ("jaccard", "今天好", "明天好", 2 / 4),
    ],
)
def test_figure(metric, text, reference, score):
    assert METRICS[metric](text, reference) == pytest.approx(score, abs=1e-12)


@BY_METRIC
@given(text=TEXTS)
def test_text__is_similar_to_itself(metric, text):
    assert METRICS[metric](text, text) == 1.0


@BY_METRIC
@given(text=TEXTS, reference=TEXTS)
def test_score__stays_between_zero_and_one(metric, text, reference):
    assert 0.0 <= METRICS[metric](text, reference) <= 1.0


@pytest.mark.parametrize("metric", ["jaccard", "levenshtein", "rouge_l"])
@given(text=TEXTS, reference=TEXTS)
def test_score__is_the_same_both_ways(metric, text, reference):
    assert METRICS[metric](text, reference) == METRICS[metric](reference, text)


@BY_METRIC
@given(text=TEXTS, low=st.floats(0, 1), high=st.floats(0, 1))
def test_higher_min_score__never_turns_fail_into_pass(metric, text, low, high):
    low, high = sorted((low, high))
    if assess(metric, text, "the cat sat", high).outcome == "passed":
        assert assess(metric, text, "the cat sat", low).outcome == "passed"


def slow_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (x != y))
    return row[-1]


def slow_common(a, b):
    row = [0] * (len(b) + 1)
    for x in a:
        above = 0
        for j, y in enumerate(b, 1):
            above, row[j] = row[j], above + 1 if x == y else max(row[j], row[j - 1])
    return row[-1]


@given(st.text("abc", max_size=80), st.text("abc", max_size=80))
def test_levenshtein__equals_the_plain_table(a, b):
    expected = 1 - slow_distance(a, b) / max(len(a), len(b)) if a != b else 1.0
    assert METRICS["levenshtein"](a, b) == expected


@given(st.lists(st.sampled_from("abc"), max_size=80), st.lists(st.sampled_from("abc"), max_size=80))
def test_rouge_l__equals_the_plain_table(a, b):
    expected = 2 * slow_common(a, b) / (len(a) + len(b)) if a and b else float(a == b)
    assert METRICS["rouge_l"](" ".join(a), " ".join(b)) == expected


@pytest.mark.parametrize(("least", "expected"), [(0.8333333333, "passed"), (0.84, "failed"), (0, "passed")])
def test_similarity__is_the_score_whether_it_passes_or_not(least, expected):
    found = assess("rouge_l", "the cat sat on the mat", "the cat is on the mat", least)
    assert (found.outcome, found.score) == (expected, pytest.approx(5 / 6))
    assert found.evidence["metric"] == "rouge_l"


def test_min_score__allows_for_rounding_of_binary_fractions():
    assert assess("jaccard", "a b c", "c d a b e f g h i j", 0.1 + 0.2).outcome == "passed"


def test_similarity_just_below_the_limit__is_shown_as_below():
    assert assess("jaccard", "a", "a b c", 0.33333334).reason.startswith(
        "jaccard 0.3333333333333333, expected at least 0.33333334: "
    )


@pytest.mark.parametrize("metric", ["levenshtein", "rouge_l"])
def test_long_texts__that_would_take_too_much_work_are_an_error(metric):
    found = assess(metric, "ab " * 100_000, "b a " * 100_000, 0.5)
    assert (found.outcome, found.score) == ("error", 0.0)
    assert "too long to compare" in found.reason


@BY_METRIC
def test_text_that_is_too_long__is_an_error(metric):
    assert assess(metric, "a " * 600_000, "a", 0.5).outcome == "error"
    with pytest.raises(TooLongError):
        METRICS[metric]("a" * (MAX_TEXT + 1), "a")


@BY_METRIC
def test_long_texts__that_differ_in_one_place_are_compared(metric):
    text = "ab cd " * 30_000
    assert assess(metric, text, f"{text[:120_000]}x{text[120_001:]}", 0.5).outcome == "passed"


def test_words__are_folded_and_without_punctuation():
    assert words("It's 20°C, STRASSE straße! 東京 x_y") == [
        "it", "s", "20", "c", "strasse", "strasse", "東", "京", "x_y",
    ]  # fmt: skip
