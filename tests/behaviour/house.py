"""Prints the figures of the structure: lines, features, imports, parameters, moves between modules in a run.

    .venv/bin/python tests/behaviour/house.py [--json]

tests/contract/test_house.py holds the bounds. A module belongs to a feature also outside of its folder if only this
feature imports it; modules that a table names as text (formats, evaluators) are not followed.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "evalgate"
FEATURES = PACKAGE / "features"
SUITE, TRACES = "examples/support-agent/evals/support.yaml", "examples/support-agent/traces/{}/*.jsonl"
OF_AGENTS = "evalgate.recording"
"""What agents import is of the kernel, though only a feature imports it."""

TRACED_RUN = """
import sys
from io import StringIO
from evalgate.cli import main
from evalgate.cli.shell import Shell
moves = 0
def count(frame, event, _):
    global moves
    if event == "call" and frame.f_back is not None:
        here, there = (each.f_globals.get("__name__", "") for each in (frame, frame.f_back))
        moves += here != there and here.startswith("evalgate") and there.startswith("evalgate")
if {count_moves}:
    sys.setprofile(count)
code = main(sys.argv[1:], Shell(StringIO(), StringIO(), {{}}, "."))
sys.setprofile(None)
print(code, moves, *sorted(name for name in sys.modules if name.startswith("evalgate")))
"""


class Import(NamedTuple):
    """A module of ours that imports another one; `is_typed` if only types are needed."""

    importer: str
    imported: str
    is_typed: bool


def name_of(path: Path) -> str:
    """The dotted name of a module; a package's is that of its folder."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the package, parsed."""
    return {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def feature_of(module: str) -> str | None:
    """The feature in whose folder the module lies; None for the kernel."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["evalgate", "features"] and len(parts) > 2 else None


def statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The statements of a block and of the blocks inside it, without their expressions, which are most of a tree."""
    for each in body:
        yield each
        for block in ("body", "handlers", "cases", "orelse", "finalbody"):
            yield from statements(getattr(each, block, ()))


@cache
def imports() -> tuple[Import, ...]:
    """Every import of one of our modules by another."""
    found = set()
    for importer, tree in modules().items():
        typed = {
            id(inner)
            for node in statements(tree.body)
            if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
            for inner in statements(node.body)
        }
        for node in statements(tree.body):
            for imported in _imported_by(node):
                found.add(Import(importer, imported, id(node) in typed))
    return tuple(sorted(found))


def _imported_by(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [each.name for each in node.names if each.name in modules()]
    if not isinstance(node, ast.ImportFrom) or node.module not in modules():
        return []
    inner = [f"{node.module}.{each.name}" for each in node.names]
    return [each if each in modules() else str(node.module) for each in inner]


def kernel_imports_of_features() -> list[Import]:
    """What the kernel imports of features but their declarations, also only for types."""
    tops = {"evalgate.pytest_plugin", "evalgate.testing"}  # public names of a feature
    return [
        each
        for each in imports()
        if feature_of(each.importer) is None
        and feature_of(each.imported) is not None
        and each.importer not in tops
        and (each.importer, each.imported.split(".")[-1]) != ("evalgate.bootstrap.features", "feature")
    ]


def places_of_features() -> dict[str, list[str]]:
    """For each feature the modules outside of its folder that only it imports."""
    owners: dict[str, str | None] = {module: feature_of(module) for module in modules()}
    importers: dict[str, set[str]] = {}
    for each in imports():
        importers.setdefault(each.imported, set()).add(each.importer)
    changed = True
    while changed:
        changed = False
        for module, owner in owners.items():
            of = {owners[importer] for importer in importers.get(module, ())}
            if owner is None and len(of) == 1 and None not in of and not module.startswith(OF_AGENTS):
                owners[module], changed = of.pop(), True
    outside = {name.name: [] for name in sorted(FEATURES.iterdir()) if (name / "feature.py").exists()}
    for module, owner in owners.items():
        if owner is not None and feature_of(module) is None and "formats" not in module:
            outside[owner].append(module)
    return outside


def lines_in(folder: Path) -> int:
    """Lines of the Python files below a folder."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in folder.rglob("*.py"))


def most_parameters() -> tuple[int, str]:
    """The most parameters of a function, without `self`, and its place."""
    found = [
        (
            len([*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]) - _is_method(node),
            f"{name}.{node.name}",
        )
        for name, tree in modules().items()
        for node in statements(tree.body)
        if isinstance(node, ast.FunctionDef)
    ]
    return max(found)


def _is_method(node: ast.FunctionDef) -> bool:
    return bool(node.args.args) and node.args.args[0].arg in {"self", "cls"}


def request_fields() -> int:
    """How many fields a request to the judge has."""
    from evalgate.application.messages.request import JudgeRequest

    return len(JudgeRequest.__struct_fields__)


def run_with_baseline(*, count_moves: bool) -> tuple[int, list[str]]:
    """Moves between modules and the modules loaded in the demo's red run, which is compared with a baseline."""
    with tempfile.TemporaryDirectory() as folder:
        for version, more in (("main", []), ("pr", ["--baseline", f"{folder}/main/baseline.zip"])):
            words = ["run", SUITE, "--traces", TRACES.format(version), "--output-dir", f"{folder}/{version}", *more]
            done = subprocess.run(
                [sys.executable, "-c", TRACED_RUN.format(count_moves=count_moves), *words],
                cwd=ROOT, capture_output=True, text=True, check=True,
            )  # fmt: skip
    code, moves, *loaded = done.stdout.splitlines()[-1].split()
    if code != "1":
        raise SystemExit(f"the demo's red run ended with {code}: {done.stderr}")
    return int(moves), loaded


def main() -> None:
    """Prints every figure."""
    moves, _ = run_with_baseline(count_moves=True)
    _, loaded = run_with_baseline(count_moves=False)
    features = lines_in(FEATURES)
    figures = {
        "lines of evalgate/": lines_in(PACKAGE),
        "lines of the kernel": lines_in(PACKAGE) - features,
        **{
            f"lines of {folder.name}": lines_in(folder)
            for folder in sorted(FEATURES.iterdir())
            if (folder / "feature.py").exists()
        },
        "lines of tests/": lines_in(ROOT / "tests"),
        "modules of features outside of their folder": places_of_features(),
        "kernel imports of features": [f"{each.importer} -> {each.imported}" for each in kernel_imports_of_features()],
        "modules imported by a run with a baseline": len(loaded),
        "of features among them": [name for name in loaded if feature_of(name)],
        "fields of JudgeRequest": request_fields(),
        "most parameters of a function": most_parameters(),
        "moves between modules, red demo run": moves,
    }
    if "--json" in sys.argv[1:]:
        print(json.dumps(figures, indent=1))
        return
    for name, value in figures.items():
        print(f"{name}: {value if not isinstance(value, float) else f'{value:.1f}'}")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
