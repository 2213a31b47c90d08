"""Lists the fields of messages that may hold objects or lists: they are read, or are no calls.

Others may hold calls in a form that is not read.
"""

from __future__ import annotations

from evalgate.adapters.formats.core.format import words

CHAT_FIELDS = words("""
    role content tool_calls function_call refusal reasoning_content name annotations audio images logprobs citations
    metadata usage timings reasoning reasoning_details thinking_blocks thinking provider_specific_fields
    cache_control extra_body token_ids prompt_token_ids extra_content provider_metadata
""")
"""Of OpenAI's chat messages, as OpenAI and the servers that imitate it write them."""
ROLE_FIELDS = CHAT_FIELDS | {
    *("additional_kwargs", "response_metadata", "usage_metadata", "invalid_tool_calls", "tool_call_chunks"),
    *("container", "context_management", "diagnostics", "output_config", "stop_details", "artifact"),
    *("providerOptions", "providerMetadata", "experimental_providerMetadata", "experimental_attachments"),
}
"""Of messages with a role of any framework: Anthropic, LangChain, Vercel."""
LANGCHAIN_FIELDS = ROLE_FIELDS | {"data", "kwargs", "id", "lc_kwargs"}
ITEM_FIELDS = ROLE_FIELDS | {
    *("summary", "arguments", "input", "output", "outputs", "results", "error", "action", "operation", "queries"),
    *("encrypted_content", "pending_safety_checks", "acknowledged_safety_checks", "tools", "provider_data"),
    *("provider_metadata", "caller", "agent", "internal_chat_message_metadata_passthrough", "code", "server"),
}
"""Of the items of OpenAI's Responses API."""
GEMINI_PART_FIELDS = words("""
    function_call functionCall function_response functionResponse inline_data inlineData file_data fileData
    executable_code executableCode code_execution_result codeExecutionResult video_metadata videoMetadata
    media_resolution mediaResolution part_metadata partMetadata
""")
PART_FIELDS = words("""
    text content refusal thinking reasoning summary signature image_url file input_audio audio source document image
    video video_url citations annotations cache_control logprobs input arguments args result output error data
    extras providerOptions providerMetadata experimental_providerMetadata metadata provider_metadata toolUse
    toolResult reasoningContent reasoningText caller function media provider_data toolInvocation
    callProviderMetadata resultProviderMetadata approval rawInput context additional_kwargs response_metadata
    search_results action value id
""")
"""Of parts of a message's content, of any framework."""
