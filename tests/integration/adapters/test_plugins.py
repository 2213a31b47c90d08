"""Modules given with --plugin, valid and invalid."""

from __future__ import annotations

import sys
from itertools import count

import pytest

from evalgate.adapters.plugins import PluginEvaluators
from evalgate.errors import SettingError

SOURCE = """
from typing import Literal
from evalgate.evaluators.base import Evaluator
class Own(Evaluator):
    type: Literal["own"]
    def label(self):
        return "own"
    def compile(self):
        return None
"""
NUMBERS = count()


@pytest.fixture
def module(tmp_path):
    """Writes a module under a name that no other test has imported."""

    def write(source):
        name = f"mine_{next(NUMBERS)}"
        (tmp_path / f"{name}.py").write_text(source)
        return name

    return write


def test_module__offers_its_classes_by_type_and_no_others(module, tmp_path):
    name = module(f"from evalgate.evaluators.kinds.whole_run import CostLimit\n{SOURCE}")
    own = PluginEvaluators([name], str(tmp_path))
    assert list(own.names()) == ["own"]
    assert own.find("own").__name__ == "Own"
    assert own.find("cost_limit") is None


def test_folder_of_modules__is_not_looked_in_afterwards(module, tmp_path):
    PluginEvaluators([module(SOURCE)], str(tmp_path))
    assert str(tmp_path) not in sys.path


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import nothing_like_it", "the module nothing_like_it was not found"),
        ("1 / 0", "can't be imported (ZeroDivisionError)"),
        ("raise SystemExit(0)", "can't be imported (SystemExit)"),
        ("(", "can't be imported (SyntaxError)"),
        ("from evalgate.evaluators.kinds.whole_run import CostLimit", "contains no evaluator"),
        (SOURCE.replace('["own"]', '["own", "other"]'), "contains no evaluator"),
        (SOURCE.replace('"own"]', '"contains"]'), "the type `contains` is already taken"),
        (SOURCE.replace('"own"]', '"all_of"]'), "the type `all_of` is already taken"),
        (f"{SOURCE}    version = '2'", "`version` of Own must be a whole number from 1"),
        (f"{SOURCE}    version = 0", "`version` of Own must be a whole number from 1"),
        (f"{SOURCE}    version = True", "`version` of Own must be a whole number from 1"),
    ],
)
def test_module_that_offers_nothing_usable__is_an_error(module, tmp_path, source, message):
    with pytest.raises(SettingError) as caught:
        PluginEvaluators([module(source)], str(tmp_path))
    assert message in str(caught.value)


def test_type_in_two_modules__is_an_error(module, tmp_path):
    with pytest.raises(SettingError, match="the type `own` is already taken"):
        PluginEvaluators([module(SOURCE), module(SOURCE)], str(tmp_path))
