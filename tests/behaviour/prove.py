"""Proves that a change of names, places and wording changes no behaviour.

    .venv/bin/python tests/behaviour/prove.py [--refresh] [--keep DIR]

It runs the acceptance cases, the demo, and a fixed suite over every file of ../shared/traces where that folder is
there, and compares a digest of the results with those in `expected/`: exit code, verdicts, scores, outcomes,
evidence, what a reader found in a trace. Text for people (reasons, messages, requests, titles) and times are left out of it.
`--keep` writes the documents that are digested, so that two checkouts can be compared line by line; `--refresh`
writes `expected/` again, for a commit that changes behaviour on purpose and lists what changed.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from command import evalgate  # noqa: E402

from evalgate.cli import main as command  # noqa: E402
from evalgate.cli.shell import Shell  # noqa: E402
from evalgate.version import __version__  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).resolve().parent
CASES = ROOT / "tests/acceptance/cases"
TRACES = ROOT.parent / "shared/traces"
NOT_TRACES = {"README.md", "provenance.jsonl", "sealed.bin"}
DEMO = "examples/support-agent"
TAU2 = "tau2-bench/{}_default_gpt-4.1_1trials.json"
TUNED = "ft_gpt-4.1-2025-04-14_sierra_tau2-full-sft_BzrYdMNm_{}"
PAIRS = {
    "tau2 retail": (
        "tau2-bench/gpt-4.1_retail_defautl_gpt-4.1_1trials.json",
        TAU2.format(TUNED.format("retail")),
    ),
    "tau2 airline": (TAU2.format("gpt-4.1_airline"), TAU2.format(TUNED.format("airline"))),
}
"""Traces of main and of a pull request, compared."""

READERS = {
    "query": ["query", "@"],
    "native": ["convert"],
    "otlp": ["convert", "--to", "otlp"],
}
"""The verbs that print what was read from a file: for expressions, as native traces, as OpenTelemetry."""
OWN_VERSION = re.compile(rf'("name":\s*"evalgate",\s*"version":\s*)"{re.escape(__version__)}"')
"""Where OpenTelemetry traces name the version of EvalGate; other versions in traces are part of what was read."""

FOR_PEOPLE = frozenset({"reason", "message", "request", "description", "title", "where", "what"})
"""Fields of results.json that hold sentences; rewording one is no change of behaviour."""
OF_THE_DAY = frozenset({"created_at", "evalgate_version", "age_seconds", "command"})


def without_prose(value: Any) -> Any:
    """The document without its sentences; how many entries a list has still counts."""
    if isinstance(value, dict):
        return {
            key: "..." if key in FOR_PEOPLE and isinstance(each, str) else without_prose(each)
            for key, each in value.items()
            if key not in OF_THE_DAY
            and not (key == "digest" and "outcome" in value)  # what a check demands, as written
        }
    if isinstance(value, list):
        return [without_prose(each) for each in value]
    return value


def digest(document: Any) -> str:
    text = json.dumps(document, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def ran(folder: Path, arguments: list[str]) -> dict[str, Any]:
    done = evalgate(folder, arguments)
    return {"exit_code": done.code, "results": without_prose(done.results)}


def acceptance_case(case: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / case.name
        shutil.copytree(case, folder, ignore=shutil.ignore_patterns("expected"))
        given = folder / "args"
        arguments = given.read_text(encoding="utf-8").splitlines() if given.exists() else ["suite.yaml"]
        return ran(folder, arguments)


def recording(path: Path) -> dict[str, Any]:
    """One file under the fixed suite, and each trace that is read from it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copyfile(HERE / "suite.yaml", folder / "suite.yaml")
        shutil.copyfile(path, folder / path.name)
        found = ran(folder, ["suite.yaml", "--traces", path.name, "--no-baseline-zip"])
        read = {verb: printed(folder, [*arguments, path.name]) for verb, arguments in READERS.items()}
        return {**found, **read}


def printed(folder: Path, arguments: list[str]) -> dict[str, Any]:
    """The exit code of a verb, and a digest of its output without the sentences of warnings."""
    out = io.StringIO()
    code = command(arguments, Shell(out, io.StringIO(), {}, str(folder)))
    text = OWN_VERSION.sub(r'\1""', out.getvalue())
    documents = [text] if text.startswith(("{\n", "[\n")) else text.splitlines()
    return {"exit_code": code, "digest": digest([without_warning_text(json.loads(each)) for each in documents])}


def without_warning_text(value: Any) -> Any:
    """The document with each warning reduced to its fields; traces inside of text attributes too."""
    if isinstance(value, dict):
        plain = {key: without_warning_text(each) for key, each in value.items()}
        if isinstance(warnings := plain.get("warnings"), list):
            plain["warnings"] = [
                {**each, "message": "..."} if isinstance(each, dict) and "message" in each else each
                for each in warnings
            ]
        return plain
    if isinstance(value, list):
        return [without_warning_text(each) for each in value]
    if isinstance(value, str) and value.startswith('{"schema":"evalgate.trace/1"'):
        return without_warning_text(json.loads(value))
    return value


def folder_of_recordings(path: Path) -> dict[str, Any]:
    """A trace that is a folder of files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copyfile(HERE / "suite.yaml", folder / "suite.yaml")
        shutil.copytree(path, folder / "run", copy_function=shutil.copyfile)
        return ran(folder, ["suite.yaml", "--traces", "run/**/*.json", "--no-baseline-zip"])


def pair(before: Path, after: Path) -> dict[str, Any]:
    """The fixed suite over two trace files, the second compared with the baseline of the first."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copyfile(HERE / "suite.yaml", folder / "suite.yaml")
        shutil.copyfile(before, folder / "before.json")
        shutil.copyfile(after, folder / "after.json")
        first = ran(folder, ["suite.yaml", "--traces", "before.json"])
        shutil.move(folder / ".evalgate/baseline.zip", folder / "main.zip")
        second = ran(folder, ["suite.yaml", "--traces", "after.json", "--baseline", "main.zip"])
        return {"main": first["exit_code"], **second}


def demo() -> dict[str, Any]:
    """What `make demo` does, in a temporary folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / DEMO, folder / DEMO)
        suite = f"{DEMO}/evals/support.yaml"
        main = ran(folder, [suite, "--traces", f"{DEMO}/traces/main/*.jsonl"])
        shutil.move(folder / ".evalgate/baseline.zip", folder / "main.zip")
        change = ran(folder, [suite, "--traces", f"{DEMO}/traces/pr/*.jsonl", "--baseline", "main.zip"])
        return {"main": main, "pull request": change}


def acceptance_cases() -> dict[str, Callable[[], dict[str, Any]]]:
    cases = sorted(path for path in CASES.iterdir() if path.is_dir())
    return {case.name: lambda case=case: acceptance_case(case) for case in cases}  # type: ignore[misc]


def recordings() -> dict[str, Callable[[], dict[str, Any]]]:
    """Each file of ../shared/traces, by its path there; empty where the folder is absent."""
    found: dict[str, Callable[[], dict[str, Any]]] = {
        path.relative_to(TRACES).as_posix(): lambda path=path: recording(path)  # type: ignore[misc]
        for path in sorted(TRACES.rglob("*"))
        if path.is_file() and path.name not in NOT_TRACES
    }
    if found:
        found["tau2-bench-dirformat"] = lambda: folder_of_recordings(TRACES / "tau2-bench-dirformat")
        for name, (before, after) in PAIRS.items():
            found[name] = lambda before=before, after=after: pair(TRACES / before, TRACES / after)  # type: ignore[misc]
    return found


GROUPS: dict[str, Callable[[], dict[str, Callable[[], dict[str, Any]]]]] = {
    "acceptance": acceptance_cases,
    "demo": lambda: {"demo": demo},
    "traces": recordings,
}


def expected(group: str) -> dict[str, str]:
    loaded: dict[str, str] = json.loads((HERE / "expected" / f"{group}.json").read_bytes())
    return loaded


def observed(group: str, keep: Path | None = None) -> Iterator[tuple[str, str]]:
    """Each name of the group with its current digest."""
    for name, run in GROUPS[group]().items():
        document = run()
        if keep is not None:
            path = keep / group / f"{name.replace('/', '__')}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(
                json.dumps(document, indent=1, ensure_ascii=False), encoding="utf-8", errors="surrogatepass"
            )
        yield name, digest(document)


def differences(found: dict[str, str], wanted: dict[str, str]) -> list[str]:
    """One line for each name whose digest differs, or that exists on one side only."""
    return [
        f"{name}: {wanted.get(name, 'not expected')} -> {found.get(name, 'not run')}"
        for name in sorted({*found, *wanted})
        if found.get(name) != wanted.get(name)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare what EvalGate does with the kept digests.")
    parser.add_argument("--refresh", action="store_true", help="write the digests instead of comparing")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write the digested documents below DIR")
    options = parser.parse_args()
    wrong = 0
    for group in GROUPS:
        found = dict(observed(group, options.keep))
        if not found:
            print(f"{group}: skipped, {TRACES} is not there")
            continue
        if options.refresh:
            text = json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True)
            (HERE / "expected" / f"{group}.json").write_text(f"{text}\n", encoding="utf-8")
        wanted = expected(group)
        if group == "traces":  # others may lie there: digests are for the files that they list
            found = {name: each for name, each in found.items() if name in wanted}
        lines = differences(found, wanted)
        wrong += len(lines)
        print(f"{group}: {len(found)} compared, {len(lines)} differ", *lines, sep="\n  ")
    return 1 if wrong else 0


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
