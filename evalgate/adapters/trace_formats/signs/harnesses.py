"""Signs of recordings that harnesses and agent kits write: ATIF, Inspect logs, ADK sessions and eval sets."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.trace_formats.shapes import Format, first_object

ZIP = b"PK\x03\x04"
ZIP_NAME = 30  # where the name of an archive's first entry begins
INSPECT_ENTRIES = (b"_journal/", b"header.json", b"samples/", b"summaries.json", b"reductions.json")
INVOCATION = frozenset({"invocation_id", "invocationId"})
APP = frozenset({"app_name", "appName"})
WRITTEN_RESULT = ('{"eval_set_result_id"', '{"evalSetResultId"')
EXPECTATIONS = frozenset({"reference", "expected_tool_use"})


def _claims_atif(value: Any) -> bool:
    version = first_object(value).get("schema_version")
    return isinstance(version, str) and version.startswith("ATIF-")


def _claims_inspect(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("eval"), dict):
        return False
    return "status" in value and "task" in value["eval"]


def _is_inspect_archive(head: bytes) -> bool:
    return head.startswith(ZIP) and head.startswith(INSPECT_ENTRIES, ZIP_NAME)


def is_adk_event(value: Any) -> bool:
    """True for one event of a session."""
    return isinstance(value, dict) and "author" in value and not INVOCATION.isdisjoint(value)


def is_adk_session(value: Any) -> bool:
    """True for a session with its events, also with none."""
    if not isinstance(value, dict) or not isinstance(value.get("events"), list):
        return False
    events = value["events"]
    return is_adk_event(events[0]) if events else not APP.isdisjoint(value)


def _claims_adk(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and (is_adk_event(value[0]) or is_adk_session(value[0]))
    return is_adk_event(value) or is_adk_session(value)


def _claims_adk_eval(value: Any) -> bool:
    if isinstance(value, str):  # early versions wrote their JSON as a JSON text
        return value.startswith(WRITTEN_RESULT)
    return isinstance(value, dict) and isinstance(
        value.get("eval_case_results", value.get("evalCaseResults")), list
    )


def _claims_adk_evalset(value: Any) -> bool:
    if isinstance(value, dict):
        return isinstance(value.get("eval_cases", value.get("evalCases")), list)
    first = first_object(value)
    data = first.get("data")
    if isinstance(data, list) and "name" in first:
        first = first_object(data)
    return isinstance(value, list) and "query" in first and not EXPECTATIONS.isdisjoint(first)


ATIF = Format(
    name="atif",
    needs='an object with `"schema_version": "ATIF-v1..."`',
    claims=_claims_atif,
    module="readers.atif",
)
INSPECT = Format(
    name="inspect",
    needs="an .eval archive, or an object with `eval` and `status`",
    claims=_claims_inspect,
    module="readers.inspect_log",
    together=True,
    magic=_is_inspect_archive,
)
ADK = Format(
    name="adk",
    needs="a session with `events`, or events with `author`",
    claims=_claims_adk,
    module="readers.adk",
    together=True,
)
ADK_EVAL = Format(
    name="adk-eval",
    needs="an object with `eval_case_results`",
    claims=_claims_adk_eval,
    module="readers.adk_eval",
)
ADK_EVALSET = Format(
    name="adk-evalset",
    needs="an object with `eval_cases` (for goldens only)",
    claims=_claims_adk_evalset,
    module="readers.adk_evalset",
)
