"""What is between a company's job and its GitHub: a private certificate authority and a proxy."""

from __future__ import annotations

import base64
import shutil
import socket
import ssl
import subprocess
from contextlib import suppress
from threading import Lock, Thread
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

OPENSSL = shutil.which("openssl")
CHUNK = 65_536
PATIENCE = 10.0
HEAD_ENDS = b"\r\n\r\n"


class Authority:
    """A private certificate authority, made by openssl in `folder`."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        self._folder, self._name = folder, name
        self.bundle = folder / f"{name}.pem"
        usage = ("-addext", "keyUsage=critical,keyCertSign,cRLSign")  # Python 3.13 refuses an authority without it
        self._make(name, "-x509", "-days", "2", "-subj", f"/CN={name}", *usage)

    def certificate(self, *names: str) -> ssl.SSLContext:
        """What a server of these names (`DNS:x`, `IP:y`) shows."""
        folder, ca = self._folder, self._name
        stem = f"{ca}-{len(list(folder.iterdir()))}"
        alternatives = folder / f"{stem}.ext"
        names_of_it = f"subjectAltName={','.join(names)}"
        alternatives.write_text(f"{names_of_it}\nauthorityKeyIdentifier=keyid\nsubjectKeyIdentifier=hash\n")
        self._make(stem, "-subj", "/CN=server", suffix="csr")
        signing = ["-CA", f"{ca}.pem", "-CAkey", f"{ca}.key", "-CAcreateserial", "-days", "2"]
        _openssl(folder, "x509", "-req", "-in", f"{stem}.csr", "-out", f"{stem}.pem", "-extfile",
                 alternatives.name, *signing)  # fmt: skip
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / f"{stem}.pem", folder / f"{stem}.key")
        return context

    def _make(self, stem: str, *options: str, suffix: str = "pem") -> None:
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        files = ["-keyout", f"{stem}.key", "-out", f"{stem}.{suffix}"]
        _openssl(self._folder, "req", *key, *files, *options)


def _openssl(folder: Path, *words: str) -> None:
    subprocess.run([OPENSSL or "openssl", *words], cwd=folder, check=True, capture_output=True, timeout=30)


class Listener:
    """Accepts on loopback and serves each connection on a separate thread."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._lock = Lock()
        self.port: int = self._server.getsockname()[1]
        Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            client.settimeout(PATIENCE)
            Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):  # also what TLS makes of a client that does not trust this server
            self.serve(self._kept(client))

    def serve(self, client: socket.socket) -> None:
        raise NotImplementedError

    def _kept(self, connection: socket.socket) -> socket.socket:
        with self._lock:
            self._open.add(connection)
        return connection

    def join(self, client: socket.socket, address: tuple[str, int], first: bytes = b"") -> None:
        """Copies bytes in both directions until either side is done."""
        with self._kept(socket.create_connection(address, PATIENCE)) as server:
            server.sendall(first)
            back = Thread(target=_pump, args=(server, client), daemon=True)
            back.start()
            _pump(client, server)
            back.join(PATIENCE)

    def stop(self) -> None:
        self._server.close()
        with self._lock:
            for connection in self._open:
                connection.close()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(CHUNK):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


class TlsFront(Listener):
    """Speaks TLS in front of a server that does not."""

    def __init__(self, context: ssl.SSLContext, behind: str) -> None:
        parts = urlsplit(behind)
        self._context, self._behind = context, (str(parts.hostname), int(parts.port or 80))
        super().__init__()

    def serve(self, client: socket.socket) -> None:
        with self._context.wrap_socket(client, server_side=True) as safe:
            self.join(self._kept(safe), self._behind)


class Proxy(Listener):
    """A company's proxy: resolves names that no other resolver knows, and may require a password."""

    def __init__(self, hosts: Mapping[str, str] | None = None, password: str = "") -> None:
        self._hosts, self._password = dict(hosts or {}), password
        self.asked: list[str] = []  # the first lines of requests
        self.heard = b""  # all headers that clients sent to the proxy itself
        super().__init__()

    def url(self, user: str = "") -> str:
        return f"http://{user}{'@' if user else ''}127.0.0.1:{self.port}"

    def serve(self, client: socket.socket) -> None:
        head = b""
        while HEAD_ENDS not in head:
            data = client.recv(CHUNK)
            if not data:
                return
            head += data
        header, _, body = head.partition(HEAD_ENDS)
        self.heard += header
        first, *headers = header.decode("latin-1").split("\r\n")
        self.asked.append(first)
        if not self._may(headers):
            client.sendall(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        method, target, _ = first.split(" ")
        parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
        address = self._hosts.get(str(parts.hostname), str(parts.hostname)), int(parts.port or 80)
        if method == "CONNECT":
            client.sendall(b"HTTP/1.1 200 Go on\r\n\r\n")
            self.join(client, address, body)
            return
        path = target.split(parts.netloc, 1)[1] or "/"
        kept = [line for line in headers if not line.lower().startswith(("proxy-", "connection:"))]
        sent = "\r\n".join([f"{method} {path} HTTP/1.1", *kept, "Connection: close"]).encode("latin-1")
        self.join(client, address, sent + HEAD_ENDS + body)

    def _may(self, headers: list[str]) -> bool:
        wanted = base64.b64encode(self._password.encode()).decode()
        return not self._password or f"Proxy-Authorization: Basic {wanted}" in headers
