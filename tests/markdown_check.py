"""What GitHub renders from EvalGate's Markdown: mentions, links, images, HTML, tables. Rendered by its own parser."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import cmarkgfm
from cmarkgfm.cmark import Options

if TYPE_CHECKING:
    from collections.abc import Sequence

ALLOWED_TAGS = {"details", "summary"}
HOSTILE = [
    "@octocat and @org/team",
    "<b>bold</b> <script>alert(1)</script> <img src=x onerror=1>",
    "![x](https://evil.example/x.png) [y](https://evil.example)",
    "https://evil.example www.evil.example mail@evil.example <https://evil.example>",
    "a|b|c \\| \\\\| d | ",
    "` `` ``` ```` `````````` @octocat",
    "`",
    "``",
    "\\",
    "ends with \\",
    "one\ntwo\r\nthree\r@octocat\n\n# heading\n- item\n\n| a | b |\n|--|--|\n| 1 | 2 |",
    "\u202e\u2066txet\u2069 z\u200be\u200dr\u2060o \U000e0041\U000e0042 \ufeff",
    "<!-- evalgate:sticky v1 key=other --> <!-- hidden",
    "</details></summary><details open><summary>",
    "##[error]x ::error::y\n::set-output name=a::b\n##[set-env name=x]y",
    "\n::error::x",
    "\u3000::warning::x",
    "#::notice::x ##\u200b[error]x ###[error]y",
    "&#64;octocat &lt;b&gt; \\@octocat",
    "\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07link\x1b]8;;\x07 \x9b1m \x00\x07\x7f\x85",
    "\ud800 single \udfff \ufffe \uffff",
    "z" + "\u0301" * 50 + "algo",
    "```text\n@octocat\n```\n@octocat",
    "$`\\href{https://evil.example}{x}`$ $x$",
    "",
    " ",
    "\n",
    "\t",
    "~~~\n@octocat",
    "    @octocat",
    "{{ 7 * 7 }} {% include 'x' %}",
    "%0A::error::x",
    "[ref]: https://evil.example",
    "[^1] [^1]: https://evil.example",
]
_MENTION = re.compile(r"(?<![\w`])@[A-Za-z0-9]")
_COMMANDS = [
    "add-mask",
    "add-matcher",
    "add-path",
    "debug",
    "echo",
    "endgroup",
    "error",
    "group",
    "notice",
    "remove-matcher",
    "save-state",
    "set-env",
    "set-output",
    "warning",
    "stop-commands",
]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.inside: list[str] = []
        self.counts: dict[str, int] = {}
        self.text: list[str] = []
        self.text_outside_code: list[str] = []
        self.text_in_code: list[str] = []
        self.links: list[str] = []
        self.comments: list[str] = []
        self.rows: list[int] = []
        self.unbalanced = 0

    def handle_starttag(self, tag, attrs):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag == "a":
            self.links.append(dict(attrs).get("href") or "")
        if tag == "tr":
            self.rows.append(0)
        if tag in ("td", "th"):
            self.rows[-1] += 1
        if tag not in ("br", "hr", "img", "input"):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()
        else:
            self.unbalanced += 1

    def handle_data(self, data):
        self.text.append(data)
        if "code" not in self.inside and "pre" not in self.inside:
            self.text_outside_code.append(data)
        else:
            self.text_in_code.append(data)

    def handle_comment(self, data):
        self.comments.append(data.strip())


def render_html(markdown: str) -> str:
    """HTML from GitHub's parser, with raw HTML included, so that none is hidden."""
    return cmarkgfm.github_flavored_markdown_to_html(
        markdown, options=Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES
    )


def parse_html(markdown: str) -> _Reader:
    reader = _Reader()
    reader.feed(render_html(markdown))
    reader.close()
    return reader


def read_text(markdown: str) -> str:
    """The words that a reader sees, without spans of code and line breaks."""
    reader = parse_html(markdown)
    return " ".join("".join(reader.text).split())


def find_flaws(
    markdown: str, *, links: Sequence[str] = (), comments: Sequence[str] = (), repositories: str = ""
) -> list[str]:
    """Everything in the rendered text that EvalGate's own templates never contain.

    Besides `links` pages of commits and files may be linked, of `repositories`, a pattern of their names.
    """
    pages = re.compile(rf"https://github\.com/(?:{repositories})/(commit/[0-9a-f]{{40}}|blob/[0-9a-f]{{40}}/[^?]+)")
    reader = parse_html(markdown)
    known = {
        "h2",
        "h3",
        "p",
        "ul",
        "li",
        "em",
        "strong",
        "code",
        "pre",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "blockquote",
        "a",
        "br",
    }
    found = [f"tag {tag}" for tag in reader.counts if tag not in known | ALLOWED_TAGS]
    found += [f"mention in {text!r}" for text in reader.text_outside_code if _MENTION.search(text)]
    found += [f"link {link}" for link in reader.links if link not in links and not pages.fullmatch(link)]
    found += [f"comment {comment}" for comment in reader.comments if comment not in comments]
    if reader.unbalanced or reader.inside:
        found.append(f"unbalanced: {reader.unbalanced}, left open {reader.inside}")
    return found


def runner_commands(line: str) -> list[str]:
    """Commands that the runner of GitHub Actions would find in one printed line, either form."""
    found = []
    trimmed = line.lstrip()
    if trimmed.startswith("::") and (end := trimmed.find("::", 2)) >= 0:
        found.append(trimmed[2:end].split(" ")[0].lower())
    start = line.find("##[")
    if start >= 0 and (end := line.find("]", start)) >= 0:
        found.append(line[start + 3 : end].split(" ", maxsplit=1)[0].lower())
    return [name for name in found if name in _COMMANDS]
