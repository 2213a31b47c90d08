"""What the HTML page adds: the verb `view`, and where a run writes it."""

from evalgate.bootstrap.feature import Feature, OutputDeclaration, Verb
from evalgate.settings.readers import read_file_path
from evalgate.settings.setting import Flag, Setting, SettingGroup, Text


class PageInputs(SettingGroup):
    """Where the run is written as a page."""

    html_path = Setting(
        "",
        read_file_path,
        Text(
            "Path for the run as one HTML file with the recorded conversations, relative to "
            "working-directory, inside the workspace (docs/view.md)",
            "write the run here as [one HTML file](view.md#in-a-workflow) with its conversations",
        ),
        flag=Flag(
            "also write the run as one HTML file, with conversations, as `evalgate view`", metavar="PATH", name="html"
        ),
    )


PAGE = Feature(
    "page",
    "a finished run as one HTML file",
    verbs={"view": Verb("write a finished run as one HTML file", f"{__package__}.cli.view", after="explain")},
    outputs={
        "report.html": OutputDeclaration(
            f"{__package__}.application.page_output:PageOutput", asked_by=("html", "html_path")
        )
    },
    settings=PageInputs,
)
