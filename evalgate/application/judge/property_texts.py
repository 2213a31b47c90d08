"""What each property of a suite or project file means, with an example: the texts that editors show.

A key is `Model.field`, or a field's name where it means the same in several. Evaluators describe their own fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_PRICE = {"my-model-1": {"input": 3, "output": 15}}
_QUARANTINE = {"scenario": "smalltalk-*", "reason": "the weather tool answers late", "until": "2026-12-31"}
_SCENARIO = {"id": "refund", "assertions": [{"type": "tool_called", "tool": "issue_refund", "required": True}]}
_GOLDEN = {"id": "greeting", "user_messages": ["Hello"], "golden_responses": ["Hello, how can I help?"]}
_VARIANTS = {"flat": {"match": {"tags": ["tools:flat"]}}}
_CUSTOM = {"messages": "log", "message": {"role": "who", "content": "text"}, "cost_usd": "bill.usd"}
_TOOLS = {"lookups": ["berth_reading"], "changing": ["sync_view"]}
_CHECK = {"type": "cost_limit", "max_usd": 0.05}

TEXTS: Mapping[str, tuple[str, Any]] = {
    # Suite and project
    "version": ("The version of this kind of file.", 1),
    "SuiteFile.suite": ("Its name, part of every scenario's identity; by default the file's name.", "support"),
    "SuiteFile.description": ("For people; no effect.", "What the support agent must do."),
    "traces": ("Globs of trace files, relative to this file.", ["../traces/**/*.jsonl"]),
    "format": ("The format of the traces; `auto` detects it by content.", "auto"),
    "custom": ("With `format: custom`: a JMESPath expression for each field of a trace.", _CUSTOM),
    "reading": ("What is left out of records before they are read.", {"ignore": ["messages[].modelInfo"]}),
    "ignore": (
        "Fields that hold no calls, from a record, or each line of a file that is one; `[]`: each entry of a list.",
        ["messages[].modelInfo"],
    ),
    "even_calls": ("Whether ignored fields may hold what looks like a call.", False),
    "scenario_from": ("A JMESPath expression that finds the scenario id of a trace.", "metadata.tags[0]"),
    "threshold": ("The score, 0 to 1, from which a trial and a scenario pass; 0.8 unless set.", 1.0),
    "SuiteFile.defaults": ("What applies to every scenario of the suite.", {"assertions": [_CHECK]}),
    "variants": ("Configurations in which every scenario was run, by name; each pair is judged.", _VARIANTS),
    "SuiteFile.scenarios": ("The situations to judge, each with its assertions.", [_SCENARIO]),
    "SuiteFile.goldens": ("Golden conversations: how the agent should answer, turn by turn.", [_GOLDEN]),
    "SuiteFile.golden": ("How goldens are judged.", {"passing_score": 0.9}),
    "SuiteFile.quarantine": ("Scenarios that are judged and shown but do not block until a date.", [_QUARANTINE]),
    "prices": ("Prices of models, for traces that record tokens but no cost; null hides one.", _PRICE),
    "policy": ("What fails the gate.", {"fail_on": ["hard_fail", "broken", "below_threshold"]}),
    "ProjectFile.suites": ("Globs of the project's suites, relative to this file.", ["evals/**/*.yaml"]),
    "ProjectFile.defaults": ("What applies to every suite that does not set it.", {"traces": ["traces/*.json"]}),
    "ProjectFile.store": ("The path of the database that keeps runs; no URL.", ".evalgate/evalgate.db"),
    "ProjectFile.redact": ("What to redact besides what looks like a secret.", {"fields": ["customer_name"]}),
    "ProjectFile.schema_url": (
        "The folder on the web with `suite.json` and `project.json`; `validate --fix-header` points editors to it.",
        "https://example.com/evalgate/1/",
    ),
    "RedactEntry.fields": ("Names of fields whose values are redacted.", ["customer_name"]),
    "RedactEntry.patterns": (
        "Regular expressions whose matches are redacted.",
        [{"name": "iban", "regex": "DE\\d{20}"}],
    ),
    "SuiteFile.normalise": (
        "What changes from run to run in the requests of a recorded agent, so that its cassettes do not depend on it.",
        [{"regex": "run-[0-9]+", "with": "run-0"}],
    ),
    "NormaliseEntry.regex": ("A regular expression; every match in a text becomes `with`.", "run-[0-9]+"),
    "NormaliseEntry.path": (
        "The path of a value of the request, which becomes `with` as a whole; `*` is any key.",
        "messages.*.id",
    ),
    "NormaliseEntry.with": ("What stands in place of what was found.", "run-0"),
    "NormaliseEntry.built_in": ("`false` keeps UUIDs and times as they are; otherwise they are masked.", False),
    "RedactPattern.name": ("What a match becomes: `[redacted: <name>]`.", "iban"),
    "RedactPattern.regex": ("The regular expression.", "DE\\d{20}"),
    # Scenario
    "ScenarioEntry.id": ("The scenario id of its traces; with `*`, each matching id is a scenario.", "refund"),
    "ScenarioEntry.description": ("For people; no effect.", "A refund within 30 days."),
    "ScenarioEntry.prompt": ("The user's request, for people; no effect.", "Remind me of my tea in 5 minutes."),
    "ScenarioEntry.category": ("The kind of scenario, for people; no effect.", "sequence"),
    "ScenarioEntry.expected_tool": ("The tool that must be called; null: no scheduling tool.", "schedule_task"),
    "ScenarioEntry.expected_skill": ("The skill that must be used; null: no skill at all.", "pdf"),
    "ScenarioEntry.min_calls": ("The minimum number of calls of `expected_tool`; 1 unless set.", 3),
    "tags": ("For people; no effect.", ["money"]),
    "match": ("Which traces belong to it; all given criteria must hold.", {"scenario_id": "refund-*"}),
    "optional": ("Whether it may be absent; a scenario without a trace is MISSING otherwise.", True),
    "SuiteFile.tools": ("Tools that change something, or nothing, whatever their names say.", _TOOLS),
    "Defaults.tools": ("The same, for suites that list none.", _TOOLS),
    "lookups": ("Tools that change nothing; `*` matches any characters.", ["berth_reading"]),
    "changing": ("Tools that change something; `*` matches any characters.", ["sync_view"]),
    "opaque": ("Agents of which nothing inside can be recorded, with `*`; none unless set.", ["flights-*"]),
    "run_status": ("`any`: a run that ended in an error may pass; `ok` unless set.", "any"),
    "ScenarioEntry.allow_errors": ("Whether a trial with an error scores 0 instead of making it ERROR.", True),
    "trials": ("What its trials must do together.", {"min": 4, "min_pass_rate": 0.75}),
    "assertions": ("The checks on each trace.", [_CHECK]),
    "MatchEntry.path": ("A glob of trace files, relative to the suite.", "../traces/flat/*.json"),
    "MatchEntry.scenario_id": ("The traces' scenario id; with `*`, all matches are trials of this one.", "refund-*"),
    "MatchEntry.tags": ("Tags that a trace must have, all of them.", ["tools:flat"]),
    "MatchEntry.where": ("A JMESPath expression that must be true of the trace.", "metadata.model == 'my-model-1'"),
    "TrialsEntry.min": ("The minimum number of trials.", 4),
    "TrialsEntry.min_pass_rate": ("The share of trials, 0 to 1, that must pass.", 0.9),
    "TrialsEntry.min_pass_k": ("At least `k` of `of` trials must pass.", {"k": 3, "of": 5}),
    "PassK.k": ("How many trials must pass.", 3),
    "PassK.of": ("Of how many.", 5),
    "VariantEntry.match": ("Which traces belong to the variant, besides to the scenario.", {"tags": ["tools:flat"]}),
    "VariantEntry.tool": ("The tool that scheduling checks judge, in place of the expected tool.", "tasks"),
    "VariantEntry.action": ("Only calls whose argument `action` has this value count.", "create"),
    "Defaults.tool": ("The scheduling tools, which a scenario that expects no tool forbids.", ["schedule_task"]),
    "QuarantineEntry.scenario": ("An id; `*` matches any characters.", "smalltalk-*"),
    "QuarantineEntry.variant": ("Only this variant; all unless set.", "flat"),
    "QuarantineEntry.reason": ("Why; shown in the comment.", "the weather tool answers late, see ticket 481"),
    "QuarantineEntry.until": ("Its last day, at most 90 days ahead.", "2026-12-31"),
    "QuarantineEntry.who": ("The person responsible.", "Ana"),
    "PriceEntry.input": ("US dollars per million uncached input tokens.", 3),
    "PriceEntry.output": ("US dollars per million output tokens.", 15),
    "PriceEntry.cache_read": ("US dollars per million tokens read from a cache; as `input` unless set.", 0.3),
    "PriceEntry.cache_write": ("US dollars per million tokens written to a cache; as `input` unless set.", 3.75),
    # Policy
    "PolicyEntry.fail_on": ("What fails the gate; `[hard_fail]` unless set.", ["hard_fail", "broken"]),
    "PolicyEntry.regression": ("When a difference from the baseline counts.", {"threshold": 0.05}),
    "PolicyEntry.min_evaluated": ("The minimum share of scenarios that could be judged, 0 to 1.", 0.9),
    "PolicyEntry.validity": ("How much of a run must be measured for a verdict.", {"max_not_measured": 0.3}),
    "PolicyEntry.freshness": ("Which traces are evidence of what is judged.", {"max_age": "7d"}),
    "PolicyEntry.compare_variants": (
        "Which variants are compared, and what is required of the treatment.",
        {"control": "gpt-old", "treatment": "gpt-new", "require": "no_regression"},
    ),
    "VariantComparison.control": ("The variant in use today.", "gpt-old"),
    "VariantComparison.treatment": ("The variant that may replace it.", "gpt-new"),
    "VariantComparison.require": (
        "`no_regression`: no evidence that it is worse; `lift`: evidence that it is better.",
        "lift",
    ),
    "VariantComparison.pair_by": ("What is counted: `scenario`, or `trial` for pairs with the same number.", "trial"),
    "VariantComparison.alpha": ("The largest p-value that is evidence; 0.05 unless set.", 0.05),
    "PolicyEntry.on_weakening": (
        "What to do if the rules require less than the baseline's; `warn` unless set.",
        "fail",
    ),
    "PolicyEntry.critical_issue_threshold": ("The maximum number of critical issues in goldens; 0 unless set.", 0),
    "PolicyEntry.max_false_alarm": (
        "The most unchanged pull requests that may be red by chance, 0 to 1; `validate --history` warns.",
        0.05,
    ),
    "PolicyEntry.duplicates": ("Traces that are alike: a warning, or an ERROR; `warn` unless set.", "fail"),
    "PolicyEntry.empty_globs": (
        "Globs of `traces` that match no file: a warning, or the suite can't be judged; `warn` unless set.",
        "fail",
    ),
    "RegressionPolicy.threshold": ("The smallest move of a score that is a change.", 0.05),
    "RegressionPolicy.alpha": ("The largest p-value that is evidence where both sides have several trials.", 0.05),
    "RegressionPolicy.require_evidence": ("Whether single trials never count as a change.", True),
    "RegressionPolicy.correction": ("How p-values of many scenarios are corrected.", "holm"),
    "RegressionPolicy.pair_by": ("`trial`: trials with the same number are compared in pairs.", "trial"),
    "RegressionPolicy.cost": ("How much a scenario's mean cost may grow.", {"max_increase": 0.2}),
    "RegressionPolicy.latency": ("How much a scenario's mean latency may grow.", {"max_increase": 0.2}),
    "RegressionPolicy.tokens": ("How many more tokens a scenario may use on average.", {"max_increase": 0.2}),
    "IncreaseLimit.max_increase": ("The increase relative to the baseline; 0.2 is a fifth.", 0.2),
    "FreshnessPolicy.require": ("`head`: traces must be of the commit that is judged.", "head"),
    "FreshnessPolicy.watch": ("Globs of the agent's files, from the working directory.", ["agent/**"]),
    "FreshnessPolicy.max_age": ("The maximum age of a trace in hours, days or weeks.", "7d"),
    "FreshnessPolicy.one_recording": ("Whether all trials of a scenario must be of one recording.", True),
    "ValidityPolicy.max_not_measured": ("The maximum share of trials that outages may leave unmeasured.", 0.3),
    # Forms of assertions without a model
    "params": ("The evaluator's settings.", {"tool": "issue_refund"}),
    "type": ("The evaluator: what is checked.", "tool_called"),
    "not": ("The opposite of this check.", {"contains": "sorry"}),
    "all_of": ("All of these checks pass.", [{"contains": "refund"}, {"contains": "30 days"}]),
    "any_of": ("At least one of these checks passes.", [{"contains": "refund"}, {"contains": "repay"}]),
    "at_least": ("At least `k` of the checks `of` pass.", {"k": 1, "of": [{"contains": "refund"}]}),
    "k": ("How many checks must pass.", 1),
    "of": ("The checks of which `k` must pass.", [{"contains": "refund"}]),
    "when": ("If this check passes, those of `then` must pass; else they are skipped.", {"contains": "refund"}),
    "then": ("The checks that must pass if `when` does.", [{"type": "tool_called", "tool": "issue_refund"}]),
    # Goldens
    "GoldenEntry.id": ("Its id, which is the scenario's.", "greeting"),
    "GoldenEntry.title": ("Its title, for people.", "Greeting"),
    "GoldenEntry.description": ("For people; no effect.", "A friendly greeting."),
    "GoldenEntry.version": ("Its version, set by a store.", 2),
    "GoldenEntry.conversation_id": ("The conversation that it was taken from.", "c-481"),
    "GoldenEntry.created_at": ("When it was created, set by a store.", "2026-01-31T09:00:00Z"),
    "GoldenEntry.updated_at": ("When it was changed, set by a store.", "2026-01-31T09:00:00Z"),
    "GoldenEntry.creator": ("Who wrote it.", "Ana"),
    "GoldenEntry.allow_errors": ("Whether a trial with an error scores 0 instead of making it ERROR.", True),
    "GoldenEntry.user_messages": ("What the user writes, a message for each turn.", ["Hello"]),
    "GoldenEntry.golden_responses": (
        "How the agent should answer, an answer for each turn.",
        ["Hello, how can I help?"],
    ),
    "GoldenEntry.agent": ("Whose answers and calls its dimensions are judged by, as for a check.", "root"),
    "GoldenEntry.turn_weights": ("The weight of each turn; 1 unless set.", [1, 2]),
    "GoldenEntry.intent": ("What the user wants.", "task_execution"),
    "GoldenEntry.primary_stance": ("The stance of the answers.", "helpful"),
    "GoldenEntry.secondary_stances": ("Other stances of the answers.", ["friendly"]),
    "GoldenEntry.required_memory_recall": (
        "What must be remembered; `@2` at the end: in the second turn.",
        ["episodic@2"],
    ),
    "GoldenEntry.required_tool_usage": ("Which use of tools is expected.", ["correct_invocation"]),
    "GoldenEntry.required_refusal": ("What must be refused or allowed.", ["correct_refusal"]),
    "passing_score": ("The score, 0 to 1, from which a golden passes; 0.85 unless set.", 0.9),
    "strict": ("Whether answers must equal the golden ones, except for case and whitespace.", True),
    "evaluate_identity": ("Whether the agent's identity is judged.", True),
    "evaluate_memory": ("Whether memory is judged.", True),
    "evaluate_tools": ("Whether the use of tools is judged.", True),
    "evaluate_tone": ("Whether the tone is judged.", True),
    "evaluate_refusal": ("Whether refusals are judged.", True),
    "evaluate_accuracy": ("Whether facts are judged.", True),
    "evaluate_completeness": ("Whether completeness is judged.", True),
    "GoldenSettings.warning_threshold": ("The score below which an issue is an error; 0.75 unless set.", 0.8),
    "GoldenSettings.memory_tools": ("The tools that retrieve memories; `*` matches any characters.", ["recall_*"]),
    "GoldenSettings.weights": ("The weights of the dimensions, which sum to 1.", {"tools": 0.35, "identity": 0.05}),
    "GoldenFilesEntry.file": ("Globs of files with goldens, relative to the suite.", ["goldens/*.yaml"]),
    "GoldenStoreEntry.store": ("Goldens in the store.", {"suite": "release"}),
    "StoreChoice.suite": ("All of this regression suite.", "release"),
    "StoreChoice.ids": ("Those with these ids.", ["greeting"]),
    "StoreChoice.tags": ("Those with one of these tags.", ["money"]),
    "StoreChoice.intents": ("Those with one of these intents.", ["task_execution"]),
    **{
        f"WeightsEntry.{name}": (f"The weight of {meaning}.", 0.2)
        for name, meaning in {
            "accuracy": "facts",
            "completeness": "completeness",
            "identity": "the agent's identity",
            "memory": "memory",
            "refusal": "refusals",
            "tone": "the tone",
            "tools": "the use of tools",
        }.items()
    },
    # Custom formats: JMESPath expressions
    "CustomEntry.records": ("Finds the list of runs in a document.", "runs"),
    "CustomEntry.lines": ("Whether each line of a file is a trace, or all of them are one run.", "run"),
    "CustomEntry.run_id": ("Finds, in a line, the id of its run, where a file holds several.", "run"),
    "CustomEntry.messages": ("Finds the list of messages in a run.", "log"),
    "CustomEntry.items": ("Finds the list of entries in a run, each with a type.", "events"),
    "CustomEntry.type_field": ("Finds the type of an entry.", "event"),
    "CustomEntry.types": (
        "What the entries of each type are; `*` is any text.",
        {"user": "asked", "assistant": "answered", "call": "tool_start", "result": "tool_end", "ignore": "timer"},
    ),
    "CustomEntry.join": (
        "Finds the id of a call, in its entry and in that of its result.",
        {"call_id": "id", "result_id": "of"},
    ),
    "CustomEntry.message": ("Finds the fields of one message.", {"role": "who", "content": "text"}),
    "CustomEntry.tool_calls": ("Finds the fields of one call.", {"name": "fn", "arguments": "args"}),
    "CustomEntry.roles": ("Your names of roles, and EvalGate's.", {"human": "user", "bot": "assistant"}),
    "CallFields.path": ("Finds, in the run, calls that are listed separately.", "calls"),
    **{
        f"{model}.{name}": (f"Finds {meaning}.", example)
        for model, fields in {
            "CustomEntry": {
                "id": ("the trace's id", "id"),
                "scenario_id": ("the scenario id", "case"),
                "trial": ("the number of the trial", "attempt"),
                "input": ("the user's request", "question"),
                "response": ("the final answer", "answer"),
                "status": ("how the run ended: ok, error or incomplete", "state"),
                "error": ("the error that ended the run", "error.message"),
                "finish_reason": ("why the run ended", "stop_reason"),
                "model": ("the model's name", "engine"),
                "provider": ("the model's provider", "vendor"),
                "started_at": ("when the run began (RFC 3339 or Unix)", "start"),
                "ended_at": ("when the run ended (RFC 3339 or Unix)", "end"),
                "cost_usd": ("the cost in US dollars", "bill.usd"),
                "latency_seconds": ("the duration in seconds", "seconds"),
                "latency_ms": ("the duration in milliseconds", "ms"),
                "input_tokens": ("input tokens, with cached ones", "usage.in"),
                "output_tokens": ("output tokens", "usage.out"),
                "total_tokens": ("all tokens", "usage.total"),
                "cache_read_input_tokens": ("input tokens read from a cache", "usage.cached"),
                "scores": ("recorded scores: an object of numbers", "scores"),
                "tags": ("tags: a list of text or an object", "labels"),
                "metadata": ("other data: an object", "meta"),
            },
            "MessageFields": {
                "role": ("the role of a message", "who"),
                "content": ("the text of a message", "text"),
                "tool_calls": ("the calls in a message", "did"),
                "tool_results": ("the list of results in a message", "got"),
                "tool_call_id": ("the id of the call that a message answers", "answers"),
                "tool_name": ("the name of the tool that a message answers", "tool"),
                "error": ("the error of a tool's message", "error"),
                "reasoning": ("the reasoning of a message", "thoughts"),
                "timestamp": ("the time of a message", "at"),
            },
            "CallFields": {
                "id": ("the id of a call", "call_id"),
                "name": ("the name of the tool", "fn"),
                "arguments": ("the arguments of a call", "args"),
                "result": ("the result of a call", "out"),
                "status": ("how a call ended: ok, error, true or false", "ok"),
                "error": ("the error of a call", "error"),
                "exit_code": ("the exit code of a call", "code"),
                "duration_ms": ("the duration in milliseconds", "ms"),
                "duration_seconds": ("the duration in seconds", "took"),
            },
        }.items()
        for name, (meaning, example) in fields.items()
    },
}


def find_text(model: str, name: str) -> tuple[str, Any] | None:
    """The description and the example of a field of a model; None if it has no text."""
    return TEXTS.get(f"{model}.{name}") or TEXTS.get(name)
