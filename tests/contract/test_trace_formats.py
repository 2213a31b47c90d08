"""docs/traces.md matches the formats in the code."""

import re
from datetime import date
from pathlib import Path

import pytest
from documents import ROOT, cells
from outage_recordings import OUTAGES
from trace_table import (
    DOCUMENT,
    EXPECTATIONS,
    RECORDINGS,
    fields_by_format,
    format_table,
    format_tried_table,
    read_sources,
    read_traces,
    table_in_document,
    tried_by_format,
    tried_in_document,
    tried_in_table,
)

from evalgate.adapters.formats.core.format import Reader, no_identity
from evalgate.adapters.formats.open.detect import FORMATS
from evalgate.models.trace.trace import OPAQUE, Trace

SHARED = ROOT.parent / "shared" / "traces"
PACKAGE = ROOT / "evalgate" / "adapters"
WITHOUT_VERSION = {"response-cache", "salvo"}
"""A cache of our own, and a producer of which no release was found."""


@pytest.fixture(scope="module")
def text():
    return DOCUMENT.read_text(encoding="utf-8")


def test_the_table_of_formats_lists_the_fields_of_their_traces(text):
    assert table_in_document(text) == format_table(fields_by_format(read_traces())), "make docs"


@pytest.mark.shared
def test_the_table_of_what_was_tried_lists_the_recordings_of_others(text):
    assert tried_in_document(text) == format_tried_table(tried_by_format()), "make docs"


def test_every_format_has_a_row_of_what_was_tried(text):
    rows = re.findall(r"^\| `([\w-]+)` \|", tried_in_document(text), re.MULTILINE)
    assert rows == [known.name for known in FORMATS]


def test_every_format_says_whose_shape_it_has_and_when_that_was_compared():
    sources = read_sources()
    assert sources.keys() == {known.name for known in FORMATS}
    assert {name for name, source in sources.items() if not re.search(r"\d", source["after"])} == WITHOUT_VERSION
    assert {name for name, source in sources.items() if type(source["compared"]) is not date} == set()


def test_of_real_files_the_page_says_when_they_were_recorded_and_by_what(text):
    real = tried_in_table(tried_in_document(text))
    assert {name for name, tried in real.items() if not (tried.months and tried.written_by)} == set()
    assert len(real) >= 30


def test_of_each_coding_agent_the_page_says_when_its_shape_was_read_or_recorded(text):
    rows = {row.split("`")[1]: row for row in tried_in_document(text).splitlines()[2:]}
    agents = text.split("\n## Coding agents\n")[1].split("\n## ")[0].split("\n### ")[1:]
    for section in agents:
        for name in re.findall(r"`([\w-]+)`", section.partition("\n")[0]):
            assert re.search(r"\b20\d\d\b", section + rows[name]), name
    assert len(agents) >= 9


def test_every_format_has_traces_that_are_detected_as_it():
    records = read_traces()
    assert [record.reason for record in records if not isinstance(record, Trace)] == []
    for record in records:
        assert Path(record.source.path).is_relative_to(record.source.format), record.source.path
    names = {path.name for path in RECORDINGS.iterdir()}
    assert names == {known.name for known in FORMATS} - {EXPECTATIONS}


@pytest.mark.shared
def test_real_traces_have_no_field_that_the_table_lacks():
    documented, found = fields_by_format(read_traces()), fields_by_format(read_traces(SHARED))
    assert found.keys() <= documented.keys()
    assert {name: extra for name in found if (extra := found[name] - documented[name])} == {}


def test_every_format_has_its_section(text):
    titles = re.findall(r"^### (.+)$", text, re.MULTILINE)
    named = {word for title in titles for word in re.findall(r"`([\w-]+)`", title)}
    assert named == {*(known.name for known in FORMATS), "custom"}


def test_every_format_that_records_an_outage_says_how(text, tmp_path):
    for number, content in enumerate(OUTAGES.values()):
        (tmp_path / f"{number}.json").write_text(content, encoding="utf-8")
    table = text.split("| format | a failed model call is |")[1].split("\n\n")[0]
    named = {name for row in table.splitlines() for name in re.findall(r"`([\w-]+)`", row.split("|")[1] if row else "")}
    assert named == {record.source.format for record in read_traces(tmp_path)}


def test_every_code_of_a_warning_is_explained():
    codes = {OPAQUE}
    folders = (
        PACKAGE,
        *(ROOT / "evalgate" / name for name in ("adapters/suites", "application", "evaluators/kinds", "features")),
    )
    for path in [path for folder in folders for path in folder.rglob("*.py")]:
        source = path.read_text(encoding="utf-8")
        codes |= set(re.findall(r'"code": "(\w+)"', source))
        codes |= set(re.findall(r'Problem\(.*, "(\w+)"\)', source))
        codes |= set(re.findall(r'add_warning\(\s*\w+,\s*"(\w+)"', source))
    assert set(cells("docs/traces.md", "Warnings", column=1)) == codes - {"note"}


def test_a_reader_without_its_shapes_is_no_reader():
    with pytest.raises(TypeError, match="shapes"):
        Reader(build=Trace, identify=no_identity)


@pytest.mark.parametrize("form", list(FORMATS), ids=lambda form: form.name)
def test_every_reader_states_its_shapes(form):
    assert isinstance(form.reader.shapes, tuple)
