"""Member names and size limits of `baseline.zip`."""

from __future__ import annotations

from evalgate.records import dataclass

MANIFEST = "manifest.json"
RESULTS = "results.json"
SUITES = "suites.json"
TRACES = "traces.jsonl"


@dataclass(frozen=True, slots=True)
class ZipLimits:
    """Limits in bytes. `slack` is reserved for deflate's buffer and the archive's directory."""

    packed: int = 64 * 1024 * 1024
    unpacked: int = 256 * 1024 * 1024
    slack: int = 2 * 1024 * 1024
