"""The command line: one parser, one module per verb, one place that handles errors."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from evalgate.errors import EvalGateError, OverLimit, Problem, SettingError
from evalgate.measures.redaction.redact import hide
from evalgate.settings.secret_variables import secret_values
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.cli.shell import Shell

VERBS = {
    "run": "evaluate recorded traces, compare with a baseline, report, exit by the decision",
    "merge": "put the shards of one run together: reports, baseline and decision as of one run",
    "validate": "check suites without reading traces: all mistakes at once",
    "explain": "tell why a scenario has its verdict, and how it differs from the baseline turn by turn",
    "compare": "compare two finished runs, scenario by scenario",
    "baseline": "make or show the artifact that later runs are compared with",
    "query": "try a JMESPath expression on a trace, or print what expressions can see",
    "convert": "write traces of any format as native or OpenTelemetry ones",
    "backtest": "judge past runs by today's rules: which would have been blocked",
    "approve": "let a failure of a finished run pass: what, why, who answers for it, until when",
    "approvals": "list approvals, and whether they hold",
    "fingerprint": "print what files are in one word, for recordings to say what made them",
    "history": "tell how the runs in the store went, and how steadily each scenario passes",
    "goldens": "keep golden conversations in the store, and regression suites of them",
    "feedback": "keep what people said of conversations",
    "export": "write evaluations out of the store: JSON lines, CSV or a summary",
    "import": "take exported evaluations into the store",
    "schema": "print the JSON Schema of a suite, project, trace or results file",
}
RETELLING = VERBS.keys() - {"run", "merge", "validate", "approve", "approvals", "fingerprint", "schema"}
"""Verbs that print recorded data but load no project: its redaction rules are read separately."""
_MODULES = {
    "run": "run.run",
    "merge": "run.merge",
    "validate": "run.validate",
    "explain": "run.explain",
    "compare": "run.compare",
    "baseline": "run.baseline",
    "query": "traces.query",
    "convert": "traces.convert",
    "backtest": "run.backtest",
    "approve": "approvals.approve",
    "approvals": "approvals.list",
    "fingerprint": "traces.fingerprint",
    "history": "store.history",
    "goldens": "goldens",
    "feedback": "store.feedback",
    "export": "store.export",
    "import": "store.import_",
    "schema": "traces.schema",
}
EPILOG = """exit codes: 0 pass, 1 gate failed, 2 wrong input, 3 cannot judge, 4 GitHub or a store
needed and unreachable, 70 a bug of ours. `evalgate VERB --help` tells more.
"""

BUG = 70
INTERRUPTED = 130


class _Parser(argparse.ArgumentParser):
    """Reports wrong usage in one line, exit code 2. No abbreviated flags: new flags would break scripts."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        raise SettingError(Problem(message, None, f"see {self.prog} --help"))


def main(argv: Sequence[str], shell: Shell) -> int:
    """Runs one verb. Never raises: every outcome is an exit code without a traceback."""
    hide(secret_values(shell.environ))
    return _guarded(shell, lambda: _run(argv, shell))


def _run(argv: Sequence[str], shell: Shell) -> int:
    arguments, unknown = _parser(argv).parse_known_args(argv)
    if unknown:
        hint = f"see evalgate {arguments.verb} --help"
        raise SettingError(Problem(f"unknown words {' '.join(unknown)}", hint=hint))
    verb = _module(arguments.verb)
    if arguments.verb in RETELLING:
        from evalgate.bootstrap.sources import hide_for_project

        hide_for_project(shell.cwd)
    if hasattr(arguments, "limit_names") and arguments.limit:
        return _run_limited(verb, arguments, shell)
    code: int = verb.run(arguments, shell)
    return code


def _run_limited(verb: Any, arguments: argparse.Namespace, shell: Shell) -> int:
    """Runs a verb whose flags set limits; limits on cpu and memory need a separate process."""
    from evalgate.settings.limits import limits_from

    limits = limits_from(arguments.limit, known=arguments.limit_names)
    if not limits.bounds_process:
        return int(verb.run(arguments, shell))
    if sys.platform == "win32":
        raise SettingError("limits on cpu and memory can't be set on this system")
    from evalgate.bootstrap.limited_process import run_limited

    try:
        return run_limited(limits, lambda: verb.run(arguments, shell), lambda work: _guarded(shell, work))
    except OverLimit as refusal:
        if not hasattr(verb, "over_limit"):
            raise
        return int(verb.over_limit(arguments, shell, refusal))


def _guarded(shell: Shell, work: Callable[[], int]) -> int:
    """Calls `work` and turns errors into exit codes; the only place that does."""
    try:
        code = work()
        shell.out.flush()
    except SystemExit as ending:  # argparse has already printed its message
        return ending.code if isinstance(ending.code, int) else 2
    except EvalGateError as error:
        shell.tell(error.problems)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return _reader_has_gone()
    except Exception as error:  # noqa: BLE001  (the only place that handles bugs of EvalGate)
        shell.note(bug_report(error))
        return BUG
    return code


def _module(verb: str) -> Any:
    return import_module(f"evalgate.cli.{_MODULES[verb]}")


def _parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    # Only help needs the terminal's width, and finding it out takes longer than parsing the arguments.
    width = None if not argv or {"-h", "--help"}.intersection(argv) else 100
    formatter = partial(argparse.RawDescriptionHelpFormatter, width=width)
    parser = _Parser(
        prog="evalgate",
        description="A gate on what an AI agent does, judged from recorded traces without calling a model.",
        epilog=EPILOG,
        formatter_class=formatter,
    )
    parser.add_argument("--version", action="version", version=f"evalgate {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=_Parser)
    chosen = next((word for word in argv if word in VERBS), None)
    for name, purpose in VERBS.items():
        options = verbs.add_parser(
            name,
            help=purpose,
            description=purpose[0].upper() + purpose[1:] + ".",
            formatter_class=formatter,
            add_help=name == chosen,
        )
        if name == chosen:  # options of other verbs are not needed
            _module(name).configure(options)
    return parser


def bug_report(error: BaseException) -> str:
    """A line to paste into an issue, without the error's message, which may quote untrusted text."""
    import platform

    place: Any = error.__traceback__
    where = "unknown"
    while place is not None:
        name = place.tb_frame.f_globals.get("__name__", "")
        if name.startswith("evalgate"):
            where = f"{name}:{place.tb_lineno}"
        place = place.tb_next
    return (
        f"error: this is a bug in EvalGate, please report it: {type(error).__name__} at {where}, "
        f"evalgate {__version__}, Python {platform.python_version()} on {platform.system()}"
    )


def _reader_has_gone() -> int:
    """Ends quietly when the reader of stdout is gone, as in `evalgate ... | head`: that is no mistake."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 128 + 13
