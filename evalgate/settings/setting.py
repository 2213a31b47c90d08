"""What a setting declares of itself, once: how its text is read, its default, and what people read about it.

The input of the Action with its row in `action.yml` and in docs/github.md, the environment's variable and the flag of
`evalgate run` follow from it. It imports no slow module: the declarations are read at every start.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalgate.errors import Problem

Value = TypeVar("Value")
Group = TypeVar("Group", bound="SettingGroup")


class Flag(NamedTuple):
    """The flag of `evalgate run` that is the same setting in a shell; `name` and `default` where they differ there."""

    help: str
    metavar: str | None = None
    default: Any = None
    name: str = ""


class Text(NamedTuple):
    """What people read about a setting: `help` is plain text for `action.yml`, `row` Markdown for docs/github.md.

    The page's column of defaults shows `shown`, as Markdown, if the default has no text of its own. `expression` is a
    default that the runner fills in.
    """

    help: str
    row: str
    shown: str = ""
    expression: str = ""


class Guard(NamedTuple):
    """Names, as `module:function`, what finds a problem with a value that its reader can't see, and its secrets.

    `check` is given the value, RUNNER_TEMP and the workspace; `secrets` gives the parts of the value to mask in a log.
    """

    check: str
    secrets: str


class Setting(Generic[Value]):
    """A setting, as an attribute of a group, after which it is named: of the class the declaration, else the value.

    `read` makes the value of a text, or raises a ValueError whose text continues after the name.
    """

    def __init__(
        self,
        default: Value,
        read: Callable[[str], Any],
        text: Text,
        flag: Flag | None = None,
        guard: Guard | None = None,
    ) -> None:
        self.default, self.read, self.text, self.flag, self.guard = default, read, text, flag, guard
        self.name = ""

    def __set_name__(self, _: type[SettingGroup], attribute: str) -> None:
        """Names it as in a workflow."""
        self.name = attribute.replace("_", "-")

    @property
    def variable(self) -> str:
        """The environment variable that holds the input; the runner keeps hyphens."""
        return f"INPUT_{self.name.upper()}"

    def find_problem(self, values: Mapping[str, Any], temp: str, workspace: str) -> Problem | None:
        """The problem with the given value that its reader can't see; `temp` is RUNNER_TEMP."""
        if self.guard is None or self.name not in values:
            return None
        problem: Problem | None = load_object(self.guard.check)(values[self.name], temp, workspace)
        return problem

    def find_secrets(self, values: Mapping[str, Any]) -> list[str]:
        """The parts of the given value to mask in a log."""
        if self.guard is None or self.name not in values:
            return []
        return [*load_object(self.guard.secrets)(values[self.name])]

    @overload
    def __get__(self, group: None, kind: type[SettingGroup]) -> Setting[Value]: ...
    @overload
    def __get__(self, group: SettingGroup, kind: type[SettingGroup]) -> Value: ...
    def __get__(self, group: SettingGroup | None, kind: type[SettingGroup]) -> Setting[Value] | Value:
        return self if group is None else group.values.get(self.name, self.default)


class SettingGroup:
    """The settings of one owner, the kernel or a feature. Its repr shows no value, as some are secret."""

    def __init__(self, values: Mapping[str, Any] = MappingProxyType({})) -> None:
        """`values` are those that were given, by name; they may hold settings of other groups."""
        self.values = values

    def of(self, group: type[Group]) -> Group:
        """The settings of another owner, among the same values."""
        return group(self.values)

    @classmethod
    def declared(cls) -> list[Setting[Any]]:
        """Its settings, in the order of their declaration."""
        return [each for each in vars(cls).values() if isinstance(each, Setting)]


def load_object(place: str) -> Any:
    """What is at `module:name`, imported now."""
    from importlib import import_module

    module, name = place.split(":")
    return getattr(import_module(module), name)
