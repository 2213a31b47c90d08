"""The structure keeps its promises: a feature is one folder, the kernel imports of it only its declaration."""

from __future__ import annotations

import pytest
from behaviour import house

MOST_MODULES = 306
"""Of them four declare settings: `setting`, `readers`, `inputs`, and `matrix`, which reads one.

`custom_file` holds models that made `suite_file` longer than 300 lines, `closed_fields` the fields that expressions may name,
`arms` what `results.json` has of variants that are compared, `known_failures`, `changes` and `change_heading` what headings lead with,
`failure_heading` what made `heading` longer than 500;
`evidence`, `gitlab`, `coding_agent` and `importing` declare a feature each (two modules).
"""
MOST_PARAMETERS = 6
MOST_MOVES = 17_000
"""Calls from one module into another in the demo's red run, of which 3,300 read the baseline's traces to compare them.

Two hundred look for names of tools that checks have and no trace has, four for each check.
"""


@pytest.fixture(scope="module")
def figures():
    moves, _ = house.run_with_baseline(count_moves=True)
    _, loaded = house.run_with_baseline(count_moves=False)
    return moves, loaded


def test_code_that_only_a_feature_uses_lies_in_its_folder():
    assert {name: found for name, found in house.places_of_features().items() if found} == {}


def test_a_run_loads_of_features_only_what_they_declare(figures):
    _, loaded = figures
    features = [name for name in loaded if house.feature_of(name)]
    assert [name for name in features if name.count(".") > 2 and not name.endswith(".feature")] == []
    assert len(loaded) <= MOST_MODULES


def test_a_run_whose_checks_ask_for_no_sources_of_arguments_loads_none_of_their_code(figures):
    _, loaded = figures
    assert [name for name in loaded if "provenance" in name or name.endswith(("call_origins", "argument_lines"))] == []


def test_a_run_does_not_move_between_modules_more_often_than_before(figures):
    moves, _ = figures
    assert moves <= MOST_MOVES


def test_no_function_has_more_parameters_than_one_can_remember():
    most, where = house.most_parameters()
    assert most <= MOST_PARAMETERS, where


def test_every_feature_is_in_the_table():
    from evalgate.bootstrap.features import FEATURES

    folders = sorted(path.parent.name for path in house.FEATURES.glob("*/feature.py"))
    assert sorted(feature.name for feature in FEATURES) == folders
