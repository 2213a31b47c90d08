"""Guesses by their words what the entries of a log are: messages, calls and results."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from evalgate.features.learn.application.format_help.places import Place, follow, join_alternatives, walk_fields, write

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_TYPE_LENGTH = 60
MAX_TYPES = 60
MOST_PLACES = 3
KINDS = ("user", "assistant", "system", "call", "result")
DEPTH = 3
NAMES = frozenset({"type", "kind", "role", "event", "author", "from", "sender", "who", "speaker", "action"})
"""Words of fields that say what an entry is."""
USUAL_NAMES = ("type", "kind", "event", "role")
WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
TOOLS = frozenset({"tool", "function", "call"})
CALLS = frozenset({"call", "use", "start", "started", "begin", "request", "invocation", "invoke"})
ENDS = frozenset({"end", "ended", "complete", "completed", "finished", "done", "return", "returned"})
RESULTS = frozenset({"result", "results", "output", "response", "observation"})
EXACT = {
    **dict.fromkeys(("tool", "function", "observation", "environment", "ipython"), "result"),
    **dict.fromkeys(("prompt", "question"), "user"),
    **dict.fromkeys(("ai", "bot", "model", "agent", "gemini", "text", "answer", "completion"), "assistant"),
    **dict.fromkeys(("developer", "instructions"), "system"),
    "action": "call",
}
PERSONS = frozenset({"user", "human", "asked", "customer"})
AGENTS = frozenset({"assistant", "answer", "answered"})
NO_MESSAGE = frozenset({"start", "end", "begin", "turn", "reasoning", "info", "usage", "step", "update", "delta"})


class Types(Struct):
    """How the types of entries are found, and what each is; `unnamed` are those that may be anything."""

    places: list[Place] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    unnamed: list[str] = field(default_factory=list)

    @property
    def expression(self) -> str:
        """Finds the type of an entry."""
        return join_alternatives(map(write, self.places))

    def find_kind(self, entry: Any) -> str | None:
        """What an entry is; None if its type does not say."""
        name = find_type(self.places, entry)
        return None if name is None else self.kinds.get(name)

    def of_kind(self, *kinds: str) -> list[str]:
        """The types of these kinds."""
        return [name for name, kind in self.kinds.items() if kind in kinds]


def classify(name: str) -> str | None:
    """What entries of a type with this name are, by its words; None if they do not say."""
    words = {word.lower() for word in WORDS.findall(name)}
    rules = (
        ("result", words & TOOLS and words & (RESULTS | ENDS)),
        ("call", words & TOOLS and words & CALLS),
        (EXACT.get(name.lower()), name.lower() in EXACT),
        (None, words & NO_MESSAGE),
        ("user", words & PERSONS),
        ("assistant", words & AGENTS),
        ("system", "system" in words),
    )
    return next((kind for kind, applies in rules if applies), None)


def find_type(places: Sequence[Place], entry: Any) -> str | None:
    """The type of an entry: the first of the places that has a text."""
    found = (follow(entry, place) for place in places)
    return next((name for name in found if isinstance(name, str) and name), None)


def find_types(entries: Sequence[Any]) -> Types:
    """The places that say most about the entries: each is asked where those before it have nothing."""
    places: list[Place] = []
    left = list(entries)
    while left and len(places) < MOST_PLACES:
        place = _find_best_place(left)
        if place is None:
            break
        places.append(place)
        left = [entry for entry in left if find_type([place], entry) is None]
    usual = _find_usual_place(left) if left and places else None
    places += [] if usual is None or usual in places else [usual]
    _put_finer_first(places, entries)
    found = Types(places)
    for name in dict.fromkeys(find_type(places, entry) for entry in entries):
        kind = None if name is None else classify(name)
        if name is not None and kind is not None:
            found.kinds[name] = kind
        elif name is not None:
            found.unnamed.append(name)
    return found


def _find_usual_place(entries: Sequence[Any]) -> Place | None:
    """A field that is called like a type and that most of the entries have."""
    counts = {name: sum(find_type([(name,)], entry) is not None for entry in entries) for name in USUAL_NAMES}
    best = max(counts, key=lambda name: counts[name])
    return (best,) if 2 * counts[best] > len(entries) else None


def _put_finer_first(places: list[Place], entries: Sequence[Any]) -> None:
    """Adds a place that says what entries are of which the others do not, before these, if it is in no other entry."""
    if not places:
        return

    def is_open(entry: Any) -> bool:
        name = find_type(places, entry)
        return name is None or classify(name) is None

    finer = _find_best_place([entry for entry in entries if is_open(entry)], kinds=("user", "assistant"))
    if finer is not None and all(is_open(each) for each in entries if find_type([finer], each) is not None):
        places.insert(0, finer)


def _find_best_place(entries: Sequence[Any], kinds: Sequence[str] = KINDS) -> Place | None:
    """The place of short words of which most, and of the most kinds, say what an entry is."""
    names: dict[Place, Counter[str]] = {}
    for entry in entries:
        for place, value in walk_fields(entry, DEPTH):
            if isinstance(value, str) and 0 < len(value) <= MAX_TYPE_LENGTH and place and _is_type_name(place[-1]):
                names.setdefault(place, Counter())[value] += 1
    scores = {place: _score(found, kinds) for place, found in names.items() if len(found) <= MAX_TYPES}
    best = max(scores, key=lambda place: (scores[place], -len(place)), default=None)
    return best if best is not None and scores[best] > (0, 0) else None


def _is_type_name(name: str) -> bool:
    return bool(NAMES & {word.lower() for word in WORDS.findall(name)[-1:]})


def _score(names: Counter[str], kinds: Sequence[str]) -> tuple[int, int]:
    """The kinds that the names are of, and the entries that have one of them."""
    counts = Counter[str]()
    for name, count in names.items():
        kind = classify(name)
        if kind is not None and kind in kinds:
            counts[kind] += count
    return len(counts), counts.total()
