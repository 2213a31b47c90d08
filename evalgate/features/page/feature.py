"""What the HTML page adds to the command line."""

from evalgate.bootstrap.feature import Feature, OutputDeclaration, Verb

PAGE = Feature(
    "page",
    "a finished run as one HTML file",
    verbs={"view": Verb("write a finished run as one HTML file", f"{__package__}.cli.view", after="explain")},
    outputs={
        "report.html": OutputDeclaration(
            f"{__package__}.application.page_output:PageOutput", asked_by=("html", "html_path")
        )
    },
)
