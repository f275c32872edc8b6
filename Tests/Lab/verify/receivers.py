#!/usr/bin/env python3
"""Receivers of a live stream, well-behaved ones and others, and checks of what they got.

usage: receivers.py crowd PORT FOLDER   connects them all to 127.0.0.1:PORT and stays until the stream ends; writes
                                        what each got to FOLDER
       receivers.py listen PORT FOLDER  waits at 127.0.0.1:PORT for a sender, breaks the first connection after some
                                        bytes, and writes what came over it and over the next one to FOLDER
       receivers.py tail WHOLE FILE...  checks that each FILE is the end of the byte stream WHOLE, from an IDR on
       receivers.py part WHOLE FILE     checks that FILE is made of whole access units of WHOLE, in their order, and
                                        that it goes on at an IDR wherever one is missing; prints how many are missing
"""
import re
import signal
import socket
import subprocess
import sys
import time

WELL_BEHAVED = 16
# Of the receivers that stop reading: how long they do.
PAUSE = 4.0


class Receiver:
    """One connection, of which everything that came is kept."""

    def __init__(self, name, port, receive_buffer=None):
        self.name = name
        self.bytes = bytearray()
        self.paused_until = None
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setblocking(False)

    def read(self, count=1 << 16):
        """Whether the stream goes on."""
        try:
            some = self.socket.recv(count)
        except BlockingIOError:
            return True
        except ConnectionError:
            return False
        self.bytes += some
        return bool(some)


def crowd(port, folder):
    good = []
    slow = Receiver("slow", port, 1 << 16)
    byte_a_second = Receiver("byte", port, 1 << 16)
    mute = Receiver("mute", port, 1 << 16)
    killed = subprocess.Popen([sys.executable, "-c", f"import socket; s = socket.create_connection(('127.0.0.1', {port}))\nwhile s.recv(1000): pass"])
    start = time.monotonic()
    next_byte = start
    last = None
    while True:
        now = time.monotonic()
        # They come one after the other, in the middle of the stream.
        if len(good) < WELL_BEHAVED and now >= start + 0.13 * len(good):
            good.append(Receiver(f"good-{len(good)}", port))
        if killed and now >= start + 1.5:
            killed.send_signal(signal.SIGKILL)
            killed.wait()
            killed = None
            for _ in range(200):
                socket.create_connection(("127.0.0.1", port)).close()
        if slow.paused_until is None and len(slow.bytes) > 100_000:
            slow.paused_until = now + PAUSE
        if slow.paused_until is None or now >= slow.paused_until:
            slow.read()
        if now >= next_byte:
            byte_a_second.read(1)
            next_byte += 1
        alive = [receiver.read() for receiver in good]
        if len(good) == WELL_BEHAVED and not any(alive):
            last = last or now
            # The others have what they have by now.
            if not slow.read() or now - last > 5:
                break
        time.sleep(0.002)
    for receiver in [*good, slow, mute]:
        with open(f"{folder}/{receiver.name}.h264", "wb") as file:
            file.write(receiver.bytes)


def listen(port, folder):
    server = socket.create_server(("127.0.0.1", port))
    server.settimeout(30)
    for name, limit in ("first", 20_000), ("second", None):
        connection, _ = server.accept()
        content = bytearray()
        while limit is None or len(content) < limit:
            some = connection.recv(1 << 16)
            if not some:
                break
            content += some
        connection.close()
        with open(f"{folder}/{name}.h264", "wb") as file:
            file.write(content)


def access_units(content):
    """An IDR's parameter sets begin one, and so does every slice that does not follow them (camrec's guaranteed shape)."""
    units = []
    begins = True
    for start in re.finditer(b"\x00\x00\x00\x01", content):
        kind = content[start.end()] & 0x1F
        if begins or (kind in (1, 7)):
            units.append(start.start())
        begins = kind in (1, 5)
    return [bytes(content[a:b]) for a, b in zip(units, units[1:] + [len(content)])]


def is_idr(unit):
    return unit[4] & 0x1F == 7


def read(path):
    with open(path, "rb") as file:
        return file.read()


def tail(whole, *paths):
    content = read(whole)
    for path in paths:
        received = read(path)
        if not received:
            sys.exit(f"{path} is empty")
        if not content.endswith(received):
            sys.exit(f"{path}: its {len(received)} bytes are not the end of {whole}")
        if not is_idr(received):
            sys.exit(f"{path} does not begin with an IDR's parameter sets")


def part(whole, path):
    all_units = access_units(read(whole))
    position, missing, received = 0, 0, access_units(read(path))
    for number, unit in enumerate(received):
        place = position
        while place < len(all_units) and all_units[place] != unit:
            place += 1
        if place == len(all_units):
            sys.exit(f"{path}: its access unit {number} is none of {whole} behind {position}")
        if place != position:
            if not is_idr(unit):
                sys.exit(f"{path}: behind a gap of {place - position} it goes on with no IDR")
            if number:
                missing += place - position
        position = place + 1
    if not received:
        sys.exit(f"{path} is empty")
    print(missing)


def main():
    command, *arguments = sys.argv[1:]
    if command in ("crowd", "listen"):
        {"crowd": crowd, "listen": listen}[command](int(arguments[0]), arguments[1])
    else:
        {"tail": tail, "part": part}[command](*arguments)


main()
