"""What each dependency costs at start-up: milliseconds of CPU over a bare interpreter."""

from __future__ import annotations

from importlib.util import find_spec

from measure import best

TIMES = 15
MODULES = {
    "argparse": "",
    "orjson": "",
    "regex": "",
    "jsonschema_rs": "",
    "yaml": "",
    "jmespath": "",
    "pydantic": "from pydantic import BaseModel",
    "jinja2": "import jinja2.sandbox",
    "requests": "",
    "rich": "import rich.progress",
    "jsonschema": "",
    "click": "",
}


def main() -> None:
    """One line a module that is installed."""
    bare = best(["-I", "-c", "pass"], TIMES).cpu
    print(f"{'bare interpreter':18}{bare * 1000:6.0f} ms")
    for module, statement in MODULES.items():
        if find_spec(module) is None:
            continue
        cost = best(["-I", "-c", statement or f"import {module}"], TIMES).cpu - bare
        print(f"{module:18}{cost * 1000:6.0f} ms more")


if __name__ == "__main__":
    main()
