"""The system clock, read only here."""

from __future__ import annotations

from datetime import UTC, datetime

from evalgate.errors import SettingError

LATEST = 253_402_300_799  # the last second of the year 9999


class SystemClock:
    """The current time, or the fixed time of SOURCE_DATE_EPOCH (seconds since 1970) for repeatable runs."""

    def __init__(self, source_date_epoch: str | None) -> None:
        self._fixed: datetime | None = None
        if source_date_epoch:
            if not source_date_epoch.isascii() or not source_date_epoch.isdigit() or int(source_date_epoch) > LATEST:
                raise SettingError("SOURCE_DATE_EPOCH is not a number of seconds since 1970")
            self._fixed = datetime.fromtimestamp(int(source_date_epoch), UTC)

    def now(self) -> datetime:
        """The time in UTC, without fractions of a second."""
        return self._fixed or datetime.now(UTC).replace(microsecond=0)
