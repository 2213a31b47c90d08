"""How each harness is installed, pointed at the scripted model, and run; and where it leaves its recordings."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PROMPT = "Fill the form."
SECONDS = 180
KEY = "not-a-key"
DENIED_BY_GEMINI = '[[rule]]\ntoolName = "activate_skill"\ndecision = "deny"\npriority = 999\n'


class Place(NamedTuple):
    """Where one case runs: its folder, its home, the URL of the model, and the programs that were installed."""

    work: Path
    home: Path
    url: str
    programs: Path


class Started(NamedTuple):
    """A command with its environment, and the files of the home that are its recordings."""

    command: list[str]
    environment: dict[str, str]
    sessions: str | None = None


class Harness(NamedTuple):
    """A harness: its package, where it looks for skills, and what is run; `prepare` denies the skill `pdf-forms`."""

    package: str
    program: str
    skills: str
    build: Callable[[Place, str], Started]
    deny: Callable[[Place], None] | None = None

    def find_version(self, programs: Path) -> str:
        """The version that is installed."""
        text = (programs / "node_modules" / self.package / "package.json").read_text(encoding="utf-8")
        return str(json.loads(text)["version"])


def run(started: Started, place: Place) -> str:
    """What the harness prints."""
    paths = [
        place.programs / "node_modules" / ".bin",
        *sorted(place.programs.glob("node_modules/@openai/*/vendor/*/*")),
    ]
    own = {"PATH": os.pathsep.join([*map(str, paths), os.environ["PATH"]]), "HOME": str(place.home)}
    done = subprocess.run(
        started.command, cwd=place.work, env=own | started.environment, stdin=subprocess.DEVNULL, timeout=SECONDS,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if not done.stdout.strip():
        raise SystemExit(f"{' '.join(started.command)}: exit {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def write_text(path: Path, text: str) -> None:
    """Writes a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_json(path: Path, value: object) -> None:
    """Writes a file of settings."""
    write_text(path, json.dumps(value))


def start_claude_code(place: Place, prompt: str) -> Started:
    """Claude Code, whose sessions are in its home."""
    command = [
        "claude",
        "-p",
        prompt,
        "--output-format",
        "stream-json",
        "--verbose",
        "--permission-mode",
        "acceptEdits",
    ]
    own = {"ANTHROPIC_BASE_URL": place.url, "ANTHROPIC_API_KEY": KEY, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    return Started([*command, "--permission-mode", "acceptEdits"], own, ".claude/projects/*/**/*.jsonl")


def start_codex(place: Place, prompt: str) -> Started:
    """Codex, whose rollouts are in its home."""
    server = f'{{name="fake",base_url="{place.url}/v1",env_key="MODEL_KEY",wire_api="responses"}}'
    command = ["codex", "exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access", "-m", "gpt-5.5"]
    options = ["-c", "model_provider=fake", "-c", f"model_providers.fake={server}"]
    (place.home / ".codex").mkdir()
    return Started([*command, *options, prompt], {"MODEL_KEY": KEY}, ".codex/sessions/**/*.jsonl")


def start_gemini_cli(place: Place, prompt: str) -> Started:
    """Gemini CLI, which asks for no approval."""
    own = {"GOOGLE_GEMINI_BASE_URL": place.url, "GEMINI_API_KEY": KEY}
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}}
    write_json(place.home / ".gemini" / "settings.json", settings)
    command = ["gemini", "-p", prompt, "--output-format", "stream-json", "--skip-trust", "-m", "gemini-2.5-pro"]
    return Started([*command, "--approval-mode", "yolo"], own, ".gemini/tmp/*/chats/session-*.json*")


def start_opencode(place: Place, prompt: str) -> Started:
    """opencode, with a provider of its settings; its session is exported by another command."""
    options = {"baseURL": f"{place.url}/v1", "apiKey": KEY}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {"tool_call": True}}}
    path = place.work / "opencode.json"
    given = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    write_json(path, {"provider": {"fake": provider}, "autoupdate": False, "share": "disabled", **given})
    own = {"OPENCODE_DISABLE_MODELS_FETCH": "1"}
    return Started(["opencode", "run", "--format", "json", "-m", "fake/m", prompt], own)


def start_copilot(place: Place, prompt: str) -> Started:
    """Copilot CLI without a login, at a provider of one's own."""
    own = {
        "COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": f"{place.url}/v1", "COPILOT_PROVIDER_API_KEY": KEY,
        "COPILOT_MODEL": "gpt-5.4", "COPILOT_ALLOW_ALL": "true", "COPILOT_AUTO_UPDATE": "false",
    }  # fmt: skip
    command = ["copilot", "-p", prompt, "--output-format", "json"]
    return Started(command, own, ".copilot/session-state/*/events.jsonl")


HARNESSES = {
    "claude-code": Harness(
        *("@anthropic-ai/claude-code", "claude", ".claude/skills", start_claude_code),
        lambda place: write_json(place.work / ".claude/settings.json", {"permissions": {"deny": ["Skill(pdf-forms)"]}}),
    ),
    "codex": Harness("@openai/codex", "codex", ".agents/skills", start_codex),
    "gemini-cli": Harness(
        *("@google/gemini-cli", "gemini", ".gemini/skills", start_gemini_cli),
        lambda place: write_text(place.home / ".gemini/policies/denied.toml", DENIED_BY_GEMINI),
    ),
    "opencode": Harness(
        *("opencode-ai", "opencode", ".opencode/skills", start_opencode),
        lambda place: write_json(place.work / "opencode.json", {"permission": {"skill": {"pdf-forms": "deny"}}}),
    ),
    "copilot": Harness(
        *("@github/copilot", "copilot", ".github/skills", start_copilot),
        lambda place: write_json(place.home / ".copilot/settings.json", {"disabledSkills": ["pdf-forms"]}),
    ),
}
