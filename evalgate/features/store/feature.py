"""What the store adds to the command line."""

from evalgate.bootstrap.feature import Feature, Verb

STORE = Feature(
    "store",
    "a memory of every run in a database",
    verbs={
        "history": Verb(
            "show the runs in the store, or delete old ones", f"{__package__}.cli.history", after="fingerprint"
        ),
        "goldens": Verb("manage golden conversations in the store", f"{__package__}.cli.goldens", after="history"),
        "feedback": Verb(
            "store and list user feedback on conversations", f"{__package__}.cli.store_verbs", after="goldens"
        ),
        "export": Verb("export evaluations from the store", f"{__package__}.cli.store_verbs", after="feedback"),
        "import": Verb("import exported evaluations into the store", f"{__package__}.cli.store_verbs", after="export"),
    },
    provides={
        "shell_run_store": f"{__package__}.bootstrap.store:open_shell_recorder",
        "job_run_store": f"{__package__}.bootstrap.store:open_job_recorder",
        "golden_store": f"{__package__}.bootstrap.store:choose_store",
        "approval_store": f"{__package__}.bootstrap.approvals:StoreApprovals",
        "shell_approvals": f"{__package__}.bootstrap.approvals:find_shell_approvals",
    },
    extra="store",
)
