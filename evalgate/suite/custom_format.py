"""The compiled `custom` of a suite, which reads an unknown JSON format: an expression for each field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.measures.jmespath.query import Query
    from evalgate.models.trace.trace import Role

CUSTOM = "custom"


class CustomMapping(Struct, frozen=True):
    """Compiled expressions by field name: of the run, of a message in it, of a tool call.

    `calls` leads from the run to a list of all its calls, `records` from a document to its runs; None if the
    suite does not set it.
    """

    records: Query | None
    run: Mapping[str, Query]
    message: Mapping[str, Query]
    call: Mapping[str, Query]
    calls: Query | None
    roles: Mapping[str, Role]
