"""Blocks connections of tests to other machines."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any


class OutsideNetworkError(RuntimeError):
    """A test tried to leave the machine."""


def is_local(family: int, address: Any) -> bool:
    """True for addresses that never leave this machine."""
    if family not in (socket.AF_INET, socket.AF_INET6):
        return True
    host = str(address[0])
    return host == "localhost" or ipaddress.ip_address(host).is_loopback
