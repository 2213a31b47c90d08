"""The flags for parallel judging: several processes, a Dask cluster, or one shard of the run."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    from evalgate.application.judge.judge import Tools
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.bootstrap.evaluation_pools import ParallelOptions
    from evalgate.cli.shell import Shell
    from evalgate.ports.shards import Shard

MAX_JOBS = 256
DIGITS = 4


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Adds the flags."""
    add = parser.add_argument
    add(
        "--jobs",
        type=parse_jobs,
        metavar="N",
        help="number of worker processes (default auto: one for fewer than about 10,000 traces, else one per core)",
    )
    add(
        "--shard",
        type=parse_shard,
        metavar="I/N",
        help="judge the I-th of N shards and write shard.zip, for `evalgate merge` (docs/scale.md)",
    )
    add(
        "--engine",
        choices=["local", "dask"],
        default="local",
        help="where workers run: on this machine, or on a Dask cluster (needs evalgate-action[dask])",
    )
    add("--scheduler", metavar="ADDRESS", help="address of the Dask cluster (default: start one on this machine)")


def parse_parallel_options(arguments: argparse.Namespace) -> ParallelOptions:
    """Parses the flags. Limits on cpu and memory apply to a process: with them one process judges."""
    from evalgate.bootstrap.evaluation_pools import ParallelOptions
    from evalgate.errors import SettingError

    if arguments.scheduler is not None and arguments.engine != "dask":
        raise SettingError("--scheduler requires --engine dask")
    is_limited = any(each.partition("=")[0].strip() in {"cpu", "memory"} for each in arguments.limit)
    count = 1 if is_limited and arguments.jobs is None else arguments.jobs
    return ParallelOptions(
        count,
        dask=arguments.engine == "dask",
        scheduler=arguments.scheduler,
        plugins=tuple(arguments.plugin),
        traces=tuple(arguments.traces or ()),
    )


def parse_jobs(text: str) -> int | None:
    """Parses a number of processes; None for `auto`."""
    if text == "auto":
        return None
    if not _is_number(text) or not 0 < int(text) <= MAX_JOBS:
        raise ArgumentTypeError(f"{text!r} must be auto or a number from 1 to {MAX_JOBS}")
    return int(text)


def parse_shard(text: str) -> Shard:
    """Parses a shard such as 2/5."""
    from evalgate.ports.shards import MAX_SHARDS, Shard

    number, _, of = text.partition("/")
    if not (_is_number(number) and _is_number(of)) or not 0 < int(number) <= int(of) <= MAX_SHARDS:
        raise ArgumentTypeError(f"{text!r} must be a shard such as 2/5, of at most {MAX_SHARDS:,} shards")
    return Shard(int(number), int(of))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= DIGITS


def run_shard(arguments: argparse.Namespace, shell: Shell, request: JudgeRequest, tools: Tools) -> int:
    """Judges one shard and writes it to the output folder."""
    from evalgate.application.parallel.shards import judge_shard
    from evalgate.bootstrap import evaluation_pools

    name = evaluation_pools.SHARD
    pools: Any = tools.pools
    tools.output.require_writable()  # fails before the work
    writer = evaluation_pools.create_shard(lambda: tools.output.path(name))
    try:
        found = judge_shard(request, tools, arguments.shard, pools, writer)
    finally:
        writer.close()
    shell.print_line(
        f"shard {arguments.shard}: {found.traces:,} traces judged, in {found.batches:,} of {found.of_batches:,} batches"
    )
    if not arguments.quiet:
        shell.note(f"written to {arguments.output_dir}: {name}")
    return 0
