"""Every version of EvalGate that a document, an example or a template names is the one that is released next."""

from __future__ import annotations

import re
import subprocess

from documents import ROOT
from fakes.release_run import release_script
from programs import require

from evalgate.version import __version__

FOLDERS = ("docs", "examples", "templates", ".github")
SUFFIXES = {".md", ".yml", ".yaml"}
FILES = [*ROOT.glob("*"), *(path for name in FOLDERS for path in (ROOT / name).rglob("*"))]
TEXTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in FILES if path.suffix in SUFFIXES
}
OWNER = r"[\w.-]+"
ACTION = re.compile(rf"({OWNER})/evalgate(?:/[a-z-]+)?@v([\w.]*\w)")
IMAGE = re.compile(rf"({OWNER})/evalgate:(\d[\w.]*\w)")
COMMENT = re.compile(rf"({OWNER})/evalgate(?:/[a-z-]+)?@\S+ # v([\w.]*\w)")
TAG = re.compile(r"(refs/tags/|ref=|/evalgate/|`)v(\d+\.\d+\.\d+)\b")
MAJOR = __version__.partition(".")[0]


def names(pattern: re.Pattern[str]) -> dict[str, set[tuple[str, str]]]:
    """The owners and versions that each file names."""
    found = {name: set(pattern.findall(text)) for name, text in TEXTS.items() if name != "CHANGELOG.md"}
    return {name: each for name, each in found.items() if each}


def test_the_action_is_used_by_its_major_version():
    used = names(ACTION)
    assert {"README.md", "docs/github.md", "examples/workflows/evalgate.yml"} <= used.keys()
    assert {name: each for name, each in used.items() if {version for _, version in each} != {MAJOR}} == {}
    assert {owner for each in used.values() for owner, _ in each} == {"org/evalgate".partition("/")[0]}


def test_the_readme_says_not_released_yet_until_there_is_a_release():
    """The release stops at that line, too, so that the heading of the version and the line change in one commit."""
    changes = TEXTS["CHANGELOG.md"]
    has_version = re.search(r"^## \d", changes, re.MULTILINE) is not None
    git = [require("git"), "tag", "--list", "v1"]
    tags = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    assert (release_script().NOT_RELEASED in TEXTS["README.md"]) is not (has_version or bool(tags))


def test_the_page_of_trackers_names_the_versions_of_the_servers_that_are_tested():
    text = TEXTS["docs/tracking.md"]
    for name, package in (("Phoenix", "arize-phoenix"), ("MLflow", "mlflow")):
        lock = (ROOT / f"requirements/trackers-{name.lower()}.txt").read_text(encoding="utf-8")
        [version] = re.findall(rf"^{package}==(\S+)", lock, re.MULTILINE)
        assert set(re.findall(rf"{name} (\d[\d.]*\d)", text)) == {version}


def test_images_and_pinned_commits_name_the_whole_version():
    assert "docs/hardening.md" in names(COMMENT)
    assert {"docs/hardening.md", "docs/other-ci.md"} <= names(TAG).keys()
    for pattern in (IMAGE, COMMENT, TAG):
        used = [(name, each) for name, each in names(pattern).items() if name != "RELEASING.md"]
        assert {name: each for name, each in used if {version for _, version in each} != {__version__}} == {}
