"""The verb `merge`: merges the shards of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell

EXAMPLES = """examples:
  evalgate merge shards/                            every shard.zip below a folder
  evalgate merge 'shards/*/shard.zip' --config evals/refunds.yaml --baseline main/baseline.zip
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb; those that decide a run are the same as in `run`."""
    from evalgate.cli.run.run import add_decision, add_outputs
    from evalgate.cli.shell import add_limits, add_plugins

    parser.epilog = EXAMPLES
    parser.add_argument("shards", nargs="+", metavar="SHARDS", help="shard.zip files, folders or globs of them")
    parser.add_argument(
        "--config",
        action="append",
        dest="configs",
        metavar="CONFIG",
        default=[],
        help="the suites that the shards judged, as given to `run` (repeatable)",
    )
    add_decision(parser)
    add_limits(parser)
    add_plugins(parser)
    add_outputs(parser)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Merges the shards, writes the files of one run, prints the table."""
    from evalgate.bootstrap import evaluation_pools
    from evalgate.cli.run.run import build_tools, judge_and_report
    from evalgate.records import replace

    shards = evaluation_pools.open_shards(arguments.shards, shell.cwd)
    arguments.traces, arguments.format = shards[0].head.traces, shards[0].head.format
    return judge_and_report(arguments, shell, replace(build_tools(arguments, shell), shards=shards))
