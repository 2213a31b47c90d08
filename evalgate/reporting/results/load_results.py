"""Reads `results.json` back as untrusted data: the whole document, or as much as a comparison needs."""

from __future__ import annotations

import posixpath
import re
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec
import orjson
from msgspec.structs import replace

from evalgate.errors import OverLimit, Problem, SettingError
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.results.baseline_run import BaselineRun, BaselineSuite
from evalgate.models.results.document_names import RESULTS_SCHEMA, WRITTEN_BY_A_NEWER, is_newer
from evalgate.models.results.results import ResultsDoc, SelectionDoc, SummaryDoc, WatchedDoc
from evalgate.models.results.results_sections import ApprovalDoc, InputsDoc  # noqa: TC001  for the decoder
from evalgate.models.run.run import MAX_SCENARIOS
from evalgate.reporting.results.results_json import dump_results

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_BYTES = 256_000_000
"""The largest document that is read, in bytes; a whole baseline unpacked must fit."""
MAX_CONTAINERS, MAX_VALUES = 3_000_000, 15_000_000
"""Most brackets and commas of a document: `[],[],` takes 20 times its bytes in memory."""


class _Results(msgspec.Struct):
    """The fields that a comparison reads."""

    schema: str
    created_at: str
    suites: list[BaselineSuite]
    summary: SummaryDoc | None
    approvals: list[ApprovalDoc]
    commit: str | None = None
    selection: SelectionDoc | None = None
    watched: WatchedDoc | None = None
    inputs: InputsDoc | None = None
    working_directory: str = ""


class _UnfitError(Exception):
    """A document of the right types that no run writes."""


_DECODER = msgspec.json.Decoder(_Results)
_MISSING = re.compile(r"Object missing required field `(\w+)`")
_EXPECTED = re.compile(r"Expected `([a-z |]+)`, got `")
_TYPE_WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def load_results(data: bytes, *, what: str = "results.json", limit: int = MAX_BYTES) -> ResultsDoc:
    """Reads a document back and checks it by its types; unknown fields are dropped.

    Raises SettingError, which names `what` and the wrong field, and OverLimit for more than `limit` bytes.
    """
    _check_size(data, what, limit)
    try:
        document = msgspec.convert(orjson.loads(data), ResultsDoc)
        _check_time(document["created_at"])
        _check_number(len(suite["scenarios"]) for suite in document["suites"])
        if document["summary"] is None and document["verdict"] != "invalid":
            raise _UnfitError("summary is null, which is valid only for an invalid run")
    except orjson.JSONDecodeError as error:
        raise SettingError(f"{what} is not valid JSON: error at line {error.lineno}, column {error.colno}") from None
    except msgspec.ValidationError as error:
        problem = _describe_error(error)
    except RecursionError:
        problem = "it is nested too deep"
    except _UnfitError as unfit:
        problem = str(unfit)
    else:
        return document
    _check_newer(data, what)
    raise SettingError(f"{what} is not a valid {RESULTS_SCHEMA} document: {problem}")


def _check_newer(data: bytes, what: str) -> None:
    """Raises SettingError if a newer EvalGate wrote the document, which may have other fields."""
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        return
    if isinstance(document, dict) and is_newer(document.get("schema"), RESULTS_SCHEMA):
        raise SettingError(f"{what}: {WRITTEN_BY_A_NEWER}")


def load_baseline_run(data: bytes, fingerprint: str = "", *, whole: bool = False) -> BaselineRun:
    """Reads the run without its single assertions; raises SettingError and OverLimit, as `load_results` does.

    `whole` keeps the document, for assertions that read it.
    """
    _check_size(data, "results.json", MAX_BYTES)
    try:
        found = _DECODER.decode(data)
        if found.schema != RESULTS_SCHEMA:
            raise _UnfitError("its schema is another one")
        _check_time(found.created_at)
        _check_number(len(suite.scenarios) for suite in found.suites)
    except (msgspec.DecodeError, RecursionError, _UnfitError):
        _check_newer(data, "results.json")
        load_results(data)  # raises an error that names the field
        raise SettingError(f"results.json is not a valid {RESULTS_SCHEMA} document") from None
    if found.selection is not None:
        part = f"{found.selection['judged']:,} of {found.selection['of']:,} scenarios"
        message = f"results.json holds {part}, judged with --scenario: it is no baseline"
        raise SettingError(Problem(message, None, "compare with a run of all scenarios"))
    return BaselineRun(
        found.created_at,
        found.commit,
        found.summary,
        found.approvals,
        {suite.suite: len(suite.scenarios) for suite in found.suites},
        {
            ScenarioKey(suite.suite, entry.id, entry.variant): entry
            for suite in found.suites
            for entry in suite.scenarios
        },
        fingerprint,
        load_results(data) if whole else None,
        None if found.watched is None else found.watched["files"],
        {name: text for suite in found.suites for name, text in suite.tool_digests.items()},
        found.inputs,
        {each.suite: posixpath.normpath(posixpath.join(found.working_directory, each.path)) for each in found.suites},
    )


def convert_baseline_run(document: ResultsDoc, fingerprint: str = "") -> BaselineRun:
    """The run of a document that is in memory; the document is kept."""
    return replace(load_baseline_run(dump_results(document), fingerprint), document=document)


def _describe_error(error: msgspec.ValidationError) -> str:
    """Describes the first value that has another type or is out of range, after the path to it."""
    problem, _, path = str(error).rpartition("`$") if "`$" in str(error) else (str(error), "", "")
    path = path.strip("`.")
    if missing := _MISSING.match(problem):
        return f"{path}.{missing[1]} is missing".lstrip(".")
    expected = _EXPECTED.match(problem)
    kinds = expected[1].split(" | ") if expected else []
    what = f"is not {' or '.join(_TYPE_WORDS[kind] for kind in kinds)}" if kinds else "has a value that is not allowed"
    return f"{path} {what}".lstrip()


def _check_size(data: bytes, what: str, limit: int) -> None:
    """Raises OverLimit for a document that would take too much memory."""
    if len(data) > limit:
        raise OverLimit(f"{what} is larger than {limit:,} bytes")
    if data.count(b"[") + data.count(b"{") > MAX_CONTAINERS or data.count(b",") > MAX_VALUES:
        raise OverLimit(f"{what} holds more values than any run writes")


def _check_number(scenarios: Iterable[int]) -> None:
    if sum(scenarios) > MAX_SCENARIOS:
        raise _UnfitError(f"it holds more than {MAX_SCENARIOS:,} scenarios")


def _check_time(time: str) -> None:
    """Checks a time, which needs a UTC offset."""
    try:
        has_zone = datetime.fromisoformat(time).tzinfo is not None
    except ValueError:
        has_zone = False
    if not has_zone:
        raise _UnfitError("created_at is not an RFC 3339 time")
