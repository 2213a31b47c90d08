"""What one trial recorded, while the agent runs: answers from its cassette, and exchanges for it."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict, deque
from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from evalgate.features.record.application.caps import Cap, CapLimits
from evalgate.features.record.application.misses import Miss, build_answer, find_miss
from evalgate.features.record.application.providers import REPLAY_KEY
from evalgate.features.record.application.stored_responses import is_storable, load_response, store_response
from evalgate.features.record.measures.canonical import CONVERSATION, canonicalise, compute_key, encode
from evalgate.features.record.measures.masks import Masks
from evalgate.features.record.models.cassette import Cassette, CassetteHeader, RecordedExchange, ReplayNote
from evalgate.features.record.models.exchange import Exchange, ProviderRequest, format_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evalgate.features.record.models.cassette import CacheMode
    from evalgate.features.record.models.exchange import ProviderAnswer, TrialId
    from evalgate.models.trace.trace import RunState, Trace

MIN_KEY, MIN_LETTERS = 8, 16
"""Characters of a key, and of one made of letters only: as for variables that are named like secrets."""
SYSTEM_ROLES = ("system", "developer")


class CacheRules(Struct, frozen=True):
    """How a recording uses cassettes.

    `hide_addresses` removes what names this run's server from a body, `hide_credentials` makes this process redact
    keys that a request had.
    """

    mode: CacheMode = "off"
    masks: Masks = Masks()
    hide_addresses: Callable[[bytes], bytes] = bytes
    hide_credentials: Callable[[Sequence[str]], object] = tuple
    reuses_last: bool = False
    records_errors: bool = False


class RecordedTrial:
    """What one trial recorded; implements `TrialRecording`. `cassette` is the one that it had before, if any.

    `cap` is its own, or that of the whole recording.
    """

    def __init__(
        self, trial: TrialId, rules: CacheRules, cassette: Cassette | None = None, cap: Cap | None = None
    ) -> None:
        self._trial, self._rules, self.cassette, self.cap = trial, rules, cassette, cap or Cap(CapLimits())
        self.exchanges: list[Exchange] = []
        self.own_trace: Trace | None = None
        """What the agent's own recorder wrote."""
        self.state: RunState | None = None
        """What the run left behind."""
        self.misses: list[Miss] = []
        self.redacted: list[str] = []
        """The places of responses that redaction changed."""
        self._waiting: dict[str, deque[RecordedExchange]] = defaultdict(deque)
        for exchange in cassette.exchanges if cassette is not None else ():
            self._waiting[exchange.key].append(exchange)

    @property
    def trial(self) -> TrialId:
        """The trial."""
        return self._trial

    def find_answer(self, request: ProviderRequest) -> Exchange | ProviderAnswer | None:
        """The recorded answer, or an error where there is none and none is asked for; None to ask the provider."""
        if self._rules.mode in ("off", "write"):
            return None
        canonical = self._canonicalise(request)
        key = compute_key(canonical)
        waiting = self._waiting.get(key)
        if waiting:
            found = waiting[0]
            if len(waiting) > 1 or not self._rules.reuses_last:
                waiting.popleft()
            return load_exchange(found, request)
        if self._rules.mode == "auto":
            return None
        miss = find_miss(canonical, key, self.cassette.exchanges if self.cassette is not None else ())
        self.misses.append(miss)
        return build_answer(miss, request.provider)

    async def admit(self, request: ProviderRequest) -> ProviderAnswer | None:
        """Waits until the request may go to the provider; returns the error that the agent gets if it may not."""
        return None if await self.cap.take() else self.cap.build_answer(request.provider)

    def release(self) -> None:
        """Ends a request that was admitted."""
        self.cap.release()

    def add_exchange(self, exchange: Exchange) -> None:
        """Adds an exchange."""
        self.exchanges.append(exchange)
        if not exchange.is_replayed:
            self.cap.add(exchange)

    def note_credentials(self, values: Sequence[str]) -> None:
        """Notes keys, which are redacted; not placeholders such as `ollama`, which occur in ordinary text."""
        self._rules.hide_credentials([value for value in values if _is_key(value)])

    def note_replay(self) -> ReplayNote:
        """What of the cassette this run used: of a key that was recorded again, all."""
        used = Counter(compute_key(self._canonicalise(each.request)) for each in self.exchanges)
        return ReplayNote(dict(used), len(self.misses))

    def build_cassette(self, header: CassetteHeader) -> Cassette | None:
        """The cassette to write; None if it stays as it is. Equal exchanges keep their old lines."""
        live = [each for each in self.exchanges if not each.is_replayed]
        if self._rules.mode not in ("auto", "write") or not live:
            return None
        old = self.cassette.exchanges if self.cassette is not None else []
        kept = old if self._rules.mode == "auto" else []
        counts = Counter(each.key for each in kept)
        known = {(each.key, each.n): each for each in old}
        exchanges = [*kept]
        for exchange in sorted(live, key=lambda each: each.arrived_at):
            if is_storable(exchange.answer, with_errors=self._rules.records_errors):
                stored = self._store(exchange, counts)
                same = known.get((stored.key, stored.n))
                is_same = same is not None and _without_times(same) == _without_times(stored)
                exchanges.append(same if same is not None and is_same else stored)
        is_same_agent = self.cassette is not None and self.cassette.header.agent_hash == header.agent_hash
        if not exchanges or (exchanges == old and is_same_agent):
            return None
        return Cassette(replace(header, prompts_sha256=digest_prompts(exchanges)), exchanges)

    def _store(self, exchange: Exchange, counts: Counter[str]) -> RecordedExchange:
        canonical = self._canonicalise(exchange.request)
        key = compute_key(canonical)
        counts[key] += 1
        body = exchange.answer
        body.chunks = [(time, self._rules.hide_addresses(chunk)) for time, chunk in body.chunks]
        response, redacted_at = store_response(body)
        if redacted_at is not None:
            self.redacted.append(redacted_at)
        return RecordedExchange(
            key=key,
            n=counts[key],
            provider=canonical["provider"],
            method=canonical["method"],
            path=canonical["path"],
            request=canonical["body"],
            response=response,
            recorded_at=format_time(exchange.started_at),
            duration_ms=exchange.duration_ms,
        )

    def _canonicalise(self, request: ProviderRequest) -> dict[str, Any]:
        return canonicalise(replace(request, body=self._rules.hide_addresses(request.body)), self._rules.masks)


def _is_key(value: str) -> bool:
    is_word = len(value) < MIN_KEY or (value.isalpha() and len(value) < MIN_LETTERS)
    return not is_word and value != REPLAY_KEY


def load_exchange(found: RecordedExchange, request: ProviderRequest | None = None) -> Exchange:
    """An exchange as it was recorded, with the live request or the stored one."""
    stored = ProviderRequest(found.provider, found.method, found.path, "application/json", encode(found.request))
    started = datetime.fromisoformat(found.recorded_at).timestamp()
    return Exchange(request or stored, load_response(found.response), started, found.duration_ms, is_replayed=True)


def _without_times(exchange: RecordedExchange) -> tuple[Any, ...]:
    response = dict(exchange.response)
    if "events" in response:
        response["events"] = [event for _, event in response["events"]]
    return exchange.key, exchange.n, encode(response)


def digest_prompts(exchanges: Iterable[RecordedExchange]) -> str:
    """The sha256 of all instructions and tool schemas of the requests, in any order."""
    found: set[bytes] = set()
    for exchange in exchanges:
        body = exchange.request if isinstance(exchange.request, dict) else {}
        parts = [body.get("system"), body.get("instructions"), body.get("tools")]
        for name in CONVERSATION:
            messages = body.get(name)
            if isinstance(messages, list):
                parts += [each for each in messages if isinstance(each, dict) and each.get("role") in SYSTEM_ROLES]
        found.update(encode(part) for part in parts if part)
    return hashlib.sha256(b"\n".join(sorted(found))).hexdigest()
