"""Blocks connections of tests to other machines."""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

NETWORK = {"SSL_CERT_FILE", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}
"""Variables that libraries read from the environment of the process, not from that of the shell."""


def network_variables(names: Iterable[str]) -> list[str]:
    """Those of the names that say how to leave this machine."""
    return [name for name in names if name.upper() in NETWORK]


class OutsideNetworkError(RuntimeError):
    """A test tried to leave the machine."""


def is_local(family: int, address: Any) -> bool:
    """True for addresses that never leave this machine."""
    if family not in (socket.AF_INET, socket.AF_INET6):
        return True
    host = str(address[0])
    return host == "localhost" or ipaddress.ip_address(host).is_loopback
