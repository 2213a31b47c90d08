"""Refuses what a Python process sends to other machines, and notes it in the file $OFFLINE_LOG; put its folder on PYTHONPATH."""

from __future__ import annotations

import ipaddress
import os
import socket
from pathlib import Path
from typing import Any


def _is_local(host: Any) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _refuse(host: Any) -> None:
    with Path(os.environ["OFFLINE_LOG"]).open("a", encoding="utf-8") as log:
        log.write(f"{host}\n")
    raise OSError(101, f"the test has no network: {host}")


def _connect(self: socket.socket, address: Any, _connect: Any = socket.socket.connect) -> None:
    if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_local(address[0]):
        _refuse(address[0])
    _connect(self, address)


def _connect_ex(self: socket.socket, address: Any, _connect: Any = socket.socket.connect_ex) -> int:
    if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_local(address[0]):
        _refuse(address[0])
    return int(_connect(self, address))


def _getaddrinfo(host: Any, *more: Any, _resolve: Any = socket.getaddrinfo, **named: Any) -> Any:
    if not _is_local(host):
        _refuse(host)
    return _resolve(host, *more, **named)


if "OFFLINE_LOG" in os.environ:
    socket.socket.connect = _connect  # type: ignore[method-assign, assignment]
    socket.socket.connect_ex = _connect_ex  # type: ignore[method-assign, assignment]
    socket.getaddrinfo = _getaddrinfo
