#!/usr/bin/env python3
"""Talks to camweb as clients other than browsers do, and as no client should.

usage: webclients.py reads PORT NAME FILE [--pause SECONDS] [--pictures N]
                                        writes the stream as a viewer gets it, up to its end or that many pictures; it
                                        reads nothing for a while after the first picture
       webclients.py storm SOCKET FILE...
                                        a recorder that sends these files in turn, without pause, to everyone who connects
       webclients.py drains PORT NAME   a viewer that reads all it gets, as fast as it can, and looks at nothing
       webclients.py joins PORT NAME    viewers that come while another one watches, and learn that the camera is live
       webclients.py crowd PORT VIEWERS PICTURES NAME=RECORDING...
                                        so many viewers, spread over the cameras, each gets that many pictures in a row, as they
                                        are in the raw H.264 recordings; prints how many bytes they got
       webclients.py steady PORT NAME   a viewer that reads slowly, but all the time, keeps its connection
       webclients.py breaks PORT NAME   frames that a browser never sends end their connection, and a ping is answered
       webclients.py unread PORT NAME   a viewer that never reads, until camweb closes its connection
       webclients.py access PORT NAME USER PASSWORD
                                        what a stranger may not do, what a login takes, and what ends with a session
       webclients.py roles PORT NAME PASSWORD FILE
                                        what viewer, admin and plain, the users of a password file, may do, and what changes of
                                        the file do to their sessions
       webclients.py pictures PORT NAME USER PASSWORD
                                        eight clients that ask for pictures without pause get one a second, all the same one
       webclients.py guesses PORT NAME USER PASSWORD [--through PORT --ca FILE]
                                        tries of wrong passwords, which are limited; through a proxy for its client alone
       webclients.py types CAMWEB FILE USER LINE... [--refused TEXT]
                                        sets a password at a terminal, which shows nothing of it
       webclients.py refusals PORT NAME
                                        requests that camweb must refuse, and connections that never end

What is wrong is printed, with exit status 1.
"""
import argparse
import array
import base64
import collections
import http.client
import json
import os
import pathlib
import pty
import socket
import ssl
import struct
import subprocess
import termios
import threading
import time
import urllib.parse

from browser import PATIENCE, Failed, carry_out
from websocket import CLOSED, WebSocket

# Messages after which the end of a connection must have come.
ENOUGH = 100


class Viewer(WebSocket):
    """A viewer of a camera, in the form that a browser with WebCodecs gets."""

    def __init__(self, port, name, receive_buffer=None, headers=""):
        super().__init__(port, f"/live/{name}", receive_buffer, f"Origin: http://127.0.0.1:{port}\r\n{headers}")

    def is_connected(self):
        """Whether camweb has not let go: what it has sent may still be on its way to one that does not read."""
        theirs, mine = self.socket.getpeername()[1], self.socket.getsockname()[1]
        return bool(subprocess.run(
            ["ss", "-Htn", "state", "established", f"( sport = :{theirs} and dport = :{mine} )"],
            capture_output=True, text=True, check=True).stdout)

    def learns(self, state):
        """Whether the next message says that the camera is in this state."""
        operation, text = self.message()
        return operation == 1 and json.loads(text).get("state") == state

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
                if version != 2 or not content[12:].startswith(b"\0\0\0\1"):
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


def access_units(path):
    """Hashes of a raw H.264 recording's access units of one slice each, as far as it has been written."""
    hashes, begin, has_slice = array.array("q"), 0, False
    data = pathlib.Path(path).read_bytes()
    place = data.find(b"\0\0\0\1")
    while place >= 0:
        is_slice = data[place + 4] & 31 in (1, 5) if place + 4 < len(data) else False
        if has_slice:
            hashes.append(hash(data[begin:place]))
            begin = place
        has_slice = is_slice
        place = data.find(b"\0\0\0\1", place + 4)
    return hashes


def crowd(options):
    """Each viewer gets a part of what the recorder has written, picture by picture.

    All are read in turn by one thread: what waits longest has come while the others were read.
    """
    cameras = [name.split("=", 1) for name in options.names]
    viewers = [Viewer(options.port, cameras[index % len(cameras)][0]) for index in range(options.viewers)]
    # For hours there is room for hashes only. Each picture has its number in it, so none is like another.
    got, size = [array.array("q") for _ in viewers], 0
    while min(map(len, got)) < options.pictures:
        for index, viewer in enumerate(viewers):
            keyframe, _, content = viewer.picture()
            if not got[index] and not keyframe:
                raise Failed(f"viewer {index} does not begin with a keyframe")
            got[index].append(hash(content))
            size += len(content)
    for camera, (name, path) in enumerate(cameras):
        shown, deadline = got[camera::len(cameras)], time.monotonic() + PATIENCE
        while (written := access_units(path)) and not all(pictures[-1] in written for pictures in shown):
            if time.monotonic() > deadline:
                raise Failed(f"{path} lacks what viewers of {name} saw")
        for index, pictures in enumerate(shown):
            begin = written.index(pictures[0])
            if written[begin:begin + len(pictures)] != pictures:
                missed = next(place for place, picture in enumerate(pictures) if written[begin + place] != picture)
                raise Failed(f"viewer {index} of {name} has missed pictures after {missed} of {len(pictures)}")
    print(f"{size} bytes for {len(viewers)} viewers")


def storm(options):
    data = b"".join(open(name, "rb").read() for name in options.names) * 50
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(options.socket)
    listener.listen()
    print("listening", flush=True)
    while True:
        connection, _ = listener.accept()
        try:
            while True:
                connection.sendall(data)
        except OSError:
            connection.close()


def drains(options):
    viewer = Viewer(options.port, options.names[0])
    while viewer.socket.recv(1 << 20):
        pass


def joins(options):
    with_picture = Viewer(options.port, options.names[0])
    with_picture.picture()
    # Each has another second in which its recorder may be asked.
    newcomers = []
    for _ in range(3):
        newcomers.append(Viewer(options.port, options.names[0]))
        while not newcomers[-1].learns("live"):
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
    expect("a session's cameras", (status, headers["Camweb-User"], json.loads(content)), (200, user, [{"name": name, "recordings": False, "recorder": True, "small": False}]))
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


def pictures(options):
    """Clients that ask for pictures as fast as they can, at both addresses."""
    site, name, begin, seconds = Site(options.port), options.names[0], time.monotonic(), 4
    authorization = "Basic " + base64.b64encode(f"{options.user}:{options.password}".encode()).decode()
    found, problems = collections.Counter(), []

    def ask(path):
        while time.monotonic() < begin + seconds:
            status, headers, body = site.request("GET", path, Authorization=authorization)
            if status != 200 or headers["Content-Type"] != "image/jpeg" or not body.startswith(b"\xff\xd8"):
                problems.append(f"{path}: {status} {headers['Content-Type']} {body[:100]}")
                return
            found[hash(body)] += 1

    # The first logs in, so that the others need no check of the password.
    site.request("GET", "/cameras.json", Authorization=authorization)
    paths = (f"/live/{name}.jpg", f"/cameras/{name}/snapshot.jpg") * 4
    threads = [threading.Thread(target=ask, args=[path]) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise Failed(problems[0])
    # The test source's pictures differ.
    if not 2 <= len(found) <= time.monotonic() - begin + 1:
        raise Failed(f"{len(found)} pictures for {found.total()} requests")


COMMANDS = ("keyframe", "trigger", "pause", "resume", "bitrate&value=1M", "control&name=brightness&value=1")


def roles(options):
    """Each role's rights, and what happens to sessions when the file changes."""
    site, name, file = Site(options.port), options.names[0], pathlib.Path(options.file)
    form_type = {"Origin": site.origin, "Content_Type": "application/x-www-form-urlencoded"}

    def write(**roles):
        """Gives users these roles; None removes a user."""
        lines = [line.split(":") for line in file.read_text().splitlines()]
        kept = [[*line[:2], roles.get(line[0], line[2] if len(line) > 2 else "")] for line in lines]
        text = "".join(":".join(filter(None, line)) + "\n" for line in kept if line[2] is not None)
        new = file.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(text)
        new.rename(file)

    def command(cookie, text="keyframe"):
        status, _, body = site.request("POST", f"/cameras/{name}/command", f"command={text}", **form_type, Cookie=cookie)
        return status, body

    def until(what, found, wanted):
        deadline = time.monotonic() + PATIENCE
        while (latest := found()) != wanted:
            if time.monotonic() > deadline:
                raise Failed(f"{what}: {latest} in place of {wanted}")
            time.sleep(0.05)

    def ends(what):
        deadline = time.monotonic() + PATIENCE
        try:
            while time.monotonic() < deadline:
                watching.picture()
        except (Failed, ConnectionError):
            return
        raise Failed(f"{what} goes on")

    sessions = {user: site.log_in(user, options.password)[1] for user in ("viewer", "admin", "plain")}
    for text in COMMANDS:
        status, body = command(sessions["viewer"], text)
        if status != 403 or body.count(b"\n") != 1 or b"ask an administrator" not in body:
            raise Failed(f"a viewer's {text}: {status} {body}")
        for user in ("admin", "plain"):
            # A recorder without a camera's controls, or without a ring, refuses itself.
            status, body = command(sessions[user], text)
            if status != 200 and not (status == 409 and text.startswith(("control", "trigger"))):
                raise Failed(f"{user}'s {text}: {status} {body}")
    for path in (f"/cameras/{name}/stats.json", f"/cameras/{name}/controls.json", f"/cameras/{name}/doctor.json", "/metrics"):
        found = {user: site.request("GET", path, Cookie=cookie)[0] for user, cookie in sessions.items()}
        if found["viewer"] != 403 or 403 in (found["admin"], found["plain"]):
            raise Failed(f"{path}: {found}")
    for path in (f"/cameras/{name}/snapshot.jpg", "/cameras.json", "/"):
        if (status := site.request("GET", path, Cookie=sessions["viewer"])[0]) != 200:
            raise Failed(f"a viewer's {path}: {status}")
    for user, wanted in (("viewer", b"camera offline; try again later\n"), ("admin", b"127.0.0.1:1: connection refused")):
        status, _, body = site.request("GET", "/live/gone.ts", Cookie=sessions[user])
        if status != 503 or not body.startswith(wanted):
            raise Failed(f"{user} learns of a camera that is gone: {status} {body}")
    watching = Viewer(options.port, name, headers=f"Cookie: {sessions['admin']}\r\n")
    watching.picture()

    write(admin="viewer", viewer="admin")
    until("an administrator who became a viewer", lambda: command(sessions["admin"])[0], 403)
    until("a viewer who became an administrator", lambda: command(sessions["viewer"])[0], 200)
    ends("the stream of one who has other rights now")
    watching = Viewer(options.port, name, headers=f"Cookie: {sessions['plain']}\r\n")
    watching.picture()
    text = file.read_text()
    file.write_text("damaged\n")
    time.sleep(2.5)
    if command(sessions["plain"])[0] != 200:
        raise Failed("a damaged file ends sessions")
    file.write_text(text)
    write(plain=None)
    until("a user who is gone", lambda: command(sessions["plain"])[0], 401)
    ends("the stream of a user who is gone")
    if (found := site.log_in("plain", options.password)[0]) != 403:
        raise Failed(f"a user who is gone logs in: {found}")
    if command(sessions["viewer"])[0] != 200:
        raise Failed("the others' sessions end, too")


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
    for action in (reads, storm, drains, joins, crowd, steady, breaks, unread, access, pictures, roles, guesses, types, refusals):
        command = commands.add_parser(action.__name__)
        command.set_defaults(action=action)
        if action is types:
            command.add_argument("camweb")
        elif action is storm:
            command.add_argument("socket")
        else:
            command.add_argument("port", type=int)
        if action is crowd:
            command.add_argument("viewers", type=int)
            command.add_argument("pictures", type=int)
        command.add_argument("names", nargs="+" if action in (storm, crowd) else 1, metavar="NAME")
        if action in (access, guesses, pictures):
            command.add_argument("user")
            command.add_argument("password")
        if action is roles:
            command.add_argument("password")
            command.add_argument("file")
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
