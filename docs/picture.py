# ruff: noqa: INP001  (a script, no package)
"""Draws `docs/comment.png`: the comment of a results.json as GitHub would show it.

    python docs/picture.py .evalgate/results.json docs/comment.png

A tool for developers. It needs the development dependencies, a Chromium on the PATH, and the font Noto Color Emoji.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import cmarkgfm
from cmarkgfm.cmark import Options

from evalgate.models.github import Pages
from evalgate.reporting.markdown.links import RunPages
from evalgate.reporting.markdown.render import render_comment
from evalgate.reporting.results.load_results import load_results

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH = 900
STYLE = """
* { box-sizing: border-box }
body { margin: 0; padding: 20px; background: #fff; color: #1f2328 }
body { font: 14px/1.5 "Noto Sans", "DejaVu Sans", "Noto Color Emoji", sans-serif }
article { border: 1px solid #d1d9e0; border-radius: 6px }
header { background: #f6f8fa; border-bottom: 1px solid #d1d9e0; border-radius: 6px 6px 0 0 }
header { padding: 8px 16px; color: #59636e }
header b { color: #1f2328 }
header span { border: 1px solid #d1d9e0; border-radius: 2em; padding: 0 7px; font-size: 12px }
main { padding: 16px }
h2 { font-size: 21px; margin: 0 0 16px; padding-bottom: 5px; border-bottom: 1px solid #d1d9e0 }
h3 { font-size: 17.5px; margin: 24px 0 12px }
p, ul, table, pre, blockquote, details { margin: 0 0 16px }
ul { padding-left: 28px }
code { background: #818b981f; border-radius: 6px; padding: 2px 5px; font: 85% "DejaVu Sans Mono", monospace }
pre { background: #f6f8fa; border-radius: 6px; padding: 12px; overflow: hidden }
pre code { background: none; padding: 0; white-space: pre-wrap }
table { border-collapse: collapse; display: block; max-width: 100%; overflow: hidden }
article { overflow-wrap: break-word }
th, td { border: 1px solid #d1d9e0; padding: 6px 13px }
tr:nth-child(2n) td { background: #f6f8fa }
a { color: #0969da }
.gone { background: #ffebe9; color: #82071e } .come { background: #dafbe1; color: #116329 }
.alert { border-left: 4px solid; padding: 4px 16px }
.alert b { display: block; font-weight: 500 }
.CAUTION { border-color: #cf222e } .CAUTION b { color: #cf222e }
.WARNING { border-color: #9a6700 } .WARNING b { color: #9a6700 }
"""


MEASURE = "<script>document.title = Math.ceil(document.body.getBoundingClientRect().height)</script>"


def page(markdown: str, width: int = WIDTH) -> str:
    """The comment as a page of its own, as wide as given, GitHub's alerts drawn as GitHub draws them."""
    options = Options.CMARK_OPT_UNSAFE
    html = cmarkgfm.github_flavored_markdown_to_html(markdown, options=options)
    html = re.sub(
        r"<blockquote>\s*<p>\[!(\w+)\]\s*",
        lambda alert: f'<blockquote class="alert {alert[1]}"><p><b>{alert[1].title()}</b>',
        html,
    )
    html = re.sub(r'(?<=<pre lang="diff"><code>).*?(?=</code>)', _coloured, html, flags=re.DOTALL)
    who = "<header><b>github-actions</b> <span>bot</span> commented</header>"
    body = f"<style>{STYLE} body {{ width: {width}px }}</style><article>{who}<main>{html}</main></article>"
    return f'<!doctype html><meta charset="utf-8"><title>0</title>{body}{MEASURE}'


def _coloured(block: re.Match[str]) -> str:
    kinds = {"-": "gone", "+": "come"}
    lines = [f'<span class="{kinds.get(line[:1], "")}">{line}</span>' for line in block[0].split("\n")]
    return "\n".join(lines)


def draw(html: str, target: Path, width: int = WIDTH) -> None:
    """Has the browser measure the page and then take its picture."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit("no Chromium on the PATH")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "comment.html"
        source.write_text(html, encoding="utf-8")

        def run(*flags: str) -> str:
            profile = f"--user-data-dir={folder}/profile"
            command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", profile]
            command += [*flags, source.as_uri()]
            return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout  # noqa: S603

        measured = re.search(r"<title>(\d+)</title>", run(f"--window-size={width},100", "--dump-dom"))
        height = measured[1] if measured else "1000"
        run(f"--window-size={width},{height}", f"--screenshot={target.resolve()}")


def main() -> None:
    """Reads the arguments, draws the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("picture", type=Path)
    arguments = parser.parse_args()
    results = load_results(arguments.results.read_bytes())
    pages = Pages("https://github.com", "org/agent", "org/agent", results["commit"] or "")
    draw(page(render_comment(results, key="evalgate", pages=RunPages(of_commit=pages))), arguments.picture)


if __name__ == "__main__":
    main()
