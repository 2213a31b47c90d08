"""Decides what recorded numbers of tokens count: whether input includes cached tokens, and output reasoning.

Providers, SDKs and gateways disagree on it, so the numbers themselves decide first, then the documented meaning of
the very field that was read, in `RULES`. What neither decides is unknown, never 0 and never the smaller figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Meaning = Literal["inside", "outside", "unknown"]


class TokenRule(NamedTuple):
    """What the documentation of a field says: where cached and reasoning tokens are counted, and its `source`.

    `is_total_reported`: the total comes from the provider. One that an SDK added up repeats input and output, and
    so decides nothing if it is only their sum.
    """

    source: str
    cache: Meaning = "inside"
    reasoning: Meaning = "inside"
    is_total_reported: bool = False


RULES = {
    "native": TokenRule("docs/traces.md, Tokens: input includes cached tokens"),
    "custom": TokenRule("docs/custom-formats.md: input includes cached tokens"),
    "openai-chat": TokenRule(
        "OpenAI API, chat completion object: details break prompt and completion tokens down", is_total_reported=True
    ),
    "openai-responses": TokenRule(
        "OpenAI API, response object: details break input and output tokens down", is_total_reported=True
    ),
    "anthropic": TokenRule(
        "Anthropic API, prompt caching: total input is cache read + cache creation + input_tokens", cache="outside"
    ),
    "gemini": TokenRule(
        "Gemini API, UsageMetadata: promptTokenCount includes cached content; the total adds thoughts",
        reasoning="outside",
        is_total_reported=True,
    ),
    "bedrock": TokenRule(
        "Amazon Bedrock, prompt caching: inputTokens leaves out cache reads and writes",
        cache="outside",
        is_total_reported=True,
    ),
    "langchain": TokenRule("LangChain, UsageMetadata: input_tokens is the sum of all input token types"),
    "langsmith": TokenRule("LangSmith, usage_metadata: details need not sum to the input, which they are part of"),
    "langfuse": TokenRule(
        "Langfuse, usage details: integrations write details beside input, and inside of it",
        cache="unknown",
        reasoning="unknown",
        is_total_reported=True,
    ),
    "vercel": TokenRule("AI SDK 5, LanguageModelUsage: each provider's package converts in its way", cache="unknown"),
    "vercel-details": TokenRule("AI SDK 6 and 7, inputTokenDetails: inputTokens is the total number"),
    "vercel-inside": TokenRule("AI SDK 5, packages that pass on a prompt count which includes cached tokens"),
    "vercel-outside": TokenRule(
        "AI SDK 5, packages for Anthropic and Bedrock: inputTokens is the provider's uncached input", cache="outside"
    ),
    "genai": TokenRule("OpenTelemetry GenAI, gen_ai.usage.input_tokens: should include cached tokens"),
    "openinference": TokenRule("OpenInference, llm.token_count.prompt_details: a breakdown of the prompt count"),
    "claude-code": TokenRule("Claude Code, modelUsage and llm_request: Anthropic's counts", cache="outside"),
    "cursor": TokenRule("Cursor CLI, result usage: Anthropic's counts", cache="outside"),
    "codex": TokenRule("Codex, TokenUsage: cached_input_tokens is part of input_tokens", is_total_reported=True),
    "atif": TokenRule("ATIF, metrics: prompt_tokens counts cached and uncached tokens"),
    "inspect": TokenRule(
        "Inspect, ModelUsage: the total says whether the input includes cache", is_total_reported=True
    ),
    "pydantic-ai": TokenRule("Pydantic AI, RequestUsage: input_tokens is the total of the prompt"),
    "agent-framework": TokenRule("Agent Framework, UsageDetails: cached tokens are part of the input"),
    "crewai": TokenRule("CrewAI, UsageMetrics: cached_prompt_tokens is part of prompt_tokens"),
    "promptfoo": TokenRule("promptfoo, tokenUsage: completionDetails break the completion down"),
    "pi": TokenRule("pi, Usage: input, cacheRead and cacheWrite add up to the prompt", cache="outside"),
    "opencode": TokenRule(
        "opencode, tokens: input leaves out cache.read and cache.write; only the total shows where reasoning is",
        cache="outside",
        is_total_reported=True,
    ),
    "openhands": TokenRule("OpenHands, TokenUsage: LiteLLM's counts"),
    "copilot": TokenRule("Copilot CLI, modelMetrics: inputTokens holds both cache counts (kenn-io/agentsview#577)"),
    "ag-ui": TokenRule("AG-UI, usage: cached and reasoning tokens are parts (hashbrown.dev, core/TokenUsage)"),
    "vally": TokenRule("Vally, token usage: the counts of the Copilot SDK, whose inputTokens hold the cached ones"),
    "litellm": TokenRule("LiteLLM, Usage: prompt_tokens includes cached tokens of every provider"),
    "plain": TokenRule("no field for cached or reasoning tokens"),
}
"""By reader or vocabulary, one entry for each documented meaning. A reader may state its own instead."""


class Settled(NamedTuple):
    """Input, output and total as they count, None if unknown; `doubt` is the code and text of a warning."""

    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    doubt: dict[str, str] | None = None


class TotalReading(NamedTuple):
    """One way to read a total: where it has cached and reasoning tokens."""

    total: int
    cache: Meaning
    reasoning: Meaning


def settle_tokens(parts: Mapping[str, Any], rule: TokenRule, uncached: int | None = None) -> Settled:
    """Input with cached tokens, output with reasoning, and their sum.

    `uncached` is the input without cached tokens where the recorder states it. A recorded total that fits no reading
    leaves in doubt what it is the total of: `total_mismatch`.
    """
    given, output, total = parts["input_tokens"], parts["output_tokens"], parts["total_tokens"]
    cached = (parts["cache_read_input_tokens"] or 0) + (parts["cache_write_input_tokens"] or 0)
    thought = parts["reasoning_output_tokens"] or 0
    if not (cached or thought):
        return Settled(given, output, total) if given is None or output is None else _check_total(given, output, total)
    if not (given or output or total):
        return Settled(None, None, None)  # a recorder that writes 0 for input and output did not count them
    readings = [] if given is None or output is None else _list_readings(given + output, cached, thought)
    shown = _find_reading(readings, total, rule)
    cache = _place_cache(given, cached, uncached) or (shown.cache if shown else rule.cache)
    reasoning = "outside" if thought > (output or 0) else shown.reasoning if shown else rule.reasoning
    tokens_in, doubt_in = _count(given, cached, cache, "input", "cached")
    tokens_out, doubt_out = _count(output, thought, reasoning, "output", "reasoning")
    if doubt_in or doubt_out:
        return Settled(tokens_in, tokens_out, None, {"code": "tokens_ambiguous", "message": doubt_in or doubt_out})
    if tokens_in is None or tokens_out is None:
        return Settled(tokens_in, tokens_out, total)
    fits = any(total == reading.total for reading in readings) or (cached > (given or 0) and (total or 0) < tokens_in)
    return _check_total(tokens_in, tokens_out, None if fits else total)


def _list_readings(plain: int, cached: int, reasoning: int) -> list[TotalReading]:
    """What a total can be; where two readings give the same, the first counts."""
    found = [
        TotalReading(plain + cached, "outside", "inside"),
        TotalReading(plain + reasoning, "inside", "outside"),
        TotalReading(plain + cached + reasoning, "outside", "outside"),
    ]
    return [*(reading for reading in found if reading.total > plain), TotalReading(plain, "inside", "inside")]


def _find_reading(readings: list[TotalReading], total: int | None, rule: TokenRule) -> TotalReading | None:
    """The reading that a total shows; the plain sum of an SDK shows none."""
    shown = next((reading for reading in readings if reading.total == total), None)
    is_plain = bool(readings) and shown is readings[-1]
    return None if is_plain and not rule.is_total_reported else shown


def _place_cache(given: int | None, cached: int, uncached: int | None) -> Meaning | None:
    """Where numbers beside the total put cached tokens; None if they don't show it."""
    if given is None or not cached:
        return None
    if cached > given or given == uncached:
        return "outside"
    return "inside" if uncached is not None and given == uncached + cached else None


def _count(given: int | None, more: int, where: Meaning, name: str, kind: str) -> tuple[int | None, str]:
    if given is None or not more or where == "inside":
        return given, ""
    if where == "outside":
        return given + more, ""
    return (
        None,
        f"{name} is {given:,} or {given + more:,} tokens: nothing says whether it includes {more:,} {kind} ones",
    )


def _check_total(tokens_in: int, tokens_out: int, total: int | None) -> Settled:
    """The sum, unless the recorded total differs: above the sum it stays, with unknown parts, else it is unknown too.

    A 0 beside larger numbers was not counted.
    """
    known = tokens_in + tokens_out
    if not total or total == known:
        return Settled(tokens_in, tokens_out, known)
    if not known:
        return Settled(None, None, total)
    message = f"the recorded total of {total:,} tokens is not the sum of input and output, {known:,}"
    return Settled(None, None, total if total > known else None, {"code": "total_mismatch", "message": message})
