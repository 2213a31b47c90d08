"""Every page of the documentation is found from its index, and what is made from other pages is up to date."""

from __future__ import annotations

import re
from collections import Counter

import pytest
import yaml
from doc_pages import NAVIGATION, PAGES, groups
from documents import DOCUMENTS, FENCE, ROOT

DOCS = ROOT / "docs"
GROUPS = ["Start", "Write suites", "Run in CI", "Reference"]
NAMED = re.compile(r"`((?:examples|docs|schemas|templates|requirements|tests|evalgate|benchmarks)/[\w./-]+)`")


def listed() -> list[str]:
    return [page.path for pages in groups().values() for page in pages]


def test_the_index_has_four_groups_and_no_other_links():
    assert list(groups()) == GROUPS
    assert len(re.findall(r"\]\(", (DOCS / "README.md").read_text(encoding="utf-8"))) == len(listed())


def test_the_index_links_each_page_once():
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} - {"README.md"}
    assert Counter(listed()) == Counter(pages)


def test_the_readme_links_the_documentation_in_three_labelled_groups():
    text = (ROOT / "README.md").read_text(encoding="utf-8").split("\n## Documentation\n")[1]
    labels = re.findall(r"^- \*\*(.+?)\*\*: ((?:.|\n  )+)", text, re.MULTILINE)
    assert len(labels) == 3
    assert all(re.search(r"\]\(", links) for _, links in labels)
    assert "](docs/README.md)" in text


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_generated_page_is_up_to_date(path):
    text = path.read_text(encoding="utf-8")
    assert PAGES[path](text) == text, "make docs"


def test_a_generator_of_sites_finds_every_page():
    site = yaml.safe_load(NAVIGATION.read_text(encoding="utf-8"))
    assert site["docs_dir"] == "docs"
    home, *sections = site["nav"]
    assert home == "README.md"
    assert [path for section in sections for pages in section.values() for page in pages for path in page.values()] == (
        listed()
    )


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_files_that_a_page_names_exist(document):
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    named = [name for name in NAMED.findall(text) if "*" not in name]
    assert [name for name in named if not (ROOT / name).exists()] == []
