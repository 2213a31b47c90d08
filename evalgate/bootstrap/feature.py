"""What an optional feature declares of itself, as plain data: verbs, settings, and the kernel's ports that it fills."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.settings.setting import SettingGroup, load_object

if TYPE_CHECKING:
    from collections.abc import Mapping


class Verb(NamedTuple):
    """A verb of the command line; `module` holds it in its `COMMANDS`, and is imported when the verb is used.

    In the list of all verbs a feature's follows the verb `after`; `is_old_name` leaves it out of the list: another verb
    does the same. `loads_project` is False for a verb that prints
    recorded data and loads no suite or project: the project's redaction rules are read for it separately.
    """

    purpose: str
    module: str
    after: str = ""
    loads_project: bool = False
    is_old_name: bool = False


class OutputDeclaration(NamedTuple):
    """An output of a run: its class as `module:name`, imported when one of the settings `asked_by` asks for it."""

    implementation: str
    asked_by: tuple[str, ...]


class Feature(NamedTuple):
    """An optional feature. `extra` is the extra of the distribution that it needs; empty for none.

    `outputs` are what a run leaves for it, by their names.

    `provides` names, for a port of the kernel, the function that fills it, as `module:function`. With one of
    `connecting` among its flags, a verb may connect to other machines, so that its sandbox allows it. `settings` are
    its inputs of the Action, and its flags of `evalgate run`.
    """

    name: str
    purpose: str
    verbs: Mapping[str, Verb] = MappingProxyType({})
    provides: Mapping[str, str] = MappingProxyType({})
    connecting: tuple[str, ...] = ()
    outputs: Mapping[str, OutputDeclaration] = MappingProxyType({})
    extra: str = ""
    settings: type[SettingGroup] = SettingGroup

    def load(self, port: str) -> Any:
        """The function that fills a port of the kernel, imported now."""
        return load_object(self.provides[port])
