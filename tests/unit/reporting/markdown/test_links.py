from __future__ import annotations

import pytest
from markdown_check import HOSTILE, find_flaws, parse_html
from msgspec.structs import replace
from results_builder import a_baseline, a_scenario, a_suite, results

from evalgate.models.github import Pages
from evalgate.models.run.trial_doc import LocationDoc
from evalgate.reporting.markdown.links import Links, RunPages
from evalgate.reporting.markdown.render import render_comment, render_summary

HEAD, BASE = "a" * 40, "b" * 40
PAGES = Pages("https://github.com", "acme/agent", "mallory/agent", HEAD)
LINKS = Links(PAGES)


def place(file, line=7):
    return LocationDoc(file, line, 1)


def test_place__of_a_fork__is_a_line_of_its_judged_commit():
    url = f"https://github.com/mallory/agent/blob/{HEAD}/evals/support.yaml"
    assert LINKS.place(place("evals/support.yaml")) == f"[` support.yaml:7 `]({url}#L7)"
    assert LINKS.place(place("evals/support.yaml", None)) == f"[` support.yaml `]({url})"
    assert LINKS.place(None) == ""


def test_place__special_characters__are_encoded():
    assert LINKS.place(place("my evals/50% (a) #1?[b]|@c`d.yaml")).endswith(
        f"/blob/{HEAD}/my%20evals/50%25%20%28a%29%20%231%3F%5Bb%5D%7C%40c%60d.yaml#L7)"
    )
    assert LINKS.place(place("evals/ü.yaml")).endswith("/evals/%C3%BC.yaml#L7)")


@pytest.mark.parametrize(
    "file",
    [
        "/etc/passwd",
        "../x.yaml",
        "a/../../x.yaml",
        "./x.yaml",
        "a//x.yaml",
        "",
        ".",
        "..",
        "\ud800.yaml",
        "a\nb",
        "a\u202eb",
    ],
)
def test_place__not_a_plain_path_of_the_repository__is_no_link(file):
    assert "](" not in LINKS.place(place(file))


def test_place__with_a_secret__is_no_link():
    assert "](" not in LINKS.place(place("evals/ghp_" + "a1B2" * 9 + ".yaml"))


@pytest.mark.parametrize("file", HOSTILE)
def test_place__hostile_file_name__leads_to_no_other_site(file):
    shown = f"x {LINKS.place(place(file))} y"
    targets = parse_html(shown).links
    assert all(target.startswith(f"https://github.com/mallory/agent/blob/{HEAD}/") for target in targets)
    assert len(targets) <= 1
    assert find_flaws(shown, links=targets) == []


def test_commits__of_head_and_baseline__are_in_their_repositories():
    assert LINKS.head(HEAD) == f"[` aaaaaaa `](https://github.com/mallory/agent/commit/{HEAD})"
    assert LINKS.base(BASE) == f"[` bbbbbbb `](https://github.com/acme/agent/commit/{BASE})"
    assert Links().head(HEAD) == "` aaaaaaa `"
    for other in ("main", f"{HEAD}/../x", "](x)", HEAD.upper()):
        assert "](" not in LINKS.head(other).replace("` ](x) `", "")


@pytest.mark.parametrize(("attempt", "words"), [(1, ""), (2, " (attempt 2 of this run)")])
def test_the_judged_commit_says_which_attempt_of_its_run_this_is_unless_it_is_the_first(attempt, words):
    assert Links(replace(PAGES, attempt=attempt)).judged(HEAD) == f"**Commit** {LINKS.head(HEAD)}{words}"
    assert Links().judged(HEAD) == "**Commit** ` aaaaaaa `"


def test_report__of_a_pull_request__links_places_and_commits():
    document = results(
        [a_suite("s", [a_scenario("a", "HARD_FAIL")], "fail")], "fail", baseline=a_baseline(sha=BASE), commit=HEAD
    )
    urls = [
        f"https://github.com/mallory/agent/commit/{HEAD}",
        f"https://github.com/acme/agent/commit/{BASE}",
        f"https://github.com/mallory/agent/blob/{HEAD}/evals/support.yaml#L7",
    ]
    pages = RunPages(of_commit=PAGES)
    for report in (render_comment(document, key="k", pages=pages), render_summary(document, pages=pages)):
        assert [url for url in urls if f"]({url})" not in report] == []
    assert "https://github.com" not in render_comment(document, key="k")
