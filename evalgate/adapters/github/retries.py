"""Retries requests to GitHub after temporary failures and rate limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.http import AnswerTooSlow, HttpResponse, NoAnswer
from evalgate.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.adapters.http import RequestDeadline

TRIES = 3
LONGEST_WAIT = 30.0
TOO_MANY = 429
FORBIDDEN = 403
SERVER_ERROR = 500


class AnswerLost(Unreachable):
    """A change was sent and no answer came: it may have happened, so check before retrying."""


class StillPending(AnswerLost):
    """As AnswerLost, but the change may still happen: even after a check a retry could do it twice."""


def _error_from_answer(answer: HttpResponse) -> Unreachable:
    if answer.status >= SERVER_ERROR:
        return Unreachable(f"GitHub returned status {answer.status}")
    return Unreachable("GitHub's rate limit is reached")


def send_with_retries(
    send: Callable[[], HttpResponse],
    deadline: RequestDeadline,
    *,
    repeatable: bool,
    tries: int = TRIES,
    build_error: Callable[[HttpResponse], Unreachable] = _error_from_answer,
) -> HttpResponse:
    """Sends until the answer is not a temporary failure; the caller handles other error statuses.

    Raises Unreachable after `tries` attempts, or at once if the server asks for a longer wait than allowed.
    A request that is not `repeatable` is retried only if the answer shows that nothing was done.
    """
    error: Unreachable = Unreachable("no response")
    for attempt in range(tries):
        try:
            answer = send()
            pause = retry_delay(answer, attempt)
            if pause is None:
                return answer
            error = build_error(answer)
            lost = answer.status >= SERVER_ERROR
        except NoAnswer as failure:
            error, pause, lost = failure, float(2**attempt), True
        if lost and not repeatable:
            error_class = StillPending if isinstance(error, AnswerTooSlow) else AnswerLost
            raise error_class(*error.problems) from None
        if pause > LONGEST_WAIT or (attempt + 1 < tries and not deadline.wait(pause)):
            break
    raise error


def retry_delay(answer: HttpResponse, attempt: int) -> float | None:
    """Seconds to wait before a retry; None if a retry would not help."""
    header = answer.headers.get("Retry-After", "")
    if answer.status >= SERVER_ERROR:
        return float(header) if header.isdecimal() and len(header) < len("1000000") else float(2**attempt)
    if not is_rate_limited(answer):
        return None
    if header.isdecimal():
        return float(header[:9])
    if answer.headers.get("X-RateLimit-Remaining") == "0":
        return _seconds_until_reset(answer)
    return LONGEST_WAIT * 2  # GitHub asks for at least a minute if it names no time


def is_rate_limited(answer: HttpResponse) -> bool:
    """Whether this is one of GitHub's two rate limits and not a missing permission."""
    if answer.status == TOO_MANY:
        return True
    return answer.status == FORBIDDEN and (
        "Retry-After" in answer.headers
        or answer.headers.get("X-RateLimit-Remaining") == "0"
        or b"rate limit" in answer.body[:2_000].lower()
    )


def _seconds_until_reset(answer: HttpResponse) -> float:
    """Seconds until the rate limit resets, by the server's clock."""
    from email.utils import parsedate_to_datetime

    try:
        now = parsedate_to_datetime(answer.headers.get("Date", "")).timestamp()
        return max(1.0, float(answer.headers.get("X-RateLimit-Reset", "")[:12]) - now)
    except ValueError:
        return LONGEST_WAIT * 2
