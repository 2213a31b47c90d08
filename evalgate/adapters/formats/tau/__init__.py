"""tau-bench and tau2-bench: result files of one document, and tau2 runs written as a folder.

Entry points: `TAU_BENCH`, `TAU2`, `TAU2_FOLDER`, `reader`, `tau2_folder_reader`.
"""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, first_object


def _claims_tau_bench(value: Any) -> bool:
    run = first_object(value)
    return "task_id" in run and isinstance(run.get("traj"), list)


def _claims_tau2(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("simulations"), list) and isinstance(value.get("info"), dict)


def is_tau2_settings(value: Any) -> bool:
    """True for the `results.json` of a run whose simulations are in separate files."""
    if not isinstance(value, dict) or value.get("simulations"):
        return False
    info = value.get("info")
    return isinstance(info, dict) and isinstance(info.get("agent_info"), dict) and "tasks" in value


def _claims_tau2_folder(value: Any) -> bool:
    if is_tau2_settings(value):
        return True
    if not isinstance(value, dict) or "task_id" not in value or "termination_reason" not in value:
        return False
    return isinstance(value.get("ticks"), list) or isinstance(value.get("messages"), list)


TAU_BENCH = Format(
    name="tau-bench",
    needs="a list of runs with `task_id` and `traj`",
    claims=_claims_tau_bench,
    module="tau.reader",
    reader_name="TAU_BENCH_READER",
)
TAU2 = Format(
    name="tau2",
    needs="an object with `info` and `simulations`",
    claims=_claims_tau2,
    module="tau.reader",
)
TAU2_FOLDER = Format(
    name="tau2-folder",
    needs="`results.json` or `simulations/*.json` of a run",
    claims=_claims_tau2_folder,
    module="tau.tau2_folder_reader",
    joins_lines=True,
)
