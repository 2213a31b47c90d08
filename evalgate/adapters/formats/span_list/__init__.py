"""Reads lists of spans as console and in-memory exporters print them. Entry points: `SPAN_LIST`, `reader`."""

from __future__ import annotations

from evalgate.adapters.formats.core.format import Format
from evalgate.adapters.formats.spans.detect import is_span_list

SPAN_LIST = Format(
    name="span-list",
    needs="spans with `trace_id`, `span_id` and `name`",
    claims=is_span_list,
    module="span_list.reader",
    joins_lines=True,
)
