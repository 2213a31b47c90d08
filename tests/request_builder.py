"""Builds requests to the judge from the fields that a test is about, wherever in the request they lie."""

from __future__ import annotations

from typing import Any

from evalgate.application.messages.request import (
    ApprovalInputs,
    BaselinePlan,
    JudgeRequest,
    RenderOptions,
    RuleOptions,
    RunSubject,
    SourceChoice,
)

GROUPS = {
    "sources": SourceChoice,
    "rules": RuleOptions,
    "approvals": ApprovalInputs,
    "subject": RunSubject,
    "baseline": BaselinePlan,
    "render": RenderOptions,
}
RENAMED = {
    "approvals": ("approvals", "file"),
    "approvals_of_base": ("approvals", "is_of_base"),
    "baseline": ("baseline", "info"),
    "baseline_required": ("baseline", "is_required"),
    "make_baseline_zip": ("baseline", "makes_zip"),
}
"""Names that say more outside of their group, or are those of a group."""
PLACES = {name: (group, name) for group, kind in GROUPS.items() for name in kind.__struct_fields__} | RENAMED


def make_request(**fields: Any) -> JudgeRequest:
    """A request with these fields of its groups and of itself."""
    groups: dict[str, dict[str, Any]] = {}
    own: dict[str, Any] = {}
    for name, value in fields.items():
        if name in PLACES:
            group, field = PLACES[name]
            groups.setdefault(group, {})[field] = value
        else:
            own[name] = value
    return JudgeRequest(**own, **{group: GROUPS[group](**given) for group, given in groups.items()})
