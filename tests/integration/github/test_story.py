"""The story of a repository: what a reviewer sees of each event on the first screen, one golden file each."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest
from fakes.agent import make_workspace
from fakes.runner import FakeRunner
from pull_request_story import EVENTS, Story

GOLDEN = Path(__file__).parent / "story"
NAMES = [f"{number:02}-{act.__name__.replace('_', '-')}" for number, act in enumerate(EVENTS, 1)]
SCREEN = 40
"""Lines of the first screen."""
MOST_ALIKE = 6
"""Most events with the same heading, pushes to main included: nothing changed in that many."""
CHANGING = re.compile(r"\b90\d\d\b|\d{4}-\d\d-\d\d|(?<=expires in )\d+")
"""Numbers of runs, and days."""


@pytest.fixture(scope="module")
def shown(_running_hub, tmp_path_factory):
    """What every event of the story shows."""
    hub, folder = _running_hub.fresh(), tmp_path_factory.mktemp("story")
    workspace = make_workspace(folder / "workspace")
    story, found = Story(hub, FakeRunner(hub, workspace, folder), workspace), []
    for act in EVENTS:
        act(story)
        found.append(first_screen(story.shown))
    return found


def first_screen(text):
    lines = [line for line in text.split("\n") if not line.startswith("<!-- ")]
    return CHANGING.sub("N", "\n".join(lines[:SCREEN]).strip("\n")) + "\n"


@pytest.mark.parametrize("number", range(len(EVENTS)), ids=NAMES)
def test_what_a_reviewer_sees(shown, number):
    path = GOLDEN / f"{NAMES[number]}.md"
    if os.environ.get("EVALGATE_REFRESH"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown[number], encoding="utf-8")
    assert shown[number] == path.read_text(encoding="utf-8")


def test_a_heading_is_not_that_of_every_other_event(shown):
    """After one approved failure nineteen of twenty-one headings were once the same, word for word."""
    headings = Counter(text.partition("\n")[0] for text in shown)
    assert max(headings.values()) <= MOST_ALIKE
