"""The whole store: opens a database and its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from evalgate.adapters.store.approvals import ApprovalTable
from evalgate.adapters.store.database import Database
from evalgate.adapters.store.evaluations import EvaluationTable
from evalgate.adapters.store.feedback import FeedbackTable
from evalgate.adapters.store.goldens import GoldenTable
from evalgate.adapters.store.regression_suites import SuiteTable
from evalgate.adapters.store.runs import RunTable
from evalgate.adapters.store.schema_version import bring_up_to_date

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from evalgate.adapters.store.store_url import StoreUrl


class SqlStore:
    """Implements the port `Store`; opens and upgrades the database. `now` is the clock for timestamps.

    Raises SettingError if it is not a store or a newer one, and StoreUnreachable.
    """

    def __init__(self, url: StoreUrl, now: Callable[[], datetime], *, create: bool = True) -> None:
        self.display_url = url.shown
        self._database = Database(url, create=create)
        try:
            bring_up_to_date(self._database)
        except BaseException:
            self._database.close()
            raise
        self.goldens = GoldenTable(self._database, now)
        self.evaluations = EvaluationTable(self._database)
        self.feedback = FeedbackTable(self._database, now)
        self.suites = SuiteTable(self._database, now)
        self.runs = RunTable(self._database)
        self.approvals = ApprovalTable(self._database, now)

    def __repr__(self) -> str:
        return f"SqlStore({self.display_url!r})"

    def close(self) -> None:
        """Closes the connection."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
