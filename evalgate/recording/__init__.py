"""Records what an agent does from inside its own process, without loading the gate.

Entry points: `scenario`, `traced_tool`, `cached`.
"""

from evalgate.recording.recorder import RecordedCall, RecordedRun, scenario, traced_tool
from evalgate.recording.response_cache import CachedAnswer, CacheMiss, cached

__all__ = ["CacheMiss", "CachedAnswer", "RecordedCall", "RecordedRun", "cached", "scenario", "traced_tool"]
