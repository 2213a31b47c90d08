"""The command line: one parser, a table of options per verb, one place that handles errors.

Entry points: `main`, `VERBS`, `command.Command`, `shell.Shell`, and a module per group of verbs with `COMMANDS`.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from evalgate.bootstrap.feature import Verb
from evalgate.bootstrap.features import FEATURES, with_feature_verbs
from evalgate.cli.parser import VerbParser
from evalgate.errors import EvalGateError, OverLimit, SettingError
from evalgate.measures.redaction.redact import hide_secrets
from evalgate.settings.secret_variables import find_secret_values
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from evalgate.cli.command import Command
    from evalgate.cli.shell import Shell

_CLI = "evalgate.cli"
_VERBS = {
    "traces": Verb("list traces of any format: what each records and lacks", f"{_CLI}.traces"),
    "show": Verb("print a trace as a conversation, with its tool calls", f"{_CLI}.traces"),
    "validate": Verb("check suites without reading traces", f"{_CLI}.validation", loads_project=True),
    "run": Verb("judge traces, compare with a baseline, report, and gate", f"{_CLI}.run", loads_project=True),
    "explain": Verb("explain the verdict of a scenario, call by call", f"{_CLI}.explain"),
    "baseline": Verb("save, create or show what later runs are compared with", f"{_CLI}.baselines"),
    "approve": Verb("accept a known failure until a date", f"{_CLI}.approvals", loads_project=True),
    "approvals": Verb("list approvals and their status, or withdraw one", f"{_CLI}.approvals", loads_project=True),
    "evaluators": Verb("list the evaluators of suites, or describe one", f"{_CLI}.suites", loads_project=True),
    "query": Verb("evaluate JMESPath on a trace, or list its fields", f"{_CLI}.query"),
    "compare": Verb("compare two finished runs, scenario by scenario", f"{_CLI}.baselines"),
    "convert": Verb("convert traces to native or OpenTelemetry traces", f"{_CLI}.query"),
    "merge": Verb("merge the shards of one run into its reports and verdict", f"{_CLI}.run", loads_project=True),
    "fingerprint": Verb("print a hash of the agent's files, to record in traces", f"{_CLI}.suites", loads_project=True),
    "schema": Verb("print the JSON Schema of a suite, project, trace or run", f"{_CLI}.schemas", loads_project=True),
    "completion": Verb(
        "print a script that completes commands in a shell", f"{_CLI}.completion.verb", loads_project=True
    ),
    "help": Verb("show the verbs to begin with, all of them, or one", f"{_CLI}.help", loads_project=True),
}
VERBS = with_feature_verbs(_VERBS)
"""Every verb, those that a newcomer needs first."""
FIRST_VERBS = ("record", "traces", "show", "init", "run", "explain", "view", "mutate")
"""What `--help` lists, in the order in which a newcomer needs them."""
NO_COLOR = "--no-color"
"""Accepted before and after the verb."""
FIRST_COMMANDS = """usage: evalgate VERB ...     a gate on what an AI agent does, judged from recorded traces

  evalgate traces traces/               what each recorded trace holds
  evalgate show TRACE                   one trace as a conversation
  evalgate run evals/support.yaml       judge the traces of a suite; exits non-zero if the gate fails
  evalgate explain SCENARIO             why a scenario of the last run passed or failed
  evalgate baseline save                keep the last run, to compare later runs with it

`evalgate help --all` lists all verbs, `evalgate VERB --help` the options of one."""
LEFT_OUT = (
    "is not in this copy of EvalGate, which is the archive that jobs of the Action download: install the package, or "
    "use the image"
)
MORE = "more: `evalgate help --all`\n\n"
EPILOG = """exit codes: 0 pass, 1 gate failed, 2 invalid input, 3 cannot judge, 4 GitHub or a
required store is unreachable, 70 a bug in EvalGate. `evalgate VERB --help` lists options.
"""

BUG = 70
INTERRUPTED = 130


def main(argv: Sequence[str], shell: Shell) -> int:
    """Runs one verb. Never raises: every outcome is an exit code without a traceback."""
    hide_secrets(find_secret_values(shell.environ))
    own = argv[: argv.index("--")] if "--" in argv else argv  # what follows is the command of an agent
    words = [*(word for word in own if word != NO_COLOR), *argv[len(own) :]]
    if len(words) < len(argv):
        shell = shell._replace(environ={**shell.environ, "NO_COLOR": "1"})
    return _run_handling_errors(shell, lambda: _run_verb(words, shell))


def _run_verb(argv: Sequence[str], shell: Shell) -> int:
    if not argv:
        shell.err.write(f"{FIRST_COMMANDS}\n")
        return SettingError.exit_code
    arguments = _build_parser(argv).parse_args(argv)
    if not VERBS[arguments.verb].loads_project:
        from evalgate.bootstrap.sources import apply_project_redaction

        apply_project_redaction(shell.cwd)
    command: Command = arguments.command
    if hasattr(arguments, "limit_names") and arguments.limit:
        return _run_limited(command, arguments, shell)
    return command.run(arguments, shell)


def _run_limited(command: Command, arguments: argparse.Namespace, shell: Shell) -> int:
    """Runs a command whose flags set limits; limits on cpu and memory need a separate process."""
    from evalgate.settings.limits import parse_limits

    limits = parse_limits(arguments.limit, allowed=arguments.limit_names)
    if not limits.is_process_limited:
        return command.run(arguments, shell)
    if sys.platform == "win32":
        raise SettingError("limits on cpu and memory are not supported on this system")
    from evalgate.bootstrap.process import run_in_limited_process

    try:
        return run_in_limited_process(
            limits,
            lambda: command.run(arguments, shell),
            lambda work: _run_handling_errors(shell, work),
            may_connect=_may_connect(arguments, shell),
        )
    except OverLimit as error:
        if command.over_limit is None:
            raise
        return command.over_limit(arguments, shell, error)


def _may_connect(arguments: argparse.Namespace, shell: Shell) -> bool:
    """Whether the user named something on the network (a store, a cluster, traces) or code that may use it."""
    flags = vars(arguments)
    names = [flags.get("store_url") or shell.environ.get("EVALGATE_STORE_URL") or "", *(flags.get("traces") or ())]
    is_elsewhere = any("://" in name and not name.startswith("sqlite:") for name in names)
    connecting = ("plugin", *(flag for feature in FEATURES for flag in feature.connecting))
    return is_elsewhere or flags.get("engine") == "dask" or any(map(flags.get, connecting))


def _run_handling_errors(shell: Shell, work: Callable[[], int]) -> int:
    """Calls `work` and turns errors into exit codes; the only place that does."""
    try:
        code = work()
        shell.flush()
    except SystemExit as system_exit:  # argparse has already printed its message
        return system_exit.code if isinstance(system_exit.code, int) else 2
    except EvalGateError as error:
        shell.report_problems(error.problems)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return _handle_closed_pipe()
    except (MemoryError, SystemError):  # compiled code without memory may fail without an exception
        shell.note("error: there is not enough memory (raise it with --limit memory=2GB)")
        code = OverLimit.exit_code
    except Exception as error:  # noqa: BLE001  (the only place that handles bugs in EvalGate)
        shell.note(describe_bug(error))
        return BUG
    return code


def _build_parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    # Only help needs the terminal's width, and finding it out takes longer than parsing the arguments.
    width = None if not argv or {"-h", "--help"}.intersection(argv) else 100
    requested = [word for word in argv if word in VERBS][:1]
    return build_parser(requested, width, FIRST_VERBS, requested if requested == [*argv[:1]] else VERBS)


class _VerbList(argparse.RawDescriptionHelpFormatter):
    """Help with a line for each verb: argparse takes the column of the longest one to be narrower than it is."""

    def add_argument(self, action: argparse.Action) -> None:
        """Adds an argument, wide enough for its indentation."""
        super().add_argument(action)
        self._action_max_length = max(map(len, VERBS)) + 2 * self._indent_increment


def list_verbs() -> list[str]:
    """The verbs that help lists: all but old names of others."""
    return [name for name, verb in VERBS.items() if not verb.is_old_name]


def build_parser(
    requested: Collection[str], width: int | None = 100, shown: Sequence[str] = (), known: Collection[str] = VERBS
) -> argparse.ArgumentParser:
    """The parser of the verbs `known`, with the options of those `requested`; `width` None is the terminal's.

    Its help lists the verbs `shown`, by default all but old names. A verb that is not needed takes time to add.
    """
    shown = shown or list_verbs()
    formatter = partial(argparse.RawDescriptionHelpFormatter, width=width)
    parser = VerbParser(
        prog="evalgate",
        description="A gate on what an AI agent does, judged from recorded traces without calling a model.",
        epilog=EPILOG if len(shown) > len(FIRST_VERBS) else MORE + EPILOG,
        formatter_class=partial(_VerbList, width=width),
    )
    parser.add_argument("--version", action="version", version=f"evalgate {__version__}")
    parser.add_argument(NO_COLOR, action="store_true", help="print without colours, as with NO_COLOR=1")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=VerbParser)
    for name in [name for name in dict.fromkeys([*shown, *VERBS]) if name in known]:
        verb = VERBS[name]
        listing: dict[str, Any] = {"help": verb.purpose} if name in shown else {}  # argparse lists what has a help
        options = verbs.add_parser(
            name,
            **listing,
            description=verb.purpose[0].upper() + verb.purpose[1:] + ".",
            formatter_class=formatter,
            add_help=name in requested,
        )
        if name in requested:  # options of other verbs are not needed
            from evalgate.cli.command import add_command

            add_command(options, _load_command(name, verb))
    return parser


def _load_command(name: str, verb: Verb) -> Command:
    """The command of a verb; a SettingError for one that the archive of a release, which jobs download, leaves out."""
    try:
        command: Command = import_module(verb.module).COMMANDS[name]
    except ModuleNotFoundError as error:
        if error.name is None or not verb.module.startswith(error.name):
            raise
        raise SettingError(f"`evalgate {name}` {LEFT_OUT}") from None
    return command


def describe_bug(error: BaseException) -> str:
    """A line to paste into an issue, without the error's message, which may quote untrusted text."""
    import platform

    frame: Any = error.__traceback__
    where = "unknown"
    while frame is not None:
        name = frame.tb_frame.f_globals.get("__name__", "")
        if name.startswith("evalgate"):
            where = f"{name}:{frame.tb_lineno}"
        frame = frame.tb_next
    missing = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if missing.isidentifier() and missing != "evalgate":
        return f"error: the Python module {missing} is missing: install evalgate-action again ({where})"
    return (
        f"error: this is a bug in EvalGate, please report it: {type(error).__name__} at {where}, "
        f"evalgate {__version__}, Python {platform.python_version()} on {platform.system()}"
    )


def _handle_closed_pipe() -> int:
    """Ends quietly when the reader of stdout is gone, as in `evalgate ... | head`: that is not an error."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 128 + 13
