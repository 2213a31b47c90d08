"""Reads with LangSmith's SDK what an API at an address holds: an experiment by name, all of its dataset, and hosts."""

import json
import sys

from langsmith import Client
from langsmith.utils import get_host_url

url, key, experiment, *addresses = sys.argv[1:]
client = Client(api_url=url, api_key=key, auto_batch_tracing=False)
found = client.read_project(project_name=experiment)
listed = client.list_projects(reference_dataset_id=found.reference_dataset_id)
document = {
    "id": str(found.id),
    "metadata": found.extra["metadata"],
    "names": sorted(each.name for each in listed),
    "hosts": [get_host_url(None, each) for each in addresses],
}
sys.stdout.write(json.dumps(document))
