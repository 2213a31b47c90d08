"""How a run ended, as its record says: in an error, by a limit, or without an end. A run that ends by itself is ok."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.evidence_gaps import OF_MESSAGES, shorten
from evalgate.adapters.formats.core.fields import END_FLAGS, EXIT_CODES
from evalgate.adapters.formats.core.format import words

if TYPE_CHECKING:
    from evalgate.models.trace.trace import ModelError, Trace

TURNS, STEPS, COST, TIME, LENGTH = (f"the limit of {each}" for each in ("turns", "steps", "cost", "time", "length"))
PERSON = "a wait for a person"
TURN_OPEN = "a turn after the last result line has no result: the run was stopped, or its lines end before it did"
END_MISSING = "what the agent did after that is not recorded"


def mark_failed_run(trace: Trace, kind: str | None, message: str | None = None) -> None:
    """Marks a run that ended in an error."""
    trace.status, trace.error = "error", {"type": kind, "message": message}


def mark_stopped(trace: Trace, stopped_by: str) -> None:
    """Marks a run that a limit ended, or that waits: no call is missing, and it is judged as recorded."""
    trace.stopped_by = stopped_by
    mark_incomplete(trace, f"the run was stopped by {stopped_by}")


def mark_incomplete(trace: Trace, reason: str) -> None:
    """Marks a run whose end is missing, with a warning that says why; its calls and its answer may be missing too."""
    trace.status = "incomplete"
    trace.warnings.append({"code": "incomplete", "message": reason, "where": None})


FILTER = "a filter of content"
BROKEN_OFF = "the model's last answer holds nothing and has no reason for its end: its stream broke off"
ANSWER_STOPS = {"content_filter": FILTER, "length": LENGTH}


def note_last_answer(trace: Trace, reason: str) -> None:
    """Marks a run whose last answer failed, was ended by a filter or limit, only paused, or broke off."""
    if reason == "error":
        mark_failed_run(trace, "error", "the model's last answer ended in an error")
    elif reason in ANSWER_STOPS:
        mark_stopped(trace, ANSWER_STOPS[reason])
    elif reason in ("pause_turn", "compaction"):
        mark_incomplete(trace, f"the model's last answer only paused ({reason})")
    else:
        mark_incomplete(trace, BROKEN_OFF)


def warn_of_unknown_status(trace: Trace, word: str, where: str) -> None:
    """Warns of a word for the end of a run that the reader does not know: the run counts as ok."""
    message = f"`{shorten(word)}` is no known end of a run"
    trace.warnings.append({"code": "unknown_run_status", "message": message, "where": where})


def note_missing_end(trace: Trace) -> None:
    """Makes calls and messages of a run without its end incomplete evidence; the warning of that is there already."""
    if trace.status == "incomplete" and trace.stopped_by is None:
        why = next(warning["message"] for warning in trace.warnings if warning["code"] == "incomplete")
        trace.gaps = {**dict.fromkeys(OF_MESSAGES, f"{why}; {END_MISSING}"), **trace.gaps}


FAILURES = words("error errored failed failure crashed")
CUT = words("incomplete aborted canceled cancelled killed timeout timed_out running in_progress busy")
"""Words for a run whose end is missing, or was not there yet when it was recorded."""


def add_recorded_end(trace: Trace, fields: dict[str, Any], failed: ModelError | None = None) -> None:
    """Marks a run by what a field says: it failed (text of an error, a word, an exit code other than 0), or was cut.

    `failed` is the error in place of its response.
    """
    code = next((fields[key] for key in EXIT_CODES if type(fields.get(key)) is int and fields[key]), None)
    status = str(fields.get("status")).lower()
    error = fields.get("error") or fields.get("exception") or failed
    about = error if isinstance(error, dict) else {"message": error}
    kind, message = (one if isinstance(one := about.get(key), str) and one else None for key in ("type", "message"))
    if code is not None:
        kind = f"exit code {code}"
    if failed or kind or message or status in FAILURES or any(fields.get(key) is True for key in END_FLAGS):
        trace.status, trace.error = "error", {"type": kind, "message": message}
    elif status in CUT:
        mark_incomplete(trace, f"the recorded status of the run is `{status}`")
