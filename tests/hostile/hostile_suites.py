"""Suites written to hang, crash, run code, read elsewhere, or pass by accident."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostile.hostile_case import ENDS, HEAD, NOT_GREEN, PASSES, REFUSED, SUITE, Case, answer, checks

if TYPE_CHECKING:
    from collections.abc import Iterator

NINE = 9
LONG_RUN = "a" * 60 + "!"


def cases() -> Iterator[Case]:
    """Every hostile suite."""
    yield from _texts()
    yield from _values()
    yield from _work()
    yield from _names()


def _texts() -> Iterator[Case]:
    for name, text in BOMBS.items():
        yield Case(f"yaml-{name}", REFUSED, SUITE + text)
    for name, content in TEXTS.items():
        yield Case(f"yaml-{name}", REFUSED, content)
    for name, content in MAYBE_TEXTS.items():
        yield Case(f"yaml-{name}", ENDS, content)


def _values() -> Iterator[Case]:
    for number, tag in enumerate(TAGS):
        yield Case(f"tag-{number}", REFUSED, checks("{contains: ok}").replace("id: '*'", f"id: a, threshold: {tag}"))
    for number, value in enumerate(NO_SHARES):
        yield Case(f"threshold-{number}", REFUSED, SUITE + f"threshold: {value}\n")
    for number, value in enumerate(("-1", ".nan", ".inf", "true", "'1'", "1e999", "[]")):
        yield Case(f"weight-{number}", REFUSED, checks(f"{{contains: ok, weight: {value}}}"))
    for number, value in enumerate(("'true'", "1", "0", "[]", "yes")):
        yield Case(f"required-{number}", REFUSED, checks(f"{{contains: no, required: {value}}}"))
    for number, text in enumerate(NO_CHECKS):
        yield Case(f"check-{number}", REFUSED, checks(f"{{{text}, required: true}}"))
    for number, text in enumerate(POLICIES):
        yield Case(f"policy-{number}", REFUSED, f"{SUITE}policy: {{{text}}}\n")
    for number, text in enumerate(SCENARIOS):
        entry = f"{{id: a, {text}, assertions: [{{contains: no, required: true}}]}}"
        yield Case(f"scenario-{number}", NOT_GREEN, f"{HEAD}scenarios: [{entry}]\n")


def _work() -> Iterator[Case]:
    for name, expression in QUERIES.items():
        check = f"{{path: {json.dumps(expression)}, eq: 1, required: true}}"
        yield Case(f"query-{name}", NOT_GREEN, checks(check))
    for name, pattern in PATTERNS.items():
        check = f"{{regex: {json.dumps(pattern)}, required: true}}"
        yield Case(f"pattern-{name}", NOT_GREEN, checks(check), lambda: {"t.jsonl": answer(LONG_RUN)})
    for name, schema in SCHEMAS.items():
        check = f"{{path: '@', matches_schema: {json.dumps(schema)}, required: true}}"
        yield Case(f"schema-{name}", NOT_GREEN, checks(check))


def _names() -> Iterator[Case]:
    for name, pattern in GLOBS.items():
        text = f"version: 1\nsuite: s\ntraces: [{json.dumps(pattern)}]\n"
        yield Case(f"glob-{name}", NOT_GREEN, f"{text}scenarios: [{{id: a, assertions: [{{contains: ok}}]}}]\n")
    for name, scenario in IDS.items():
        entry = f"{{id: {json.dumps(scenario)}, assertions: [{{contains: ok}}]}}"
        yield Case(f"id-{name}", NOT_GREEN, f"{HEAD}scenarios: [{entry}]\n")
    for name, text in EMPTY.items():
        yield Case(f"empty-{name}", NOT_GREEN, text)
    yield Case("weight-zero", NOT_GREEN, checks("{contains: ok, weight: 0}"))
    yield Case("windows-lines", PASSES, SUITE.replace("\n", "\r\n"))
    yield Case("byte-order-mark", PASSES, b"\xef\xbb\xbf" + SUITE.encode())


def _aliases(merge: str = "") -> str:
    first = "m0: &m0 {a: 1}\n" if merge else "m0: &m0 [x, x]\n"
    lines = [first]
    for level in range(1, NINE):
        many = ",".join([f"*m{level - 1}"] * NINE)
        lines.append(f"m{level}: &m{level} " + (f"{{{merge}: [{many}]}}\n" if merge else f"[{many}]\n"))
    return "".join(lines)


def _doubling(levels: int) -> dict[str, Any]:
    parts: dict[str, Any] = {"d0": {"type": "array"}}
    for level in range(1, levels):
        parts[f"d{level}"] = {"allOf": [{"$ref": f"#/$defs/d{level - 1}"}] * 2}
    return {"$defs": parts, "$ref": f"#/$defs/d{levels - 1}"}


BOMBS = {
    "aliases": _aliases(),
    "merge-keys": _aliases("<<"),
    "recursive-list": "x: &x [*x]\n",
    "recursive-map": "x: &x {y: *x}\n",
    "deep-flow": "x: " + "[" * 5_000 + "]" * 5_000 + "\n",
    "deep-flow-open": "x: " + "[" * 50_000,
    "deep-block": "x:\n" + "".join(" " * (level + 1) + "k:\n" for level in range(900)),
    "deep-sequence": "x: " + "- " * 3_000 + "1\n",
    "wide": "x: [" + ",".join("1" for _ in range(300_000)) + "]\n",
    "over-its-size": "# " + "x" * 1_100_000 + "\n",
    "two-documents": f"---\n{SUITE}",
    "command": "'::error::x': [\n::set-output name=a::b\n",
    "old-command": "##[error]x\n::add-mask::a\n  ::stop-commands::x: {\n",
    "key-twice": "suite: t\n",
    "number-as-key": "1: 2\n",
    "null-as-key": "~: 2\n",
    "list-as-key": "? [a, b]\n: 2\n",
    "long-key": "k" * 100_000 + ": 1\n",
}
TEXTS = {
    "utf-32": SUITE.encode("utf-32"),
    "latin-1": SUITE.encode() + b"# \xe4\xf6\n",
    "nul": SUITE.encode() + b"x: \0\n",
    "escape": SUITE.encode() + b"x: \x1b[31m\n",
    "tab": "version: 1\n\tsuite: s\n",
    "empty": "",
    "scalar": "hello",
    "list": "[1, 2]",
    "null": "~",
    "binary": bytes(range(256)) * 10,
    "version-9-of-yaml": f"%YAML 9.9\n---\n{SUITE}",
    "version-2": SUITE.replace("version: 1", "version: 2"),
    "version-text": SUITE.replace("version: 1", "version: '1'"),
    "version-true": SUITE.replace("version: 1", "version: true"),
    "version-float": SUITE.replace("version: 1", "version: 1.0"),
    "scenario-twice": HEAD + "scenarios: [" + ", ".join(["{id: a, assertions: [{contains: ok}]}"] * 2) + "]\n",
    "scenario-twice-in-two-spellings": HEAD
    + "scenarios: [{id: caf\u00e9, assertions: [{contains: ok}]}, "
    + "{id: cafe\u0301, assertions: [{contains: ok}]}]\n",
    "check-key-twice": checks("{contains: ok, required: true, required: false}"),
    "nots-too-deep": checks("{not: " * 5_000 + "{contains: ok}" + "}" * 5_000),
    "checks-too-many": HEAD + "scenarios: [{id: '*', assertions: [" + ",".join(["{regex: a}"] * 60_000) + "]}]\n",
}
MAYBE_TEXTS = {
    "utf-16": SUITE.encode("utf-16"),
    "directive": f"%YAML 1.2\n---\n{SUITE}",
    "tag-directive": f"%TAG ! tag:example.com,2000:\n---\n{SUITE}",
    "old-mac-lines": SUITE.replace("\n", "\r"),
    "next-lines": SUITE.replace("\n", "\u0085"),
    "anchor": SUITE.replace("[traces/*]", "&t [traces/*]"),
    "nots": checks("{not: " * 40 + "{contains: ok}" + "}" * 40),
    "any-of-many": checks("{any: [" + ",".join(["{contains: ok}"] * 2_000) + "]}"),
}
TAGS = [
    "!!python/object/apply:os.system ['touch pwned']",
    "!!python/name:os.system",
    "!!python/tuple [1]",
    "!!binary aGk=",
    "!!set {a}",
    "!!omap [a: 1]",
    "!!timestamp 2001-01-01",
    "!!int 0x1F",
    "!!float .nan",
    "!!bool maybe",
    "!!int ''",
    "!!merge x",
    "!own x",
]
NO_SHARES = [
    "1" * 5_000,
    "1_000",
    "0x10",
    "0o7",
    "017",
    "1:30",
    "1e400",
    "-1e400",
    ".NaN",
    ".inf",
    "-.inf",
    "yes",
    "no",
    "on",
    "''",
    "'0.5'",
    "true",
    "[]",
    "{}",
    "2001-01-01",
    "-0.1",
    "1.1",
    "=",
]
NO_CHECKS = [
    "requierd: true",
    "Contains: ok",
    "type: nonsense",
    "type: ''",
    "type: [a]",
    "type: output_contains, value: ok, extra: 1",
    "type: ../../x",
    "type: os.system",
    "type: __import__",
    "path: 'a[', eq: 1",
    "path: '', eq: 1",
    "path: response.content",
    "path: response.content, eqq: 1",
    "not: {}",
    "any: []",
    "all: []",
    "not: {not: {not: {}}}",
    "when: 1",
    "regex: '('",
    "regex: '[a'",
]
POLICIES = [
    "fail_on: []",
    "fail_on: [nonsense]",
    "min_evaluated: 2",
    "min_evaluated: -1",
    "min_evaluated: .nan",
    "min_evaluated: '1'",
    "regression: {alpha: 0}",
    "regression: {alpha: 2}",
    "regression: {alpha: .nan}",
    "regression: {threshold: -1}",
    "regression: {cost: {max_increase: .nan}}",
    "regression: {cost: 3}",
    "freshness: {require: nonsense}",
    "freshness: {max_age: -1}",
    "on_weakening: never",
    "critical_issue_threshold: -1",
    "critical_issue_threshold: 1.5",
    "nonsense: 1",
]
SCENARIOS = [
    "trials: {min: 0}",
    "trials: {min: -1}",
    "trials: {min: 1e9}",
    "trials: {min: 1.5}",
    "trials: {min_pass_rate: 2}",
    "trials: {min_pass_rate: .nan}",
    "trials: {min_pass_k: {k: 3, of: 2}}",
    "trials: {min_pass_k: {k: 0, of: 2}}",
    "optional: 'yes'",
    "allow_errors: 1",
    "threshold: .nan",
    "match: {where: '['}",
    "match: {tags: 5}",
    "match: {path: /etc/*}",
    "variants: {a: {match: {}}}",
]
QUERIES = {
    "doubling": "[@,@][]" + "|[@,@][]" * 23,
    "nest": "[@,@]" + "|[@,@]" * 60,
    "text-of-text": "to_string(" * 60 + "@" + ")" * 60,
    "nots": "!" * 900 + "a",
    "step-of-nothing": "messages[::0]",
    "list-over-number": "messages > `1`",
    "unknown-function": "nonsense(@)",
    "too-few-arguments": "length()",
    "wrong-type": "length(`1`)",
    "sort-by-messages": "sort_by(messages, &content)",
    "expression": "&a",
    "long": "a." * 600 + "b",
    "nan": "`NaN`",
    "key-twice": '`{"a": 1, "a": 2}`',
    "open-quote": "'abc",
    "huge-index": "messages[-99999999999999999999]",
    "stars": "*" + ".*" * 80,
    "flattened": "messages" + "[]" * 300,
    "wild": "messages" + "[*]" * 200,
    "filters": "messages" + "[?content]" * 100,
    "join": "join('x', messages)",
    "map-of-maps": "map(&map(&map(&@, @), @), @)",
    "merge": "merge(" + ",".join(["@"] * 150) + ")",
    "nul": "a\0b",
}
PATTERNS = {
    "alternatives": "^(a|aa)+$",
    "nested-plus": "^(a+)+$",
    "nested-star": "(.*)*x",
    "nested-counts": "((a{1,50}){1,50}){1,50}b",
    "many": "a{1000000}",
    "back-reference": r"(a*)*\1b",
    "look-ahead": "(?=(a+))a*b",
    "look-behind": "(?<=a{1,1000}a{1,1000})b",
}
SCHEMAS: dict[str, Any] = {
    "doubling": _doubling(30),
    "remote": {"$ref": "http://127.0.0.1:9/x.json"},
    "file": {"$ref": "file:///etc/passwd"},
    "unknown-type": {"type": "nonsense"},
    "other-document": {"$id": "http://x/y", "$ref": "z"},
    "nothing": False,
    "number": 3,
}
GLOBS = {
    "etc": "/etc/passwd",
    "environment": "/proc/self/environ",
    "tmp": "/tmp/no-such-folder/*",
    "above": "../../../../etc/*",
    "many-stars": "**/**/**/**/*.json",
    "git": ".git/*",
    "home": "~/x",
    "url": "https://x/y.json",
    "file-url": "file:///etc/passwd",
    "empty": "",
    "nul": "a\0b",
    "line": "a\nb",
    "braces": "{a,b}*" * 20,
    "not": "!x",
    "flag": "-rf",
    "bracket": "[",
    "long": "*a" * 400,
    "variable": "$HOME/x",
    "folder": ".",
    "zeros": "/dev/zero",
    "standard-input": "/dev/stdin",
}
IDS: dict[str, Any] = {
    "empty": "",
    "blank": " ",
    "long": "x" * 600,
    "line": "a\nb",
    "backwards": "a\u202eb",
    "no-width": "a\u200bb",
    "nul": "a\0",
    "tag": "a\U000e0041",
    "half-a-pair": "\ud800",
    "number": 5,
    "list": ["a"],
    "null": None,
    "true": True,
    "private": "\ue000",
    "colour": "\x1b[31mx",
}
EMPTY = {
    "no-scenarios": HEAD,
    "empty-scenarios": HEAD + "scenarios: []\n",
    "null-scenarios": HEAD + "scenarios:\n",
    "no-assertions": HEAD + "scenarios: [{id: '*'}]\n",
    "empty-assertions": HEAD + "scenarios: [{id: '*', assertions: []}]\n",
}
