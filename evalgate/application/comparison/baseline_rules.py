"""The rules that a baseline was judged by, out of the suites that it keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import orjson

from evalgate.errors import InvalidInput

if TYPE_CHECKING:
    from evalgate.application.comparison.baseline import LoadedBaseline
    from evalgate.ports import BaselineFiles
    from evalgate.suite.models import Configuration

NO_SUITES = "it keeps no suites"
UNREADABLE = "this version can't read its suites"


class BaselineRules(NamedTuple):
    """The suites of the baseline, today's own where they say the same.

    `configuration` is None where they are not at hand, and `unknown` says why; it also names suites that
    can't be read any more beside others that can.
    """

    configuration: Configuration | None
    is_same: bool = False
    unknown: str | None = None


def earlier_rules(
    known: LoadedBaseline, configuration: Configuration, files: BaselineFiles
) -> BaselineRules | None:
    """Those of the baseline; None where there is none."""
    if known.results is None or known.info is None or known.info.path is None:
        return None
    if known.has_same_suites:
        return BaselineRules(configuration, is_same=True)
    return read_rules(files, known.info.path)


def read_rules(files: BaselineFiles, path: str) -> BaselineRules:
    """The suites in a baseline, made ready to run."""
    from evalgate.suite.stored_suites import stored_suites

    try:
        content = files.suites(path)
        if content is None:
            return BaselineRules(None, unknown=NO_SUITES)
        found = stored_suites(orjson.loads(content))
    except (InvalidInput, orjson.JSONDecodeError):
        found = None
    if found is None:
        return BaselineRules(None, unknown=UNREADABLE)
    unread = f"this version can't read {', '.join(found.unread[:3])} of it" if found.unread else None
    return BaselineRules(found.configuration, unknown=unread)
