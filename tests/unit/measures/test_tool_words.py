import pytest

from evalgate.measures.text.tool_words import changes_something, has_effect, is_destructive, may_harm
from evalgate.models.trace.trace import ToolKinds


@pytest.mark.parametrize(
    "tool",
    [
        *("get_order", "getOrder", "listFiles", "web_search", "file-search", "Read", "describe_table"),
        *("mcp__db__list_tables", "functions.lookup_order", "user.get", "searchEmails", "check_refund_policy"),
        *("find_and_count", "list_create_events", "readfile"),
    ],
)
def test_changes_something__a_first_verb_that_reads_denies_it(tool):
    assert not changes_something(tool)


@pytest.mark.parametrize(
    "tool",
    [
        *("book_flight", "bookFlight", "Bash", "think", "", "transfer_to_human_agents", "forget", "update_list"),
        *("delete_view", "create_query", "send_check", "get_or_create_user", "find_and_delete", "checkout"),
        *("budget_order", "thread", "overview", "mcp__db__drop_list", "reset_search"),
    ],
)
def test_changes_something__any_other_name_may(tool):
    assert changes_something(tool)


def test_changes_something__the_tools_own_hint_wins():
    def hint(value):
        return [{"name": "other"}, {"name": "t_get", "annotations": {"readOnlyHint": value}}]

    assert changes_something("t_get", hint(False))
    assert not changes_something("t_get", hint(True))
    assert not changes_something("t_get", hint("no"))
    assert changes_something("delete_user", [{"name": "delete_user", "annotations": "readOnlyHint"}])
    assert not changes_something("delete_user", [{"name": "delete_user", "annotations": {"readOnlyHint": True}}])


def test_a_read_only_hint_counts_in_the_nesting_of_openai_too():
    for definition in (
        {"type": "function", "function": {"name": "delete_user", "annotations": {"readOnlyHint": True}}},
        {"type": "function", "function": {"name": "delete_user"}, "annotations": {"readOnlyHint": True}},
    ):
        assert not changes_something("delete_user", [definition])


@pytest.mark.parametrize(
    "tool",
    [
        *("berth_status", "tide_window", "weather_forecast", "accountBalance", "train_schedule", "flight_price"),
        *(
            "mcp__port__berth_status",
            "order_details",
            "weather",
            "price-list",
            "booking_status",
            "show_invoice",
            "look_up_order",
        ),
    ],
)
def test_changes_something__a_last_word_for_data_denies_it(tool):
    assert not changes_something(tool)


@pytest.mark.parametrize(
    "tool",
    [
        *("set_status", "open_window", "mcp__port__close_window", "markStatus", "send_summary", "book_schedule"),
        *("raise_price", "clear_history", "email_details", "status_update", "reserve_berth", "notify_pilot"),
        *("delete_list", "update_order_status", "change_account_info"),
    ],
)
def test_changes_something__a_verb_before_that_word_changes_it(tool):
    assert changes_something(tool)


LISTED = ToolKinds(("berth_reading", "open_*", "cancel_view"), ("sync_view", "get_ticket", "open_gate"))


def test_what_a_suite_says_of_a_tool_counts_whatever_its_name_and_its_hint_say():
    assert [changes_something(each, (), LISTED) for each in LISTED.lookups] == [False, False, False]
    assert [changes_something(each, (), LISTED) for each in LISTED.changing] == [True, True, True]
    hint = [{"name": each, "annotations": {"readOnlyHint": each == "sync_view"}} for each in ("sync_view", "open_map")]
    assert changes_something("sync_view", hint, LISTED)
    assert not changes_something("open_map", hint, LISTED)
    assert changes_something("reserve_berth", hint, LISTED)
    assert not changes_something("get_order", hint, LISTED)


def test_a_whole_name_counts_before_a_glob__and_of_two_globs_the_one_that_changes_something():
    assert changes_something("open_gate", (), LISTED)
    assert not changes_something("get_a", (), ToolKinds(("get_a",), ("get_*",)))
    assert changes_something("get_a", (), ToolKinds(("get_*",), ("*_a",)))
    assert changes_something("*", [{"name": "open_*", "annotations": {"readOnlyHint": True}}])


def test_what_a_suite_says_of_a_tool_counts_for_harm_and_effect_too():
    for decides in (has_effect, is_destructive):
        assert not decides("cancel_view", LISTED)
        assert decides("cancel_order", LISTED)
    assert has_effect("get_ticket", LISTED)
    assert not is_destructive("get_ticket", LISTED)
    assert may_harm("get_ticket", (), LISTED)
    assert not may_harm("cancel_view", (), LISTED)
