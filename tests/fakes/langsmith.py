"""A stand-in for LangSmith over real HTTP: checks key, fields and times as its API does, and keeps what it accepts."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import NAMESPACE_URL, UUID, uuid5

KEY = "lsv2_pt_0a1b2c3d4e5f60718293a4b5c6d7e8f9_1234567890"
TENANT = "0f4fdc17-8d8e-4a8c-9d2f-0d1a2b3c4d5e"
UPLOAD, SESSIONS = "/api/v1/datasets/upload-experiment", "/api/v1/sessions"

# Fields and types as LangSmith's OpenAPI document has them; it requires no row_id, but rows need one to line up.
UPLOAD_FIELDS: dict[str, Any] = {
    "experiment_name": str,
    "results": list,
    "experiment_start_time": "time",
    "experiment_end_time": "time",
    "experiment_description": str,
    "experiment_metadata": dict,
    "dataset_name": str,
    "dataset_description": str,
    "summary_experiment_scores": list,
}
ROW_FIELDS: dict[str, Any] = {
    "row_id": "uuid",
    "inputs": dict,
    "start_time": "time",
    "end_time": "time",
    "expected_outputs": dict,
    "actual_outputs": dict,
    "evaluation_scores": list,
    "run_name": str,
    "run_metadata": dict,
    "error": str,
}
SCORE_FIELDS: dict[str, Any] = {"key": str, "score": (int, float), "value": (int, float, str), "comment": str}
REQUIRED = {"experiment_name", "results", "experiment_start_time", "experiment_end_time", "dataset_name"}
MAX_KEY, MAX_LIMIT = 180, 100


class Refused(Exception):
    """A request that the service does not accept: status and detail."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


def check_fields(document: Any, fields: dict[str, Any], required: set[str], place: str) -> None:
    if not isinstance(document, dict) or required - document.keys() or document.keys() - fields.keys():
        raise Refused(422, f"{place}: fields {sorted(document) if isinstance(document, dict) else document}")
    for name, value in document.items():
        expected = fields[name]
        if expected == "time":
            parse_time(value)
        elif expected == "uuid":
            UUID(value)
        elif isinstance(value, bool) or not isinstance(value, expected):
            raise Refused(422, f"{place}.{name}: {value!r}")


def parse_time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise Refused(422, f"a time without a zone: {text}")
    return time


def check_upload(body: Any) -> None:
    check_fields(body, UPLOAD_FIELDS, REQUIRED, "body")
    start, end = parse_time(body["experiment_start_time"]), parse_time(body["experiment_end_time"])
    for row in body["results"]:
        check_fields(row, ROW_FIELDS, {"row_id", "inputs", "start_time", "end_time"}, "results")
        if not start <= parse_time(row["start_time"]) <= parse_time(row["end_time"]) <= end:
            raise Refused(422, "a row's times are not inside the experiment's")
        check_scores(row["evaluation_scores"])
        if any(not isinstance(value, str) for value in row["run_metadata"].values()):
            raise Refused(422, "run_metadata must be flat")
    if len({row["row_id"] for row in body["results"]}) != len(body["results"]):
        raise Refused(422, "two rows have one id")
    check_scores(body["summary_experiment_scores"])


def check_scores(scores: list[Any]) -> None:
    for score in scores:
        check_fields(score, SCORE_FIELDS, {"key", "score"}, "score")
        if len(score["key"]) > MAX_KEY:
            raise Refused(422, "key is too long")
    if len({score["key"] for score in scores}) != len(scores):
        raise Refused(422, "a key is there twice")


class FakeLangSmith:
    """The service. `faults` are what goes wrong with the next requests, by name or status; None is nothing."""

    def __init__(self) -> None:
        self.uploads: list[dict[str, Any]] = []
        self.sessions: list[dict[str, Any]] = []
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.faults: list[Any] = []
        self.retry_after: str | None = None
        self.own_datasets: set[str] = set()
        self.loses_answers = 0
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_: Any) -> None:
                return

            def do_GET(self) -> None:
                service.handle(self)

            def do_POST(self) -> None:
                service.handle(self)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        length = int(request.headers.get("Content-Length") or 0)
        body = request.rfile.read(length)
        self.requests.append((request.command, request.path, dict(request.headers), body))
        fault = self.faults.pop(0) if self.faults else None
        with suppress(OSError):
            if fault == "reset":
                reset(request)
            elif fault == "drip":
                drip(request)
            elif isinstance(fault, int):
                self._answer(request, fault, {"detail": f"no, {request.headers.get('x-api-key')}"})
            elif isinstance(fault, dict | list | str):
                self._answer(request, 200, fault)
            else:
                self._answer(request, *self._respond(request, body))

    def _answer(self, request: BaseHTTPRequestHandler, status: int, document: Any) -> None:
        content = json.dumps(document).encode()
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(content)))
        if self.retry_after is not None and status != 200:
            request.send_header("Retry-After", self.retry_after)
        if 300 <= status < 400:
            request.send_header("Location", "http://127.0.0.2:9/elsewhere")
        request.end_headers()
        request.wfile.write(content)

    def _respond(self, request: BaseHTTPRequestHandler, body: bytes) -> tuple[int, Any]:
        if request.headers.get("x-api-key") != KEY:
            return 401, {"detail": "Invalid token"}
        parts = urlsplit(request.path)
        try:
            if (request.command, parts.path) == ("POST", UPLOAD):
                if request.headers.get("Content-Type") != "application/json":
                    raise Refused(415, "not JSON")
                return 200, self._upload(json.loads(body))
            if (request.command, parts.path) == ("GET", SESSIONS):
                return 200, self._list(parse_qs(parts.query))
        except Refused as refused:
            return refused.status, {"detail": str(refused)}
        except (ValueError, TypeError) as error:
            return 422, {"detail": str(error)}
        return 404, {"detail": "Not Found"}

    def _upload(self, body: Any) -> Any:
        check_upload(body)
        if body["dataset_name"] in self.own_datasets:
            raise Refused(400, "Dataset is not externally managed")
        if any(each["name"] == body["experiment_name"] for each in self.sessions):
            raise Refused(409, "Session with this name already exists.")
        dataset = str(uuid5(NAMESPACE_URL, body["dataset_name"]))
        session = {
            "id": str(uuid5(NAMESPACE_URL, body["experiment_name"])),
            "name": body["experiment_name"],
            "tenant_id": TENANT,
            "reference_dataset_id": dataset,
            "start_time": body["experiment_start_time"],
            "extra": {"metadata": body.get("experiment_metadata")},
            "created_at": datetime.now(UTC).isoformat(),
        }
        self.uploads.append(body)
        self.sessions.append(session)
        if self.loses_answers:
            self.loses_answers -= 1
            raise Refused(502, "the answer was lost")
        return {"dataset": {"id": dataset, "tenant_id": TENANT, "externally_managed": True}, "experiment": session}

    def _list(self, query: dict[str, list[str]]) -> list[Any]:
        if not 1 <= int(query.get("limit", ["100"])[0]) <= MAX_LIMIT or query.keys() - {
            *("limit", "offset", "name", "reference_dataset", "include_stats"),
        }:
            raise Refused(422, f"query {query}")
        found = [
            each
            for each in self.sessions
            if query.get("name", [each["name"]]) == [each["name"]]
            and query.get("reference_dataset", [each["reference_dataset_id"]]) == [each["reference_dataset_id"]]
        ]
        found.sort(key=lambda each: each["start_time"], reverse=True)
        return found[int(query.get("offset", ["0"])[0]) :]


def reset(request: BaseHTTPRequestHandler) -> None:
    request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.close_connection = True
    socket.close(request.connection.detach())  # at once, though the request's streams are still open


def drip(request: BaseHTTPRequestHandler) -> None:
    request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(400):
        request.wfile.write(b" ")
        request.wfile.flush()
        time.sleep(0.02)
