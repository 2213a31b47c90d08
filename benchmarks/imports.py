"""What each dependency costs at start-up: milliseconds of CPU over a bare interpreter."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from measure import once

ROUNDS = 25
MODULES = {
    "argparse": "",
    "orjson": "",
    "msgspec": "",
    "regex": "",
    "jsonschema_rs": "",
    "yaml": "",
    "jmespath": "",
    "pydantic": "from pydantic import BaseModel",
    "jinja2": "import jinja2.sandbox",
    "requests": "",
    "rich": "import rich.progress",
    "sqlalchemy": "",
    "alembic": "import alembic.command",
    "psycopg": "",
    "jsonschema": "",
    "click": "",
}


def main() -> None:
    """Prints one line per installed module; each round measures all of them, so that other load affects all alike."""
    statements = {"bare interpreter": "pass"}
    statements |= {module: code or f"import {module}" for module, code in MODULES.items() if find_spec(module)}
    least = dict.fromkeys(statements, float("inf"))
    for _ in range(ROUNDS):
        for module, code in statements.items():
            least[module] = min(least[module], once([sys.executable, "-I", "-c", code]).cpu)
    bare = least.pop("bare interpreter")
    print(f"{'bare interpreter':18}{bare * 1000:6.0f} ms")
    for module, cpu in least.items():
        print(f"{module:18}{(cpu - bare) * 1000:6.0f} ms more")


if __name__ == "__main__":
    main()
