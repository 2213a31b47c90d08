"""A calendar day, as written in suites and approvals."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from evalgate.declarations import AfterValidator, Field


def _check_day(value: str) -> str:
    try:
        date.fromisoformat(value)
    except ValueError:
        raise ValueError("must be a day of the calendar, such as 2026-12-31") from None
    return value


Day = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$"), AfterValidator(_check_day)]
