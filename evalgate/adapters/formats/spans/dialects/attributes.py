"""Reads attribute values of whatever type a tracer gave them, and what all vocabularies share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from evalgate.adapters.formats.core import strict_json
from evalgate.adapters.formats.core.builder.side_fields import ORIGIN_KEYS, SCENARIO_KEYS, TRIAL_KEYS, parse_digits
from evalgate.adapters.formats.core.fields import amount, count, identifier, number
from evalgate.adapters.formats.core.token_rules import RULES
from evalgate.adapters.formats.core.usage import build_usage, none_if_uncounted
from evalgate.adapters.formats.messages import genai
from evalgate.adapters.formats.messages.sniff_messages import sniff_messages
from evalgate.errors import TraceError
from evalgate.models.trace.trace import unknown_usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.adapters.formats.core.builder.conversation import RawMessage
    from evalgate.adapters.formats.spans.span import Span, SpanEvent, SpanFacts
    from evalgate.models.trace.trace import Usage

    Detail = Literal["cache_read_input_tokens", "cache_write_input_tokens", "reasoning_output_tokens"]

MAX_INDEX = 20_000
MAX_DIGITS = 18
UNREADABLE = "the messages can't be read: their JSON is incomplete, which happens if a tracer truncates long attributes"


def first(attributes: Mapping[str, Any], *keys: str) -> Any:
    """The first of these attributes that is not None."""
    for key in keys:
        value = attributes.get(key)
        if value is not None:
            return value
    return None


def first_text(attributes: Mapping[str, Any], *keys: str) -> str | None:
    """The first of these attributes that is non-empty text."""
    for key in keys:
        value = attributes.get(key)
        if type(value) is str and value:
            return value
    return None


def add_texts(facts: SpanFacts, attributes: Mapping[str, Any], keys: Mapping[str, tuple[str, ...]]) -> None:
    """Sets each fact that is unknown to the first of its attributes that is non-empty text."""
    for name, own in keys.items():
        if not getattr(facts, name):
            setattr(facts, name, first_text(attributes, *own))


def tokens(attributes: Mapping[str, Any], *keys: str) -> int | None:
    """The first of these attributes as a count; raises FieldError unless it is a number or digits."""
    for key in keys:
        value = attributes.get(key)
        if value is not None:
            return count(_parse_number(value), f"attributes.{key}")
    return None


def dollars(attributes: Mapping[str, Any], *keys: str) -> float | None:
    """The first of these attributes as an amount; raises FieldError unless it is a number or digits."""
    for key in keys:
        value = attributes.get(key)
        if value is not None:
            return amount(_parse_number(value), f"attributes.{key}")
    return None


def read_usage(attributes: Mapping[str, Any], keys: Mapping[str, tuple[str, ...]], prefix: str = "") -> Usage | None:
    """Usage as recorded, by the attributes of its parts, which start with `prefix`; None if nothing was counted."""
    if prefix and not any(key.startswith(prefix) for key in attributes):
        return None
    parts: Any = {part: tokens(attributes, *(prefix + key for key in keys[part])) for part in keys}
    return none_if_uncounted({**unknown_usage(), **parts, "source": "recorded_total"})


SETTLED = "native"
"""The rule of tokens that are settled already, as those of a provider's response."""
DETAILS: tuple[Detail, ...] = ("cache_read_input_tokens", "cache_write_input_tokens", "reasoning_output_tokens")


def add_usage(facts: SpanFacts, found: Usage | None, rule: str) -> None:
    """Adds tokens as one vocabulary records them, whose meaning is the entry `rule` of RULES.

    Of a later vocabulary only details count, if it records the same input and output, with or without them: then
    its rule says where they are counted.
    """
    known = facts.usage
    if known is None or found is None:
        if found is not None:
            facts.usage, facts.counted_as = found, rule
        return
    if _is_same_without_details(known, found):
        facts.usage, facts.counted_as = found, rule
    elif (known["input_tokens"], known["output_tokens"]) == (found["input_tokens"], found["output_tokens"]):
        if all(known[key] is None for key in DETAILS):
            facts.counted_as = rule
        for key in DETAILS:
            known[key] = found[key] if known[key] is None else known[key]


def _is_same_without_details(known: Usage, found: Usage) -> bool:
    """True if `known` is what `found` would be without the cached tokens that its input includes."""
    cached = (found["cache_read_input_tokens"] or 0) + (found["cache_write_input_tokens"] or 0)
    if not cached or None in (known["input_tokens"], found["input_tokens"]) or known["cache_read_input_tokens"]:
        return False
    is_less = known["input_tokens"] == (found["input_tokens"] or 0) - cached
    return is_less and known["output_tokens"] == found["output_tokens"]


def settle_usage(facts: SpanFacts) -> None:
    """Decides what the recorded tokens count, once all vocabularies are read."""
    if facts.usage is not None:
        parts: Any = facts.usage
        facts.usage = build_usage(parts, RULES[facts.counted_as], "usage", parts.pop("uncached", None))


def decode(value: Any) -> Any:
    """Decodes JSON text of an object or list; returns broken JSON and other values unchanged."""
    if type(value) is not str or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        found = strict_json.decode(value.encode("utf-8", "surrogatepass"))
        strict_json.require_shallow(found)
    except TraceError:
        return value
    return found


def read_messages(value: Any, facts: SpanFacts, where: str) -> list[RawMessage] | None:
    """Reads messages from JSON text or structure; adds a warning if they are unreadable."""
    found = decode(value)
    if found is None or found in ([], "", {}):
        return None
    parsed = sniff_messages(found)
    if parsed is None and type(found) is list and all(genai.is_shape(one) or _is_empty(one) for one in found):
        parsed = genai.read_messages([one for one in found if not _is_empty(one)]) or None
    if parsed is None:
        warning = {"code": "content_unreadable", "message": UNREADABLE, "where": where}
        facts.warnings.append(warning)  # type: ignore[arg-type]
    return parsed


def unflatten(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Collects attributes `prefix.N.rest` by N, in order, each as a map from rest to value."""
    entries: dict[int, dict[str, Any]] = {}
    start = len(prefix) + 1
    for key, value in attributes.items():
        if not key.startswith(prefix) or key[start - 1 : start] != ".":
            continue
        number, _, rest = key[start:].partition(".")
        if number.isascii() and number.isdigit() and len(number) < len(str(MAX_INDEX)):
            entries.setdefault(int(number), {})[rest] = value
    return [entries[number] for number in sorted(entries)]


def list_texts(value: Any) -> list[str]:
    """A list of texts, from a list, JSON text of a list, or a single text."""
    found = decode(value)
    if type(found) is str:
        return [found] if found else []
    return [one for one in found if type(one) is str] if type(found) is list else []


def _parse_number(value: Any) -> Any:
    if type(value) is not str:
        return value
    try:
        return int(value) if value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS else float(value)
    except ValueError:
        return value


def _is_empty(message: Any) -> bool:
    return type(message) is dict and message.get("parts") == []


SCOPES = ("openinference.instrumentation.", "opentelemetry.instrumentation.")
FRAMEWORKS = {
    "agno": "agno",
    "autogen": "autogen",
    "autogen_agentchat": "autogen",
    "beeai": "beeai",
    "claude_agent_sdk": "claude-agent-sdk",
    "crewai": "crewai",
    "google_adk": "google-adk",
    "haystack": "haystack",
    "langchain": "langchain",
    "llama_index": "llama-index",
    "llamaindex": "llama-index",
    "openai_agents": "openai-agents",
    "pydantic_ai": "pydantic-ai",
    "smolagents": "smolagents",
    "strands_agents": "strands",
}
FRAMEWORK_SCOPES = {
    "gcp.vertex.agent": "google-adk",
    "pydantic-ai": "pydantic-ai",
    "ai": "vercel-ai",
    "autogen-core": "autogen",
    "strands.telemetry.tracer": "strands",
}
STATUS_CODES = ("http.response.status_code", "http.status_code", "error.status_code", "gen_ai.response.status_code")
EXIT_CODES = ("process.exit.code", "process.exit_code", "exit_code")
SCORE = "gen_ai.evaluation.result"


def add_common(span: Span, facts: SpanFacts) -> None:
    """Adds facts that no dialect has set."""
    attributes = span.attributes
    facts.framework = facts.framework or _framework(span.scope)
    facts.conversation_id = facts.conversation_id or first_text(attributes, "session.id", "langfuse.session.id")
    facts.error_type = facts.error_type or first_text(attributes, "error.type")
    for event in span.events:
        if event.name == "exception" and (span.has_failed or str(event.attributes.get(ESCAPED)).lower() == "true"):
            facts.error_type = facts.error_type or first_text(event.attributes, "exception.type")
            facts.error_message = facts.error_message or first_text(event.attributes, "exception.message")
        elif event.name == SCORE:
            _add_score(event, facts)
    if facts.kind == "inference" and facts.error_status is None:
        facts.error_status = next((attributes[key] for key in STATUS_CODES if type(attributes.get(key)) is int), None)
    if facts.kind == "tool" and facts.exit_code is None:
        codes = [attributes[key] for key in EXIT_CODES if type(attributes.get(key)) is int]
        facts.exit_code = codes[0] if codes else None


ESCAPED = "exception.escaped"
"""Whether an exception left the span; tracers write it as a flag or as text."""


def _framework(scope: str | None) -> str | None:
    if scope is None:
        return None
    for prefix in SCOPES:
        if scope.startswith(prefix):
            return FRAMEWORKS.get(scope.removeprefix(prefix))
    return FRAMEWORK_SCOPES.get(scope)


def _add_score(event: SpanEvent, facts: SpanFacts) -> None:
    values = event.attributes
    name = first_text(values, "gen_ai.evaluation.name")
    if name is not None:
        facts.evaluations.append(
            {
                "name": name,
                "score_value": number(values.get("gen_ai.evaluation.score.value"), f"{SCORE} {name[:40]}"),
                "score_label": first_text(values, "gen_ai.evaluation.score.label"),
                "explanation": first_text(values, "gen_ai.evaluation.explanation"),
                "source": None,
            }
        )


ROLE, VARIANT = "evalgate.role", "evalgate.variant"
EXCLUDED_ROLES = frozenset({"user", "judge"})


def add_evalgate_attributes(span: Span, facts: SpanFacts) -> None:
    """Adds them from the span, its metadata or its resource; raises FieldError for invalid values."""
    for source in (span.attributes, facts.metadata, span.resource):
        _add_scenario(source, facts, is_metadata=source is facts.metadata)
        for key in ORIGIN_KEYS:
            if type(source.get(key)) is str:
                facts.metadata.setdefault(key, source[key])
        variant = first_text(source, VARIANT)
        if variant is not None and facts.metadata.setdefault("variant", variant) not in facts.tags:
            facts.tags.append(variant)
    role = span.attributes.get(ROLE)
    if type(role) is str and role in EXCLUDED_ROLES:
        facts.kind = "excluded"


def _add_scenario(attributes: Mapping[str, Any], facts: SpanFacts, *, is_metadata: bool) -> None:
    for key in SCENARIO_KEYS if is_metadata else SCENARIO_KEYS[:1]:
        if attributes.get(key) is not None and facts.scenario_id is None:
            facts.scenario_id = identifier(attributes[key], key)
    for key in TRIAL_KEYS:
        if attributes.get(key) is not None and facts.trial is None:
            facts.trial = count(parse_digits(attributes[key]), key)
