"""What recorded runs prove: two runs as arms, how often the gate is wrong, what got worse with more trials."""

from evalgate.bootstrap.feature import Feature, Verb

EVIDENCE = Feature(
    "evidence",
    "whether another agent may replace the one in use, how often the gate is wrong, and whether a failure was chance",
    verbs={
        "backtest": Verb("judge past runs by the current suites", f"{__package__}.cli.backtest", after="compare"),
        "migrate": Verb(
            "compare two runs as arms: may we switch the model?", f"{__package__}.cli.migrate", after="backtest"
        ),
        "calibrate": Verb(
            "how often the gate is red by chance, and what it misses",
            f"{__package__}.cli.calibrate",
            after="migrate",
        ),
        "confirm": Verb(
            "record again what got worse, on both sides, and judge all",
            f"{__package__}.cli.confirm",
            after="calibrate",
        ),
    },
    provides={
        name: f"{__package__}.application.calibrated_history:{name}"
        for name in ("calibrate_history", "find_false_alarms")
    },
)
