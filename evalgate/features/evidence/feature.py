"""What recorded runs prove: the verbs that compare two runs as arms, and that ask how often the gate is wrong."""

from evalgate.bootstrap.feature import Feature, Verb

EVIDENCE = Feature(
    "evidence",
    "whether another agent may replace the one in use, and how often the gate is wrong",
    verbs={
        "migrate": Verb(
            "compare two runs as arms: may we switch the model?", f"{__package__}.cli.migrate", after="compare"
        ),
        "calibrate": Verb(
            "how often the gate is red by chance, and what it would miss",
            f"{__package__}.cli.calibrate",
            after="migrate",
        ),
    },
)
