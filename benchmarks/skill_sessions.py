"""Makes real harnesses load skills, and measures which loads are found in what they recorded.

    .venv/bin/python benchmarks/skill_sessions.py FOLDER [HARNESS]... [--only CASE]

Installs Claude Code, Codex, Gemini CLI, opencode and Copilot CLI in FOLDER/programs (npm), has each do the cases of
`harnesses/cases.yaml` with a scripted model on the loopback, no key and no login, and keeps the streams that they print
and their session files in FOLDER/recordings, labelled by the table. Nothing of them is committed: they hold texts of
the harnesses. The exit code is 1 if a load was missed or found where none is, or if `skill_used` or `no_skill` judges a
recording otherwise: that needs all of its calls to be readable.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import skills
import yaml
from harnesses.programs import HARNESSES, PROMPT, Place, run

from harnesses.provider import ScriptedModel  # isort: skip  (it makes the tests' modules importable)
from assess_assertion import assess

CASES = Path(__file__).with_name("harnesses") / "cases.yaml"
SKILLS = {
    "pdf-forms": "description: Fill PDF forms. Use it when asked for a form.",
    "form-notes": "description: Notes on forms, for reviewers.",
    "forked-notes": "description: Notes on forms, by another agent.\ncontext: fork",
    "by-hand": "description: Only for people.\ndisable-model-invocation: true",
}
PLACES = {"stream": "stream.jsonl", "session": "session/**/*.json*"}
TEXT = "Use the names of the fields in references/fields.md.\n"


def main(arguments: list[str]) -> int:
    """Records all cases, and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("harness", nargs="*", default=list(HARNESSES))
    parser.add_argument("--only", help="one case")
    given = parser.parse_args(arguments)
    folder = given.folder.resolve()
    labels = []
    for name in given.harness:
        install(folder / "programs", HARNESSES[name].package)
        print(f"{name} {HARNESSES[name].find_version(folder / 'programs')}")
        for case, content in yaml.safe_load(CASES.read_text(encoding="utf-8"))[name].items():
            if given.only in (None, case):
                labels += record(folder, name, case, content)
    path = folder / "labels.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in labels), encoding="utf-8")
    is_wrong = skills.main([str(folder), str(path)])
    return max(is_wrong, judge(folder, labels))


def judge(folder: Path, labels: list[dict[str, Any]]) -> int:
    """Prints each verdict of the two checks that is not as labelled; 1 if there is one."""
    wrong = total = 0
    for label in labels:
        wanted = {("skill_used", name): "passed" for _, name in label["loads"]}
        wanted["no_skill", "*"] = "failed" if label["loads"] or label["tried"] else "passed"
        for trace in skills.read_traces(folder, label):
            for (kind, skill), outcome in wanted.items():
                found = assess({"type": kind, "skill": skill}, trace)
                total += 1
                if found.outcome != outcome:
                    wrong += 1
                    print(f"  {label['file']} {kind} {skill}: {found.outcome}, wanted {outcome}: {found.reason}")
    print(f"{total} verdicts, {wrong} wrong")
    return int(wrong > 0)


def install(programs: Path, package: str) -> None:
    """Installs a package of npm, with the program that its own script fetches."""
    if (programs / "node_modules" / package).exists():
        return
    programs.mkdir(parents=True, exist_ok=True)
    npm = [find("npm"), "install", "--prefix", str(programs), "--no-audit", "--no-fund", "--silent"]
    subprocess.run([*npm, package], cwd=programs, check=True)
    for script in ("install.cjs", "postinstall.mjs"):
        if (programs / "node_modules" / package / script).exists():
            subprocess.run(
                [find("node"), script], cwd=programs / "node_modules" / package, check=True, capture_output=True
            )


def find(program: str) -> str:
    """The path of a program."""
    path = shutil.which(program)
    if path is None:
        raise SystemExit(f"{program} is not installed")
    return path


def record(folder: Path, name: str, case: str, content: dict[str, Any]) -> list[dict[str, Any]]:
    """Runs a case; returns the lines of labels of its recordings."""
    harness = HARNESSES[name]
    work, home, out = (folder / kind / name / case for kind in ("work", "homes", "recordings"))
    for each in (work, home, out):
        shutil.rmtree(each, ignore_errors=True)
        each.mkdir(parents=True)
    write_files(work, harness.skills)
    text = json.dumps(content["answers"]).replace("{work}", str(work)).replace("{skills}", str(work / harness.skills))
    model = ScriptedModel(json.loads(text), content.get("text", "Done."))
    place = Place(work, home, model.url, folder / "programs")
    if content.get("deny") and harness.deny:
        harness.deny(place)
    started = harness.build(place, content.get("prompt", PROMPT))
    try:
        printed = run(started, place)
        (out / "stream.jsonl").write_text(printed, encoding="utf-8")
        copy_sessions(started, place, out, printed)
    finally:
        model.close()
    if model.answers:
        print(f"  {name}/{case}: the harness did not ask for {len(model.answers)} answers")
    label = {key: content.get(key, []) for key in ("loads", "tried")}
    where = out.relative_to(folder)
    return [{"harness": f"{name} {kind}", "file": f"{where}/{files}", **label} for kind, files in PLACES.items()]


def write_files(work: Path, place: str) -> None:
    """The skills, and files with names that are like theirs."""
    for name, head in SKILLS.items():
        (work / place / name / "references").mkdir(parents=True)
        (work / place / name / "SKILL.md").write_text(f"---\nname: {name}\n{head}\n---\n\n{TEXT}", encoding="utf-8")
        (work / place / name / "references" / "fields.md").write_text("name, date\n", encoding="utf-8")
    (work / "notes").mkdir()
    (work / "notes" / "SKILLS.md").write_text("What the staff can do.\n", encoding="utf-8")
    (work / "notes" / "pdf-forms.md").write_text("Who asked for which form.\n", encoding="utf-8")
    subprocess.run([find("git"), "init", "-q", str(work)], check=True)


def copy_sessions(started: Any, place: Place, out: Path, printed: str) -> None:
    """The files of the session; of opencode what its `export` prints."""
    if started.sessions is None:
        session = json.loads(printed.splitlines()[0])["sessionID"]
        (out / "session").mkdir()
        export = started._replace(command=["opencode", "export", session])
        (out / "session" / "export.json").write_text(run(export, place), encoding="utf-8")
        return
    root = place.home / started.sessions.partition("*")[0]
    for path in sorted(place.home.glob(started.sessions)):
        kept = out / "session" / path.relative_to(root)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, kept)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
