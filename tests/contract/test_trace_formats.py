"""docs/traces.md beside the formats themselves."""

import re
from pathlib import Path

import pytest
from documents import ROOT, cells
from trace_table import DOCUMENT, EXPECTATIONS, RECORDINGS, in_document, recorded, table, told

from evalgate.adapters.formats.open.detect import FORMATS
from evalgate.models.trace.trace import Trace

SHARED = ROOT.parent / "shared" / "traces"
PACKAGE = ROOT / "evalgate" / "adapters"


@pytest.fixture(scope="module")
def text():
    return DOCUMENT.read_text(encoding="utf-8")


def test_the_table_of_formats_is_what_their_recordings_tell(text):
    assert in_document(text) == table(told(recorded())), "make docs"


def test_every_format_has_recordings_that_are_read_as_such():
    records = recorded()
    assert [record.reason for record in records if not isinstance(record, Trace)] == []
    for record in records:
        assert Path(record.source.path).is_relative_to(record.source.format), record.source.path
    names = {path.name for path in RECORDINGS.iterdir()}
    assert names == {known.name for known in FORMATS} - {EXPECTATIONS}


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the recordings of others are not part of the project")
def test_real_recordings_tell_no_more_than_the_table_says():
    ours, theirs = told(recorded()), told(recorded(SHARED))
    assert theirs.keys() <= ours.keys()
    assert {name: told_more for name in theirs if (told_more := theirs[name] - ours[name])} == {}


def test_every_format_has_its_section(text):
    titles = re.findall(r"^### (.+)$", text, re.MULTILINE)
    named = {word for title in titles for word in re.findall(r"`([\w-]+)`", title)}
    assert named == {*(known.name for known in FORMATS), "custom"}


def test_every_code_of_a_warning_is_explained():
    codes = set()
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "evalgate" / "application").rglob("*.py")]:
        source = path.read_text(encoding="utf-8")
        codes |= set(re.findall(r'"code": "(\w+)"', source))
        codes |= set(re.findall(r'_add_warning\(\w+, "(\w+)"', source))
    assert set(cells("docs/traces.md", "Warnings", column=1)) == codes - {"note"}
