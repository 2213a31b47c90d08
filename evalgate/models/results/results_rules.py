"""Part of `results.json`: whose rules decided, where those were not the run's own."""

from __future__ import annotations

from typing import TypedDict

RulesDoc = TypedDict(
    "RulesDoc",
    {
        "from": str,  # base
        "config_hash": str,  # of the suites and the policy that decided
        "proposed_config_hash": str,  # of those that the judged commit has itself
    },
)
