"""The verb `record`, which runs an agent and writes traces of its model calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.cli.command import Command, option
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from argparse import Namespace

    from evalgate.bootstrap.recorder import PlannedTrial
    from evalgate.cli.shell import Shell

MAX_TRIALS, LONGEST = 1_000, 86_400.0


def record(arguments: Namespace, shell: Shell) -> int:
    """Runs the agent's command and writes a trace a trial."""
    require_extra()
    from evalgate.bootstrap import recorder
    from evalgate.bootstrap.sources import apply_project_redaction

    if arguments.without_proxy and arguments.without_otlp:
        raise SettingError("--without-proxy and --without-otlp together record nothing")
    apply_project_redaction(shell.cwd)
    options = recorder.RecordOptions(
        arguments.words,
        _plan(arguments),
        arguments.out,
        arguments.provider,
        not arguments.without_proxy,
        not arguments.without_otlp,
        _read_seconds(arguments.flush, "--flush", 10.0),
        _read_seconds(arguments.timeout, "--timeout", LONGEST),
        _read_variables(arguments.env),
        is_realtime=arguments.realtime,
        keep_going=arguments.keep_going,
    )
    shell.flush()
    return recorder.record(options, shell.environ, shell.cwd, shell.note)


def require_extra() -> None:
    """Raises SettingError in one line if the packages of the extra are not installed."""
    from importlib.util import find_spec

    if find_spec("aiohttp") is None:
        hint = 'pip install "evalgate-action[record]"'
        raise SettingError(Problem("evalgate record needs the extra `record`", None, hint))


def _plan(arguments: Namespace) -> list[PlannedTrial]:
    from evalgate.bootstrap.recorder import PlannedTrial
    from evalgate.models.recording.exchange import TrialId

    numbers = read_trials(arguments)
    return [PlannedTrial(TrialId(None, arguments.scenario, None, number)) for number in numbers]


def read_trials(arguments: Namespace) -> list[int]:
    """The numbers of the trials to run: the one of `--trial`, or as many as `--trials`; 0 without both."""
    if arguments.trial is not None and arguments.trials is not None:
        raise SettingError("--trial is the number of one trial, --trials how many: use one of them")
    if arguments.trial is not None:
        if arguments.trial < 0:
            raise SettingError("--trial takes a number from 0")
        return [arguments.trial]
    many = 1 if arguments.trials is None else arguments.trials
    if not 1 <= many <= MAX_TRIALS:
        raise SettingError(f"--trials takes a number from 1 to {MAX_TRIALS:,}")
    return [*range(many)]


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
            option("--scenario", metavar="ID", help="the scenario that the traces are for"),
            option("--trial", type=int, metavar="N", help="the number of the trial (default 0)"),
            option("--trials", type=int, metavar="N", help="run the command N times, as trials 0 to N-1"),
            option("--out", metavar="DIR", default="traces", help="folder for the traces (default traces)"),
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
            option("--env", action="append", metavar="NAME=VALUE", default=[], help="set a variable of the agent"),
            option("--realtime", action="store_true", help="replay streams with the pauses that were recorded"),
            option("--keep-going", action="store_true", help="exit 0 even if the agent failed: the gate judges that"),
        ],
        """examples:
  evalgate record --scenario refund -- python agent.py          writes traces/refund/0.jsonl
  evalgate record --scenario refund --trials 5 -- node agent.js
  evalgate run evals/support.yaml --traces 'traces/**'

exit codes: 0 recorded, 1 the agent failed, 2 wrong input, 3 nothing recorded, 124 timeout, 130 or 143 interrupted.
""",
        usage="evalgate record [options] -- CMD ...",
    ),
}
