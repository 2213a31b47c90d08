"""Packages small enough to look through, names that mean one thing, and a docstring that says what to find."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "evalgate"
MOST_MODULES = 20
MOST_IN_KERNEL = 386  # without trace formats and kinds of evaluators, which people add; a run loads those that it uses
OUTSIDE_OF_KERNEL = {"features", "formats", "kinds"}
PACKAGES = sorted(path.parent for path in PACKAGE.rglob("__init__.py"))


def name_of(folder: Path) -> str:
    return folder.relative_to(PACKAGE.parent).as_posix()


def modules_of(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*.py") if path.name != "__init__.py"]


@pytest.mark.parametrize("folder", PACKAGES, ids=name_of)
def test_a_package_has_few_modules(folder):
    assert len(modules_of(folder)) <= MOST_MODULES


def test_the_kernel_has_not_more_modules_than_it_had():
    kernel = [folder for folder in PACKAGES if not OUTSIDE_OF_KERNEL & {*folder.relative_to(PACKAGE).parts}]
    count = sum(len(modules_of(folder)) for folder in kernel)
    what_to_do = "put what is new into a module that exists or into a feature, or join two modules"
    assert count <= MOST_IN_KERNEL, f"{count} modules in the kernel, at most {MOST_IN_KERNEL}: {what_to_do}"


def test_a_public_class_name_means_one_thing():
    """A port and its adapter may share a name: they are the same thing from both sides."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path.relative_to(PACKAGE).as_posix())
    several = {name: [each for each in found if not each.startswith("ports/")] for name, found in places.items()}
    assert {name: found for name, found in several.items() if len(found) > 1} == {}


@pytest.mark.parametrize("folder", PACKAGES, ids=name_of)
def test_a_package_says_what_it_is_for(folder):
    tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    docstring = ast.get_docstring(tree) or ""
    assert docstring.split("\n")[0].rstrip().endswith((".", ":")), docstring


def defined_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    targets = [
        target
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    return names | {target.id for target in targets if isinstance(target, ast.Name)}


def is_entry_point(folder: Path, name: str) -> bool:
    first, _, rest = name.partition(".")
    if (folder / first / "__init__.py").exists():
        return not rest or is_entry_point(folder / first, rest)
    module = folder / f"{first}.py"
    if module.exists():
        return not rest or rest in defined_in(module)
    return not rest and any(first in defined_in(path) for path in folder.glob("*.py"))


@pytest.mark.parametrize("folder", PACKAGES, ids=name_of)
def test_entry_points_of_a_package_exist(folder):
    tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    _, _, entry_points = (ast.get_docstring(tree) or "").partition("Entry points:")
    names = re.findall(r"`([\w.]+)`", entry_points)
    assert [name for name in names if not is_entry_point(folder, name)] == []
