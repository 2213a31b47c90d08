"""A setting is declared once: in a copy of the package one file is changed, and everything else follows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from argparse import ArgumentError, ArgumentParser
from typing import TYPE_CHECKING

import pytest
import yaml
from documents import ROOT

from evalgate.cli.command import flag
from evalgate.settings.read_inputs import read_values
from evalgate.settings.readers import Count, OneOf, OneOrMoreOf, read_flag, read_lines, read_text
from evalgate.settings.setting import Flag, Guard, Setting, SettingGroup, Text

if TYPE_CHECKING:
    from pathlib import Path

TEXT = Text("How warm it is", "how warm it is")
DECLARATION = """
    warmth = Setting(
        "mild",
        OneOf("mild", "hot"),
        Text("How warm it is: mild, hot", "how warm it is: `mild`, `hot`"),
        flag=Flag("how warm it is (default mild)", default="mild"),
    )
"""
KERNEL, FEATURE = "evalgate/settings/inputs.py", "evalgate/features/track/feature.py"
USE = """
import sys
from action_inputs import write_inputs, write_table
from evalgate.bootstrap.features import all_settings
from evalgate.settings.read_inputs import read_values
problems = []
print(read_values(all_settings(), {"INPUT_WARMTH": "hot"}, problems)[0], problems)
read_values(all_settings(), {"INPUT_WARMHT": "hot", "INPUT_WARMTH": "hott"}, problems)
print(*problems, sep="; ")
print(write_table(all_settings()))
print(write_inputs(all_settings()))
"""


class Weather(SettingGroup):
    """Settings of a test."""

    warmth = Setting("mild", OneOf("mild", "hot"), TEXT, flag=Flag("how warm", default="mild"))
    days = Setting(3, Count(1, 9), TEXT)
    wind_from: Setting[tuple[str, ...]] = Setting(
        (), OneOrMoreOf("north", "south"), TEXT, Flag("where from", name="wind")
    )
    places: Setting[tuple[str, ...]] = Setting((), read_lines, TEXT, Flag("where", metavar="PLACE"))
    is_wet = Setting(False, read_flag, TEXT)
    station = Setting("", read_text, TEXT, guard=Guard(f"{__name__}:find_problem", f"{__name__}:find_secrets"))


def read(**environ: str) -> tuple[Weather, list[str]]:
    problems = []
    values, notes = read_values(Weather.declared(), environ, problems)
    return Weather(values), [*map(str, problems), *notes]


def test_a_setting_is_named_after_its_attribute():
    names = [each.name for each in Weather.declared()]
    assert names == ["warmth", "days", "wind-from", "places", "is-wet", "station"]
    assert Weather.wind_from.variable == "INPUT_WIND-FROM"


def test_of_a_group_the_attribute_is_the_value_or_the_default():
    weather, problems = read(INPUT_WARMTH="hot", **{"INPUT_WIND-FROM": "south,north"})
    assert (weather.warmth, weather.days, weather.wind_from, problems) == ("hot", 3, ("south", "north"), [])
    assert weather.of(Weather).warmth == "hot"
    assert "hot" not in repr(weather)


def test_all_mistakes_are_told_at_once():
    weather, problems = read(INPUT_WARMTH="hott", INPUT_DAYS="10", INPUT_PLACE="x")
    assert problems == [
        "input `warmth` must be one of mild, hot, not `hott`; did you mean `hot`?",
        "input `days` must be a whole number from 1 to 9, not `10`",
        "unknown input `place` (did you mean `places`?)",
    ]
    assert weather.warmth == "mild"


def test_a_flag_is_read_as_its_input():
    parser = ArgumentParser(exit_on_error=False)
    for each in Weather.declared():
        if each.flag:
            flag(each)(parser)
    found = parser.parse_args(["--warmth", "hot", "--wind", "north, south", "--places", "a", "--places", "b"])
    assert vars(found) == {"warmth": "hot", "wind": ["north", "south"], "places": ["a", "b"]}
    assert vars(parser.parse_args([])) == {"warmth": "mild", "wind": None, "places": None}


def test_a_flag_is_refused_as_its_input():
    class Days(SettingGroup):
        """A setting whose reader is none of those that argparse knows."""

        days = Setting(1, Count(1, 9), TEXT, flag=Flag("days"))

    parser = ArgumentParser(exit_on_error=False)
    flag(Days.declared()[0])(parser)
    assert parser.parse_args(["--days", "9"]).days == 9
    with pytest.raises(ArgumentError, match="must be a whole number from 1 to 9, not `10`"):
        parser.parse_args(["--days", "10"])


@pytest.mark.parametrize("file", [KERNEL, FEATURE])
def test_a_declaration_in_one_file_gives_input_texts_and_flag(tmp_path: Path, file: str):
    shutil.copytree(ROOT / "evalgate", tmp_path / "evalgate", ignore=shutil.ignore_patterns("__pycache__"))
    changed = tmp_path / file
    group = "class Inputs" if file == KERNEL else "class TrackInputs"
    head, body = changed.read_text(encoding="utf-8").split(f"{group}(SettingGroup):\n")
    doc, rest = body.split("\n", maxsplit=1)
    changed.write_text(f"{head}{group}(SettingGroup):\n{doc}\n{DECLARATION}{rest}", encoding="utf-8")
    environ = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT / 'tests'}", "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*words: str) -> str:
        command = [sys.executable, *words]
        return subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=True).stdout

    values, problems, rest = run("-c", USE).split("\n", maxsplit=2)
    assert values == "{'warmth': 'hot'} []"
    assert "did you mean `hot`?" in problems
    assert "unknown input `warmht` (did you mean `warmth`?)" in problems
    assert "| `warmth` | `mild` | how warm it is: `mild`, `hot` |" in rest
    described = yaml.safe_load(rest.partition("inputs:\n")[2])["warmth"]
    assert described == {"description": "How warm it is: mild, hot", "default": "mild"}
    if file == FEATURE:
        assert "--warmth {mild,hot}" in run("-m", "evalgate", "run", "--help")
