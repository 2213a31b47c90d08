"""The verb `fingerprint`: prints a digest of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell

EXAMPLES = """examples:
  evalgate fingerprint 'agent/**' prompts/system.md
  AGENT_HASH=$(evalgate fingerprint 'agent/**') python record.py
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    parser.epilog = EXAMPLES
    parser.add_argument("globs", nargs="+", metavar="GLOB", help="files, folders or globs, as in `freshness.watch`")


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Prints the fingerprint."""
    from evalgate.bootstrap import sources

    shell.print_line(sources.build_fingerprints(shell.cwd).compute_fingerprint(arguments.globs))
    return 0
