"""Messages through a pipe, of any size and in any chunks."""

from __future__ import annotations

import os
import select
from threading import Thread

from evalgate.adapters.engines.process_pool import Inbox, receive, send

SIZES = (0, 1, 7, 70_000, 3_000_000)


def test_messages_arrive_whole_and_in_order_and_then_the_end():
    reading, writing = os.pipe()

    def talk():
        for size in SIZES:
            send(writing, bytes([size % 251]) * size)
        os.close(writing)

    talker = Thread(target=talk)
    talker.start()
    heard = [receive(reading) for _ in range(len(SIZES) + 1)]
    talker.join()
    os.close(reading)
    assert heard == [*(bytes([size % 251]) * size for size in SIZES), None]


def test_an_inbox_gives_what_is_complete_and_waits_for_nothing():
    reading, writing = os.pipe()
    inbox = Inbox(reading)
    assert list(inbox.read()) == []
    whole = (5).to_bytes(8, "big") + b"hello"
    os.write(writing, whole + whole[:10])
    assert list(inbox.read()) == [b"hello"]
    os.write(writing, whole[10:])
    assert list(inbox.read()) == [b"hello"]
    assert not inbox.is_closed
    os.close(writing)
    assert list(inbox.read()) == []
    assert inbox.is_closed
    os.close(reading)


def test_an_inbox_gives_long_messages_whole_however_they_are_cut():
    reading, writing = os.pipe()
    wanted = [bytes(place % 251 for place in range(size)) for size in SIZES]

    def talk():
        for message in wanted:
            send(writing, message)
        os.close(writing)

    inbox, heard = Inbox(reading), []
    talker = Thread(target=talk)
    talker.start()
    while not inbox.is_closed:
        select.select([reading], [], [])
        heard += inbox.read()
    talker.join()
    os.close(reading)
    assert heard == wanted
