"""What a format in a package of your own is made of; offer it under the entry point group `evalgate.formats`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.format import Format, Reader, Shape, no_identity
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

__all__ = ["Format", "Reader", "Shape", "TraceError", "no_identity", "read_native"]


def read_native(document: dict[str, Any]) -> Trace:
    """The trace of a document in EvalGate's own format (`evalgate schema trace`); raises TraceError."""
    from evalgate.adapters.formats.native.reader import READER

    return READER.build(document)
