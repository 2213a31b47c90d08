"""Finds plugin evaluators: in modules named with `--plugin`, and in installed packages (entry points)."""

from __future__ import annotations

import inspect
import sys
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_args

from evalgate.errors import Problem, SettingError
from evalgate.evaluators.core.registry import BUILT_IN_TYPES
from evalgate.evaluators.core.shorthands import GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from importlib.metadata import EntryPoint

    from evalgate.evaluators.core.evaluator import Evaluator

GROUP = "evalgate.evaluators"


class PluginEvaluators:
    """Evaluator classes by type. Imports modules at once, installed packages once a suite names a type."""

    def __init__(self, modules: Sequence[str], folder: str) -> None:
        """Raises SettingError for a module that can't be imported from `folder` or has no evaluator."""
        self._classes: dict[str, type[Evaluator]] = {}
        self._installed: dict[str, EntryPoint] | None = None
        for name in modules:
            with _folder_on_sys_path(folder):
                module = _load_plugin(f"--plugin {name}", lambda name=name: import_module(name))
            self._register_module(module, name)

    def find(self, kind: str) -> type[Evaluator] | None:
        """The class of a type, None for an unknown type. Raises SettingError if its package is broken."""
        if kind in self._classes:
            return self._classes[kind]
        entry = self._entry_points().get(kind)
        if entry is None:
            return None
        found = _load_plugin(f"installed evaluator {kind} ({entry.value})", entry.load)
        if _kind_of(found) != kind:
            raise SettingError(Problem(f"{entry.value} is not an evaluator of type {kind}", None, _remedy(kind)))
        _require_version(found, entry.value)
        self._classes[kind] = found
        return self._classes[kind]

    def names(self) -> Iterable[str]:
        """The types of the modules and of the installed packages."""
        return sorted({*self._classes, *self._entry_points()})

    def _register_module(self, module: Any, name: str) -> None:
        found = [each for each in vars(module).values() if _kind_of(each) is not None]
        top = name.partition(".")[0]
        own = {_kind_of(each): each for each in found if each.__module__.partition(".")[0] == top}
        if not own:
            raise SettingError(Problem(f"--plugin {name} contains no evaluator", None, _remedy("my_check")))
        for kind, each in own.items():
            if kind is None or kind in BUILT_IN_TYPES or kind in GROUPS or kind in self._classes:
                raise SettingError(f"--plugin {name}: the type `{kind}` is already taken")
            _require_version(each, f"--plugin {name}")
            self._classes[kind] = each

    def _entry_points(self) -> dict[str, EntryPoint]:
        if self._installed is None:
            from importlib.metadata import entry_points  # slow to import, so only for runs with unknown types

            offered = sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))
            self._installed = {entry.name: entry for entry in reversed(offered)}
        return self._installed


def _kind_of(found: object) -> str | None:
    """The evaluator type of a class: the only value its field `type` allows. None if it is not an evaluator."""
    from evalgate.evaluators.base import Evaluator

    if not (inspect.isclass(found) and issubclass(found, Evaluator)) or inspect.isabstract(found):
        return None
    literals = get_args(found.model_fields["type"].annotation)
    return literals[0] if len(literals) == 1 and isinstance(literals[0], str) else None


def _require_version(found: type[Evaluator], where: str) -> None:
    version: object = found.version
    if type(version) is not int or version < 1:
        raise SettingError(f"{where}: `version` of {found.__name__} must be a whole number from 1")


def _remedy(kind: str) -> str:
    return f"a subclass of evalgate.evaluators.base.Evaluator with `type: Literal[{kind!r}]`"


def _load_plugin(label: str, load: Any) -> Any:
    try:
        return load()
    except ModuleNotFoundError as error:
        raise SettingError(f"{label}: the module {error.name} was not found") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001  (plugin code may raise anything)
        raise SettingError(f"{label} can't be imported ({type(error).__name__})") from None


@contextmanager
def _folder_on_sys_path(folder: str) -> Iterator[None]:
    """Adds the folder to the end of `sys.path` during an import, after everything installed."""
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
