#!/usr/bin/python3
"""A real RTSP server that takes published streams, what passes on the way to it, and checks of both.

usage: rtsp.py serve [HOST:]PORT FOLDER CODEC [USER:PASSWORD] [PEM]
                                   GStreamer's server: what is published as /cam or /1 to /100 on HOST:PORT, by default
                                   this machine's own, goes to FOLDER, a numbered file for each session, or for tcp:PORT
                                   to whoever connects there; CODEC is h264 or h265; with PEM, a
                                   certificate and its key, over TLS only
       rtsp.py tap PORT TARGET FOLDER
                                   passes connections to 127.0.0.1:PORT on to TARGET, and writes to FOLDER, numbered,
                                   what the packets hold (.stream), each picture's times (.times), and which requests
                                   were made (.requests)
       rtsp.py datagrams PORT FILE
                                   writes what comes to 127.0.0.1:PORT, until nothing comes for three seconds, and says
                                   "sound" if each datagram has whole packets of a transport stream, seven at most
       rtsp.py intervals FILE WHOLE
                                   checks that the pictures of FILE are among those of WHOLE, in their order, with the
                                   same times between them: within a millisecond, Matroska's precision
       rtsp.py times TIMES [FRAMES]
                                   checks that the pictures in the file TIMES have the wall-clock times of their
                                   capture: shortly before they arrived, and evenly spaced; FRAMES is how many there are
       rtsp.py kernel TIMES LOG    checks that the pictures in the file TIMES have the wall-clock times that the kernel gave
                                   them, which LOG has, within a millisecond
       rtsp.py ticks FILE TIMES    checks that the intervals between the pictures of the transport stream FILE are those of
                                   the timestamp file TIMES, within a tick of 90 kHz
       rtsp.py demands FILE CODEC  checks what go2rtc demands of a raw stream: four-byte start codes, parameter sets first,
                                   one slice a picture, no delimiters
"""
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time

# From 1900 to 1970, in seconds.
NTP_OFFSET = 2208988800


def serve(port, folder, codec, account=None, pem=None):
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstRtsp", "1.0")
    gi.require_version("GstRtspServer", "1.0")
    from gi.repository import GLib, Gst, GstRtsp, GstRtspServer

    Gst.init(None)

    class Factory(GstRtspServer.RTSPMediaFactory):
        sessions = 0

        def do_create_element(self, _):
            if folder.startswith("tcp:"):
                sink = f"tcpserversink host=127.0.0.1 port={folder[4:]} sync=false"
            else:
                Factory.sessions += 1
                while os.path.exists(f"{folder}/{Factory.sessions}.{codec}"):
                    Factory.sessions += 1
                sink = f"filesink location={folder}/{Factory.sessions}.{codec} sync=false buffer-mode=2"
            return Gst.parse_launch(
                f"( rtp{codec}depay name=depay0 ! {codec}parse config-interval=-1 "
                f"! video/x-{codec},stream-format=byte-stream ! {sink} )")

    server = GstRtspServer.RTSPServer()
    host, _, number = port.rpartition(":")
    server.set_address(host or "127.0.0.1")
    server.set_service(number)
    factory = Factory()
    factory.set_transport_mode(GstRtspServer.RTSPTransportMode.RECORD)
    auth = GstRtspServer.RTSPAuth()
    if pem:
        from gi.repository import Gio
        auth.set_tls_certificate(Gio.TlsCertificate.new_from_file(pem))
    if account:
        user, password = account.split(":")
        auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
        token = GstRtspServer.RTSPToken()
        token.set_string("media.factory.role", "user")
        auth.add_digest(user, password, token)
        server.set_auth(auth)
        permissions = GstRtspServer.RTSPPermissions()
        permissions.add_permission_for_role("user", "media.factory.access", True)
        permissions.add_permission_for_role("user", "media.factory.construct", True)
        factory.set_permissions(permissions)
    for path in ["cam", *map(str, range(1, 101))]:
        server.get_mount_points().add_factory(f"/{path}", factory)
    if not server.attach(None):
        sys.exit(f"port {port} is taken")
    print("ready", flush=True)
    GLib.MainLoop().run()


class Tap:
    """One connection's stream, as the packets hold it."""

    def __init__(self, prefix):
        self.stream = open(prefix + ".stream", "wb")
        self.times = open(prefix + ".times", "w")
        self.requests = open(prefix + ".requests", "w")
        self.pending = b""
        self.sequence = self.report = self.codec = None
        self.picture = []

    def feed(self, data):
        self.pending += data
        while self.pending:
            if self.pending[:1] == b"$":
                if len(self.pending) < 4:
                    return
                length = struct.unpack(">H", self.pending[2:4])[0]
                if len(self.pending) < 4 + length:
                    return
                packet, channel = self.pending[4:4 + length], self.pending[1]
                self.pending = self.pending[4 + length:]
                (self.media if channel == 0 else self.control)(packet)
            else:
                head, found, rest = self.pending.partition(b"\r\n\r\n")
                body = int((re.search(rb"(?i)content-length: *(\d+)", head) or [0, 0])[1])
                if not found or len(rest) < body:
                    return
                self.request(head.decode(), rest[:body].decode())
                self.pending = rest[body:]

    def request(self, head, body):
        print(head.splitlines()[0], file=self.requests, flush=True)
        if "H265/90000" in body:
            self.codec = "h265"
        elif "H264/90000" in body:
            self.codec = "h264"

    def control(self, packet):
        while packet:
            kind, length = packet[1], (struct.unpack(">H", packet[2:4])[0] + 1) * 4
            if kind == 200:
                seconds, fraction, timestamp = struct.unpack(">III", packet[8:20])
                self.report = (seconds - NTP_OFFSET + fraction / 2**32, timestamp)
            packet = packet[length:]

    def media(self, packet):
        first, second, sequence, timestamp, _ = struct.unpack(">BBHII", packet[:12])
        assert first == 0x80 and second & 0x7F == 96, "the header"
        assert self.sequence is None or sequence == (self.sequence + 1) % 65536, "a packet is missing"
        assert len(packet) <= 1412, "too large for a datagram"
        self.sequence = sequence
        self.unit(packet[12:])
        if not second & 0x80:
            return
        assert self.report, "no report came before the first picture"
        self.stream.write(b"".join(b"\0\0\0\1" + unit for unit in self.picture))
        self.stream.flush()
        ticks = (timestamp - self.report[1] + 2**31) % 2**32 - 2**31
        print(json.dumps({"captured": self.report[0] + ticks / 90000, "timestamp": timestamp, "arrived": time.time()}),
              file=self.times, flush=True)
        self.picture = []

    def unit(self, payload):
        if self.codec == "h264" and payload[0] & 0x1F == 28:
            header, start, rest = bytes([payload[0] & 0xE0 | payload[1] & 0x1F]), payload[1] & 0x80, payload[2:]
        elif self.codec == "h265" and payload[0] >> 1 & 0x3F == 49:
            header, start, rest = bytes([payload[0] & 0x81 | (payload[2] & 0x3F) << 1, payload[1]]), payload[2] & 0x80, payload[3:]
        else:
            self.picture.append(payload)
            return
        if start:
            self.picture.append(header)
        self.picture[-1] += rest


def tap(port, target, folder):
    listener = socket.create_server(("127.0.0.1", int(port)))
    print("ready", flush=True)
    count = 0
    while True:
        near, _ = listener.accept()
        try:
            far = socket.create_connection(("127.0.0.1", int(target)))
        except OSError:
            near.close()
            continue
        count += 1
        record = Tap(f"{folder}/{count}")

        def pump(source, sink, watch):
            try:
                while data := source.recv(1 << 16):
                    if watch:
                        watch(data)
                    sink.sendall(data)
            except OSError:
                pass
            except AssertionError as error:
                print(error, file=record.requests, flush=True)
            for end in source, sink:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

        for arguments in ((near, far, record.feed), (far, near, None)):
            threading.Thread(target=pump, args=arguments, daemon=True).start()


def datagrams(port, path):
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(("127.0.0.1", int(port)))
    print("ready", flush=True)
    receiver.settimeout(30)
    is_sound = True
    with open(path, "wb") as file:
        try:
            while data := receiver.recv(1 << 16):
                is_sound = is_sound and len(data) <= 1316 and len(data) % 188 == 0
                file.write(data)
                receiver.settimeout(3)
        except TimeoutError:
            pass
    print("sound" if is_sound else "not sound")


def intervals(path, whole):
    def packets(file):
        said = subprocess.run(
            ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time", "-of", "json", file],
            capture_output=True, check=True).stdout
        return [float(packet["pts_time"]) for packet in json.loads(said)["packets"]]

    part, all_of_it = packets(path), packets(whole)
    assert 10 < len(part) <= len(all_of_it), f"{len(part)} pictures of {len(all_of_it)}"
    # Which pictures they are says the best place for all of them.
    def worst(start):
        other = all_of_it[start:start + len(part)]
        return max(abs((a - part[0]) - (b - other[0])) for a, b in zip(part, other))

    best = min(worst(start) for start in range(len(all_of_it) - len(part) + 1))
    assert best < 0.0011, f"times differ by {best * 1000:.2f} ms"


def times(path, frames=None):
    pictures = [json.loads(line) for line in open(path)]
    if frames:
        assert len(pictures) == int(frames), f"{len(pictures)} pictures in place of {frames}"
    assert len(pictures) > 10, f"only {len(pictures)} pictures"
    # Nothing arrives before it was captured; the first ones waited for the connection. A report is exact to a tick.
    delays = [picture["arrived"] - picture["captured"] for picture in pictures]
    assert min(delays) > -0.001, f"{-min(delays) * 1000:.3f} ms before it was captured"
    late = sorted(delays)[len(delays) // 2]
    assert late < 0.5, f"{late:.3f} s after it was captured"
    steps = [(b["timestamp"] - a["timestamp"]) % 2**32 for a, b in zip(pictures, pictures[1:])]
    assert all(0 < step < 90000 for step in steps), f"a step of {max(steps)} ticks"
    walls = [b["captured"] - a["captured"] for a, b in zip(pictures, pictures[1:])]
    worst = max(abs(wall - step / 90000) for wall, step in zip(walls, steps))
    assert worst < 0.001, f"reports differ by {worst * 1000:.3f} ms"
    print(f"captured {late * 1000:.1f} ms before they arrived, reports agree within {worst * 1e6:.0f} µs")


def kernel(path, log):
    pictures = [json.loads(line)["captured"] for line in open(path)]
    captured = [float(line) for line in open(log)]
    assert len(pictures) > 10, f"only {len(pictures)} pictures"
    worst = max(min(abs(picture - capture) for capture in captured) for picture in pictures)
    assert worst < 0.001, f"{worst * 1000:.3f} ms from the kernel's"
    print(f"within {worst * 1e6:.0f} µs of the kernel's")


def ticks(path, times):
    said = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts", "-of", "json", path],
        capture_output=True, check=True).stdout
    stamps = [packet["pts"] for packet in json.loads(said)["packets"]]
    captured = [float(line) * 90 for line in open(times) if not line.startswith("#")]
    assert len(stamps) == len(captured) > 10, f"{len(stamps)} pictures, {len(captured)} times"
    worst = max(abs((stamp - stamps[0]) - (time - captured[0])) for stamp, time in zip(stamps, captured))
    assert worst <= 1, f"{worst:.2f} ticks"
    print(f"within {worst:.2f} ticks")


def demands(path, codec):
    data = open(path, "rb").read()
    starts = [match.start() for match in re.finditer(b"\0\0\1", data)]
    assert starts and starts[0] == 1 and all(data[start - 1] == 0 for start in starts), "a start code of three bytes"
    if codec == "h264":
        kinds = [data[start + 3] & 31 for start in starts]
        slices, first, delimiter, begins = {1, 5}, 7, 9, [data[start + 4] & 0x80 for start in starts]
    else:
        kinds = [data[start + 3] >> 1 & 63 for start in starts]
        slices, first, delimiter, begins = set(range(32)), 32, 35, [data[start + 5] & 0x80 for start in starts]
    assert kinds[0] == first, f"begins with a NAL unit of type {kinds[0]}"
    assert delimiter not in kinds, "a delimiter"
    parts = [begin for kind, begin in zip(kinds, begins) if kind in slices]
    # The first bit of a slice's header is set if it is the first of its picture.
    assert len(parts) > 10 and all(parts), f"{len(parts)} slices, of which {sum(map(bool, parts))} begin a picture"


if __name__ == "__main__":
    commands = {"kernel": kernel, "ticks": ticks, "demands": demands,
                "serve": serve, "tap": tap, "times": times, "datagrams": datagrams, "intervals": intervals}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    try:
        commands[sys.argv[1]](*sys.argv[2:])
    except AssertionError as error:
        sys.exit(str(error))
