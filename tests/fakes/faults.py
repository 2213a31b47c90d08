"""What can go wrong between the gate and GitHub, as faults that the stand-in for GitHub can simulate."""

from __future__ import annotations

from typing import Any

PACE = 0.04
"""Real seconds per second of the gate: its minute for GitHub passes in 2.4 s."""
TOKEN = "ghs_write"
ELSEWHERE = f"http://{TOKEN}:x@127.0.0.2:9/x?token={TOKEN}"

PASSING: dict[str, dict[str, Any]] = {
    "status 500": {"kind": "status", "status": 500},
    "status 429": {"kind": "status", "status": 429, "headers": {"Retry-After": "2"}},
    "secondary rate limit": {"kind": "secondary_rate_limit", "retry_after": 1},
    "primary rate limit": {"kind": "primary_rate_limit", "reset_in": 2},
    "slow": {"kind": "slow", "seconds": 0.15},
    "drip": {"kind": "drip", "chunk": 200, "interval": 0.02},
    "hang": {"kind": "hang", "seconds": 2.6},
    "reset": {"kind": "reset"},
    "reset in the middle": {"kind": "reset_mid", "after_bytes": 20},
    "done, then reset": {"kind": "commit_then_reset"},
    "done, then 502": {"kind": "commit_then_status", "status": 502},
    "truncated": {"kind": "truncate", "keep": 0.5},
    "truncated against its length": {"kind": "truncate", "keep": 0.5, "lie": True},
    "corrupt": {"kind": "corrupt"},
    "bad JSON": {"kind": "bad_json"},
    "HTML 502": {"kind": "html_502"},
}
"""Transient faults: if they happen once, the result must not change."""

ANSWERS: dict[str, dict[str, Any]] = {
    "expired": {"kind": "expired"},
    "redirect elsewhere": {"kind": "redirect", "status": 302, "location": ELSEWHERE},
    "not found": {"kind": "not_found"},
    "forbidden": {"kind": "forbidden"},
    "limited for a day": {"kind": "secondary_rate_limit", "retry_after": 86_400},
    "limited without end": {"kind": "secondary_rate_limit"},
    "an error that repeats the token": {
        "kind": "status",
        "status": 422,
        "headers": {"X-Accepted-GitHub-Permissions": f"{TOKEN}=write", "X-Echo": TOKEN},
        "body": {"message": f"Bearer {TOKEN}", "errors": [{"message": TOKEN}]},
    },
    "a success of another shape": {"kind": "status", "status": 200, "body": [[None, {"id": TOKEN}]]},
}
"""Answers that mean something, and may cost the baseline, the comment or the upload."""

FAULTS = {**PASSING, **ANSWERS}
