"""The calls that a scenario's scheduling checks look at, written into the checks that leave them open."""

from __future__ import annotations

from typing import Any, NamedTuple

TIMING = ("has_timing", "staggered_timing", "is_recurring")
DEMAND = "expected_tool"
_NAMES = (DEMAND, "tool")
_AROUND = ("not", "when", "then", "all_of", "any_of", "at_least", "of")


class ScheduledTool(NamedTuple):
    """Calls of the tool that the scenario expects, or of a variant's `tool` in its place; of one `action`."""

    expected: str | None = None
    tool: str | None = None
    action: str | None = None

    @property
    def is_varied(self) -> bool:
        """True where a variant decides."""
        return self.tool is not None or self.action is not None

    @property
    def name(self) -> str | None:
        """The tool whose calls are meant, None where nothing names one."""
        return self.expected if self.tool is None else self.tool

    def demand(self, min_calls: int | None) -> dict[str, Any]:
        """The scenario's own demand on these calls, as the assertion that means the same."""
        raw: dict[str, Any] = {"type": DEMAND, DEMAND: None if self.expected is None else self.name}
        if self.expected is None and self.tool is not None:
            raw["tool"] = self.tool
        if self.action is not None:
            raw["action"] = self.action
        if min_calls or (min_calls is not None and self.expected is not None):
            raw["min_calls"] = min_calls  # a negative scenario may say 0, which it means anyway
        return raw

    def written_into(self, raw: Any) -> Any:
        """An assertion about these calls; the very same object where it is about something else.

        It is about them if it is a scheduling check, alone or in a group, that names no tool or the expected
        one. Without a variant only timing checks leave their tool open.
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
