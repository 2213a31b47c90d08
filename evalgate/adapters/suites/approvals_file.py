"""Parses an approvals file (YAML) within size limits, and appends approvals to one without changing its content."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from evalgate.adapters.suites import yaml_tree
from evalgate.errors import InvalidInput, Location, OverLimit, Problem, SettingError, SuiteError
from evalgate.models.approvals.approval import FILE, MAX_FILE_BYTES, ApprovalFile
from evalgate.suite.approvals_file import parse_approvals
from evalgate.suite.diagnostics import Diagnostics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.approvals.approval import Approval


def read_approvals(file: ApprovalFile) -> list[Approval]:
    """The approvals of a file, which may be empty; raises SuiteError with every error, or OverLimit."""
    location = Location(file.path)
    if len(file.content) > MAX_FILE_BYTES:
        raise OverLimit(Problem(f"approvals are larger than {MAX_FILE_BYTES:,} bytes", location))
    try:
        document = yaml_tree.load(file.content.decode("utf-8-sig"), file.path)
    except UnicodeDecodeError:
        raise SuiteError(Problem("approvals must be UTF-8 text", location)) from None
    if document.value is None:
        return []
    diagnostics = Diagnostics()
    approvals = parse_approvals(document, diagnostics)
    if diagnostics.problems:
        raise SuiteError(*diagnostics.problems)
    return approvals


HEADER = "version: 1\napprovals:\n"
INDENTS = (2, 0, 4)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*|[0-9]{4}-[0-9]{2}-[0-9]{2}")
_RESERVED_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_EMPTY_LIST = re.compile(rb"^approvals:[ \t]*\[[ \t]*\](?=[ \t]*(?:#.*)?$)", re.MULTILINE)


def append_approvals(file: ApprovalFile | None, new: Sequence[Approval]) -> bytes:
    """The file's content with the new approvals at its end. Raises SuiteError for a file with errors.

    Raises SettingError if nothing can be appended to a file in that form.
    """
    content = file.content if file is not None else b""
    path = file.path if file is not None else FILE
    existing = read_approvals(ApprovalFile(path, content))
    expected_scopes = sorted((*(each.scope for each in existing), *(each.scope for each in new)), key=repr)
    for candidate in _candidates(content, new):
        try:
            parsed = read_approvals(ApprovalFile(path, candidate))
        except InvalidInput:
            continue
        if sorted((each.scope for each in parsed), key=repr) == expected_scopes:
            return candidate
    hint = "the list must come last in the file, each approval on separate lines that begin with `-`"
    raise SettingError(Problem("no approval can be added to the end of this file", Location(path), hint))


def _candidates(content: bytes, new: Sequence[Approval]) -> Iterator[bytes]:
    """Yields candidates: most files fit one of them. The caller checks each by parsing it."""
    text = content.rstrip()
    without_brackets = _EMPTY_LIST.sub(b"approvals:", text)
    for start in (text, without_brackets):
        for indent in INDENTS:
            yield start + b"\n" + _format_entries(new, indent).encode()
    yield (text + b"\n" if text else b"") + f"{HEADER}{_format_entries(new, 2)}".encode()
    yield (text + b"\n" if text else b"") + f"approvals:\n{_format_entries(new, 2)}".encode()


def _format_entries(approvals: Sequence[Approval], indent: int) -> str:
    blank = " " * indent
    entries = [[f"{name}: {_format(value)}" for name, value in _list_fields(each)] for each in approvals]
    return "".join(f"{blank}- {f'{chr(10)}{blank}  '.join(entry)}\n" for entry in entries)


def _list_fields(approval: Approval) -> Iterator[tuple[str, Any]]:
    yield "suite", approval.suite
    yield "scenario", approval.scenario
    for name in ("variant", "assertion", "change"):
        if getattr(approval, name) is not None:
            yield name, getattr(approval, name)
    if approval.least_score is not None:
        yield "limit", {"score": approval.least_score}
    if approval.traces:
        yield "trace", sorted(approval.traces)
    if approval.covers is not None:
        yield "covers", sorted(approval.covers)
    yield "reason", approval.reason
    yield "who", approval.who
    yield "until", approval.until.isoformat()


def _format(value: Any) -> str:
    """A value as YAML on one line; text is quoted unless it is unambiguous."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_format(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_format, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _RESERVED_WORDS:
        return str(value)
    quoted: str = yaml.safe_dump(value, default_style='"', allow_unicode=True, width=float("inf"))
    return quoted.rstrip("\n")
