"""What the store adds: its verbs, and the setting that names it."""

from evalgate.bootstrap.feature import Feature, Verb
from evalgate.settings.readers import read_text
from evalgate.settings.setting import Flag, Guard, Setting, SettingGroup, Text


class StoreInputs(SettingGroup):
    """Which store records the run."""

    store_url = Setting(
        "",
        read_text,
        Text(
            "Where runs are stored, a postgresql:// URL (a secret) or a SQLite file below RUNNER_TEMP "
            "(docs/history.md). Default none",
            "where to [keep the history of runs](history.md): a PostgreSQL URL, or a file below "
            "`RUNNER_TEMP`; off by default",
        ),
        flag=Flag(
            "record the run in this store: a file, or postgresql://..., or none (default $EVALGATE_STORE_URL, else"
            " `store` of evalgate.yaml, else none)",
            metavar="URL",
        ),
        guard=Guard(f"{__package__}.settings:find_store_path_problem", f"{__package__}.settings:find_store_secrets"),
    )


def _old_name(purpose: str, module: str, after: str) -> Verb:
    """A verb that is an action of `store` as well."""
    return Verb(purpose, f"{__package__}.cli.{module}", after, is_old_name=True)


STORE = Feature(
    "store",
    "a memory of every run in a database",
    verbs={
        "store": Verb("history, goldens, feedback, export and import", f"{__package__}.cli.store_group", "fingerprint"),
        "history": _old_name("show the runs in the store, or delete old ones", "history", after="store"),
        "goldens": _old_name("manage golden conversations in the store", "goldens", after="history"),
        "feedback": _old_name("store and list user feedback on conversations", "store_verbs", after="goldens"),
        "export": _old_name("export evaluations from the store", "store_verbs", after="feedback"),
        "import": _old_name("import exported evaluations into the store", "store_verbs", after="export"),
    },
    provides={
        "shell_run_store": f"{__package__}.bootstrap.store:open_shell_recorder",
        "job_run_store": f"{__package__}.bootstrap.store:open_job_recorder",
        "golden_store": f"{__package__}.bootstrap.store:choose_store",
        "approval_store": f"{__package__}.bootstrap.approvals:StoreApprovals",
        "shell_approvals": f"{__package__}.bootstrap.approvals:find_shell_approvals",
    },
    extra="store",
    settings=StoreInputs,
)
