"""Compares promptfoo's verdicts with those of the suite that `evalgate import-suite` writes for the same checks.

The checks and runs are those of tests/importing/promptfoo_verdicts.yaml. Needs the network: promptfoo is installed in
`.demo/peers`, in the version of the speed comparison. Prints each disagreement; the exit code is 1 if there is one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import FOLDER, JOBS, QUIET, ROOT, install_promptfoo_package

sys.path[:0] = [str(ROOT / "tests")]

from importing.promptfoo_runs import VerdictCase, build_configuration, build_traces, read_cases  # noqa: E402

EVALGATE = Path(sys.executable).with_name("evalgate")


def main() -> int:
    """Prints the disagreements, and how many checks of how many kinds were compared."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    cases = read_cases()
    theirs, ours = judge_with_promptfoo(cases), judge_with_evalgate(cases)
    wrong = [case for case in cases if not theirs[case.id] == ours.get(case.id) == case.passes]
    for case in wrong:
        print(f"{case.id}: listed {case.passes}, promptfoo {theirs[case.id]}, here {ours.get(case.id)}")
    kinds = {case.check["type"] for case in cases}
    print(f"{len(cases)} verdicts of {len(kinds)} kinds of checks: {len(wrong)} disagree")
    return 1 if wrong else 0


def judge_with_promptfoo(cases: list[VerdictCase]) -> dict[str, bool | None]:
    """Whether each case passes there; None where its check ends in an error."""
    node, modules = install_promptfoo_package()
    content = json.dumps([{"id": case.id, "check": case.check, "run": case.run} for case in cases])
    command = [node, JOBS / "verdicts.mjs", modules / "promptfoo" / "dist" / "src" / "index.js"]
    with tempfile.TemporaryDirectory() as folder:
        own = {**QUIET, "PROMPTFOO_CONFIG_DIR": folder}
        ran = subprocess.run(command, input=content, capture_output=True, text=True, check=True, env=own)
    found: dict[str, bool | None] = json.loads(ran.stdout[ran.stdout.index('{"') :])
    return found


def judge_with_evalgate(cases: list[VerdictCase]) -> dict[str, bool]:
    """Whether each case passes in the imported suite."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "promptfooconfig.json").write_text(build_configuration(cases), encoding="utf-8")
        (folder / "traces.jsonl").write_text(build_traces(cases), encoding="utf-8")
        for arguments in (
            ["import-suite", "promptfooconfig.json", "--traces", "traces.jsonl", "-o", "suite.yaml"],
            ["run", "suite.yaml", "-q"],
        ):
            subprocess.run([EVALGATE, *arguments], cwd=folder, capture_output=True, check=False)
        results = json.loads((folder / ".evalgate" / "results.json").read_text(encoding="utf-8"))
    scenarios = [each for suite in results["suites"] for each in suite["scenarios"]]
    return {each["id"]: each["verdict"] == "PASS" for each in scenarios}


if __name__ == "__main__":
    sys.exit(main())
