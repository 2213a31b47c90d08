"""Part of `results.json`: the rules that decided, if they were not those of the judged commit."""

from __future__ import annotations

from typing import TypedDict

RulesDoc = TypedDict(
    "RulesDoc",
    {
        "from": str,  # base
        "config_hash": str,  # of the suites and the policy that decided
        "proposed_config_hash": str,  # of those of the judged commit
    },
)
