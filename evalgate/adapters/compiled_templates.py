"""`python -m evalgate.adapters.compiled_templates`: what compileall does for modules, for our templates."""

from __future__ import annotations

from pathlib import Path

from evalgate import reporting
from evalgate.reporting.markdown.render import compiled_templates


def main() -> None:
    """Leaves the bytecode of every template where a run looks for it."""
    room = Path(reporting.__path__[0])
    for place, bytecode in compiled_templates().items():
        path = room / place
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytecode)


if __name__ == "__main__":
    main()
