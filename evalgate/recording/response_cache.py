"""The cached responses of a scheduling suite, `tests/eval/cache/<variant>/<scenario>.json`."""

from __future__ import annotations

import inspect
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.recording.recorder import make_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

FOLDER = Path("tests/eval/cache")
CACHE, LANGSMITH_CACHE = "EVALGATE_CACHE", "LANGSMITH_TEST_CACHE"
MODES = ("off", "read", "auto", "write")
LANGSMITH_MODES = {"read": "auto", "write": "write"}
"""Other values of that variable are a folder of LangSmith's own cache."""
TOKENS = ("input_tokens", "output_tokens", "total_tokens")
CALL_FIELDS = ("name", "args", "id")

_names: dict[str, tuple[str, str]] = {}


class CacheMiss(LookupError):
    """The cache has no response, and the mode `read` makes no calls."""


class CachedAnswer(NamedTuple):
    """A model's answer with the fields of a cache file, whether it was cached or not; `await` returns it too."""

    tool_calls: list[dict[str, Any]]
    content: Any
    usage_metadata: dict[str, int | None] | None

    def __await__(self) -> Generator[None, None, CachedAnswer]:
        yield from ()
        return self


def cached(scenario: str, variant: str, call: Callable[[], Any], folder: str | Path = FOLDER) -> Any:
    """The answer of `call`, or its cached one: a CachedAnswer, and an awaitable of it if `call` is asynchronous.

    EVALGATE_CACHE is `off` (make the call), `read` (only the cache), `auto` (the cache, else the call, which is
    saved; not in CI) or `write` (make and save the call). Without it LANGSMITH_TEST_CACHE decides: `read` is `auto`,
    also in CI, and `write` is `write`. Under `evalgate record`, which has a cache itself, the call is made. Raises
    CacheMiss, and ValueError for a damaged file, a name that is no file name, and two names of one file.
    """
    mode = find_mode()
    path = _find_path(Path(folder), scenario, variant)
    is_cached = mode in ("read", "auto") and path.exists()
    if mode == "read" and not is_cached:
        raise CacheMiss(f"{path} does not exist: run once with {CACHE}=write, which calls the model")
    saved_as = path if mode in ("auto", "write") else None
    if inspect.iscoroutinefunction(call):
        return _read_async(path) if is_cached else _call_async(call(), saved_as)
    if is_cached:
        return _read(path)
    answer = call()
    return _call_async(answer, saved_as) if inspect.isawaitable(answer) else _save(answer, saved_as)


def find_mode() -> str:
    """The mode by the environment; raises ValueError for an unknown one, and for `auto` in CI."""
    if os.environ.get("EVALGATE_RECORD_URL"):
        return "off"
    mode = os.environ.get(CACHE)
    if not mode:
        return LANGSMITH_MODES.get(os.environ.get(LANGSMITH_CACHE, ""), "off")
    if mode not in MODES:
        raise ValueError(f"{CACHE}={mode[:50]!r} is not one of {', '.join(MODES)}")
    if mode == "auto" and os.environ.get("CI"):
        raise ValueError(f"{CACHE}=auto would call the model in CI without being asked to: set `read` or `write`")
    return mode


def find_file(scenario: str, variant: str) -> Path:
    """The file of a scenario and a variant, below the folder of the cache; raises ValueError if it has no name."""
    parts = [name.replace(":", "_").replace("/", "_") for name in (variant, scenario)]
    if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
        raise ValueError(f"{scenario!r} in {variant!r} can't be the name of a cache file")
    return Path(parts[0], f"{parts[1]}.json")


def _find_path(folder: Path, scenario: str, variant: str) -> Path:
    """The path of the file; raises ValueError if another scenario has it too."""
    path = folder / find_file(scenario, variant)
    names = _names.setdefault(str(path.absolute()).casefold(), (scenario, variant))
    if names != (scenario, variant):
        raise ValueError(f"{path} would hold the responses of {names} and of {(scenario, variant)}: rename one")
    return path


async def _read_async(path: Path) -> CachedAnswer:
    return _read(path)


async def _call_async(answer: Any, path: Path | None) -> CachedAnswer:
    return _save(await answer, path)


def _read(path: Path) -> CachedAnswer:
    """The answer in a file; raises ValueError if it is damaged."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return _select(document["tool_calls"], document["content"], document["usage_metadata"])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        reason = type(error).__name__  # its text may quote the file
        raise ValueError(f"{path} is no cached response ({reason}): delete it or set {CACHE}=write") from None


def _save(answer: Any, path: Path | None) -> CachedAnswer:
    """The answer of a model, LangChain's message or an object with its fields; saved at once if there is a path."""
    fields = (
        answer if isinstance(answer, dict) else {name: getattr(answer, name, None) for name in CachedAnswer._fields}
    )
    found = _select(*(fields.get(name) for name in CachedAnswer._fields))
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        part.write_text(json.dumps(found._asdict(), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        part.replace(path)
    return found


def _select(tool_calls: Any, content: Any, usage: Any) -> CachedAnswer:
    """The parts that a file holds; raises an error of Python if they have other types."""
    calls = [{name: call.get(name) for name in CALL_FIELDS} for call in make_plain(tool_calls or [])]
    counts = {name: usage.get(name) for name in TOKENS} if usage else None
    return CachedAnswer(calls, make_plain("" if content is None else content), make_plain(counts))
