#!/usr/bin/env python3
"""Talks to camweb as clients other than browsers do, and as no client should.

usage: webclients.py reads PORT NAME FILE [--pause SECONDS] [--pictures N]
                                        writes the stream as a viewer gets it, up to its end or that many pictures; it
                                        reads nothing for a while after the first picture
       webclients.py joins PORT NAME    viewers that come while another one watches, and learn that the camera is live
       webclients.py crowd PORT VIEWERS PICTURES NAME...
                                        so many viewers, spread over the cameras, each gets that many pictures in a row; prints
                                        how many bytes they got
       webclients.py steady PORT NAME   a viewer that reads slowly, but all the time, keeps its connection
       webclients.py breaks PORT NAME   frames that a browser never sends end their connection, and a ping is answered
       webclients.py unread PORT NAME   a viewer that never reads, until camweb closes its connection
       webclients.py access PORT NAME USER PASSWORD
                                        what a stranger may not do, what a login takes, and what ends with a session
       webclients.py guesses PORT NAME USER PASSWORD [--through PORT --ca FILE]
                                        tries of wrong passwords, which are limited; through a proxy for its client alone
       webclients.py types CAMWEB FILE USER LINE... [--refused TEXT]
                                        sets a password at a terminal, which shows nothing of it
       webclients.py refusals PORT NAME
                                        requests that camweb must refuse, and connections that never end

What is wrong is printed, with exit status 1.
"""
import argparse
import base64
import http.client
import json
import os
import pty
import socket
import ssl
import struct
import subprocess
import termios
import time
import urllib.parse

from browser import PATIENCE, Failed, carry_out

CLOSED = "camweb closed the connection"
# Messages after which the end of a connection must have come.
ENOUGH = 100


class Viewer:
    """A viewer over a WebSocket (RFC 6455) that reads when it is told to."""

    def __init__(self, port, name, receive_buffer=None, headers=""):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /live/{name} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n{headers}\r\n".encode())
        self.data = b""
        while b"\r\n\r\n" not in self.data:
            self.fill()
        head, _, self.data = self.data.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101 "):
            raise Failed(f"no WebSocket: {head.decode(errors='replace')}")

    def fill(self):
        more = self.socket.recv(1 << 16)
        if not more:
            raise Failed(CLOSED)
        self.data += more

    def take(self, count):
        while len(self.data) < count:
            self.fill()
        taken, self.data = self.data[:count], self.data[count:]
        return taken

    def is_connected(self):
        """Whether camweb has not let go: what it has sent may still be on its way to one that does not read."""
        theirs, mine = self.socket.getpeername()[1], self.socket.getsockname()[1]
        return bool(subprocess.run(
            ["ss", "-Htn", "state", "established", f"( sport = :{theirs} and dport = :{mine} )"],
            capture_output=True, text=True, check=True).stdout)

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

    def picture(self, until_end=False):
        """The next picture: whether it is a keyframe, when it arrived in microseconds, and its bytes.

        until_end: whether the stream may end, and None is returned then.
        """
        while True:
            opcode, content = self.message()
            if opcode == 1 and until_end and json.loads(content).get("state") == "unavailable":
                return None
            if opcode == 2:
                version, flags, _, arrival = struct.unpack(">BBHq", content[:12])
                if version != 1 or not content[12:].startswith(b"\0\0\0\1"):
                    raise Failed(f"version {version}, {content[12:20].hex()}")
                return bool(flags & 1), arrival, content[12:]


def reads(options):
    viewer = Viewer(options.port, options.names[0], receive_buffer=1 << 14 if options.pause else None)
    with open(options.file, "wb") as file:
        keyframe, _, content = viewer.picture()
        if not keyframe:
            raise Failed("it does not begin with a keyframe")
        file.write(content)
        print("reading", flush=True)
        file.flush()
        time.sleep(options.pause)
        count = 1
        while count != options.pictures and (picture := viewer.picture(until_end=True)):
            file.write(picture[2])
            count += 1


def crowd(options):
    """Viewers of one camera get the same pictures, each from another one on; who misses one differs from the others.

    All are read in turn by one thread: what waits longest has come while the others were read.
    """
    viewers = [Viewer(options.port, options.names[index % len(options.names)]) for index in range(options.viewers)]
    got, last = [[] for _ in viewers], [0] * len(viewers)
    while min(map(len, got)) < options.pictures:
        for index, viewer in enumerate(viewers):
            keyframe, arrival, content = viewer.picture()
            if not got[index] and not keyframe:
                raise Failed(f"viewer {index} does not begin with a keyframe")
            # One that skips to a keyframe, because it is slow or everybody is, misses most of a group.
            if got[index] and keyframe and arrival - last[index] > 500_000:
                raise Failed(f"viewer {index} has missed pictures after {len(got[index])}")
            last[index] = arrival
            got[index].append(content)
    for index, pictures in enumerate(got):
        first = got[index % len(options.names)]
        # Each picture has its number in it, so none is like another.
        early, late = (first, pictures) if pictures[0] in first else (pictures, first)
        begin = early.index(late[0]) if late[0] in early else len(early)
        if len(early) - begin < options.pictures // 2 or early[begin:] != late[:len(early) - begin]:
            raise Failed(f"viewer {index} has other pictures than the first viewer of its camera")
    print(f"{sum(len(picture) for pictures in got for picture in pictures)} bytes for {len(viewers)} viewers")


def joins(options):
    with_picture = Viewer(options.port, options.names[0])
    with_picture.picture()
    # Each has another second in which its recorder may be asked.
    newcomers = []
    for _ in range(3):
        newcomers.append(Viewer(options.port, options.names[0]))
        while newcomers[-1].message() != (1, b'{"kind":"status","state":"live"}'):
            pass
        time.sleep(1)


def steady(options):
    """Reads so slowly that camweb always has something waiting, for longer than it lets one that reads nothing stay."""
    viewer = Viewer(options.port, options.names[0], receive_buffer=1 << 14)
    end = time.monotonic() + 16
    while time.monotonic() < end:
        viewer.socket.recv(8 << 10)
        time.sleep(0.25)
    if not viewer.is_connected():
        raise Failed("it is no longer connected")
    print("still connected")


def breaks(options):
    """Frames that RFC 6455 forbids (5.1, 5.2): the connection ends with the code for that, 1002."""
    frames = {"an unmasked frame": b"\x89\0", "a reserved bit": b"\xc9\x80abcd", "a ping of 126 bytes": b"\x89\xfe\0\x7eabcd" + b"a" * 126,
              "an unknown operation": b"\x83\x80abcd"}
    problems = []
    for what, frame in frames.items():
        viewer = Viewer(options.port, options.names[0])
        viewer.picture()
        viewer.socket.sendall(frame)
        try:
            for _ in range(ENOUGH):
                opcode, content = viewer.message()
                if opcode == 8:
                    break
            if opcode != 8:
                raise Failed("pictures go on")
            if struct.unpack(">H", content[:2])[0] != 1002:
                problems.append(f"{what}: closed with {content}")
            viewer.fill()
            problems.append(f"{what}: more than that")
        except Failed as problem:
            if str(problem) != CLOSED:
                problems.append(f"{what}: {problem}")
        except (ConnectionError, TimeoutError) as problem:
            problems.append(f"{what}: {problem}")
    viewer = Viewer(options.port, options.names[0])
    viewer.socket.sendall(b"\x89\x82abcd" + bytes(a ^ b for a, b in zip(b"hi", b"ab")))
    if (10, b"hi") not in (viewer.message() for _ in range(ENOUGH)):
        problems.append("a ping is not answered")
    if problems:
        raise Failed("; ".join(problems))


def unread(options):
    viewer = Viewer(options.port, options.names[0], receive_buffer=1 << 14)
    deadline = time.monotonic() + PATIENCE
    while viewer.is_connected():
        if time.monotonic() > deadline:
            raise Failed(f"it is still connected after {PATIENCE} s")
        time.sleep(0.5)
    print("disconnected")


def refusals(options):
    port, name = options.port, options.names[0]
    own = f"Host: 127.0.0.1:{port}\r\n"
    upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
    origin = f"Origin: http://127.0.0.1:{port}\r\n"
    wanted = [
        ("the page", 200, f"GET / HTTP/1.1\r\n{own}\r\n"),
        ("HEAD", 200, f"HEAD / HTTP/1.1\r\n{own}\r\n"),
        ("another host's name", 403, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
        ("no host", 400, "GET / HTTP/1.1\r\n\r\n"),
        ("two hosts", 400, f"GET / HTTP/1.1\r\n{own}Host: evil.example\r\n\r\n"),
        ("another site's origin", 403, f"GET /cameras.json HTTP/1.1\r\n{own}Origin: http://evil.example\r\n\r\n"),
        ("another site's picture", 403, f"GET /icon.svg HTTP/1.1\r\n{own}Sec-Fetch-Site: cross-site\r\n\r\n"),
        ("a WebSocket", 101, f"GET /live/{name} HTTP/1.1\r\n{own}{origin}{upgrade}\r\n"),
        ("a WebSocket of another site", 403, f"GET /live/{name} HTTP/1.1\r\n{own}Origin: http://evil.example\r\n{upgrade}\r\n"),
        ("a WebSocket without origin", 403, f"GET /live/{name} HTTP/1.1\r\n{own}{upgrade}\r\n"),
        ("a WebSocket under another name", 403,
         f"GET /live/{name} HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n{upgrade}\r\n"),
        ("a WebSocket of no camera", 404, f"GET /live/none HTTP/1.1\r\n{own}{origin}{upgrade}\r\n"),
        ("a WebSocket without a key", 426, f"GET /live/{name} HTTP/1.1\r\n{own}{origin}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n"),
        ("a stream without WebSocket", 426, f"GET /live/{name} HTTP/1.1\r\n{own}\r\n"),
        ("a container of no camera", 404, f"GET /live/none.mp4 HTTP/1.1\r\n{own}\r\n"),
        ("a container that is not offered", 404, f"GET /live/{name}.mkv HTTP/1.1\r\n{own}\r\n"),
        ("a container for another site", 403, f"GET /live/{name}.mp4 HTTP/1.1\r\n{own}Sec-Fetch-Site: cross-site\r\n\r\n"),
        ("a list of recordings", 200, f"GET /recordings/{name}.json?from=0&to=1 HTTP/1.1\r\n{own}\r\n"),
        ("recordings for another site", 403, f"GET /recordings/{name}.json?from=0&to=1 HTTP/1.1\r\n{own}Sec-Fetch-Site: cross-site\r\n\r\n"),
        ("recordings under another name", 403, f"GET /recordings/{name}.json?from=0&to=1 HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
        ("recordings of no camera", 404, f"GET /recordings/none.json?from=0&to=1 HTTP/1.1\r\n{own}\r\n"),
        ("a recording that was not listed", 404, f"GET /recordings/{name}/1 HTTP/1.1\r\n{own}\r\n"),
        ("a recording by its path", 404, f"GET /recordings/{name}/..%2f..%2fetc%2fpasswd HTTP/1.1\r\n{own}\r\n"),
        ("a recording upwards", 404, f"GET /recordings/{name}/../../../etc/passwd HTTP/1.1\r\n{own}\r\n"),
        ("a number that no number holds", 404, f"GET /recordings/{name}/{'9' * 40}.mp4?at=0&length=1 HTTP/1.1\r\n{own}\r\n"),
        ("a piece without end", 404, f"GET /recordings/{name}/1.mp4?at=0&length={'9' * 40} HTTP/1.1\r\n{own}\r\n"),
        ("a time that ends before it begins", 404, f"GET /recordings/{name}.mp4?from=2&to=1 HTTP/1.1\r\n{own}\r\n"),
        ("a time without recordings", 404, f"GET /recordings/{name}.mp4?from=1&to=2 HTTP/1.1\r\n{own}\r\n"),
        ("an unknown path", 404, f"GET /nothing HTTP/1.1\r\n{own}\r\n"),
        ("a path upwards", 404, f"GET /../../etc/passwd HTTP/1.1\r\n{own}\r\n"),
        ("an escaped path upwards", 404, f"GET /live/..%2f..%2fetc%2fpasswd HTTP/1.1\r\n{own}\r\n"),
        ("POST", 405, f"POST / HTTP/1.1\r\n{own}Content-Length: 0\r\n\r\n"),
        ("a body", 413, f"GET / HTTP/1.1\r\n{own}Content-Length: 4\r\n\r\nbody"),
        ("a body in chunks", 413, f"GET / HTTP/1.1\r\n{own}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("no HTTP", 400, "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n"),
        ("a header of 1 MB", 400, f"GET / HTTP/1.1\r\n{own}X: {'a' * 1000000}\r\n\r\n"),
        ("a path of 1 MB", 400, f"GET /{'a' * 1000000} HTTP/1.1\r\n{own}\r\n"),
        ("10,000 headers", 400, f"GET / HTTP/1.1\r\n{own}" + "X: a\r\n" * 10000 + "\r\n"),
        ("a header of two lines", 400, f"GET / HTTP/1.1\r\n{own}X: a\r\n b: c\r\nbad line\r\n\r\n"),
    ]
    unending = [
        ("a request that never ends", f"GET / HTTP/1.1\r\n{own}X: "),
        ("a connection without a request", ""),
        ("a body that never comes", f"GET / HTTP/1.1\r\n{own}Content-Length: 1000000000\r\n\r\n"),
        ("a connection that stays after its request", f"GET /icon.svg HTTP/1.1\r\n{own}\r\n"),
    ]
    open_ones = []
    for what, request in unending:
        connection = socket.create_connection(("127.0.0.1", port))
        connection.sendall(request.encode("latin-1"))
        open_ones.append((what, connection))
    problems = []
    for what, status, request in wanted:
        found = answer(port, request)
        if found != status:
            problems.append(f"{what}: {found} in place of {status}")
    for what, connection in open_ones:
        connection.settimeout(PATIENCE)
        try:
            while connection.recv(1 << 16):
                pass
        except ConnectionError:
            pass
        except TimeoutError:
            problems.append(f"{what}: still open after {PATIENCE} s")
    if answer(port, wanted[0][2]) != 200:
        problems.append("the page is gone afterwards")
    if problems:
        raise Failed("; ".join(problems))


class Site:
    """camweb as a client sees it that is no browser."""

    def __init__(self, port, scheme="http", host="127.0.0.1", ca=None, source=None):
        self.source = (source, 0) if source else None
        self.port, self.own = port, f"{host}:{port}"
        self.origin = f"{scheme}://{self.own}"
        self.host = host
        self.context = ssl.create_default_context(cafile=ca) if ca else None

    def request(self, method, path, body=None, **headers):
        """The status, the headers and the body of the response."""
        kind = http.client.HTTPSConnection if self.context else http.client.HTTPConnection
        connection = kind(self.host, self.port, timeout=PATIENCE, source_address=self.source, **({"context": self.context} if self.context else {}))
        headers = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        content = b"" if response.status == 101 else response.read()
        connection.close()
        return response.status, response.headers, content

    def log_in(self, user, password, **headers):
        """The status, and the cookie if there is one."""
        form = urllib.parse.urlencode({"user": user, "password": password})
        headers = {"Origin": self.origin, "Content_Type": "application/x-www-form-urlencoded", **headers}
        status, received, _ = self.request("POST", "/login", form, **headers)
        return status, (received["Set-Cookie"] or "").partition(";")[0]


def access(options):
    site, name, problems = Site(options.port), options.names[0], []
    user, password = options.user, options.password

    def expect(what, found, wanted):
        if found != wanted:
            problems.append(f"{what}: {found} in place of {wanted}")

    for path, status in (("/", 303), ("/cameras.json", 401), ("/camweb.js", 401), (f"/live/{name}", 401), (f"/live/{name}.ts", 401),
                         (f"/live/{name}.mp4", 401), (f"/cameras/{name}/stats.json", 401), (f"/cameras/{name}/snapshot.jpg", 401),
                         ("/metrics", 401), ("/recorder.js", 401), ("/live/none.ts", 401), ("/nothing", 401), ("/login", 200), ("/page.css", 200)):
        expect(f"a stranger's {path}", site.request("GET", path)[0], status)
    own = f"Host: 127.0.0.1:{options.port}\r\n"
    socket_request = (f"GET /live/{name} HTTP/1.1\r\n{own}Origin: {site.origin}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                      "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n")
    expect("a stranger's WebSocket", answer(options.port, socket_request + "\r\n"), 401)
    expect("another cookie", site.request("GET", "/cameras.json", Cookie="camweb=" + "0" * 64)[0], 401)
    for what, changed, status in (
            ("of another site", {"Origin": "http://evil.example"}, 403), ("without origin", {"Origin": None}, 403),
            ("of a sandboxed page", {"Origin": "null"}, 403), ("across sites", {"Sec_Fetch_Site": "cross-site"}, 403),
            ("of another type", {"Content_Type": "text/plain"}, 400)):
        expect(f"a login {what}", site.log_in(user, password, **changed), (status, ""))
    form_type = {"Origin": site.origin, "Content_Type": "application/x-www-form-urlencoded"}
    expect("a form that is too long", site.request("POST", "/login", "a" * 5000, **form_type)[0], 413)
    expect("a form for another path", site.request("POST", "/", "a=b", **form_type)[0], 413)
    expect("a form that is none", site.request("POST", "/login", "user=%zz", **form_type)[0], 403)
    command = f"/cameras/{name}/command"
    expect("a stranger's command", site.request("POST", command, "command=pause", **form_type)[0], 401)
    expect("a wrong password", site.log_in(user, password + "x"), (403, ""))
    expect("a wrong user", site.log_in("nobody", password), (403, ""))
    status, cookie = site.log_in(user, password)
    other = site.log_in(user, password)[1]
    expect("a login", (status, len(cookie), cookie != other), (303, len("camweb=") + 64, True))
    status, headers, content = site.request("GET", "/cameras.json", Cookie=f"a=b; {cookie}")
    expect("a session's cameras", (status, headers["Camweb-User"], json.loads(content)), (200, user, [{"name": name, "recordings": False, "recorder": True}]))
    expect("a session's command", site.request("POST", command, "command=keyframe", **form_type, Cookie=cookie)[0], 200)
    expect("a command of another site", site.request("POST", command, "command=pause", **{**form_type, "Origin": "http://evil.example"}, Cookie=cookie)[0], 403)
    expect("a session's figures", json.loads(site.request("GET", f"/cameras/{name}/stats.json", Cookie=cookie)[2])["stats"]["state"], "recording")
    expect("a session's page", site.request("GET", "/", Cookie=cookie)[0], 200)
    expect("a session that another site uses", site.request("GET", "/cameras.json", Cookie=cookie, Origin="http://evil.example")[0], 403)
    viewer = Viewer(options.port, name, headers=f"Cookie: {cookie}\r\n")
    viewer.picture()
    expect("a logout of another site", site.request("POST", "/logout", "", **{**form_type, "Origin": "http://evil.example"}, Cookie=cookie)[0], 403)
    expect("still logged in", site.request("GET", "/cameras.json", Cookie=cookie)[0], 200)
    expect("a logout", site.request("POST", "/logout", "", **form_type, Cookie=cookie)[0], 303)
    expect("afterwards", site.request("GET", "/cameras.json", Cookie=cookie)[0], 401)
    expect("another session", site.request("GET", "/cameras.json", Cookie=other)[0], 200)
    try:
        while True:
            viewer.picture()
    except (Failed, ConnectionError):
        pass  # Its connection ended, as it should; a TimeoutError is none of these.
    if problems:
        raise Failed("; ".join(problems))


def guesses(options):
    site = Site(options.through, "https", "localhost", options.ca) if options.through else Site(options.port)
    found = [site.log_in(options.user, f"wrong password {number}", X_Forwarded_For=f"198.51.100.{number}")[0] for number in range(8)]
    # Some tries may have been used before, and slow machines may earn another one meanwhile.
    if found[0] != 403 or not 3 <= found.count(403) <= 6 or found.count(429) != 8 - found.count(403):
        raise Failed(f"the answers are {found}")
    another = Site(options.port, source="127.0.0.2")
    found = another.log_in(options.user, options.password, X_Forwarded_For="203.0.113.1" if options.through else None)
    if found[0] != 303:
        raise Failed(f"another client: {found}")


def types(options):
    controller, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    process = subprocess.Popen([options.camweb, "password", *options.names, options.user], stdin=terminal, stdout=terminal, stderr=terminal)
    shown = b""
    for number, line in enumerate(options.lines):
        while shown.count(b": ") <= number:
            shown += os.read(controller, 1 << 12)
        os.write(controller, line.encode() + b"\n")
    status = process.wait(timeout=PATIENCE)
    os.set_blocking(controller, False)
    try:
        shown += os.read(controller, 1 << 12)
    except BlockingIOError:
        pass
    if termios.tcgetattr(terminal) != before:
        raise Failed("the terminal is not as it was")
    if any(len(line) > 1 and line.encode() in shown for line in options.lines):
        raise Failed(f"the terminal shows the password: {shown}")
    if (status != 0) != bool(options.refused) or (options.refused or "").encode() not in shown:
        raise Failed(f"exit code {status}: {shown}")


def answer(port, request):
    """The status of the response; None if there is none."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.settimeout(PATIENCE)
        try:
            connection.sendall(request.encode("latin-1"))
        except ConnectionError:
            pass  # What it has answered before it closed is still to be read.
        data = b""
        try:
            while b"\r\n" not in data:
                more = connection.recv(1 << 16)
                if not more:
                    break
                data += more
        except ConnectionError:
            pass
    parts = data.split(b" ", 2)
    return int(parts[1]) if parts[0] == b"HTTP/1.1" and len(parts) == 3 else None


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    for action in (reads, joins, crowd, steady, breaks, unread, access, guesses, types, refusals):
        command = commands.add_parser(action.__name__)
        command.set_defaults(action=action)
        if action is types:
            command.add_argument("camweb")
        else:
            command.add_argument("port", type=int)
        if action is crowd:
            command.add_argument("viewers", type=int)
            command.add_argument("pictures", type=int)
        command.add_argument("names", nargs="+" if action is crowd else 1, metavar="NAME")
        if action in (access, guesses):
            command.add_argument("user")
            command.add_argument("password")
        if action is guesses:
            command.add_argument("--through", type=int)
            command.add_argument("--ca")
        if action is types:
            command.add_argument("user")
            command.add_argument("lines", nargs="+")
            command.add_argument("--refused")
        if action is reads:
            command.add_argument("file")
            command.add_argument("--pause", type=float, default=0)
            command.add_argument("--pictures", type=int, default=0)
    carry_out(parser)


main()
