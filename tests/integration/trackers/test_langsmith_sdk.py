"""LangSmith's own SDK reads what was published to the stand-in, so the stand-in answers as the service does."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from fakes.langsmith import KEY
from recording_runs import SDKS, needs_sdks
from scheduling_project import evalgate_in

from evalgate.features.track.adapters.langsmith import find_pages

READER = Path(__file__).with_name("sdk_reader.py")
ADDRESSES = (
    *("https://api.smith.langchain.com", "https://eu.api.smith.langchain.com", "https://apac.api.smith.langchain.com"),
    *("https://aws.api.smith.langchain.com", "https://ls.example.com/api", "https://ls.example.com/api/v1"),
)


@needs_sdks
def test_the_sdk_finds_the_experiments_of_a_dataset_and_the_same_pages(project, langsmith, environ):
    names = []
    for number in (1, 2):
        job = {"GITHUB_RUN_ID": str(number), "GITHUB_REPOSITORY": "acme/agent"}
        assert evalgate_in(project, job, "run").exit_code == 0
        assert evalgate_in(project, {**environ, **job}, "track", "--to", "langsmith").exit_code == 0
        names.append(langsmith.sessions[-1]["name"])

    command = [SDKS, READER, f"{langsmith.url}/api/v1", KEY, names[1], *ADDRESSES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)
    assert read["id"] == langsmith.sessions[-1]["id"]
    assert read["metadata"] == langsmith.uploads[-1]["experiment_metadata"]
    assert read["names"] == sorted(names)
    assert read["hosts"] == [find_pages(address) for address in ADDRESSES]
