"""What the recorder adds to the command line."""

from evalgate.bootstrap.feature import Feature, Verb

RECORD = Feature(
    "record",
    "record an agent's model calls as traces, and replay them",
    verbs={
        "record": Verb(
            "run an agent and write a trace of its model calls",
            f"{__package__}.cli.record",
            after="query",
            loads_project=True,
        ),
        "cassettes": Verb(
            "list, print, prune or refresh recorded answers of models", f"{__package__}.cli.cassettes", after="record"
        ),
    },
    extra="record",
)
