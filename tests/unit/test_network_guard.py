import socket

import pytest
from network_guard import OutsideNetworkError


def test_a_test_that_leaves_the_machine__is_stopped():
    with socket.socket() as outside, pytest.raises(OutsideNetworkError):
        outside.connect(("192.0.2.1", 80))
