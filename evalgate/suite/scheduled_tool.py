"""The calls that a scenario's scheduling checks look at, filled into the checks that leave them open."""

from __future__ import annotations

from typing import Any, NamedTuple

TIMING = ("has_timing", "staggered_timing", "is_recurring")
DEMAND = "expected_tool"
_NAMES = (DEMAND, "tool")
_AROUND = ("not", "when", "then", "all_of", "any_of", "at_least", "of")


class ScheduledTool(NamedTuple):
    """Calls of the tool that the scenario expects, or of a variant's `tool` instead, with one `action`."""

    expected: str | None = None
    tool: str | None = None
    action: str | None = None

    @property
    def is_varied(self) -> bool:
        """True if a variant decides."""
        return self.tool is not None or self.action is not None

    @property
    def name(self) -> str | None:
        """The tool whose calls are meant, None if nothing names one."""
        return self.expected if self.tool is None else self.tool

    def demand(self, min_calls: int | None) -> dict[str, Any]:
        """The scenario's demand on these calls, as an assertion."""
        raw: dict[str, Any] = {"type": DEMAND, DEMAND: None if self.expected is None else self.name}
        if self.expected is None and self.tool is not None:
            raw["tool"] = self.tool
        if self.action is not None:
            raw["action"] = self.action
        if min_calls or (min_calls is not None and self.expected is not None):
            raw["min_calls"] = min_calls  # a scenario that expects no call may give 0, which changes nothing
        return raw

    def written_into(self, raw: Any) -> Any:
        """Fills these calls into an assertion about them; returns the same object for any other assertion.

        An assertion is about them if it is a scheduling check, by itself or in a group, that names no tool or
        the expected one. Without a variant only timing checks leave their tool open.
        """
        if not isinstance(raw, dict):
            return raw
        if "type" in raw:
            open_kinds = (*TIMING, DEMAND) if self.is_varied else TIMING
            return self._named(raw) if raw["type"] in open_kinds else raw
        changed = {name: self._within(raw[name]) for name in _AROUND if name in raw}
        return {**raw, **changed} if any(raw[name] is not new for name, new in changed.items()) else raw

    def _within(self, value: Any) -> Any:
        if not isinstance(value, list):
            return self.written_into(value)
        parts = [self.written_into(each) for each in value]
        return parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value

    def _named(self, raw: dict[str, Any]) -> dict[str, Any]:
        params = raw["params"] if isinstance(raw.get("params"), dict) else {}
        given = {**params, **raw}
        named = [name for name in _NAMES if given.get(name) is not None]
        if any(given[name] != self.expected for name in named):
            return raw
        wanted = {**dict.fromkeys(named or ["tool"], self.name), "action": self.action}
        fields: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
        if all(given.get(name) == value for name, value in fields.items()):
            return raw
        if fields.keys() & params.keys():
            fields["params"] = {name: value for name, value in params.items() if name not in fields}
        return {**raw, **fields}
