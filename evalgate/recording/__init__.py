"""Records what an agent does from inside its own process, without loading the gate.

Entry points: `scenario`, `traced_tool`.
"""

from evalgate.recording.recorder import RecordedCall, RecordedRun, scenario, traced_tool

__all__ = ["RecordedCall", "RecordedRun", "scenario", "traced_tool"]
