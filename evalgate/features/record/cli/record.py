"""The verb `record`, which runs an agent and writes traces of its model calls."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.cli.command import Command, option
from evalgate.errors import SettingError
from evalgate.features.record.settings import CACHE_MODES, choose_cache_rules, require_extra

if TYPE_CHECKING:
    from argparse import Namespace

    from evalgate.cli.shell import Shell
    from evalgate.features.record.application.caps import CapLimits
    from evalgate.features.record.application.plan import PlannedTrial
    from evalgate.features.record.bootstrap.record_plan import LoadedSuite

LONGEST = 86_400.0
MOST_USD = 1_000_000


def record(arguments: Namespace, shell: Shell) -> int:
    """Runs the agent's command and writes a trace a trial."""
    require_extra()
    from msgspec.structs import replace

    from evalgate.bootstrap.sources import apply_project_redaction
    from evalgate.features.record.bootstrap import recorder

    if arguments.without_proxy and arguments.without_otlp:
        raise SettingError("--without-proxy and --without-otlp together record nothing")
    if os.path.lexists(Path(shell.cwd, "evalgate.yaml")):  # reading it loads much that a recording does not need
        apply_project_redaction(shell.cwd)
    limits = _read_limits(arguments)
    rules = choose_cache_rules(
        arguments.cache, shell.environ, reuses_last=arguments.reuse_last, records_errors=arguments.record_errors
    )
    loaded = None
    if arguments.only is not None and (arguments.suite is None or _names_trials(arguments)):
        raise SettingError("--only takes --suite, and none of --scenario, --trial and --trials")
    if arguments.suite is not None:
        from evalgate.features.record.bootstrap.record_plan import load_suite

        loaded = load_suite(arguments.suite, shell.cwd)
    options = recorder.RecordOptions(
        arguments.words,
        _plan(arguments, loaded, shell),
        arguments.out,
        arguments.provider,
        not arguments.without_proxy,
        not arguments.without_otlp,
        _read_seconds(arguments.flush, "--flush", 10.0),
        _read_seconds(arguments.timeout, "--timeout", LONGEST),
        _read_variables(arguments.env),
        is_realtime=arguments.realtime,
        keep_going=arguments.keep_going,
        cassettes=arguments.cassettes,
        rules=rules if loaded is None else replace(rules, masks=loaded.masks),
        is_suite=loaded is not None,
        keeps_stderr=not arguments.no_stderr,
        owns_folders=arguments.trial is None,
        limits=limits,
        prices=None if loaded is None else loaded.suite.prices,
        state_command=_split_command(arguments.state),
        state_files=arguments.state_files,
    )
    if loaded is None and arguments.scenario is None:
        shell.note("note: without --scenario ID or --suite FILE a trace has a scenario only if the agent names it")
    shell.flush()
    return recorder.record(options, shell.environ, shell.cwd, shell.note)


def _read_limits(arguments: Namespace) -> CapLimits:
    """The caps; raises SettingError for one that bounds nothing."""
    from evalgate.features.record.application.caps import CapLimits

    calls, usd = arguments.max_calls, arguments.max_usd
    if calls is not None and calls < 1:
        raise SettingError("--max-calls takes a number, 1 or more")
    if usd is not None and not 0 < usd <= MOST_USD:
        raise SettingError(f"--max-usd takes US dollars, more than 0 and at most {MOST_USD:,}")
    given = "--max-calls" if calls is not None else "--max-usd" if usd is not None else None
    if given is None and arguments.per_trial:
        raise SettingError("--per-trial needs --max-calls or --max-usd")
    if given is not None and arguments.without_proxy:
        raise SettingError(f"{given} bounds nothing with --without-proxy, which lets requests pass unseen")
    return CapLimits(calls, usd, arguments.per_trial)


def _split_command(text: str | None) -> list[str]:
    """The words of a command; raises SettingError if there are none, or a quote stays open."""
    import shlex

    try:
        words = [] if text is None else shlex.split(text)
    except ValueError:
        raise SettingError("--state: a quote or an escape of the command is not closed") from None
    if text is not None and not words:
        raise SettingError("--state takes a command")
    return words


def _names_trials(arguments: Namespace) -> bool:
    return any(each is not None for each in (arguments.scenario, arguments.trial, arguments.trials))


def _plan(arguments: Namespace, loaded: LoadedSuite | None, shell: Shell) -> list[PlannedTrial]:
    """The trials to run, in order; raises SettingError for a scenario that the suite lacks."""
    from msgspec.structs import replace

    from evalgate.features.record.application import plan
    from evalgate.features.record.models.exchange import TrialId

    if arguments.scenario == "":
        raise SettingError("--scenario takes an id")
    numbers = read_trials(arguments)
    if loaded is None:
        agent_hash = shell.environ.get("EVALGATE_AGENT_HASH")
        found = [
            plan.PlannedTrial(
                TrialId(None, arguments.scenario, None, number), shell.environ.get("EVALGATE_PROMPT"), agent_hash
            )
            for number in numbers or [0]
        ]
    else:
        if arguments.only is None:
            planned = plan.plan_trials(loaded.suite, arguments.scenario, numbers)
        else:
            from evalgate.features.record.bootstrap.only_planned import list_planned, read_plan

            planned = list_planned(loaded.suite, read_plan(arguments.only, shell.cwd))
        found = [replace(each, agent_hash=loaded.agent_hash) for each in planned]
    if not found:
        missing = f"the suite has no scenario {arguments.scenario!r}" if arguments.scenario else "no scenario"
        raise SettingError(missing if arguments.only is None else f"{arguments.only} names no scenario of the suite")
    if len(found) > plan.MAX_TRIALS:
        raise SettingError(f"{len(found):,} trials: a recording may have at most {plan.MAX_TRIALS:,}")
    plan.require_distinct(found)
    plan.require_prompts(arguments.words, found)
    return found


def read_trials(arguments: Namespace) -> list[int] | None:
    """The numbers of the trials to run: the one of `--trial`, or as many as `--trials`; None without both."""
    from evalgate.features.record.application.plan import MAX_TRIALS

    if arguments.trial is not None and arguments.trials is not None:
        raise SettingError("--trial is the number of one trial, --trials how many: use one of them")
    if arguments.trial is not None:
        if arguments.trial < 0:
            raise SettingError("--trial takes a number from 0")
        return [arguments.trial]
    if arguments.trials is None:
        return None
    if not 1 <= arguments.trials <= MAX_TRIALS:
        raise SettingError(f"--trials takes a number from 1 to {MAX_TRIALS:,}")
    return [*range(arguments.trials)]


def _read_seconds(value: float, flag: str, most: float) -> float:
    if not 0 <= value <= most:
        raise SettingError(f"{flag} takes seconds from 0 to {most:,.0f}")
    return value


def _read_variables(named: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in named:
        name, equals, value = each.partition("=")
        if not name or not equals or "\0" in each:
            raise SettingError("--env takes NAME=VALUE")
        found[name] = value
    return found


COMMANDS = {
    "record": Command(
        record,
        [
            option("words", nargs="+", metavar="CMD", help="the agent's command, after `--`; no shell interprets it"),
            option("--suite", metavar="FILE", help="run the command for each scenario, variant and trial of a suite"),
            option("--only", metavar="FILE", help="with --suite: only the trials that `confirm --plan` wrote"),
            option("--scenario", metavar="ID", help="the scenario that the traces are for"),
            option("--trial", type=int, metavar="N", help="the number of the trial (default 0)"),
            option("--trials", type=int, metavar="N", help="run the command N times, as trials 0 to N-1"),
            option("--out", metavar="DIR", default="traces", help="folder for the traces (default traces)"),
            option(
                "--cache",
                choices=CACHE_MODES,
                help="off: ask providers (default); read: replay cassettes only; auto: replay, record what is missing; "
                "write: record again (default: $EVALGATE_CACHE)",
            ),
            option(
                "--cassettes",
                metavar="DIR",
                default="evals/cassettes",
                help="folder of cassettes (default evals/cassettes)",
            ),
            option("--reuse-last", action="store_true", help="repeat the last recorded answer to a request"),
            option("--record-errors", action="store_true", help="record answers such as 429 and 500 too"),
            option(
                "--provider",
                action="append",
                metavar="NAME=URL",
                default=[],
                help="base URL of openai or anthropic (default: the variable of its SDK, else the provider's own)",
            ),
            option("--without-proxy", action="store_true", help="don't record model calls over HTTP, only spans"),
            option("--without-otlp", action="store_true", help="don't receive OpenTelemetry spans"),
            option(
                "--flush",
                type=float,
                metavar="SEC",
                default=1.0,
                help="wait for spans until none came for so long, at most 10 (default 1)",
            ),
            option(
                "--timeout",
                type=float,
                metavar="SEC",
                default=600.0,
                help="end the agent after so long (default 600)",
            ),
            option(
                "--max-calls",
                type=int,
                metavar="N",
                help="send at most N requests to providers; the trial that makes more is incomplete, none is started"
                " after it, exit 3",
            ),
            option(
                "--max-usd",
                type=float,
                metavar="USD",
                help="send no request once so much is spent; requests then go one after another, and none follows"
                " one of unknown cost",
            ),
            option("--per-trial", action="store_true", help="the caps are those of each trial; others are started"),
            option(
                "--state",
                metavar="CMD",
                help="keep the JSON that this command prints before and after each trial; no shell interprets it",
            ),
            option(
                "--state-files",
                metavar="GLOBS",
                help="keep which of these files below the working directory a trial changes, as in 'out/**,*.sql'",
            ),
            option("--env", action="append", metavar="NAME=VALUE", default=[], help="set a variable of the agent"),
            option("--no-stderr", action="store_true", help="keep nothing of a failed agent's stderr in its trace"),
            option("--realtime", action="store_true", help="replay streams with the pauses that were recorded"),
            option("--keep-going", action="store_true", help="exit 0 even if the agent failed: the gate judges that"),
        ],
        """examples:
  evalgate record --scenario refund -- python agent.py          writes traces/refund/0.jsonl
  evalgate record --scenario refund --trials 5 -- node agent.js
  evalgate record --suite evals/support.yaml --cache write -- python agent.py {prompt}
  evalgate record --suite evals/support.yaml --cache read -- python agent.py {prompt}
  evalgate run evals/support.yaml --traces 'traces/**'

exit codes: 0 recorded, 1 the agent failed, 2 wrong input, 3 nothing recorded, 124 timeout, 130 or 143 interrupted.
""",
        usage="evalgate record [options] -- CMD ...",
    ),
}
