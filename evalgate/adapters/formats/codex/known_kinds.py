"""What a rollout holds besides calls and messages: types of lines and events, and texts that Codex itself wrote.

From the code of Codex to November 2026; tests/unit/adapters/formats/test_line_kinds.py has a sample of each.
"""

from __future__ import annotations

from evalgate.adapters.formats.core.format import words

INJECTED_PREFIXES = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<turn_aborted>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
)
NO_ITEMS = words("""
    compacted world_state inter_agent_communication inter_agent_communication_metadata token_usage_record
    security_risk_score id_allocation realtime_item retained_context
""")
"""Types of lines about the session itself."""
EVENTS = words("""
    token_count task_started task_complete turn_started turn_complete turn_aborted error user_message agent_message
    agent_message_delta agent_message_content_delta agent_reasoning agent_reasoning_delta agent_reasoning_raw_content
    agent_reasoning_raw_content_delta agent_reasoning_section_break reasoning_content_delta
    reasoning_raw_content_delta warning session_configured thread_name_updated thread_rolled_back thread_goal_updated
    turn_diff exec_command_begin exec_command_output_delta exec_command_end terminal_interaction mcp_tool_call_begin
    mcp_tool_call_end web_search_begin web_search_end view_image_tool_call patch_apply_begin patch_apply_updated
    patch_apply_end image_generation_begin image_generation_end dynamic_tool_call_request dynamic_tool_call_response
    exec_approval_request apply_patch_approval_request elicitation_request request_user_input request_permissions
    guardian_assessment background_event stream_error stream_info plan_update plan_delta undo_started undo_completed
    context_compacted deprecation_notice model_reroute model_verification item_started item_completed hook_started
    hook_completed entered_review_mode exited_review_mode raw_response_item skills_update_available mcp_startup_update
    mcp_startup_complete mcp_list_tools_response list_skills_response get_history_entry_response
    list_custom_prompts_response conversation_path shutdown_complete collab_agent_spawn_begin collab_agent_spawn_end
    collab_agent_interaction_begin collab_agent_interaction_end collab_waiting_begin collab_waiting_end
    collab_close_begin collab_close_end collab_resume_begin collab_resume_end sub_agent_activity
    thread_settings_applied thread_queue_changed environment_connected environment_disconnected auth_recovery_started
    auth_recovery_completed guardian_warning safety_buffering turn_moderation_metadata raw_response_completed
    realtime_conversation_started realtime_conversation_sdp realtime_conversation_realtime
    realtime_conversation_closed realtime_conversation_list_voices_response
""")
"""Types of a rollout's events: they repeat what its items record, are executions, or concern the session."""
