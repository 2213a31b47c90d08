"""Decides whether a run measures nothing because its model could not be reached: an outage is no verdict."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalgate.scoring.wording import cut_quote

if TYPE_CHECKING:
    from evalgate.models.trace.trace import LlmCall, ModelError, Trace

OUTAGE_CODES = frozenset({402, 408, 409, 429, *range(500, 600)})
"""HTTP statuses of an outage: payment or quota, timeout, conflict, rate limit, and the provider's own errors."""
FIRST_ERROR_CODE = 400
UNNAMED = "error"
"""The name that readers give to an error without one."""
MOST_READ = 4_000
"""Characters of a message that are searched."""
_QUOTA = re.compile(
    r"insufficient[ _](?:quota|credits?|funds|balance)|exceeded your current quota|quota (?:has been |is )?exceeded"
    r"|credit balance is too low|out of credits|hit your usage limit"
    r"|(?:usage|spend|billing(?: hard)?|credit) limit (?:has been )?(?:reached|exceeded)",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"^\W{0,3}([45]\d\d)\b(?![.,]\d)|\b(?:code|api error|status(?:[ _]?code)?|http(?:/\d(?:\.\d)?)?(?: error)?)"
    r"""["']?\s{0,3}[:=(]?\s{0,3}([45]\d\d)\b""",
    re.IGNORECASE,
)
_PHRASE = re.compile(
    r"rate[ _-]?limit|too many requests|overloaded|(?:service|model) (?:is )?(?:temporarily |currently )?unavailable"
    r"|internal server error|bad gateway|gateway time-?out|timed[ -]?out|request time-?out|deadline exceeded"
    r"|connection (?:error|reset|refused|aborted|closed|failed|lost)|network error|fetch failed|socket hang up"
    r"|server disconnected|stream (?:disconnected|closed) before|peer closed connection|cannot connect to host"
    r"|name resolution|\bE(?:CONN(?:RESET|REFUSED|ABORTED)|TIMEDOUT|NOTFOUND|AI_AGAIN|PIPE)\b",
    re.IGNORECASE,
)
_TYPE = re.compile(
    r"ratelimit|toomanyrequests|throttl|resourceexhausted|quotaexceeded|insufficientquota"
    r"|overloaded|unavailable|badgateway|internalserver|^servererror$|^internal(?:error)?$"
    r"|timeout|timedout|deadlineexceeded"
    r"|connection(?:error|reset|refused|aborted|closed|failed)|connect(?:or)?error|disconnected|networkerror"
    r"|remoteprotocolerror|^(?:read|write|transport)error$|^brokenpipeerror$|^conflicterror$|fetcherror"
    r"|^e(?:connreset|connrefused|connaborted|timedout|notfound|aiagain|pipe)$"
)
"""Names of errors, in lower case without dots, dashes and underscores."""
_OWN_FAULT = re.compile(
    r"badrequest|invalidrequest|unprocessable|validation|authentication|unauthor|permission|forbidden|notfounderror"
    r"|contextlength|contextwindow|contentfilter|contentpolicy|toolarge"
)
"""Names of errors that the same request would meet again."""


def find_outage(trace: Trace) -> str | None:
    """Why a run measures nothing: its last model call failed by an outage, and the agent did nothing after it.

    So does one whose state could not be recorded as asked. None if it measures something. A tool's error, or a call
    that the agent itself made wrongly, is no outage.
    """
    if trace.state is not None and "outage" in trace.state:
        return f"the state was not recorded: {cut_quote(trace.state['outage'])}"
    calls = trace.llm_calls
    error = calls[-1].get("error") if calls else None
    if error is None or not is_outage(error) or _went_on(trace, calls[-1]):
        return None
    return f"the last model call failed: {_describe(error)}"


def is_outage(error: ModelError) -> bool:
    """Whether a model call failed because the provider could not answer.

    The first that decides: a quota that is used up, the HTTP status, the name of the error, its message.
    """
    message, kind = (error["message"] or "")[:MOST_READ], error["type"] or ""
    if _QUOTA.search(f"{kind}: {message}"):
        return True
    code = error["status_code"] or _read_code(kind) or _read_code(message)
    if code is not None and code >= FIRST_ERROR_CODE:
        return code in OUTAGE_CODES
    name = re.sub(r"[\s._-]", "", kind.rpartition(".")[2]).lower()
    if _OWN_FAULT.search(name):
        return False
    return _TYPE.search(name) is not None or _PHRASE.search(message) is not None


def _read_code(text: str) -> int | None:
    """The HTTP status that a text gives."""
    found = _CODE.search(text)
    return int(found[1] or found[2]) if found else None


def _went_on(trace: Trace, failed: LlmCall) -> bool:
    """Whether a final answer is recorded, or a call of a tool after the failed model call."""
    response = trace.response
    if response["content"] and response["message_index"] is None:
        return True
    last = trace.messages[-1] if trace.messages else None
    if last is not None and last["role"] == "assistant" and last["content"] and not last["tool_calls"]:
        return True
    return bool(failed["step"]) and any(call["step"] >= failed["step"] for call in trace.tool_calls)


def _describe(error: ModelError) -> str:
    """Status, name and message of an error, as far as they are recorded, each once."""
    message, kind = " ".join((error["message"] or "").split()), error["type"] or ""
    code = str(error["status_code"] or "")
    parts = [code if code != kind else "", "" if kind in message or kind == UNNAMED else kind]
    return cut_quote(": ".join(part for part in (" ".join(filter(None, parts)), message) if part))
