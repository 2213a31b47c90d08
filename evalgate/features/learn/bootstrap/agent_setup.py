"""The steps of a workflow that install what an agent needs, by its command and the files of its repository."""

from __future__ import annotations

import ast
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PYTHON, NODE = "Python", "Node.js"
LANGUAGES = {
    **dict.fromkeys(("python", "uv", "poetry", "pytest", "uvicorn", "pdm"), PYTHON),
    **dict.fromkeys(("node", "npm", "pnpm", "yarn", "tsx", "ts-node"), NODE),
}
FETCHING = frozenset({"go", "cargo", "dotnet", "deno", "npx", "uvx", "bunx"})
"""Programs that fetch the packages of what they run by themselves."""
SAME_NAME = frozenset({"anthropic", "httpx", "openai", "requests"})
"""Modules whose package has their name."""
MAX_FILES, MAX_BYTES = 50, 1_000_000
SETUP_PYTHON = "actions/setup-python@5fda3b95a4ea91299a34e894583c3862153e4b97 # v7.0.0"
VERSION_FILE, VERSION = ".python-version", "3.13"


class PackageList(NamedTuple):
    """A file that lists packages, the language of their programs, and the command that installs them.

    `brings_python` if that command makes an environment with a Python of its own.
    """

    path: str
    language: str
    command: str
    brings_python: bool = False


LISTS = (
    PackageList(
        "uv.lock", PYTHON, 'pipx install uv && uv sync --locked && echo "$PWD/.venv/bin" >> "$GITHUB_PATH"', True
    ),
    PackageList(
        "poetry.lock",
        PYTHON,
        'pipx install poetry && poetry install && echo "$(poetry env info --path)/bin" >> "$GITHUB_PATH"',
        True,
    ),
    PackageList("requirements.txt", PYTHON, "pip install -r requirements.txt"),
    PackageList("pyproject.toml", PYTHON, "pip install ."),
    PackageList("setup.py", PYTHON, "pip install ."),
    PackageList("pnpm-lock.yaml", NODE, "npm install --global pnpm && pnpm install --frozen-lockfile"),
    PackageList("yarn.lock", NODE, "yarn install --frozen-lockfile"),
    PackageList("package-lock.json", NODE, "npm ci"),
    PackageList("package.json", NODE, "npm install"),
)
"""The most exact of a language first."""


def build_setup(words: Sequence[str], cwd: str) -> str:
    """The steps, as lines of a workflow; a line in a comment says what to write where nothing lists the packages."""
    program = words[0]
    if program in FETCHING:
        return ""
    language = LANGUAGES.get(program)
    found = next((each for each in LISTS if language in (None, each.language) and _lists_packages(each, cwd)), None)
    if found is None:
        lines = [*_set_python_up(language, cwd), *_describe_missing(words, cwd, language)]
    else:
        python = [] if found.brings_python else _set_python_up(found.language, cwd)
        lines = [*python, f"- run: {found.command} # what your agent needs"]
    return "".join(f"      {line}\n" for line in lines)


def _lists_packages(listed: PackageList, cwd: str) -> bool:
    path = Path(cwd, listed.path)
    if not path.is_file() or listed.path != "pyproject.toml":
        return path.is_file()
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return not content.keys().isdisjoint({"project", "build-system"})  # others only configure tools


def _set_python_up(language: str | None, cwd: str) -> list[str]:
    """The step without which `pip` on the runner is that of the system; empty for another language."""
    if language != PYTHON:
        return []
    has_file = Path(cwd, VERSION_FILE).is_file()
    version = f'python-version: "{VERSION}" # or the one that your agent needs'
    return [
        f"- uses: {SETUP_PYTHON}",
        "  with:",
        f"    python-version-file: {VERSION_FILE}" if has_file else f"    {version}",
    ]


def _describe_missing(words: Sequence[str], cwd: str, language: str | None) -> list[str]:
    """The step where no file lists packages: those that the agent imports, else what to write; empty if none."""
    script = next((word for word in words if word.endswith(".py") and Path(cwd, word).is_file()), None)
    if language != PYTHON or script is None:
        return ["# - run: what installs your agent's packages, which no file here lists"]
    packages = list_imported_packages(Path(cwd), script)
    step = f"- run: pip install {' '.join(packages)} # what {script} imports"
    if not packages or SAME_NAME.issuperset(packages):
        return [step] if packages else []
    return [f"# {step}: remove the # once these are the names of its packages"]


def list_imported_packages(root: Path, script: str) -> list[str]:
    """The modules outside of Python and the project that a script imports, and those of the project that it imports."""
    found, waiting, seen = set[str](), [root / script], set[Path]()
    while waiting and len(seen) < MAX_FILES:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in _list_imports(path):
            own = [each for base in (path.parent, root) for each in (base / f"{name}.py", base / name) if each.exists()]
            if not own and name not in sys.stdlib_module_names:
                found.add(name)
            waiting += [file for each in own for file in (sorted(each.rglob("*.py")) if each.is_dir() else [each])]
    return sorted(found)


def _list_imports(path: Path) -> Iterator[str]:
    """The first names of the modules that a file imports, but for relative ones; none of a file that can't be read."""
    try:
        if path.stat().st_size > MAX_BYTES:
            return
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
