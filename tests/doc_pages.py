"""Writes what follows from other pages: mkdocs.yml, llms.txt, the index of evaluators. `make docs` runs it."""

from __future__ import annotations

import re
from io import StringIO
from typing import NamedTuple

from documents import ROOT, anchor

from evalgate.cli import main
from evalgate.cli.shell import Shell

INDEX, NAVIGATION, FOR_MODELS = ROOT / "docs/README.md", ROOT / "mkdocs.yml", ROOT / "llms.txt"
EVALUATORS = ROOT / "docs/evaluators.md"
WORKFLOW = ROOT / "evalgate/reporting/templates/workflow.yml"
"""What `init --workflow` writes."""
SITE = """\
# For a generator of a site, such as Zensical or MkDocs. `make docs` writes it from docs/README.md.
site_name: EvalGate
docs_dir: docs
nav:
  - README.md
"""


class Page(NamedTuple):
    """A page as docs/README.md lists it."""

    title: str
    path: str
    summary: str


def groups() -> dict[str, list[Page]]:
    """The pages of each group, in the order of docs/README.md."""
    parts = re.split(r"^## (.+)$", INDEX.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    line = re.compile(r"^- \[(.+?)\]\((.+?)\): (.+)$", re.MULTILINE)
    return {
        title: [Page(*found) for found in line.findall(text)]
        for title, text in zip(parts[::2], parts[1::2], strict=True)
    }


def navigation() -> str:
    """The pages for a generator of a site."""
    lines = []
    for title, pages in groups().items():
        lines += [f"  - {title}:", *(f"      - {page.title}: {page.path}" for page in pages)]
    return SITE + "".join(f"{line}\n" for line in lines)


def for_models() -> str:
    """The pages for a language model, in the form of llmstxt.org."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    _, summary, *_ = re.split(r"\n\n", readme)
    lines = ["# EvalGate", "", f"> {' '.join(summary.replace('*', '').split())}", ""]
    lines += ["- [README](README.md): install, a trace, a suite, its verdict, a workflow, what fails the check."]
    for title, pages in groups().items():
        lines += ["", f"## {title}", ""]
        lines += [f"- [{page.title}](docs/{page.path}): {page.summary}" for page in pages]
    return "".join(f"{line}\n" for line in lines)


def index_of_evaluators(text: str) -> str:
    """The page of evaluators with the index that `evalgate evaluators` prints."""
    out = StringIO()
    main(("evaluators",), Shell(out=out, err=StringIO(), environ={}, cwd=str(ROOT)))
    headings = {name: title for title in re.findall(r"^## (.+)$", text, re.MULTILINE) for name in title.split(", ")}
    rows = ["| type | checks |", "|---|---|"]
    for line in out.getvalue().splitlines():
        name, meaning = line.split(maxsplit=1)
        if name not in headings:
            raise SystemExit(f"docs/evaluators.md has no section `## {name}`: write it, then repeat `make docs`")
        rows.append(f"| [`{name}`](#{anchor(headings[name])}) | {meaning} |")
    before, rest = text.split("\n## Index\n\n")
    return f"{before}\n## Index\n\n" + "\n".join(rows) + "\n\n## " + rest.split("\n\n## ", maxsplit=1)[1]


PAGES = {
    NAVIGATION: lambda _: navigation(),
    FOR_MODELS: lambda _: for_models(),
    EVALUATORS: index_of_evaluators,
    WORKFLOW: lambda _: (ROOT / "examples/workflows/evalgate.yml").read_text(encoding="utf-8"),
}
"""Each file that is written, and how from its present text."""


if __name__ == "__main__":
    for path, write in PAGES.items():
        path.write_text(write(path.read_text(encoding="utf-8") if path.exists() else ""), encoding="utf-8")
