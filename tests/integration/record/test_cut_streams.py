"""Streams of ten providers that come through the recording's proxy in two packets, cut anywhere, are kept as they are."""

from __future__ import annotations

import json
import random
import sys
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from provider_streams import STREAMS
from recording_runs import environ, evalgate, record_command

from evalgate.features.record.measures.event_stream import split_events

TEXT = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\x1dh\x1ei\N{TEST TUBE}"
ARGUMENTS = json.dumps({"note": TEXT}, ensure_ascii=False)
CUTS = 8
"""Requests for each stream."""
AGENT = """
import json, os, sys, urllib.request
for number in range(int(sys.argv[1])):
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": str(number)}]}).encode()
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    request = urllib.request.Request(url, body, {"content-type": "application/json", "x-number": str(number)})
    urllib.request.urlopen(request).read()
"""


class Handler(BaseHTTPRequestHandler):
    """Answers request number n with stream n modulo 10, cut at a place that its number gives."""

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        number = int(self.headers["x-number"])
        data = answer(number)
        at = random.Random(number).randrange(1, len(data))  # noqa: S311  (the same place in each run)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for part in (data[:at], data[at:]):
            self.wfile.write(part)
            self.wfile.flush()
            time.sleep(0.01)


def answer(number: int) -> bytes:
    return [*STREAMS.values()][number % len(STREAMS)].encode(TEXT, ARGUMENTS)


def test_what_a_provider_streams_is_kept_event_by_event_however_it_comes(tmp_path):
    count = CUTS * len(STREAMS)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    with closing(server.socket):
        url = f"openai=http://127.0.0.1:{server.server_address[1]}/v1"
        flags = ["--provider", url, "--scenario", "cut", "--cache", "write"]
        done = record_command(tmp_path, flags, (sys.executable, "-c", AGENT, str(count)), environ())
        server.shutdown()
    assert done.last_line == f"{count} model calls (openai), 0 spans, 1 trace"
    lines = (tmp_path / "evals/cassettes/cut/0.jsonl").read_bytes().split(b"\n")[1:-1]
    kept = [[text.encode() for _, text in json.loads(line)["response"]["events"]] for line in lines]
    assert kept == [list(split_events(answer(number))) for number in range(count)]
    assert evalgate(tmp_path, "cassettes", "show", "cut").code == 0
