"""A WebSocket (RFC 6455) as a client has it that reads when it is told to."""
import base64
import os
import socket
import struct

from browser import PATIENCE, Failed

CLOSED = "the server closed the connection"


class WebSocket:
    """A connection to a port of this machine.

    headers: more lines of the request.
    """

    def __init__(self, port, path, receive_buffer=None, headers=""):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n{headers}\r\n".encode())
        self.data = bytearray()
        while b"\r\n\r\n" not in self.data:
            self.fill()
        head, _, self.data = self.data.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101 "):
            raise Failed(f"no WebSocket: {head.decode(errors='replace')}")

    def close(self):
        self.socket.close()

    def fill(self):
        more = self.socket.recv(1 << 16)
        if not more:
            raise Failed(CLOSED)
        self.data += more

    def take(self, count):
        while len(self.data) < count:
            self.fill()
        taken = bytes(self.data[:count])
        del self.data[:count]
        return taken

    def message(self):
        """The next message: its opcode and its content."""
        first, length = self.take(2)
        if length & 0x80 or not first & 0x80:
            raise Failed("a masked or fragmented message")
        if length == 126:
            length, = struct.unpack(">H", self.take(2))
        elif length == 127:
            length, = struct.unpack(">Q", self.take(8))
        return first & 15, self.take(length)

    def send(self, text):
        """Sends a text message."""
        content, mask = text.encode(), os.urandom(4)
        count = len(content)
        length = (struct.pack(">B", 0x80 | count) if count < 126 else struct.pack(">BH", 0xfe, count) if count < 1 << 16
                  else struct.pack(">BQ", 0xff, count))
        self.socket.sendall(b"\x81" + length + mask + bytes(byte ^ mask[place % 4] for place, byte in enumerate(content)))
