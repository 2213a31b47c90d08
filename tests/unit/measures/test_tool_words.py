import pytest

from evalgate.measures.text.tool_words import changes_something


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
