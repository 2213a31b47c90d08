"""The calls that a scenario's scheduling checks look at, filled into the checks that leave them open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.evaluators.core.registry import built_in_class

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

EXPECTED_TOOL, EXPECTED_SKILL = "expected_tool", "expected_skill"
_TOOL_FIELDS = (EXPECTED_TOOL, "tool")
_NESTING_FIELDS = ("not", "when", "then", "all_of", "any_of", "at_least", "of")


class ScheduledTool(NamedTuple):
    """Calls of the tool that the scenario expects, or of a variant's `tool` instead, with one `action`.

    A scenario that expects no tool forbids the variant's `tool`, else `forbidden`; without these, any tool.
    """

    expected: str | None = None
    tool: str | None = None
    action: str | None = None
    forbidden: tuple[str, ...] = ()

    @property
    def is_varied(self) -> bool:
        """True if a variant decides."""
        return self.tool is not None or self.action is not None

    @property
    def name(self) -> str | None:
        """The tool whose calls are meant, None if nothing names one."""
        return self.expected if self.tool is None else self.tool

    def build_assertion(self, min_calls: int | None) -> dict[str, Any]:
        """The scenario's demand on these calls, as an assertion."""
        raw: dict[str, Any] = {"type": EXPECTED_TOOL, EXPECTED_TOOL: None if self.expected is None else self.name}
        tools = self.forbidden if self.tool is None else (self.tool,)
        if self.expected is None and tools:
            raw["tool"] = tools[0] if len(tools) == 1 else list(tools)
        if self.action is not None:
            raw["action"] = self.action
        if min_calls or (min_calls is not None and self.expected is not None):
            raw["min_calls"] = min_calls  # a scenario that expects no call may give 0, which changes nothing
        return raw

    def fill_assertion(self, raw: Any) -> Any:
        """Fills these calls into an assertion about them; returns the same object for any other assertion.

        An assertion is about them if it is a scheduling check, by itself or in a group, that names no tool or
        the expected one. Without a variant only timing checks leave their tool open.
        """
        if not isinstance(raw, dict):
            return raw
        if "type" in raw:
            kind = built_in_class(raw["type"])
            sources = ("scenario", "variant") if self.is_varied else ("scenario",)
            return self._fill_tool(raw) if kind is not None and kind.takes_tool_of in sources else raw
        changed = {name: self._fill_nested(raw[name]) for name in _NESTING_FIELDS if name in raw}
        return {**raw, **changed} if any(raw[name] is not new for name, new in changed.items()) else raw

    def _fill_nested(self, value: Any) -> Any:
        if not isinstance(value, list):
            return self.fill_assertion(value)
        parts = [self.fill_assertion(each) for each in value]
        return parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value

    def _fill_tool(self, raw: dict[str, Any]) -> dict[str, Any]:
        params = raw["params"] if isinstance(raw.get("params"), dict) else {}
        given_fields = {**params, **raw}
        tool_fields = [name for name in _TOOL_FIELDS if given_fields.get(name) is not None]
        if any(given_fields[name] != self.expected for name in tool_fields):
            return raw
        wanted = {**dict.fromkeys(tool_fields or ["tool"], self.name), "action": self.action}
        fields: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
        if all(given_fields.get(name) == value for name, value in fields.items()):
            return raw
        if fields.keys() & params.keys():
            fields["params"] = {name: value for name, value in params.items() if name not in fields}
        return {**raw, **fields}


class SiblingTools:
    """The tools that the scenarios of a suite expect, each in its variants: those that the others must not call."""

    def __init__(self, expected: Iterable[tuple[str, Mapping[str, str | None]]]) -> None:
        """Collects each scenario's expected tool, and the `tool` of each of its variants instead of it."""
        self._plain: dict[str, None] = {}
        self._all: dict[str, None] = {}
        self._by_variant: dict[str, dict[str, None]] = {}
        for tool, variants in expected:
            if not variants:
                self._plain[tool] = None
            for name, own in variants.items():
                self._by_variant.setdefault(name, {})[own or tool] = None
            self._all |= dict.fromkeys([own or tool for own in variants.values()] or [tool])

    def find_tools(self, variant: str | None) -> Sequence[str]:
        """The tools in one variant; in one that no other scenario has, those of all variants."""
        if variant is None or variant not in self._by_variant:
            return list(self._all)
        return list({**self._plain, **self._by_variant[variant]})
