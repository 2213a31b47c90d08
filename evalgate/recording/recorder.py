"""Writes each run of an agent in this process as a native trace, `evalgate.trace/1`; needs Python 3.9 only."""

from __future__ import annotations

import contextvars
import functools
import hashlib
import inspect
import json
import math
import os
import re
import threading
import time
import urllib.parse
import urllib.request
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from datetime import datetime, timezone
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import Self

TOKENS = ("input_tokens", "output_tokens", "total_tokens", "cache_read_input_tokens", "cache_write_input_tokens")
UNSAFE_NAMES = re.compile(r"\.+|(con|prn|aux|nul|(com|lpt)\d)(\..*)?", re.IGNORECASE)

_current: contextvars.ContextVar[RecordedRun | None] = contextvars.ContextVar("evalgate_run", default=None)
_lock = threading.RLock()
_open: list[RecordedRun] = []
_paths: set[str] = set()


class RecordedRun:
    """One run, for `with` or `async with`, shared by threads and tasks; when it ends, its file below `out` is written.

    The defaults are EVALGATE_SCENARIO, EVALGATE_TRIAL (else 0) and EVALGATE_VARIANT. `metadata` goes into the trace.
    Raises ValueError without a scenario, and if this process recorded the same run before.
    """

    def __init__(
        self, scenario: str = "", *, trial: int | None = None, variant: str = "", out: str | Path = "traces"
    ) -> None:
        scenario = scenario or os.environ.get("EVALGATE_SCENARIO", "")
        variant = variant or os.environ.get("EVALGATE_VARIANT", "")
        trial = int(os.environ.get("EVALGATE_TRIAL") or 0) if trial is None else trial
        if not scenario or trial < 0:
            raise ValueError("a recording needs the id of a scenario and a trial from 0")
        suite, suffix = os.environ.get("EVALGATE_SUITE"), f"@{encode_name(variant)}" if variant else ""
        self.names = {"suite": suite or None, "id": scenario, "variant": variant or None, "trial": trial}
        self.metadata: dict[str, Any] = {"variant": variant} if variant else {}
        self.base_urls: dict[str, str] = {}  # of this run's recording, by provider
        self.openai_base_url, self.anthropic_base_url = map(os.environ.get, ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"))
        self.path = Path(out, encode_name(suite) if suite else "", encode_name(scenario) + suffix, f"{trial}.jsonl")
        self._control = os.environ.get("EVALGATE_RECORD_URL", "").rstrip("/")
        self._messages: list[dict[str, Any]] = []
        self._model_calls: list[dict[str, Any]] = []
        self._costs: list[float] = []
        self._call_count, self.gap, self._root_span = 0, "", ExitStack()

    def message(self, role: str, content: str | None) -> None:
        """Adds a message of role system, user or assistant; raises ValueError for another role."""
        if role not in ("system", "user", "assistant"):
            raise ValueError("the role of a message is system, user or assistant; calls are added with `tool`")
        self.add({"role": role, "content": make_plain(content)})

    @contextmanager
    def tool(self, name: str, arguments: Any = None) -> Iterator[RecordedCall]:
        """Adds a call of a tool, for `with`; calls without a result between them are parallel, in one message."""
        with _lock:
            if not self._messages or self._messages[-1]["role"] != "assistant":
                self.add({"role": "assistant", "content": None})
            self._call_count += 1
            request = {"id": f"call_{self._call_count}", "name": name, "arguments": make_plain(arguments or {})}
            self._messages[-1].setdefault("tool_calls", []).append(request)
        call, start = RecordedCall(), time.perf_counter()
        try:
            yield call
        except BaseException as error:
            call.error = call.error or f"{type(error).__name__}: {error}"
            raise
        finally:
            content, took = make_plain(call.error or call.result), round(time.perf_counter() - start, 6)
            if not isinstance(content, (str, dict, type(None))):
                content = json.dumps(content, ensure_ascii=False)
            result = {"role": "tool", "tool_call_id": request["id"], "name": name, "content": content}
            with suppress(RuntimeError):  # the run ended before its tool did: the call has no result
                self.add({**result, "is_error": call.error is not None, "duration_seconds": took})

    def usage(self, input_tokens: int, output_tokens: int, *, model: str | None = None, **other: int) -> None:
        """Adds the tokens of one model call, cached and reasoning ones included; `other`: names of TOKENS."""
        counts = {"input_tokens": input_tokens, "output_tokens": output_tokens, **other}
        if not counts.keys() <= set(TOKENS) or not all(type(each) is int and each >= 0 for each in counts.values()):
            raise ValueError(f"usage takes whole numbers from 0, named {', '.join(TOKENS)}")
        counts.setdefault("total_tokens", input_tokens + output_tokens)
        self._model_calls.append({"model": model, "usage": counts})

    def cost(self, usd: float) -> None:
        """Adds the cost of model calls in US dollars; raises ValueError unless it is a number from 0."""
        if isinstance(usd, bool) or not 0 <= usd < math.inf:
            raise ValueError("a cost is a number from 0")
        self._costs.append(usd)

    def add(self, message: dict[str, Any]) -> None:
        """Adds a message of the trace as it is; raises RuntimeError if the run has ended."""
        with _lock:
            if self not in _open:
                raise RuntimeError(f"the recording of {self.names['id']} is not open")
            self._messages.append(message)

    def __enter__(self) -> Self:
        with _lock:
            if (key := str(self.path.absolute()).casefold()) in _paths:
                raise ValueError(f"{self.path} was recorded before in this process: give each run its own `trial`")
            _paths.add(key)
        if self._control:
            urls = self.base_urls = _post(f"{self._control}/scenarios", self.names)["base_urls"]
            self.openai_base_url, self.anthropic_base_url = urls.get("openai"), urls.get("anthropic")
        self._started_at, self._start, self._before = time.time(), time.perf_counter(), _current.get()
        with suppress(ImportError):
            _start_root_span(self._root_span, self.names)
        _current.set(self)
        _open.append(self)
        return self

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        with _lock:
            _open.remove(self)
            document = self._build_document(None if isinstance(error, SystemExit) and not error.code else error)
        _current.set(self._before)
        self._root_span.close()
        if self._control:
            _post(f"{self._control}/finish", {**self.names, "trace": document})
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")  # a reader finds the whole trace or none
        part.write_text(json.dumps(document, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
        part.replace(self.path)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        self.__exit__(_type, error, _traceback)

    def _build_document(self, error: BaseException | None) -> dict[str, Any]:
        document: dict[str, Any] = {"schema": "evalgate.trace/1", "scenario_id": self.names["id"]}
        document.update(
            trial=self.names["trial"], messages=make_plain(self._messages), metadata=make_plain(self.metadata)
        )
        document["started_at"] = datetime.fromtimestamp(self._started_at, timezone.utc).isoformat()
        document["latency_seconds"] = round(time.perf_counter() - self._start, 6)
        document.update({name: os.environ.get(f"EVALGATE_{name.upper()}") for name in ("commit", "agent_hash")})
        document["tags"] = [self.names["variant"]] if self.names["variant"] else None
        if self._model_calls:
            each = [call["usage"] for call in self._model_calls]
            names = [name for name in TOKENS if all(name in counts for counts in each)]
            document["usage"] = {name: sum(counts[name] for counts in each) for name in names}
            document.update(llm_calls=self._model_calls, model=self._model_calls[-1]["model"])
        document["cost_usd"] = math.fsum(self._costs) if self._costs else None
        if error is not None:
            document.update(status="error", error={"type": type(error).__name__, "message": make_plain(str(error))})
        gaps = {"calls": self.gap} if self.gap else {}
        nothing = dict.fromkeys(("messages", "calls"), "the agent recorded no message and no call")
        document["missing_evidence"] = gaps if self._messages else nothing
        return {name: value for name, value in document.items() if value is not None}


scenario = RecordedRun


class RecordedCall:
    """A call of a tool while it runs: set `result`, or `error` to a message; an exception is an error too."""

    result: Any = None
    error: str | None = None


def traced_tool(function: Callable[..., Any]) -> Callable[..., Any]:
    """Records each call of a function, also async, in the caller's run, else in the only one; of several, marks all."""
    signature = inspect.signature(function)

    def start(args: Any, named: dict[str, Any]) -> AbstractContextManager[RecordedCall]:
        with suppress(TypeError):  # wrong arguments, which the function itself refuses
            named = signature.bind(*args, **named).arguments
        with _lock:
            found = [run for run in _open if run is _current.get()] or _open
            if len(found) == 1:
                arguments = {key: value for key, value in named.items() if key not in ("self", "cls")}
                return found[0].tool(function.__name__, arguments)
            for run in found:
                run.gap = "a traced tool ran in a thread of no scenario while several were open"
        return nullcontext(RecordedCall())

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        with start(args, named) as recorded:
            recorded.result = function(*args, **named)
        return recorded.result

    @functools.wraps(function)
    async def call_async(*args: Any, **named: Any) -> Any:
        with start(args, named) as recorded:
            recorded.result = await function(*args, **named)
        return recorded.result

    return call_async if inspect.iscoroutinefunction(function) else call


def encode_name(name: str) -> str:
    """A name as part of a path: other characters than A-Z a-z 0-9 . _ - are percent-encoded; at most 100 bytes."""
    encoded = urllib.parse.quote(name, safe="", errors="replace").replace("~", "%7E")
    if UNSAFE_NAMES.fullmatch(encoded):
        encoded = f"%{ord(encoded[0]):02X}{encoded[1:]}"
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:12]
    return encoded if len(encoded) <= 100 else f"{encoded[:80]}-{digest}"  # noqa: PLR2004


def make_plain(value: Any, depth: int = 0) -> Any:
    """A copy of a value for JSON: other objects, and what is deeper than 40 levels, become text."""
    if value is None or isinstance(value, bool) or (isinstance(value, int) and abs(value) >> 63 == 0):
        return value
    if isinstance(value, str) or (isinstance(value, float) and math.isfinite(value)):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(value, str) else value
    value = value.model_dump(mode="json") if hasattr(type(value), "model_dump") else value
    if isinstance(value, dict) and depth < 40:  # noqa: PLR2004
        return {make_plain(str(key)): make_plain(each, depth + 1) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)) and depth < 40:  # noqa: PLR2004
        return [make_plain(each, depth + 1) for each in value]
    return make_plain(str(value))


def _post(url: str, body: dict[str, Any]) -> Any:
    """Sends JSON to `evalgate record` on this machine, around any HTTP proxy; raises OSError."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
        return json.load(answer)


def _start_root_span(stack: ExitStack, run: dict[str, Any]) -> None:
    """Starts a span without a parent, so that all spans of a run share a trace; raises ImportError."""
    baggage, context, trace = (import_module(f"opentelemetry.{name}") for name in ("baggage", "context", "trace"))
    fields = {"evalgate.scenario.id": run["id"], "evalgate.trial": run["trial"]}
    fields.update({"evalgate.variant": run["variant"]} if run["variant"] else {})
    home = baggage.set_baggage("evalgate.scenario.id", run["id"], context.Context())
    stack.callback(context.detach, context.attach(home))
    stack.enter_context(trace.get_tracer("evalgate").start_as_current_span("evalgate.scenario", attributes=fields))
