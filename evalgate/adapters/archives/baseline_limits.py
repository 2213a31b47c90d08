"""What a baseline consists of, and how large it may be."""

from __future__ import annotations

from evalgate.records import dataclass

MANIFEST = "manifest.json"
RESULTS = "results.json"
SUITES = "suites.json"
TRACES = "traces.jsonl"


@dataclass(frozen=True, slots=True)
class ZipLimits:
    """Bytes of a baseline. `slack` is room for what deflate holds back and for the archive's directory."""

    packed: int = 64 * 1024 * 1024
    unpacked: int = 256 * 1024 * 1024
    slack: int = 2 * 1024 * 1024
