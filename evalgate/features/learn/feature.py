"""What learning from traces adds to the command line."""

from evalgate.bootstrap.feature import Feature, Verb

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
)
