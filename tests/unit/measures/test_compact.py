from __future__ import annotations

from evalgate.measures.values.compact import Compactor


def test_small_values_are_unchanged():
    value = {"a": [1, None, True, "text"], "b": {"c": 0.5}}
    assert Compactor(10_000).compact_value(value) == value


def test_a_long_text_is_cut_and_named_by_its_hash():
    cut = Compactor(100_000).compact_text("x" * 5_000)
    assert cut.startswith("x" * 4_000 + "… (+1000, sha256 ")
    assert len(cut) < 4_100


def test_long_texts_that_differ_at_their_end_still_differ():
    assert Compactor(100_000).compact_text("x" * 5_000 + "a") != Compactor(100_000).compact_text("x" * 5_000 + "b")


def test_a_very_long_list_is_only_its_hash():
    cut = Compactor(100_000).compact_value(list(range(50_000)))
    assert cut.startswith("… (50,000 items, sha256 ")
    assert cut != Compactor(100_000).compact_value(list(range(1, 50_001)))


def test_a_value_nested_too_deep_is_its_hash():
    value: object = 1
    for _ in range(60):
        value = [value]
    kept = Compactor(100_000).compact_value(value)
    for _ in range(32):
        kept = kept[0]
    assert kept.startswith("… (1 items, sha256 ")


def test_after_the_size_limit_texts_are_cut_short():
    compactor = Compactor(6_000)
    lengths = [len(compactor.compact_text(str(n) * 3_000)) for n in range(4)]
    assert lengths[0] == 3_000
    assert lengths[-1] < 120
