"""Finds what a file says of itself to be missing from it: other pages of a list, spans that a server dropped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.strict_json import make_printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeGuard

NEXT_PAGES = ("next_cursor", "nextCursor", "next_page_token", "nextPageToken", "has_more", "hasMore", "next", "cursor")
"""Fields that are empty or false on the last page, in the page itself, in `meta` or in `cursors`."""
INNER_ONLY = frozenset({"next", "cursor"})
"""Those of them that say so in `meta` and `cursors` only."""
PARTIAL_SUCCESS = ("partialSuccess", "partial_success")
REJECTED = ("rejectedSpans", "rejected_spans", "rejectedLogRecords", "rejected_log_records")
FETCH = "fetch the pages after it, and keep all of them in one file"
EXPORT = "export it again, whole"
LOSS = re.compile(
    r"drop|truncat|partial|incomplete|too (large|many|big|long)|exceed|limit|\blost\b|missing|discard|reject|omit",
    re.IGNORECASE,
)
"""Words of warnings about what was left out; Jaeger's others are about clocks, ids and tags: nothing is lost then."""
CLOCKS = "clock skew"
SHOWN_CHARS = 100


def find_missing_rest(documents: Sequence[Any]) -> str | None:
    """Why the documents of a file are a part of what was recorded, as they say themselves; None if none says so."""
    envelopes = [each for one in documents for each in (one if one.__class__ is list else (one,)) if _is_object(each)]
    return _find_pages(envelopes) or next(filter(None, map(_find_cut, envelopes)), None)


def _find_pages(envelopes: Sequence[dict[str, Any]]) -> str | None:
    ends = [end for one in envelopes if (end := _find_next(one)) is not None]
    if ends and all(ends):
        return f"the last page has a `{ends[-1]}`: {FETCH}"
    counts = [one["meta"] for one in envelopes if _is_object(one.get("meta")) and "totalPages" in one["meta"]]
    pages = {_read_count(meta.get("page")) for meta in counts}
    total = max((_read_count(meta["totalPages"]) for meta in counts), default=0)
    if len(pages) < total:
        return f"the file holds {len(pages)} of {total} pages (`meta.totalPages`): fetch the others too, into one file"
    return None


def _find_next(page: dict[str, Any]) -> str | None:
    """The field by which a page says that others follow, "" for a last page, None for what is no page."""
    if not any(value.__class__ is list for value in page.values()):
        return None
    inner = [place for key in ("meta", "cursors") if _is_object(place := page.get(key))]
    found = [(key, place[key]) for place in inner for key in NEXT_PAGES if key in place]
    found += [(key, page[key]) for key in NEXT_PAGES if key in page and key not in INNER_ONLY]
    return next((key for key, value in found if value and value.__class__ in (str, bool)), "") if found else None


def _find_cut(envelope: dict[str, Any]) -> str | None:
    inner = [place for key in ("trace", "result") if _is_object(place := envelope.get(key))]
    status = envelope.get("status")
    if inner and status.__class__ is str and status.upper() == "PARTIAL":
        return f"the server says that this trace is partial{_quote(envelope.get('message'))}: {EXPORT}"
    for place in (envelope, *inner):
        for key in PARTIAL_SUCCESS:
            success = place.get(key)
            if _is_object(success) and (rejected := max(_read_count(success.get(each)) for each in REJECTED)):
                reason = _quote(success.get("errorMessage", success.get("error_message")))
                return f"{rejected} spans were rejected{reason}: {EXPORT}"
    return next((f"Jaeger reports{_quote(loss)}: {EXPORT}" for loss in _list_losses(envelope)), None)


def _list_losses(envelope: dict[str, Any]) -> Iterator[str]:
    """What Jaeger says of spans that are not there: its errors, and warnings of traces and spans."""
    traces = [one for one in _list(envelope.get("data", [envelope])) if _is_object(one) and "traceID" in one]
    if traces:
        for error in _list(envelope.get("errors")):
            yield str(error.get("msg") or "error") if _is_object(error) else str(error)
    for trace in traces:
        for place in (envelope, trace, *filter(_is_object, _list(trace.get("spans")))):
            for warning in _list(place.get("warnings")):
                if warning.__class__ is str and LOSS.search(warning) and CLOCKS not in warning.lower():
                    yield warning


def _quote(text: Any) -> str:
    return f" (`{make_printable(text[:SHOWN_CHARS])}`)" if text.__class__ is str and text else ""


def _read_count(value: Any) -> int:
    """A count, which some write as text; 0 for anything else."""
    if value.__class__ is str and value.isdecimal() and value.isascii() and len(value) < SHOWN_CHARS:
        return int(value)
    return value if value.__class__ is int and value > 0 else 0


def _is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return value.__class__ is dict


def _list(value: Any) -> list[Any]:
    return value if value.__class__ is list else []
