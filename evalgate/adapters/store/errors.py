"""Translates driver errors to EvalGate's messages: a library's text may quote stored data, so none passes."""

from __future__ import annotations

import re
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError, StatementError

from evalgate.adapters.store.schema.stored_values import MalformedError
from evalgate.errors import EvalGateError, Problem, SettingError, StoreUnreachable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.adapters.store.store_url import StoreUrl

_CONSTRAINT = re.compile(r"\b(?:golden|suite|run|evaluation|feedback|approval)_\w+_is_\w+|feedback_is_\w+")
_INVALID_FILE_CODES = {"SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_ERROR", "SQLITE_FORMAT"}
_SQLITE_REASONS = {
    "SQLITE_BUSY": "another process has locked it: try again",
    "SQLITE_LOCKED": "another process has locked it: try again",
    "SQLITE_INTERRUPT": "it took too long to answer",
    "SQLITE_READONLY": "there is no permission to write to it",
    "SQLITE_CANTOPEN": "the file can't be opened",
    "SQLITE_PERM": "the file can't be opened",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk reports an error",
    "SQLITE_TOOBIG": "a value is larger than it can store",
}
_POSTGRES_REASONS = {
    "08": "the server can't be reached",
    "22": "it can't store one of the values",
    "25": "the server is read-only now",
    "28": "the server rejects the user name or the password",
    "3D": "the server has no such database",
    "40": "it conflicted with another process: try again",
    "42": "the user lacks a privilege, or EvalGate's tables were altered",
    "53": "the server is out of disk space, memory or connections",
    "54": "a value is larger than it can store",
    "55": "another process has locked it: try again",
    "57": "it took too long to answer, or the server is shutting down",
}
_CONNECTION_REFUSALS = (
    ("password", "28"),
    ("authentication", "28"),
    ("pg_hba.conf", "28"),
    ("role ", "28"),
    ("database ", "3D"),
    ("too many", "53"),
)
"""Words in a refusal and the SQLSTATE they mean: a refused connection comes without a code."""


@contextmanager
def translate_errors(url: StoreUrl) -> Iterator[None]:
    """Raises StoreUnreachable or SettingError for any error of the database."""
    try:
        yield
    except IntegrityError as error:
        raise _error_from_violation(error) from None
    except StatementError as error:
        if isinstance(error.orig, EvalGateError):
            raise error.orig from None
        raise _error_from_sqlalchemy(error, url) from None
    except SQLAlchemyError as error:
        raise _error_from_sqlalchemy(error, url) from None
    except MalformedError:
        raise build_invalid_store_error(url) from None
    except sqlite3.Error as error:
        raise _error_from_sqlite(error, url) from None


def _error_from_violation(error: IntegrityError) -> SettingError:
    constraint = _CONSTRAINT.search(str(error.orig))
    if constraint is not None:
        return SettingError(f"the store refuses a value: {constraint[0].replace('_', ' ')}")
    return SettingError("the store refuses a record: it refers to an unknown id, or its own id exists already")


def _error_from_sqlalchemy(error: SQLAlchemyError, url: StoreUrl) -> EvalGateError:
    cause = error.orig if isinstance(error, DBAPIError | StatementError) else None
    if isinstance(cause, sqlite3.Error):
        return _error_from_sqlite(cause, url)
    state = getattr(cause, "sqlstate", None) or _find_sqlstate(str(cause))
    reason = _POSTGRES_REASONS.get(state[:2], "the server can't be reached")
    return StoreUnreachable(f"the store {url.shown} can't be used: {reason}")


def _find_sqlstate(message: str) -> str:
    _, fatal, refusal = message.partition("FATAL:")
    return next((state for word, state in _CONNECTION_REFUSALS if fatal and word in refusal), "")


def _error_from_sqlite(error: sqlite3.Error, url: StoreUrl) -> EvalGateError:
    name = getattr(error, "sqlite_errorname", "")
    code = next((code for code in (name, *_list_primary_codes(name)) if code in _SQLITE_REASONS), None)
    if code is not None:
        return StoreUnreachable(f"the store {url.shown} can't be used: {_SQLITE_REASONS[code]}")
    if name in _INVALID_FILE_CODES or any(each in _INVALID_FILE_CODES for each in _list_primary_codes(name)):
        return build_invalid_store_error(url)
    return StoreUnreachable(f"the store {url.shown} can't be used")


def _list_primary_codes(name: str) -> list[str]:
    """The primary code of an extended one: SQLITE_IOERR for SQLITE_IOERR_WRITE."""
    return ["_".join(name.split("_")[:2])]


def build_invalid_store_error(url: StoreUrl) -> SettingError:
    """The error for a file or database that is not an EvalGate store."""
    hint = "use another store, or move the file away"
    return SettingError(Problem(f"{url.shown} is damaged, or is not a store of EvalGate", None, hint))
