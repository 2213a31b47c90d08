"""What learning from traces adds: its verbs, and what a pull request shows of its suites."""

from evalgate.bootstrap.feature import Feature, Verb
from evalgate.settings.readers import read_flag
from evalgate.settings.setting import Setting, SettingGroup, Text


class LearnInputs(SettingGroup):
    """What is shown of changed suites."""

    mutation_score = Setting(
        False,
        read_flag,
        Text(
            "true to show on a pull request that changes suites how many small changes of the agent they would "
            "notice, and how many before (docs/mutate.md)",
            "`true` shows on a pull request that changes suites how many [small changes](mutate.md#on-a-pull-request) "
            "they notice, and how many before",
        ),
    )


LEARN = Feature(
    "learn",
    "write a suite from recorded traces, and show what a suite would not notice",
    verbs={
        "init": Verb("write a suite that is learnt from recorded traces", f"{__package__}.cli.init", after="show"),
        "mutate": Verb(
            "list small changes to traces that no suite would notice",
            f"{__package__}.cli.mutate",
            after="cassettes",
            loads_project=True,
        ),
    },
    provides={"mutation_comparer": f"{__package__}.application.mutation.difference:SuiteComparer"},
    settings=LearnInputs,
)
